import { breakpointsError } from "@/server/domain/agent/breakpoint/breakpoint-check";
import type { ForkSettings } from "@/server/domain/agent/outcome";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findNodeKind } from "@/server/domain/nodes";
import { unknownStop } from "../commands/command";
import { editPlan } from "../commands/plan-edit";
import type { RunState } from "../state";
import type { ForkPatches } from "./lineage";

/** Why the run can't be forked at that state, one sentence each; empty if it can. */
export function forkErrors(
  s: RunState,
  patches: ForkPatches,
  latest?: WorkflowGraph,
  config: ForkSettings = {},
): string[] {
  const graph = latest ?? s.graph;
  return [
    ...[unknownStop(graph, config) ?? breakpointsError(config.breakpoints ?? [])].flatMap(
      (error) => error ?? [],
    ),
    ...(latest ? missingParts(s, latest) : []),
    ...(patches.state?.remove ?? []).flatMap((key) =>
      s.state[key] === undefined ? [`The state has no “${key}” at that point, so it can't be removed.`] : [],
    ),
    ...(patches.messages ?? []).flatMap(({ agent, at }) => {
      const known = s.agents[agent];
      if (!known) return [`Agent ${agent} was not active at that point.`];
      if (known.messages[at]) return [];
      return [`${agent} had ${known.messages.length} messages at that point, and no message ${at}.`];
    }),
    ...(patches.plan ?? []).flatMap(({ activation_id, edit }) => {
      const crew = s.crews[activation_id];
      const plan = s.plans[activation_id];
      if (!crew || !plan || crew.status !== "running")
        return [`No crew was active in ${activation_id} at that point.`];
      const edited = editPlan(plan, crew, edit);
      return edited.ok ? [] : [edited.message];
    }),
  ];
}

/** What is active in the run at that moment and doesn't exist in the other workflow version. */
function missingParts(s: RunState, { nodes, edges }: WorkflowGraph): string[] {
  const nameOf = (id: string) => s.graph.nodes[id]?.name || id;
  const activeNodes = [...s.ready, ...s.running].map((id) => s.activations[id]?.node_id ?? id);
  const ended = Object.values(s.activations).filter(
    ({ status, node_id }) =>
      status === "completed" && findNodeKind(s.graph.nodes[node_id]?.node_type ?? "")?.ends !== undefined,
  );
  const holding = [...s.parked, ...ended.map(({ node_id }) => node_id)];
  const held = [s.inbox, s.backbox].flatMap((box) =>
    Object.values(box).flatMap((tokens) =>
      Object.entries(tokens).flatMap(([edge, of]) => (of.length > 0 ? [edge] : [])),
    ),
  );
  const known = new Set(edges.map(({ id }) => id));
  const gone = [...new Set([...activeNodes, ...holding])].filter((id) => !nodes[id]);
  const other = [...new Set(activeNodes)].filter(
    (id) => nodes[id] && nodes[id].node_type !== s.graph.nodes[id]?.node_type,
  );
  return [
    ...gone.map(
      (id) => `${nameOf(id)} is active or queued at that point, but the current workflow has no ${id}.`,
    ),
    ...other.map(
      (id) =>
        `${nameOf(id)} is active or queued at that point, but has a different node type in the current workflow.`,
    ),
    ...[...new Set(held)]
      .filter((id) => !known.has(id))
      .map(
        (id) =>
          `The connection ${id} is waiting for others at that point, but the current workflow has no ${id}.`,
      ),
  ];
}
