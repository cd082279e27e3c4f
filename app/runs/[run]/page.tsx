import type { Metadata } from "next";
import { OpenRun } from "@/components/run/open-run";

export const metadata: Metadata = { title: "Run" };

/** A run by its id alone, as the API and the command line name it. */
export default async function RunByIdPage({ params }: { params: Promise<{ run: string }> }) {
  const { run } = await params;
  return <OpenRun key={run} runId={run} />;
}
