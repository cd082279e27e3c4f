import type { Metadata } from "next";
import { RunScreen } from "@/components/run/run-screen";

export const metadata: Metadata = { title: "Run" };

export default async function RunPage({ params }: { params: Promise<{ id: string; run: string }> }) {
  const { id, run } = await params;
  return <RunScreen key={run} runId={run} workflowId={id} />;
}
