import type { Metadata } from "next";
import { Suspense } from "react";
import { MemoryPage } from "@/components/library/memory/memory-page";

export const metadata: Metadata = { title: "Memory" };

export default function Memory() {
  return (
    <Suspense>
      <MemoryPage />
    </Suspense>
  );
}
