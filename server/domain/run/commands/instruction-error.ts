import type { Analysis } from "@/server/domain/graph/analysis";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { agentsOfNode } from "../node-agents";
import { isAhead } from "../schedule/reach";
import type { RunState } from "../state";
import type { InstructionTarget } from "./instructions";
import { crewNow } from "./team-edit";

/** Why nobody would read an instruction, in a sentence; null where somebody may. */
export function instructionError(a: Analysis, s: RunState, target: InstructionTarget): string | null {
  const nodes = Object.values(s.graph.nodes);
  const agentsOf = (node: WorkflowNode) =>
    s.team_changes[node.id]
      ? (crewNow(s, node.id)?.agents ?? []).map(({ agent_id }) => agent_id)
      : agentsOfNode(node);
  if ("node_id" in target) {
    const node = Object.hasOwn(s.graph.nodes, target.node_id) ? s.graph.nodes[target.node_id] : undefined;
    if (!node) return `This workflow has no node "${target.node_id}".`;
    const name = node.name || node.id;
    if (agentsOf(node).length === 0) return `${name} asks no model, so nobody would read it there.`;
    return isAhead(a, s, node.id) ? null : `${name} is over and nothing leads to it again.`;
  }
  if ("agent_id" in target) {
    const { agent_id } = target;
    const own = nodes.filter((node) => agentsOf(node).includes(agent_id));
    if (own.length === 0) {
      const known = [...new Set(nodes.flatMap(agentsOf))];
      const others = known.length > 0 ? ` It has: ${known.join(", ")}.` : "";
      return `This workflow has no agent "${agent_id}".${others}`;
    }
    return own.some(({ id }) => isAhead(a, s, id)) ? null : `The work of ${agent_id} in this run is over.`;
  }
  const isRead = nodes.some((node) => agentsOf(node).length > 0 && isAhead(a, s, node.id));
  return isRead ? null : "Nothing in this run asks a model any more, so nobody would read it.";
}
