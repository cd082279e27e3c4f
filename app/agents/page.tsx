import type { Metadata } from "next";
import { Suspense } from "react";
import { AgentsPage } from "@/components/library/crews/crews-page";

export const metadata: Metadata = { title: "Agents" };

export default function Agents() {
  return (
    <Suspense>
      <AgentsPage />
    </Suspense>
  );
}
