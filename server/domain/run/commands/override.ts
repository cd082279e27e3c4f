import type { CrewConfig } from "@/server/domain/crew/crew";
import { memberNamed } from "@/server/domain/crew/member";
import { customPatterns } from "@/server/domain/crew/pattern";
import type { Analysis } from "@/server/domain/graph/analysis";
import type { WorkflowEdge } from "@/server/domain/graph/graph";
import { isCrewNode } from "@/server/domain/nodes";
import type { NewEvent } from "../events";
import { taken, wayTo } from "../schedule/outgoing-edges";
import type { Activation, RunState } from "../state";

// What follows where a person says how a run is to go on: to which node after another one, or with which agent of a crew.

const nameOf = (s: RunState, id: string): string => s.graph.nodes[id]?.name || id;
const isAhead = ({ status }: Activation): boolean =>
  status === "ready" || status === "running" || status === "waiting";

/** The ways out of a node on which its token still lies. */
const holding = (a: Analysis, s: RunState, { id, node_id }: Activation): WorkflowEdge[] =>
  (a.outgoing.get(node_id) ?? []).filter(({ id: edge, target_node_id: target }) =>
    [s.inbox, s.backbox].some((box) => box[target]?.[edge]?.includes(id)),
  );

/** Activations that its tokens have led to. */
const followers = (s: RunState, id: string): Activation[] =>
  Object.values(s.activations).filter(({ causes }) => causes.includes(id));

/** Why a run cannot go on to that node after this activation; null where it can. */
export function nextNodeError(
  a: Analysis,
  s: RunState,
  { activation_id, to }: { activation_id: string; to: string },
): string | null {
  const activation = s.activations[activation_id];
  if (!activation) return `This run has no ${activation_id}.`;
  const { node_id, status } = activation;
  const name = nameOf(s, node_id);
  if (!wayTo(a, node_id, to)) {
    const targets = (a.outgoing.get(node_id) ?? []).filter(({ kind }) => kind === "normal");
    const targetNames = [...new Set(targets.map(({ target_node_id }) => nameOf(s, target_node_id)))];
    return targetNames.length === 0
      ? `${name} has no outgoing connections.`
      : `${name} isn't connected to ${nameOf(s, to)}. It's connected to: ${targetNames.join(", ")}.`;
  }
  if (isAhead(activation)) return null;
  if (activation.ends_run) return `${name} failed and ended the run. Retry it first.`;
  if (status !== "completed" && status !== "skipped") return `${name} did not finish (${status}).`;
  const after = followers(s, activation_id);
  const isUndone = after.every(
    (next) =>
      next.status === "ready" &&
      next.attempt === 0 &&
      next.causes.length === 1 &&
      !a.isJoin(next.node_id) &&
      !a.loops.has(next.node_id),
  );
  if (!isUndone || (after.length === 0 && holding(a, s, activation).length === 0))
    return `The run has already continued after ${name}. Fork it from an earlier point.`;
  return null;
}

/** Sends a run to that node after an activation: once that comes to its end, or, where nothing follows from it yet, now. */
export function overrideNext(
  a: Analysis,
  s: RunState,
  { activation_id, to }: { activation_id: string; to: string },
  by: string,
): NewEvent[] {
  const activation = s.activations[activation_id];
  const way = activation && wayTo(a, activation.node_id, to);
  if (!activation || !way) return [];
  const at = { node_id: activation.node_id, activation_id };
  if (isAhead(activation)) return [{ type: "next_overridden", ...at, payload: { to, by } }];
  const undone = followers(s, activation_id);
  const takes_back = (a.outgoing.get(activation.node_id) ?? []).filter(
    ({ id, target_node_id }) =>
      holding(a, s, activation).some((edge) => edge.id === id) ||
      undone.some(({ node_id }) => node_id === target_node_id),
  );
  return [
    {
      type: "next_overridden",
      ...at,
      payload: { to, by, takes_back: takes_back.map(({ id, target_node_id }) => ({ id, target_node_id })) },
    },
    ...undone.map(
      ({ id, node_id }): NewEvent => ({
        type: "node_cancelled",
        node_id,
        activation_id: id,
        payload: { reason: "A person chose another route." },
      }),
    ),
    taken(a, way, activation_id),
  ];
}

/** Why an agent cannot be the next one of its crew; null where it can. */
export function nextAgentError(
  s: RunState,
  { activation_id, agent_id }: { activation_id: string; agent_id: string },
): string | null {
  const activation = s.activations[activation_id];
  const node = activation && s.graph.nodes[activation.node_id];
  if (!activation || !node) return `This run has no ${activation_id}.`;
  const name = nameOf(s, node.id);
  if (!isCrewNode(node)) return `${name} has no crew.`;
  const crew = s.crews[activation_id];
  if (!crew) return `The crew of ${name} has not started yet. Step into it first.`;
  if (crew.status !== "running") return `The crew of ${name} has finished.`;
  if (crew.process === "consensus" || crew.process === "sample")
    return "All members of this crew run at the same time, so none is next.";
  if (!crew.members.some((member) => member.agent_id === agent_id))
    return `${name} has no agent "${agent_id}". Its agents: ${crew.members.map((member) => member.agent_id).join(", ")}.`;
  if (crew.process === "hierarchical" && agent_id === crew.manager)
    return `${agent_id} leads the crew and already acts in every round.`;
  if (crew.process === "custom" && node.config.crew && !hasStep(node.config.crew, agent_id))
    return `The crew's pattern has no step for ${agent_id}.`;
  return null;
}

/** Whether a step of its crew's pattern is for this agent. */
function hasStep({ agents, collaboration_patterns }: CrewConfig, agent_id: string): boolean {
  const [pattern] = customPatterns(collaboration_patterns);
  return pattern?.workflow.some(({ agent }) => memberNamed(agents, agent)?.agent_id === agent_id) ?? false;
}
