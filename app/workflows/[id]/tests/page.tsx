import type { Metadata } from "next";
import { TestsPage } from "@/components/scenario/tests-page";

export const metadata: Metadata = { title: "Tests" };

export default async function WorkflowTestsPage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <TestsPage workflowId={id} />;
}
