import type { Metadata } from "next";
import { TemplateGallery } from "@/components/workflows/template-gallery";

export const metadata: Metadata = { title: "Templates" };

export default function Templates() {
  return <TemplateGallery />;
}
