import type { Metadata } from "next";
import { preload } from "react-dom";
import { WorkflowEditor } from "@/components/editor/workflow-editor";

export const metadata: Metadata = { title: "Editor" };

export default async function WorkflowPage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  // Loads the workflow along with the scripts, under the same URL as the query of the editor.
  preload(`/api/trpc/workflows.get?input=${encodeURIComponent(JSON.stringify({ id }))}`, {
    as: "fetch",
    crossOrigin: "anonymous",
  });
  return <WorkflowEditor id={id} />;
}
