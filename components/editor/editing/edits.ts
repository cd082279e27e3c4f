import { exitLabels } from "@/components/forms/ports";
import { recordOf } from "@/server/domain/base/guards";
import { freshEdgeId, freshNodeId } from "@/server/domain/base/ids";
import { isStateKey } from "@/server/domain/base/names";
import { withoutUndefined } from "@/server/domain/base/objects";
import type { JsonSchema } from "@/server/domain/base/values";
import type { NodeGroup, WorkflowEdge, WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { grouped, withGroups, withoutGone } from "@/server/domain/graph/groups";
import { newEdge } from "@/server/domain/graph/new-edge";
import { addRoute, newRouteLabel, routerRoutes } from "@/server/domain/graph/router-routes";
import { getNodeKind, type NodeBase, type NodeType, withSettings } from "@/server/domain/nodes";
import { newNode } from "@/server/domain/nodes/new-node";
import { type Fragment, withFragment } from "./fragment";
import { freshNode, type NewNode } from "./fresh-node";
import { type Place, placeAfter, placeOnEdge, shiftRight } from "./placing";

/** An edit of the graph: pure, and named for undo, menus and help. */
export interface Edit<A> {
  id: string;
  label: string;
  /** As `Kbd` takes it, where a key does it. */
  shortcut?: string;
  apply(graph: WorkflowGraph, args: A): WorkflowGraph;
}

/** Lets the compiler infer what an edit takes. */
export const edit = <A>(it: Edit<A>): Edit<A> => it;

export interface NewConnection {
  source_node_id: string;
  target_node_id: string;
  kind: WorkflowEdge["kind"];
  edge_label?: string | null | undefined;
}

type BasePatch = Partial<Omit<NodeBase, "id">>;
type EdgePatch = Partial<Omit<WorkflowEdge, "id">>;
type WorkflowPatch = Partial<
  Pick<WorkflowGraph, "description" | "global_state_schema" | "config" | "start_node_id" | "project_context">
>;

/** All edits of a workflow. */
export const edits = {
  addNode: edit<NewNode>({
    id: "add_node",
    label: "Add node",
    apply(graph, added) {
      const { id, type, at, after, onEdge } = added;
      const kind = getNodeKind(type);
      const edge = onEdge === undefined ? undefined : graph.edges.find((known) => known.id === onEdge);
      const onLine = edge && placeOnEdge(graph, edge);
      const beside = after && graph.nodes[after.nodeId] && placeAfter(graph, after.nodeId);
      let next = withNode(graph, freshNode(graph, added, at ?? onLine?.place ?? beside ?? { x: 0, y: 0 }));
      if (kind.begins && !next.start_node_id) next = { ...next, start_node_id: id };
      if (kind.executes === false) return next;
      if (onLine && !at && onLine.shift > 0) next = shiftRight(next, edge.target_node_id, onLine.shift, id);
      return edge ? spliced(next, id, edge) : withNeighbors(next, added);
    },
  }),

  connect: edit<NewConnection>({ id: "connect", label: "Connect", shortcut: "C", apply: connected }),

  reconnect: edit<{ edgeId: string } & NewConnection>({
    id: "reconnect",
    label: "Move connection",
    apply: (graph, { edgeId, ...connection }) =>
      graph.nodes[connection.source_node_id] && graph.nodes[connection.target_node_id]
        ? {
            ...graph,
            edges: graph.edges.map((edge) =>
              edge.id === edgeId ? movedEdge(graph, edge, connection) : edge,
            ),
          }
        : graph,
  }),

  splice: edit<{ nodeId: string; edgeId: string; place?: Place }>({
    id: "splice",
    label: "Insert into connection",
    apply(graph, { nodeId, edgeId, place }) {
      const node = graph.nodes[nodeId];
      const edge = graph.edges.find(({ id }) => id === edgeId);
      if (!node || !edge || edge.source_node_id === nodeId || edge.target_node_id === nodeId) return graph;
      if (!place) return spliced(graph, nodeId, edge);
      const { place: between, shift, isBack } = placeOnEdge(graph, edge);
      const put = withNode(graph, { ...node, ui: { ...node.ui, ...(isBack ? place : between) } });
      const roomy = shift > 0 ? shiftRight(put, edge.target_node_id, shift, nodeId) : put;
      return spliced(roomy, nodeId, edge);
    },
  }),

  move: edit<{ places: Record<string, Place> }>({ id: "move", label: "Move", apply: moved }),

  resize: edit<{ id: string; size: { width?: number; height?: number } }>({
    id: "resize",
    label: "Resize",
    apply(graph, { id, size }) {
      const node = graph.nodes[id];
      return node ? withNode(graph, { ...node, ui: { x: 0, y: 0, ...node.ui, ...size } }) : graph;
    },
  }),

  layout: edit<{ places: Record<string, Place> }>({
    id: "layout",
    label: "Auto-layout",
    shortcut: "shift+l",
    apply: moved,
  }),

  remove: edit<{ nodes: readonly string[]; edges: readonly string[] }>({
    id: "remove",
    label: "Delete",
    shortcut: "Delete",
    apply: (graph, { nodes, edges }) => removed(graph, new Set(nodes), new Set(edges)),
  }),

  removeAndReconnect: edit<{ nodes: readonly string[] }>({
    id: "remove_and_reconnect",
    label: "Delete and reconnect",
    shortcut: "mod+Delete",
    apply: (graph, { nodes }) => nodes.reduce(withoutButConnected, graph),
  }),

  insert: edit<{ fragment: Fragment; at: Place; ids: Record<string, string> }>({
    id: "insert",
    label: "Paste",
    shortcut: "mod+v",
    apply: withFragment,
  }),

  duplicate: edit<{ fragment: Fragment; at: Place; ids: Record<string, string> }>({
    id: "duplicate",
    label: "Duplicate",
    shortcut: "mod+d",
    apply: withFragment,
  }),

  setNode: edit<{ id: string; patch: BasePatch }>({
    id: "set_node",
    label: "Edit node",
    apply(graph, { id, patch }) {
      const node = graph.nodes[id];
      return node ? withNode(graph, withoutUndefined({ ...node, ...patch })) : graph;
    },
  }),

  writeNote: edit<{ id: string; text: string }>({
    id: "write_note",
    label: "Edit note",
    apply(graph, { id, text }) {
      const node = graph.nodes[id];
      return node ? withNode(graph, withSettings(node, { ...node.config, text })) : graph;
    },
  }),

  group: edit<{ id: string; nodes: readonly string[] }>({
    id: "group",
    label: "Group",
    shortcut: "mod+g",
    apply: (graph, { id, nodes }) => grouped(graph, id, nodes),
  }),

  setGroup: edit<{ id: string; patch: Partial<Omit<NodeGroup, "id" | "node_ids">> }>({
    id: "set_group",
    label: "Edit group",
    apply: (graph, { id, patch }) => ({
      ...graph,
      groups: (graph.groups ?? []).map((group) => (group.id === id ? { ...group, ...patch } : group)),
    }),
  }),

  ungroup: edit<{ id: string }>({
    id: "ungroup",
    label: "Ungroup",
    shortcut: "mod+shift+g",
    apply: (graph, { id }) =>
      withGroups(
        graph,
        (graph.groups ?? []).filter((group) => group.id !== id),
      ),
  }),

  ungroupAll: edit<Record<never, never>>({
    id: "ungroup_all",
    label: "Ungroup all",
    apply: (graph) => withGroups(graph, []),
  }),

  /** A change in a form that affects more than its node, such as a route and its edge. */
  change: edit<{ apply: (graph: WorkflowGraph) => WorkflowGraph }>({
    id: "change",
    label: "Edit workflow",
    apply: (graph, { apply }) => apply(graph),
  }),

  setInputs: edit<{ id: string; schema: JsonSchema | undefined }>({
    id: "set_inputs",
    label: "Edit inputs",
    apply(graph, { id, schema }) {
      const node = graph.nodes[id];
      if (!node) return graph;
      const names = Object.keys(recordOf(schema?.properties));
      const output_keys = names.filter(isStateKey);
      const config = withoutUndefined({ ...node.config, input_schema: schema });
      return withNode(graph, withSettings({ ...node, output_keys }, config));
    },
  }),

  setEdge: edit<{ id: string; patch: EdgePatch }>({
    id: "set_edge",
    label: "Edit connection",
    apply: (graph, { id, patch }) => ({
      ...graph,
      edges: graph.edges.map((edge) => (edge.id === id ? withoutUndefined({ ...edge, ...patch }) : edge)),
    }),
  }),

  setWorkflow: edit<{ patch: WorkflowPatch }>({
    id: "set_workflow",
    label: "Edit workflow",
    apply: (graph, { patch }) => withoutUndefined({ ...graph, ...patch }),
  }),

  /** Replaces the whole graph, such as after a conflict. */
  replace: edit<{ graph: WorkflowGraph }>({
    id: "replace",
    label: "Replace workflow",
    apply: (_graph, { graph }) => graph,
  }),

  /** Puts a node that runs a new workflow in the place of the nodes that were moved there. */
  extract: edit<{ graph: WorkflowGraph }>({
    id: "extract",
    label: "Extract to workflow",
    apply: (_graph, { graph }) => graph,
  }),
};

/** Whether this edge may be added: both ends exist, their kinds allow it, and it is new. */
export function canConnect(graph: WorkflowGraph, connection: NewConnection): boolean {
  const source = graph.nodes[connection.source_node_id];
  const target = graph.nodes[connection.target_node_id];
  if (!source || !target || source.id === target.id) return false;
  if (getNodeKind(source.node_type).hasExit === false || getNodeKind(target.node_type).hasEntry === false)
    return false;
  return !graph.edges.some((edge) => isSameConnection(edge, connection));
}

/** Connects a new node to the one before it, and to a new end or the one after it. */
function withNeighbors(graph: WorkflowGraph, { id, type, after, before, end }: NewNode): WorkflowGraph {
  const { hasEntry, hasExit } = getNodeKind(type);
  if (after && graph.nodes[after.nodeId] && hasEntry !== false) {
    const next = connected(graph, { source_node_id: after.nodeId, target_node_id: id, ...after.edge });
    if (end === undefined || hasExit === false) return next;
    const { title } = getNodeKind("end");
    const last = newNode("end", { id: end, name: title, ui: { ...placeAfter(next, id) } });
    return connectedOn(withNode(next, last), id, end);
  }
  return before !== undefined && hasExit !== false ? connectedOn(graph, id, before) : graph;
}

/** An id for a new node of this kind. */
export const newNodeId = (graph: WorkflowGraph, type: NodeType): string => freshNodeId(type, graph.nodes);

function isSameConnection(edge: WorkflowEdge, connection: NewConnection): boolean {
  return (
    edge.source_node_id === connection.source_node_id &&
    edge.target_node_id === connection.target_node_id &&
    edge.kind === connection.kind &&
    (edge.edge_label ?? null) === (connection.edge_label ?? null)
  );
}

function connected(graph: WorkflowGraph, connection: NewConnection): WorkflowGraph {
  if (!canConnect(graph, connection)) return graph;
  const { graph: drawn, edge_label } = withWayFor(graph, connection);
  const id = freshEdgeId(drawn.edges.map((edge) => edge.id));
  return { ...drawn, edges: [...drawn.edges, newEdge({ id, ...connection, edge_label })] };
}

/** An edge from a router without a label gets a new route. */
function withWayFor(
  graph: WorkflowGraph,
  { source_node_id, kind, edge_label }: NewConnection,
): { graph: WorkflowGraph; edge_label: string | null | undefined } {
  const routes = kind === "normal" && !edge_label ? routerRoutes(graph, source_node_id) : null;
  if (!routes?.isOpen) return { graph, edge_label };
  const label = newRouteLabel(graph, source_node_id);
  return { graph: addRoute(graph, source_node_id, label), edge_label: label };
}

/** An edge keeps its label when its target changes; when its source changes, the new port sets the label. */
function movedEdge(graph: WorkflowGraph, edge: WorkflowEdge, connection: NewConnection): WorkflowEdge {
  if (
    edge.source_node_id === connection.source_node_id &&
    (connection.edge_label ?? null) === null &&
    connection.kind === edge.kind
  )
    return { ...edge, target_node_id: connection.target_node_id };
  const keepsLabel = exitLabels(graph, connection.source_node_id).length === 0;
  return withoutUndefined({
    ...edge,
    ...connection,
    edge_label: keepsLabel && connection.kind === "normal" ? edge.edge_label : connection.edge_label,
  });
}

function spliced(graph: WorkflowGraph, nodeId: string, edge: WorkflowEdge): WorkflowGraph {
  const node = graph.nodes[nodeId];
  if (!node) return graph;
  const kind = getNodeKind(node.node_type);
  if (kind.hasEntry === false) return graph;
  const into = graph.edges.map((known) =>
    known.id === edge.id ? { ...known, target_node_id: nodeId } : known,
  );
  if (kind.hasExit === false) return { ...graph, edges: into };
  return connectedOn({ ...graph, edges: into }, nodeId, edge.target_node_id);
}

/** Connects from the plain output of a node, or from its first. */
function connectedOn(graph: WorkflowGraph, source: string, target: string): WorkflowGraph {
  const node = graph.nodes[source];
  const routes = node && getNodeKind(node.node_type).routes;
  const edge_label = routes ? (exitLabels(graph, source)[0] ?? null) : null;
  return connected(graph, { source_node_id: source, target_node_id: target, kind: "normal", edge_label });
}

function moved(graph: WorkflowGraph, { places }: { places: Record<string, Place> }): WorkflowGraph {
  let nodes = graph.nodes;
  for (const [id, { x, y }] of Object.entries(places)) {
    const node = nodes[id];
    if (!node || (node.ui?.x === x && node.ui.y === y)) continue;
    if (nodes === graph.nodes) nodes = { ...nodes };
    nodes[id] = { ...node, ui: { ...node.ui, x, y } };
  }
  return nodes === graph.nodes ? graph : { ...graph, nodes };
}

function removed(
  graph: WorkflowGraph,
  nodes: ReadonlySet<string>,
  edges: ReadonlySet<string>,
): WorkflowGraph {
  const kept = Object.fromEntries(Object.entries(graph.nodes).filter(([id]) => !nodes.has(id)));
  const start =
    graph.start_node_id && nodes.has(graph.start_node_id) ? otherStart(kept) : graph.start_node_id;
  return withoutGone({
    ...graph,
    nodes: kept,
    start_node_id: start,
    edges: graph.edges.filter(
      ({ id, source_node_id, target_node_id }) =>
        !edges.has(id) && !nodes.has(source_node_id) && !nodes.has(target_node_id),
    ),
  });
}

const otherStart = (nodes: Record<string, WorkflowNode>) =>
  Object.values(nodes).find(({ node_type }) => getNodeKind(node_type).begins)?.id ?? null;

function withoutButConnected(graph: WorkflowGraph, id: string): WorkflowGraph {
  const into = graph.edges.filter((edge) => edge.target_node_id === id && edge.source_node_id !== id);
  const out = graph.edges.filter(
    (edge) => edge.source_node_id === id && edge.target_node_id !== id && edge.kind === "normal",
  );
  const targets = [...new Set(out.map((edge) => edge.target_node_id))];
  const bridges = into.flatMap((edge) => targets.map((target) => ({ edge, target })));
  return bridges.reduce(
    (next, { edge, target }) => {
      const bridge = { ...edge, target_node_id: target };
      if (!canConnect(next, bridge)) return next;
      const fresh = freshEdgeId(next.edges.map(({ id }) => id));
      return { ...next, edges: [...next.edges, { ...bridge, id: fresh }] };
    },
    removed(graph, new Set([id]), new Set()),
  );
}

export const withNode = (graph: WorkflowGraph, node: WorkflowNode): WorkflowGraph => ({
  ...graph,
  nodes: { ...graph.nodes, [node.id]: node },
});
