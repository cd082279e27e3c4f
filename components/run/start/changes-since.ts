import { differences } from "@/components/canvas/graph-differences";
import type { WorkflowGraph } from "@/server/domain/graph/graph";

const NAMED = 3;

/** What a workflow does otherwise now than in a run, in words; null where nothing but places changed. */
export function changesSince(then: WorkflowGraph, now: WorkflowGraph): string | null {
  const changes = differences({ name: "", graph: then }, { name: "", graph: now }).filter(
    ({ kind }) => kind !== "moved",
  );
  if (changes.length === 0) return null;
  const named = changes.slice(0, NAMED).map(({ kind, text }) => `${text} ${kind}`);
  const more = changes.length - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
