import type { Metadata } from "next";
import { BinPage } from "@/components/settings/bin-page";

export const metadata: Metadata = { title: "Trash" };

export default function Bin() {
  return <BinPage />;
}
