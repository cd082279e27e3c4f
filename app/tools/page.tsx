import type { Metadata } from "next";
import { Suspense } from "react";
import { ToolsPage } from "@/components/library/tools/tools-page";

export const metadata: Metadata = { title: "Tools" };

export default function Tools() {
  return (
    <Suspense>
      <ToolsPage />
    </Suspense>
  );
}
