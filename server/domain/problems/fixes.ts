import { defined } from "@/server/domain/base/defined";
import { recordOf } from "@/server/domain/base/guards";
import { freshEdgeId, freshNodeId } from "@/server/domain/base/ids";
import { canonicalJson } from "@/server/domain/base/json";
import { asSchema } from "@/server/domain/base/json-schema";
import type { Json } from "@/server/domain/base/values";
import { bodyNodes } from "@/server/domain/graph/bodies";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import { type AnyNodeKind, getNodeKind, type NodeBase, nodeKinds } from "../nodes";
import { newConfigOf } from "../nodes/new-node";
import { WorkflowNode } from "../nodes/schemas";

/** A repair in one click. `label`: of its button. */
export type Fix = { label: string } & (
  | { kind: "remove_node"; node_id: string }
  | { kind: "remove_edge"; edge_id: string }
  | { kind: "set_edge"; edge_id: string; set: Partial<Pick<WorkflowEdge, "edge_label" | "is_default">> }
  | { kind: "lead_to"; node_id: string; edge_ids: string[] }
  | { kind: "set_start"; node_id: string }
  | { kind: "set_node"; node_id: string; set: Partial<NodeBase> }
  | { kind: "set_config"; node_id: string; path: (string | number)[]; value: Json }
  | { kind: "set_reducer"; key: string; reducer: string }
  | { kind: "add_start" }
  | { kind: "add_end" }
  /** A person dismissed an advice. */
  | { kind: "dismiss"; key: string }
  /** A grant of the installation, not a change of the workflow. */
  | { kind: "allow"; key: string }
  /** A person stores the key in this field as a new secret. `host`: where it is sent; "" if a value decides that. */
  | { kind: "move_to_secret"; node_id: string; field: string; host: string }
);

/** The graph with a repair made; the same graph where it no longer applies. */
export function applyFix(graph: WorkflowGraph, fix: Fix): WorkflowGraph {
  // What it repairs may be gone by the time it is applied.
  if ("node_id" in fix && !Object.hasOwn(graph.nodes, fix.node_id)) return graph;
  if ("edge_id" in fix && !graph.edges.some(({ id }) => id === fix.edge_id)) return graph;
  switch (fix.kind) {
    case "remove_node":
      return removeNode(graph, fix.node_id);
    case "allow":
    case "move_to_secret":
      return graph;
    case "dismiss":
      return { ...graph, dismissed_advice: [...new Set([...(graph.dismissed_advice ?? []), fix.key])] };
    case "remove_edge": {
      // The last of those with this id: where two edges are the same, the first one stays.
      const at = graph.edges.findLastIndex((edge) => edge.id === fix.edge_id);
      return { ...graph, edges: graph.edges.filter((_edge, other) => other !== at) };
    }
    case "set_edge":
      return {
        ...graph,
        edges: graph.edges.map((edge) => (edge.id === fix.edge_id ? { ...edge, ...fix.set } : edge)),
      };
    case "lead_to":
      return leadTo(graph, fix.node_id, new Set(fix.edge_ids));
    case "set_start":
      return { ...graph, start_node_id: fix.node_id };
    case "set_node":
      return changeNode(graph, fix.node_id, (node) => ({ ...node, ...fix.set }));
    case "set_config":
      return changeNode(graph, fix.node_id, (node) => {
        const changed = { ...node, config: setAt(node.config, fix.path, fix.value) };
        const parsed = WorkflowNode.safeParse(changed);
        return parsed.success ? parsed.data : node;
      });
    case "set_reducer":
      return setReducer(graph, fix.key, fix.reducer);
    case "add_start":
      return addStart(graph);
    case "add_end":
      return addEnd(graph);
  }
}

function removeNode(graph: WorkflowGraph, id: string): WorkflowGraph {
  const { [id]: _removed, ...nodes } = graph.nodes;
  const edges = graph.edges.filter((edge) => edge.source_node_id !== id && edge.target_node_id !== id);
  return {
    ...graph,
    nodes,
    edges,
    ...defined({ start_node_id: graph.start_node_id === id ? null : undefined }),
  };
}

function setReducer(graph: WorkflowGraph, key: string, reducer: string): WorkflowGraph {
  const schema = graph.global_state_schema ?? { type: "object" };
  const properties = asSchema(schema.properties);
  const own = Object.hasOwn(properties, key) ? asSchema(properties[key]) : {};
  return {
    ...graph,
    global_state_schema: {
      ...schema,
      properties: { ...properties, [key]: { ...own, "x-reducer": reducer } },
    },
  };
}

/** Moves edges to another target; an edge that would then equal one that leads there is left out. */
function leadTo(graph: WorkflowGraph, target_node_id: string, ids: ReadonlySet<string>): WorkflowGraph {
  if (!graph.nodes[target_node_id]) return graph;
  const edgeKey = ({ id: _id, ...rest }: WorkflowEdge) => canonicalJson(rest);
  const there = new Set(graph.edges.filter((edge) => !ids.has(edge.id)).map(edgeKey));
  const edges = graph.edges.flatMap((edge) => {
    if (!ids.has(edge.id)) return [edge];
    const led = { ...edge, target_node_id };
    if (there.has(edgeKey(led))) return [];
    there.add(edgeKey(led));
    return [led];
  });
  return { ...graph, edges };
}

function changeNode(
  graph: WorkflowGraph,
  id: string,
  change: (node: WorkflowNode) => WorkflowNode,
): WorkflowGraph {
  const node = graph.nodes[id];
  return node ? { ...graph, nodes: { ...graph.nodes, [id]: change(node) } } : graph;
}

function setAt(value: unknown, path: readonly (string | number)[], set: Json): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return set;
  if (Array.isArray(value))
    return value.map((item: unknown, at) => (at === step ? setAt(item, rest, set) : item));
  const record = recordOf(value);
  return { ...record, [step]: setAt(record[String(step)], rest, set) };
}

const executes = (node: WorkflowNode) => getNodeKind(node.node_type).executes !== false;

function addStart(graph: WorkflowGraph): WorkflowGraph {
  const kind = nodeKinds.find(({ begins }) => begins);
  if (!kind) return graph;
  const entered = new Set(graph.edges.map((edge) => edge.target_node_id));
  const bodies = bodyNodes(graph);
  const first = Object.values(graph.nodes).filter(
    (node) => executes(node) && !entered.has(node.id) && !bodies.has(node.id),
  );
  const id = freshNodeId(kind.type, graph.nodes);
  const node = newNode(kind, id, besides(graph, "left"));
  return connect(
    { ...graph, nodes: { ...graph.nodes, [id]: node }, start_node_id: id },
    first.map((target) => [id, target.id]),
  );
}

function addEnd(graph: WorkflowGraph): WorkflowGraph {
  const kind = nodeKinds.find((one) => one.ends !== undefined);
  if (!kind) return graph;
  const left = new Set(
    graph.edges.filter((edge) => edge.kind !== "error").map((edge) => edge.source_node_id),
  );
  const bodies = bodyNodes(graph);
  const last = Object.values(graph.nodes).filter((node) => {
    const { hasExit, routes } = getNodeKind(node.node_type);
    return executes(node) && !bodies.has(node.id) && hasExit !== false && !routes && !left.has(node.id);
  });
  const id = freshNodeId(kind.type, graph.nodes);
  const node = newNode(kind, id, besides(graph, "right"));
  return connect(
    { ...graph, nodes: { ...graph.nodes, [id]: node } },
    last.map((source) => [source.id, id]),
  );
}

function newNode(kind: AnyNodeKind, id: string, ui: { x: number; y: number }): WorkflowNode {
  return WorkflowNode.parse({
    ...kind.newNode?.(),
    id,
    node_type: kind.type,
    config: newConfigOf(kind.type),
    ui,
  });
}

function besides(graph: WorkflowGraph, side: "left" | "right"): { x: number; y: number } {
  const places = Object.values(graph.nodes).flatMap(({ ui }) => (ui ? [ui] : []));
  if (places.length === 0) return { x: 0, y: 0 };
  const ys = places.map((place) => place.y);
  const y = Math.min(...ys) / 2 + Math.max(...ys) / 2;
  const xs = places.map(({ x }) => x);
  return { x: side === "left" ? Math.min(...xs) - 340 : Math.max(...xs) + 340, y: Math.round(y) };
}

function connect(graph: WorkflowGraph, pairs: [source: string, target: string][]): WorkflowGraph {
  const edges = [...graph.edges];
  for (const [source_node_id, target_node_id] of pairs)
    edges.push({
      id: freshEdgeId(edges.map((edge) => edge.id)),
      source_node_id,
      target_node_id,
      is_default: false,
      kind: "normal",
    });
  return { ...graph, edges };
}
