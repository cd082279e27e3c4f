import { exitLabels } from "@/components/forms/ports";
import { freshEdgeId, freshNodeId } from "@/server/domain/base/ids";
import { type JsonSchema, StateKey } from "@/server/domain/base/values";
import { WorkflowEdge, type WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, type NodeBase, type NodeType } from "@/server/domain/nodes";
import { type Fragment, withFragment } from "./fragment";
import { type Place, placeAfter, placeOnEdge, shiftRight } from "./placing";

/** A change of the drawing: pure, and named for the undo button, menus and help. */
export interface Edit<A> {
  id: string;
  label: string;
  /** As `Kbd` takes it, where a key does it. */
  shortcut?: string;
  apply(graph: WorkflowGraph, args: A): WorkflowGraph;
}

const edit = <A>(it: Edit<A>): Edit<A> => it;

export interface NewNode {
  id: string;
  type: NodeType;
  /** Absent: beside what it hangs on. */
  at?: Place | undefined;
  /** Comes after this node, from this way out. */
  after?: { nodeId: string; edge: Pick<WorkflowEdge, "kind" | "edge_label"> } | undefined;
  /** Comes in between. */
  onEdge?: string | undefined;
  config?: Record<string, unknown> | undefined;
  base?: Partial<NodeBase> | undefined;
}

export interface NewConnection {
  source_node_id: string;
  target_node_id: string;
  kind: WorkflowEdge["kind"];
  edge_label?: string | null | undefined;
}

type BasePatch = Partial<Omit<NodeBase, "id">>;
type EdgePatch = Partial<Omit<WorkflowEdge, "id">>;
type WorkflowPatch = Partial<
  Pick<WorkflowGraph, "description" | "global_state_schema" | "config" | "start_node_id">
>;

/** Everything that can change a drawing. */
export const edits = {
  addNode: edit<NewNode>({
    id: "add_node",
    label: "Add node",
    apply(graph, { id, type, at, after, onEdge, config, base }) {
      const kind = getNodeKind(type);
      const source = after && graph.nodes[after.nodeId];
      const edge = onEdge === undefined ? undefined : graph.edges.find((known) => known.id === onEdge);
      const onLine = edge && placeOnEdge(graph, edge);
      const place = at ?? onLine?.place ?? (source ? placeAfter(graph, source.id) : { x: 0, y: 0 });
      const node = WorkflowNode.parse({
        name: kind.title,
        ...kind.newNode?.(),
        ...base,
        id,
        node_type: type,
        config: { ...(kind.newConfig?.() as object), ...config },
        ui: place,
      });
      let next = withNode(graph, node);
      if (kind.begins && !next.start_node_id) next = { ...next, start_node_id: id };
      if (kind.executes === false) return next;
      if (onLine && !at && onLine.shift > 0) next = shiftRight(next, edge.target_node_id, onLine.shift, id);
      if (edge) return spliced(next, id, edge);
      if (source && kind.hasEntry !== false)
        return connected(next, { source_node_id: source.id, target_node_id: id, ...after.edge });
      return next;
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
    label: "Put into connection",
    apply(graph, { nodeId, edgeId, place }) {
      const node = graph.nodes[nodeId];
      const edge = graph.edges.find(({ id }) => id === edgeId);
      if (!node || !edge || edge.source_node_id === nodeId || edge.target_node_id === nodeId) return graph;
      return spliced(
        place ? withNode(graph, { ...node, ui: { ...node.ui, ...place } }) : graph,
        nodeId,
        edge,
      );
    },
  }),

  move: edit<{ places: Record<string, Place> }>({ id: "move", label: "Move", apply: moved }),

  layout: edit<{ places: Record<string, Place> }>({
    id: "layout",
    label: "Tidy up",
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
    label: "Change node",
    apply(graph, { id, patch }) {
      const node = graph.nodes[id];
      return node ? withNode(graph, clean({ ...node, ...patch })) : graph;
    },
  }),

  setConfig: edit<{ id: string; patch: Record<string, unknown> }>({
    id: "set_config",
    label: "Change settings",
    apply(graph, { id, patch }) {
      const node = graph.nodes[id];
      if (!node) return graph;
      const before = exitsOf(node);
      // The kind's own schema will say what is wrong with it; a half-written value must not be lost meanwhile.
      const next = { ...node, config: clean({ ...node.config, ...patch }) } as WorkflowNode;
      return followRename(withNode(graph, next), id, before, exitsOf(next));
    },
  }),

  setInputs: edit<{ id: string; schema: JsonSchema | undefined }>({
    id: "set_inputs",
    label: "Change inputs",
    apply(graph, { id, schema }) {
      const node = graph.nodes[id];
      if (!node) return graph;
      const names = Object.keys((schema?.properties as object | undefined) ?? {});
      const output_keys = names.filter((name) => StateKey.safeParse(name).success);
      const config = clean({ ...node.config, input_schema: schema });
      return withNode(graph, { ...node, output_keys, config } as WorkflowNode);
    },
  }),

  setEdge: edit<{ id: string; patch: EdgePatch }>({
    id: "set_edge",
    label: "Change connection",
    apply: (graph, { id, patch }) => ({
      ...graph,
      edges: graph.edges.map((edge) => (edge.id === id ? clean({ ...edge, ...patch }) : edge)),
    }),
  }),

  setWorkflow: edit<{ patch: WorkflowPatch }>({
    id: "set_workflow",
    label: "Change workflow",
    apply: (graph, { patch }) => clean({ ...graph, ...patch }),
  }),

  /** Everything at once, such as one's own version after a conflict. */
  replace: edit<{ graph: WorkflowGraph }>({
    id: "replace",
    label: "Replace drawing",
    apply: (_graph, { graph }) => graph,
  }),
};

/** Whether this connection may exist: both ends there, allowed by their kinds, and not drawn already. */
export function canConnect(graph: WorkflowGraph, connection: NewConnection): boolean {
  const source = graph.nodes[connection.source_node_id];
  const target = graph.nodes[connection.target_node_id];
  if (!source || !target || source.id === target.id) return false;
  if (getNodeKind(source.node_type).hasExit === false || getNodeKind(target.node_type).hasEntry === false)
    return false;
  return !graph.edges.some((edge) => isSameConnection(edge, connection));
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
  const id = freshEdgeId(graph.edges.map((edge) => edge.id));
  return { ...graph, edges: [...graph.edges, WorkflowEdge.parse({ id, ...connection })] };
}

/** A connection keeps its words when its end moves; when its beginning moves, the new port says the words. */
function movedEdge(graph: WorkflowGraph, edge: WorkflowEdge, connection: NewConnection): WorkflowEdge {
  if (
    edge.source_node_id === connection.source_node_id &&
    (connection.edge_label ?? null) === null &&
    connection.kind === edge.kind
  )
    return { ...edge, target_node_id: connection.target_node_id };
  const keepsLabel = exitLabels(graph, connection.source_node_id).length === 0;
  return clean({
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
  const label = kind.routes ? (exitLabels(graph, nodeId)[0] ?? null) : null;
  return connected(
    { ...graph, edges: into },
    { source_node_id: nodeId, target_node_id: edge.target_node_id, kind: "normal", edge_label: label },
  );
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
  return {
    ...graph,
    nodes: kept,
    start_node_id: start,
    edges: graph.edges.filter(
      ({ id, source_node_id, target_node_id }) =>
        !edges.has(id) && !nodes.has(source_node_id) && !nodes.has(target_node_id),
    ),
  };
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

/** When a way out gets another name, the lines from it keep hanging on it. */
function followRename(
  graph: WorkflowGraph,
  id: string,
  before: readonly string[],
  after: readonly string[],
): WorkflowGraph {
  const gone = before.filter((label) => !after.includes(label));
  const come = after.filter((label) => !before.includes(label));
  const [from] = gone;
  const [to] = come;
  if (gone.length !== 1 || come.length !== 1 || from === undefined || to === undefined) return graph;
  return {
    ...graph,
    edges: graph.edges.map((edge) =>
      edge.source_node_id === id && edge.edge_label === from ? { ...edge, edge_label: to } : edge,
    ),
  };
}

function exitsOf(node: WorkflowNode): string[] {
  const kind = getNodeKind(node.node_type);
  return kind.routes ? (kind.exits?.(node.config) ?? []).map(({ label }) => label) : [];
}

const withNode = (graph: WorkflowGraph, node: WorkflowNode): WorkflowGraph => ({
  ...graph,
  nodes: { ...graph.nodes, [node.id]: node },
});

/** `undefined` means: take it away. */
function clean<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as T;
}
