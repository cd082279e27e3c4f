import { calledBy, getNodeKind, isExecutable, type WorkflowNode, writtenKeys } from "../nodes";
import { analyse } from "./analysis";
import { bodyNodes, nodesOfBody, withInnerBodies } from "./bodies";
import type { NodeGroup, WorkflowEdge } from "./graph";
import { WorkflowGraph } from "./graph";
import { keysAvailableAt } from "./keys/data-flow";
import { keysRead } from "./keys/keys-read";
import { inputSchemaOf } from "./only-node";
import { isStartNode } from "./run-input";

// Workflows within workflows: which others a graph runs, and which of its parts run as separate workflows.

/** The ids of the workflows that its nodes run, each once. */
export const calledWorkflows = (graph: Pick<WorkflowGraph, "nodes">): string[] => [
  ...new Set(Object.values(graph.nodes).flatMap((node) => calledBy(node) ?? [])),
];

/** Why a node or group can't be the body of a node, as a message; null if it can. */
export function bodyError(graph: WorkflowGraph, ownerId: string, bodyId: string): string | null {
  const ids = nodesOfBody(graph, bodyId);
  if (ids.length === 0) return `There is no node or group "${bodyId}" to run.`;
  if (withInnerBodies(graph, ids).has(ownerId)) return "A node can't run itself.";
  for (const id of ids) {
    const node = graph.nodes[id];
    if (!node) continue;
    if (isStartNode(node) || getNodeKind(node.node_type).ends)
      return `${node.name || id} can't be repeated: start and end nodes belong to the whole workflow.`;
  }
  const inside = new Set(ids);
  const crossing = graph.edges.find(
    ({ source_node_id, target_node_id }) => inside.has(source_node_id) !== inside.has(target_node_id),
  );
  const entered = new Set(graph.edges.map(({ target_node_id }) => target_node_id));
  if (!crossing)
    return ids.every((id) => entered.has(id))
      ? "It has no first node, because each of its nodes follows another one."
      : null;
  const [id, other] = inside.has(crossing.source_node_id)
    ? [crossing.source_node_id, crossing.target_node_id]
    : [crossing.target_node_id, crossing.source_node_id];
  const name = (of: string) => graph.nodes[of]?.name || of;
  return `${name(id)} is connected to ${name(other)}. What is repeated can't have connections to other nodes.`;
}

/**
 * The body of a node as a separate workflow: it starts with what its nodes read and ends with what they write. Null if
 * there is no such node or group.
 */
export function graphOfBody(graph: WorkflowGraph, bodyId: string): WorkflowGraph | null {
  const inside = withInnerBodies(graph, nodesOfBody(graph, bodyId));
  if (inside.size === 0) return null;
  const nodes = Object.fromEntries(Object.entries(graph.nodes).filter(([id]) => inside.has(id)));
  const edges = graph.edges.filter(
    ({ source_node_id, target_node_id }) => inside.has(source_node_id) && inside.has(target_node_id),
  );
  return partGraph(graph, nodes, edges);
}

/** How a part is entered and left, if not where no edge leads. */
interface PartEnds {
  /** The nodes that follow the start. */
  entries?: readonly string[] | undefined;
  /** Edges of its nodes that lead to the end instead. */
  exits?: readonly WorkflowEdge[] | undefined;
  /** Keys that it asks for besides those that it needs. */
  asks?: readonly string[];
}

/**
 * Some nodes of a graph as a separate workflow. `edges`: those among them. Nodes that no edge leads to follow the start,
 * and those that none leaves lead to the end. It asks for what they read before they certainly wrote it.
 */
export function partGraph(
  graph: WorkflowGraph,
  nodes: WorkflowGraph["nodes"],
  edges: readonly WorkflowEdge[],
  { entries = [], exits, asks = [] }: PartEnds = {},
): WorkflowGraph {
  const start = freeId("start", nodes);
  const end = freeId("end", nodes);
  const { groups: _groups, dismissed_advice: _advice, ...rest } = graph;
  const groups = groupsWithin(graph, new Set(Object.keys(nodes)));
  const bodies = bodyNodes({ nodes, groups });
  const flow = Object.values(nodes).filter((node) => isExecutable(node) && !bodies.has(node.id));
  const written = new Set(flow.flatMap(writtenKeys));
  const entered = new Set(edges.map(({ target_node_id }) => target_node_id));
  const left = new Set(
    edges.flatMap(({ source_node_id, kind }) => (kind === "normal" ? source_node_id : [])),
  );
  const first = entries.length > 0 ? entries : flow.flatMap(({ id }) => (entered.has(id) ? [] : id));
  const last = flow.flatMap(({ id }) =>
    left.has(id) ? [] : { id: `out_${id}`.slice(0, 64), source_node_id: id },
  );
  const draw = (required: string[], optional: string[]) =>
    WorkflowGraph.parse({
      ...rest,
      ...(groups.length > 0 ? { groups } : {}),
      start_node_id: start,
      nodes: {
        [start]: {
          id: start,
          node_type: "start",
          name: "Start",
          output_keys: [...required, ...optional],
          config: { input_schema: inputSchemaOf(graph, required, optional) },
          ...besideOf(nodes, "before"),
        },
        ...nodes,
        [end]: {
          id: end,
          node_type: "end",
          name: "End",
          optional_input_keys: [...written],
          config: {},
          ...besideOf(nodes, "after"),
        },
      },
      edges: [
        ...edges,
        ...first.map((id) => ({ id: `in_${id}`.slice(0, 64), source_node_id: start, target_node_id: id })),
        ...(exits ?? last).map((edge) => ({ ...edge, target_node_id: end })),
      ],
    });
  const { required, optional } = keysWanted(draw([], []), flow, written);
  const all = [...new Set([...required, ...asks])];
  return draw(
    all,
    optional.filter((key) => !asks.includes(key)),
  );
}

/** What nodes of a graph read that it does not certainly write before. `required`: a run can't do without them. */
function keysWanted(
  { global_state_schema: _defaults, ...graph }: WorkflowGraph,
  flow: readonly WorkflowNode[],
  written: ReadonlySet<string>,
): { required: string[]; optional: string[] } {
  const analysis = analyse(graph);
  const required = new Set<string>();
  const optional = new Set<string>();
  for (const node of flow) {
    const reads = keysRead(node);
    const isOwn = [...reads.required, ...reads.optional].some((key) => written.has(key));
    const known = new Map(
      isOwn ? keysAvailableAt(graph, node.id, analysis).map(({ key, certain }) => [key, certain]) : [],
    );
    for (const key of reads.required) if (!known.has(key)) required.add(key);
    for (const key of [...reads.required, ...reads.optional]) if (!known.get(key)) optional.add(key);
  }
  return { required: [...required], optional: [...optional].filter((key) => !required.has(key)) };
}

const groupsWithin = (graph: WorkflowGraph, ids: ReadonlySet<string>): NodeGroup[] =>
  (graph.groups ?? []).filter(
    ({ node_ids }) => node_ids.length < ids.size && node_ids.every((id) => ids.has(id)),
  );

function freeId(wanted: string, nodes: WorkflowGraph["nodes"]): string {
  let id = wanted;
  while (Object.hasOwn(nodes, id)) id = `_${id}`;
  return id;
}

/** The distance between two columns of cards. */
const COLUMN = 320;

/** A place before or after nodes that have theirs, at the height of the first one. */
function besideOf(
  nodes: WorkflowGraph["nodes"],
  where: "before" | "after",
): { ui?: { x: number; y: number } } {
  const places = Object.values(nodes).flatMap(({ ui }) => ui ?? []);
  const [first] = places;
  if (!first) return {};
  const columns = places.map(({ x }) => x);
  const x = where === "before" ? Math.min(...columns) - COLUMN : Math.max(...columns) + COLUMN;
  return { ui: { x, y: first.y } };
}
