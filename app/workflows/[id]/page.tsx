import type { Metadata } from "next";
import { preload } from "react-dom";
import { WorkflowEditor } from "@/components/editor/workflow-editor";

export const metadata: Metadata = { title: "Editor" };

export default async function WorkflowPage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  // The drawing is on its way while the scripts are: the same address as the editor's own query.
  preload(`/api/trpc/workflows.get?input=${encodeURIComponent(JSON.stringify({ id }))}`, {
    as: "fetch",
    crossOrigin: "anonymous",
  });
  return <WorkflowEditor id={id} />;
}
