import { freshNodeId, toId } from "@/server/domain/base/ids";
import { withoutKey } from "@/server/domain/base/objects";
import { getNodeKind, isExecutable, type WorkflowNode, writtenKeys } from "../nodes";
import { newNode } from "../nodes/new-node";
import { expressionReads } from "../text/expression/expression";
import { analyse } from "./analysis";
import { ownersOfBodies, withInnerBodies } from "./bodies";
import { partGraph } from "./called";
import type { WorkflowEdge, WorkflowGraph } from "./graph";
import { withGroups } from "./groups";
import { keysAvailableAt } from "./keys/data-flow";
import { keysRead } from "./keys/keys-read";
import { reducerOf, stateProperties } from "./keys/state-properties";
import { inputFields, isStartNode } from "./run-input";

/** Moving nodes into a new workflow, which one node then runs. A run has the same effect before and after. */

export type Extraction =
  | {
      /** The new workflow. */
      part: WorkflowGraph;
      /** The graph in which a node runs the new workflow, saved under this id, in place of the nodes. */
      replaced(workflow_id: string, name: string): { graph: WorkflowGraph; node_id: string };
    }
  | { /** Why these nodes can't be moved. */ reason: string };

/** Notes stay where they are; what the nodes repeat moves along. */
export function extractNodes(graph: WorkflowGraph, ids: readonly string[]): Extraction {
  const picked = ids.filter((id) => graph.nodes[id] && isExecutable(graph.nodes[id]));
  const selection = newSelection(graph, withInnerBodies(graph, picked));
  const ends = endsOf(selection);
  if ("reason" in ends) return ends;
  const part = drawPart(selection, ends);
  return "reason" in part
    ? part
    : { part: part.graph, replaced: (id, name) => replace(selection, ends, part, id, name) };
}

/** Nodes of a graph, and their connections. */
interface Selection {
  graph: WorkflowGraph;
  ids: ReadonlySet<string>;
  nodes: Record<string, WorkflowNode>;
  /** Those that are no body of another one. */
  flow: WorkflowNode[];
  inner: WorkflowEdge[];
  incoming: WorkflowEdge[];
  outgoing: WorkflowEdge[];
  nameOf(id: string): string;
}

function newSelection(graph: WorkflowGraph, ids: ReadonlySet<string>): Selection {
  const nodes = Object.fromEntries(Object.entries(graph.nodes).filter(([id]) => ids.has(id)));
  const owners = ownersOfBodies(graph);
  const edgesWhere = (source: boolean, target: boolean) =>
    graph.edges.filter(
      (edge) => ids.has(edge.source_node_id) === source && ids.has(edge.target_node_id) === target,
    );
  return {
    graph,
    ids,
    nodes,
    flow: Object.values(nodes).filter(({ id }) => !owners.has(id)),
    inner: edgesWhere(true, true),
    incoming: edgesWhere(false, true),
    outgoing: edgesWhere(true, false),
    nameOf: (id) => `“${graph.nodes[id]?.name || id}”`,
  };
}

/** Where the selection is entered and left. */
interface Ends {
  entries: string[];
  /** The edges that lead to the node in its place. */
  before: WorkflowEdge[];
  /** The edges that lead on from there. */
  after: WorkflowEdge[];
  /** Edges that lead to the end of the new workflow instead; absent: its last nodes do. */
  exits?: WorkflowEdge[];
}

function endsOf(selection: Selection): Ends | { reason: string } {
  const { graph, ids, nodes, flow, nameOf } = selection;
  for (const [id, owner] of ownersOfBodies(graph))
    if (ids.has(id) && !ids.has(owner.id))
      return { reason: `${nameOf(id)} runs in ${nameOf(owner.id)}. Select that node as well.` };
  if (flow.length === 0) return { reason: "Select nodes to extract." };
  for (const node of Object.values(nodes)) {
    if (isStartNode(node) || getNodeKind(node.node_type).ends)
      return { reason: `${nameOf(node.id)} has to stay: runs of this workflow start and end in it.` };
    if (node.on_error === "skip_branch")
      return {
        reason: `${nameOf(node.id)} skips its branch on failure, which a workflow can't do. Change “On error” first.`,
      };
  }
  const entered = entriesOf(selection);
  if ("reason" in entered) return entered;
  const left = exitsOf(selection);
  return "reason" in left ? left : { ...entered, ...left };
}

const routeOf = ({ source_node_id, edge_label, kind, condition, condition_name, is_default }: WorkflowEdge) =>
  JSON.stringify([source_node_id, edge_label ?? null, kind, condition, condition_name ?? null, is_default]);

function entriesOf(selection: Selection): Pick<Ends, "entries" | "before"> | { reason: string } {
  const { flow, inner, incoming, nameOf } = selection;
  const entries = [...new Set(incoming.map(({ target_node_id }) => target_node_id))];
  const follows = new Set(inner.map(({ target_node_id }) => target_node_id));
  const lost = flow.find(({ id }) => entries.length > 0 && !entries.includes(id) && !follows.has(id));
  if (lost) return { reason: `Nothing leads to ${nameOf(lost.id)}, so it never runs. Leave it out.` };
  const [first, second] = entries;
  if (first === undefined || second === undefined) return { entries, before: incoming };
  const isOneRoute = new Set(incoming.map(routeOf)).size === 1 && incoming.length === entries.length;
  return isOneRoute
    ? { entries, before: incoming.slice(0, 1) }
    : {
        reason: `The selection is entered at ${nameOf(first)} and at ${nameOf(second)}, on different ways. Select nodes with one entry.`,
      };
}

const isConditional = ({ condition, condition_name }: WorkflowEdge) =>
  condition !== undefined || !!condition_name;

function exitsOf(selection: Selection): Pick<Ends, "after" | "exits"> | { reason: string } {
  const { graph, flow, inner, outgoing, nameOf } = selection;
  const error = outgoing.find(({ kind }) => kind === "error");
  if (error)
    return {
      reason: `The error path of ${nameOf(error.source_node_id)} leaves the selection. Select where it leads as well.`,
    };
  const isRouter = (id: string) => getNodeKind(graph.nodes[id]?.node_type ?? "").routes === true;
  const normal = (edges: WorkflowEdge[], id: string) =>
    edges.filter(({ source_node_id, kind }) => source_node_id === id && kind === "normal");
  const sources = [...new Set(outgoing.map(({ source_node_id }) => source_node_id))];
  const [first, ...others] = sources;
  // One node at which all that is selected ends: its connections stay as they are.
  const last =
    first !== undefined && others.length === 0 && !isRouter(first) && normal(inner, first).length === 0
      ? first
      : null;
  for (const { id } of flow) {
    const routes = [...normal(inner, id), ...normal(outgoing, id)];
    if (first !== undefined && routes.length === 0)
      return {
        reason: `Nothing follows ${nameOf(id)}, so this path doesn't leave the selection. Leave it out.`,
      };
    if (id !== last && !isRouter(id) && routes.length > 0 && routes.every(isConditional))
      return {
        reason: `${nameOf(id)} may lead nowhere, because all its connections have conditions. Add a connection without one.`,
      };
  }
  const [exit, other] = outgoing;
  if (last !== null || !exit) return { after: outgoing };
  const apart = outgoing.find(({ target_node_id }) => target_node_id !== exit.target_node_id);
  if (apart)
    return {
      reason: `The selection is left from ${nameOf(exit.source_node_id)} to ${nameOf(exit.target_node_id)} and from ${nameOf(apart.source_node_id)} to ${nameOf(apart.target_node_id)}. Select nodes with one exit.`,
    };
  const { backEdges } = analyse(graph);
  const waits = graph.nodes[exit.target_node_id]?.join === "all";
  if (outgoing.some(isConditional) || (other && (!waits || outgoing.some(({ id }) => backEdges.has(id)))))
    return {
      reason: `${nameOf(exit.target_node_id)} doesn't simply wait for the selection. Select it as well, or fewer nodes.`,
    };
  const { condition: _if, condition_name: _named, edge_label: _label, ...plain } = exit;
  return { after: [{ ...plain, is_default: false }], exits: outgoing };
}

interface Part {
  graph: WorkflowGraph;
  /** The inputs of the node, and the keys that it returns. */
  input: Record<string, string>;
  returns: string[];
}

function drawPart(selection: Selection, ends: Ends): Part | { reason: string } {
  const { graph, nodes, flow, inner, nameOf, ids } = selection;
  const entry = ends.entries[0] ?? "";
  // What waited for several branches waits before the node that runs it.
  const own =
    ends.entries.length === 1 && nodes[entry]
      ? { ...nodes, [entry]: { ...nodes[entry], join: "all" as const } }
      : nodes;
  const written = new Set(flow.flatMap(writtenKeys));
  const merged = [...written].filter((key) => reducerOf(graph, key) !== "last");
  const draw = (asks: readonly string[]) =>
    partGraph(withoutDefaults(graph, merged), own, inner, { ...ends, asks });
  const draft = draw([]);
  // With one node in its place, so that what it writes itself isn't there before.
  const around = replace(selection, ends, { graph: draft, input: {}, returns: [...written] }, "", "");
  const before = certainty(around.graph, around.node_id);
  const inputs = inputFields(draft);
  const asked = inputs.map(({ key }) => key);
  const unknown = inputs.find(({ key, required }) => !before.get(key) && (required || before.has(key)));
  if (unknown)
    return {
      reason: `“${unknown.key}” may be missing when the selection starts, and then can't be an input. Write it on every path before.`,
    };
  const end = Object.values(draft.nodes).find(({ node_type }) => getNodeKind(node_type).ends)?.id ?? "";
  const after = certainty({ ...draft, global_state_schema: null }, end);
  const read = readOutside(graph, ids);
  const returns = [...written].filter((key) => read === "all" || read.has(key) || asked.includes(key));
  const unsure = returns.filter((key) => !after.get(key));
  const lost = unsure.find((key) => !before.get(key));
  if (lost !== undefined)
    return {
      reason: `“${lost}” is written on some paths through the selection only, so it may be missing after it. Write it before the selection as well.`,
    };
  const counted = merged.find((key) => asked.includes(key) || unsure.includes(key));
  if (counted !== undefined)
    return {
      reason: `${nameOf(entry)} and the nodes after it both read and merge “${counted}”, which would merge it twice. Leave out the nodes that read it.`,
    };
  const part = draw(unsure);
  const input = inputFields(part).flatMap(({ key }) =>
    before.get(key)
      ? [[key, `state${/^(in|true|false|null)$/.test(key) ? `["${key}"]` : `.${key}`}`] as const]
      : [],
  );
  return { graph: part, input: Object.fromEntries(input), returns };
}

/** The keys that may exist when a node starts, and whether they certainly do. */
const certainty = (graph: WorkflowGraph, id: string): ReadonlyMap<string, boolean> =>
  new Map(keysAvailableAt(graph, id).map(({ key, certain }) => [key, certain]));

/** A merged key begins empty in the part: its default would count twice. */
function withoutDefaults(graph: WorkflowGraph, keys: readonly string[]): WorkflowGraph {
  if (keys.length === 0) return graph;
  const properties = Object.entries(stateProperties(graph)).map(
    ([key, schema]) => [key, keys.includes(key) ? withoutKey(schema, "default") : schema] as const,
  );
  return {
    ...graph,
    global_state_schema: { ...graph.global_state_schema, properties: Object.fromEntries(properties) },
  };
}

/** The keys that the rest of a workflow reads; "all" if an end returns the whole state. */
function readOutside(graph: WorkflowGraph, ids: ReadonlySet<string>): ReadonlySet<string> | "all" {
  const keys = new Set<string>();
  for (const node of Object.values(graph.nodes)) {
    if (ids.has(node.id) || !isExecutable(node)) continue;
    if (getNodeKind(node.node_type).ends?.(node.config, node)?.givesAll) return "all";
    const { required, optional } = keysRead(node);
    for (const key of [...required, ...optional]) keys.add(key);
  }
  for (const { condition, condition_name } of graph.edges) {
    if (condition_name) keys.add(condition_name);
    for (const { variable, key } of expressionReads(condition ?? "")) if (variable === "state") keys.add(key);
  }
  return keys;
}

function replace(
  { graph, ids, nodes }: Selection,
  ends: Ends,
  part: Part,
  workflow_id: string,
  name: string,
) {
  const node_id = freshNodeId(toId(name).slice(0, 60) || "sub_workflow", Object.keys(graph.nodes));
  const entry = nodes[ends.entries[0] ?? ""];
  const node = newNode("sub_workflow", {
    id: node_id,
    name,
    output_keys: part.returns,
    config: { workflow_id, input: part.input },
    ...(ends.entries.length === 1 && entry ? { join: entry.join } : {}),
    ...(entry?.ui ? { ui: { x: entry.ui.x, y: entry.ui.y } } : {}),
  });
  const left = Object.entries(graph.nodes).filter(([id]) => !ids.has(id));
  const next = {
    ...graph,
    nodes: { ...Object.fromEntries(left), [node_id]: node },
    edges: [
      ...graph.edges.filter((edge) => !ids.has(edge.source_node_id) && !ids.has(edge.target_node_id)),
      ...ends.before.map((edge) => ({ ...edge, target_node_id: node_id })),
      ...ends.after.map((edge) => ({ ...edge, source_node_id: node_id })),
    ],
  };
  const groups = (graph.groups ?? []).map((group) => {
    const rest = group.node_ids.filter((id) => !ids.has(id));
    const isAround = rest.length > 0 && [...ids].every((id) => group.node_ids.includes(id));
    return { ...group, node_ids: isAround ? [...rest, node_id] : rest };
  });
  return { graph: graph.groups ? withGroups(next, groups) : next, node_id };
}
