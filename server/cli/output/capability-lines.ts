import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { Capability } from "@/server/domain/library/capabilities";

/** One line for each thing that a workflow would use, with who asks for it. */
export function capabilityLines(
  asked: readonly Capability[],
  { nodes }: Pick<WorkflowGraph, "nodes">,
): string[] {
  if (asked.length === 0) return ["It uses no tools, hosts, named models, programs or persistent memory."];
  return asked.map(({ kind, name, where }) => {
    const places = where.map(({ node_id, role }) => {
      // A role that only comes along in the file works nowhere yet.
      if (node_id === undefined) return role ? `role ${role}` : "the workflow";
      const node = nodes[node_id]?.name || node_id;
      return role ? `${node} (as ${role})` : node;
    });
    return `${kind.padEnd(7)} ${name}  <-  ${[...new Set(places)].join(", ")}`;
  });
}
