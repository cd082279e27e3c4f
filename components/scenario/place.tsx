import { Crosshair } from "lucide-react";
import Link from "next/link";
import type { WorkflowGraph } from "@/server/domain/graph/graph";

/** Leads to a node on the drawing; nothing where there is no such node. */
export function Place({
  nodeId,
  workflowId,
  graph,
}: {
  nodeId: string | undefined;
  workflowId: string;
  graph: WorkflowGraph;
}) {
  const node = nodeId === undefined ? undefined : graph.nodes[nodeId];
  if (!node) return null;
  return (
    <Link
      href={`/workflows/${workflowId}?node=${encodeURIComponent(node.id)}`}
      className="inline-flex items-center gap-1.5 self-start rounded-md text-[13px] text-accent underline decoration-dotted underline-offset-2 hover:text-accent-hover"
    >
      <Crosshair aria-hidden className="size-3.5" />
      Show {node.name || node.id} on the drawing
    </Link>
  );
}
