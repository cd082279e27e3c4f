import { keysOf } from "@/server/domain/base/guards";
import { isSameJson } from "@/server/domain/base/json";
import { bodyIdOf } from "../nodes";
import { nodesOfBody } from "./bodies";
import type { WorkflowGraph } from "./graph";

/** A workflow as it stood at some moment. */
export interface Version {
  name: string;
  graph: WorkflowGraph;
}

/** What both sides changed in different ways, so that only a person can choose. */
export interface Clash {
  kind: "name" | "node" | "edge" | "setting";
  /** The id of the node or edge, or the name of the setting. */
  id: string;
}

/**
 * Merges both sides' changes since `base`: node by node, connection by connection, setting by setting. If both moved a
 * card, mine wins. `merged` is null if there are conflicts.
 */
export function mergeVersions(
  base: Version,
  mine: Version,
  theirs: Version,
): { merged: Version; clashes: readonly [] } | { merged: null; clashes: readonly Clash[] } {
  const { version, clashes } = joined(base, mine, theirs);
  return clashes.length > 0 ? { merged: null, clashes } : { merged: version, clashes: [] };
}

/**
 * Rebases a version onto another one: changes since the common base stay, everything else is theirs. Connections whose
 * ends no longer exist are removed.
 */
export function rebased(own: Version, base: Version, theirs: Version): Version {
  if (own === base) return theirs;
  const { name, graph } = joined(base, own, theirs).version;
  const edges = graph.edges.filter((edge) => !isLoose(edge, graph));
  return { name, graph: { ...graph, edges } };
}

const isLoose = (edge: WorkflowGraph["edges"][number], { nodes }: Pick<WorkflowGraph, "nodes">) =>
  !Object.hasOwn(nodes, edge.source_node_id) || !Object.hasOwn(nodes, edge.target_node_id);

/** Both sides' changes, mine where they clash. */
function joined(base: Version, mine: Version, theirs: Version): { version: Version; clashes: Clash[] } {
  const clashes: Clash[] = [];
  const name = choose(base.name, mine.name, theirs.name, () => clashes.push({ kind: "name", id: "name" }));
  const nodes = mergeRecords(base.graph.nodes, mine.graph.nodes, theirs.graph.nodes, (id, a, b, c) =>
    mergeNode(a, b, c, () => clashes.push({ kind: "node", id })),
  );
  const edges = mergeRecords(byId(base.graph), byId(mine.graph), byId(theirs.graph), (id, a, b, c) =>
    choose(a, b, c, () => clashes.push({ kind: "edge", id })),
  );
  const settings = mergeSettings(
    settingsOf(base.graph),
    settingsOf(mine.graph),
    settingsOf(theirs.graph),
    (id) => clashes.push({ kind: "setting", id }),
  );
  // What one side drew to a node that the other took away.
  for (const edge of Object.values(edges))
    if (isLoose(edge, { nodes })) clashes.push({ kind: "edge", id: edge.id });
  const graph: WorkflowGraph = { ...settings, nodes, edges: Object.values(edges) };
  // What one side let a node run that the other took away.
  for (const node of Object.values(nodes)) {
    const body = bodyIdOf(node);
    const wasThere = (side: Version) =>
      side.graph.nodes[node.id] && nodesOfBody(side.graph, body ?? "").length > 0;
    if (body !== undefined && nodesOfBody(graph, body).length === 0 && (wasThere(mine) || wasThere(theirs)))
      clashes.push({ kind: "node", id: node.id });
  }
  if (graph.start_node_id && !Object.hasOwn(nodes, graph.start_node_id))
    clashes.push({ kind: "setting", id: "start_node_id" });
  return { version: { name, graph }, clashes };
}

type Node = WorkflowGraph["nodes"][string];

/** The place of a card is no reason to ask. */
function mergeNode(
  base: Node | undefined,
  mine: Node | undefined,
  theirs: Node | undefined,
  onClash: () => void,
): Node | undefined {
  if (!base || !mine || !theirs) return choose(base, mine, theirs, onClash);
  const rest = choose(withoutPlace(base), withoutPlace(mine), withoutPlace(theirs), onClash);
  const ui = choose(base.ui, mine.ui, theirs.ui, () => {});
  const { ui: _old, ...chosen } = { ui: undefined, ...rest };
  return ui === undefined ? chosen : { ...chosen, ui };
}

const withoutPlace = ({ ui: _place, ...rest }: Node) => rest;

/** The side that changed; mine where both did, which is a clash unless they changed it alike. */
function choose<T>(base: T, mine: T, theirs: T, onClash: () => void): T {
  if (isSame(mine, theirs) || isSame(theirs, base)) return mine;
  if (!isSame(mine, base)) onClash();
  return isSame(mine, base) ? theirs : mine;
}

const isSame = (a: unknown, b: unknown) =>
  a === b || (a !== undefined && b !== undefined && isSameJson(a, b));

/** Entry by entry, in the order of mine, followed by entries only in theirs. */
function mergeRecords<T>(
  base: Readonly<Record<string, T>>,
  mine: Readonly<Record<string, T>>,
  theirs: Readonly<Record<string, T>>,
  merge: (key: string, base: T | undefined, mine: T | undefined, theirs: T | undefined) => T | undefined,
): Record<string, T> {
  const own = (record: Readonly<Record<string, T>>, key: string) =>
    Object.hasOwn(record, key) ? record[key] : undefined;
  const entries: [string, T][] = [];
  for (const key of new Set([...Object.keys(mine), ...Object.keys(theirs), ...Object.keys(base)])) {
    const value = merge(key, own(base, key), own(mine, key), own(theirs, key));
    if (value !== undefined) entries.push([key, value]);
  }
  return Object.fromEntries(entries);
}

/** Setting by setting, in the same order. */
function mergeSettings(
  base: Settings,
  mine: Settings,
  theirs: Settings,
  onClash: (id: string) => void,
): Settings {
  const merged = { ...mine };
  const take = <K extends keyof Settings>(key: K) => {
    const value = choose(base[key], mine[key], theirs[key], () => onClash(key));
    if (value === undefined) delete merged[key];
    else merged[key] = value;
  };
  for (const key of keysOf({ ...mine, ...theirs, ...base })) take(key);
  return merged;
}

const byId = ({ edges }: WorkflowGraph) => Object.fromEntries(edges.map((edge) => [edge.id, edge]));
type Settings = Omit<WorkflowGraph, "nodes" | "edges">;
const settingsOf = ({ nodes: _nodes, edges: _edges, ...rest }: WorkflowGraph): Settings => rest;
