import type { Json } from "@/server/domain/base/values";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import { outputOfSignal } from "@/server/domain/nodes/wait";
import type { RunState } from "../state";

/** The activations that wait for a signal of that name. */
export const waitersFor = (s: RunState, name: string): string[] =>
  [...s.running].filter((id) => {
    const { status, waiting } = s.activations[id] ?? {};
    return status === "waiting" && waiting?.for === "signal" && waiting.name === name;
  });

/** The nodes of a run's drawing that wait for a signal of that name. */
const nodesFor = ({ graph: { nodes } }: RunState, name: string): WorkflowNode[] =>
  Object.values(nodes).filter((node) => getNodeKind(node.node_type).signal?.(node.config) === name);

/** Why a run cannot take a signal; null where it can. `isAhead`: whether a node is under way or may still come to it. */
export function signalError(
  s: RunState,
  { name, data }: { name: string; data: Json },
  isAhead: (node_id: string) => boolean,
): string | null {
  const nodes = nodesFor(s, name);
  if (nodes.length === 0) return `Nothing in this workflow waits for a signal "${name}".`;
  const open = nodes.filter(({ id }) => isAhead(id));
  if (open.length === 0) return `Nothing in this run is still waiting for the signal "${name}".`;
  const lacking = open.find(({ output_keys }) => outputOfSignal(output_keys, data) === null);
  return lacking
    ? `${lacking.name || lacking.id} needs these values in the signal's data: ${lacking.output_keys.join(", ")}.`
    : null;
}
