import type { Metadata } from "next";
import { Suspense } from "react";
import { AgentsPage } from "@/components/library/agents/agents-page";

export const metadata: Metadata = { title: "Agents" };

export default function Agents() {
  return (
    <Suspense>
      <AgentsPage />
    </Suspense>
  );
}
