import type { RoleDefinition } from "@/server/domain/agent/role";
import { canonicalJson, isSameJson } from "@/server/domain/base/json";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { roleUses } from "@/server/domain/library/role-use";
import type { Pins } from "./commands/pins";
import type { RunState } from "./state";

/** An output of a run that may be another now, and why, a sentence. */
export interface StaleOutput {
  node_id: string;
  reason: string;
}

/** What the workflow is by now, and where a person pins outputs, what they pin. */
interface Now {
  graph: Pick<WorkflowGraph, "nodes" | "edges">;
  roles: readonly RoleDefinition[];
  pins?: Pins | undefined;
}

/** The outputs of a run that might differ if it ran now, in the order of the run's workflow. */
export function staleOutputs(s: RunState, now: Now): StaleOutput[] {
  const own = new Map<string, string>();
  const ran = Object.values(s.graph.nodes).filter(({ id }) => s.nodes[id]?.status === "completed");
  for (const node of ran) {
    const reason = reasonOf(s, node, now);
    if (reason !== null) own.set(node.id, reason);
  }
  return ran.flatMap(({ id }): StaleOutput[] => {
    const reason = own.get(id);
    if (reason !== undefined) return [{ node_id: id, reason }];
    const before = nearestBefore(s.graph, id, own);
    const name = before === undefined ? "" : s.graph.nodes[before]?.name || before;
    return before === undefined
      ? []
      : [{ node_id: id, reason: `${name}, an upstream node, may now return a different output.` }];
  });
}

function reasonOf(s: RunState, node: WorkflowNode, now: Now): string | null {
  const { id } = node;
  const drawn = Object.hasOwn(now.graph.nodes, id) ? now.graph.nodes[id] : undefined;
  if (!drawn) return "It is no longer in the workflow.";
  const [then, pinned] = [s.run.pins?.[id], now.pins?.[id]];
  if (now.pins && (then || pinned) && !isSamePin(then, pinned)) {
    if (!pinned) return "Its output was pinned in this run, but no longer is.";
    return then ? "A different output has been pinned since." : "An output has been pinned since.";
  }
  if (then && !now.pins) return "Its output was pinned in this run.";
  if (makeOf(drawn) !== makeOf(node)) return "It has been edited since.";
  const other = [...roleUses({ nodes: { [id]: node } }).keys()].find((name) => !isSameRole(name, s, now));
  if (other !== undefined) return `The role ${other} has been edited since.`;
  return incomingEdges(s.graph, id) === incomingEdges(now.graph, id)
    ? null
    : "Its incoming connections have changed since.";
}

const isSamePin = (a: Pins[string] | undefined, b: Pins[string] | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  isSameJson(a.output, b.output) &&
  canonicalJson(a.labels ?? []) === canonicalJson(b.labels ?? []);

/** What a node does, as text: its name and its place are no part of it. */
const makeOf = ({ name: _name, ui: _ui, description: _about, ...node }: WorkflowNode): string =>
  canonicalJson(node);

function isSameRole(name: string, s: RunState, now: Now): boolean {
  const [then, by] = [s.roles, now.roles].map((roles) => roles.find((role) => role.name === name));
  const made = (role: RoleDefinition | undefined) => {
    if (!role) return "";
    const { color: _c, icon: _i, version: _v, ...rest } = role;
    return canonicalJson(rest);
  };
  return made(then) === made(by);
}

/** The ways that lead to a node, as text; their order and their ids are no part of it. */
const incomingEdges = ({ edges }: Now["graph"], id: string): string =>
  edges
    .filter(({ target_node_id }) => target_node_id === id)
    .map(({ id: _id, ...way }) => canonicalJson(way))
    .toSorted()
    .join("\n");

/** Of the nodes that speak for themselves, the nearest from which a way leads to this one. */
function nearestBefore(
  { edges }: Now["graph"],
  id: string,
  own: ReadonlyMap<string, string>,
): string | undefined {
  const seen = new Set<string>([id]);
  for (let next = [id]; next.length > 0; ) {
    const sources = edges.filter(({ target_node_id }) => next.includes(target_node_id));
    next = [...new Set(sources.map(({ source_node_id }) => source_node_id))].filter((one) => !seen.has(one));
    const found = next.find((one) => own.has(one));
    if (found !== undefined) return found;
    for (const one of next) seen.add(one);
  }
  return undefined;
}
