import type { Metadata } from "next";
import { BinPage } from "@/components/settings/bin-page";

export const metadata: Metadata = { title: "Bin" };

export default function Bin() {
  return <BinPage />;
}
