import { defined } from "@/server/domain/base/defined";
import { recordOf, textsOf } from "@/server/domain/base/guards";
import { freshEdgeId } from "@/server/domain/base/ids";
import { settingsOf, withSettings } from "@/server/domain/nodes";
import { getNodeKind, isRouterNode, routerKindOf, type WorkflowNode } from "../nodes";
import { followsBuiltIn, isDefaultLabel } from "../nodes/conditional-router";
import type { WorkflowEdge, WorkflowGraph } from "./graph";
import { newEdge } from "./new-edge";

/** The routes of a router as a person sees them: rows with a name, a condition and a target. */

/** One named route. */
export interface Route {
  label: string;
  /** Where conditions decide: the one of this way. */
  when?: string;
  /** Where it leads; several nodes begin side by side. */
  targets: string[];
  /** False: only an edge names it, so it may never be taken. */
  isOffered: boolean;
}

export interface RouterRoutes {
  routes: Route[];
  /** The route taken if none matches: one of the routes, a separate one, or none. */
  otherwise: { label: string | null; targets: string[] };
  /** Whether ways can be added, renamed and moved: a built-in rule has its own. */
  isOpen: boolean;
}

const isNormalFrom = (edge: WorkflowEdge, id: string) => edge.source_node_id === id && edge.kind === "normal";

/** The ways of a router; null for a node that does not route. */
export function routerRoutes(graph: WorkflowGraph, id: string): RouterRoutes | null {
  const node = graph.nodes[id];
  const kind = node && getNodeKind(node.node_type);
  if (!node || !kind?.routes) return null;
  const { conditions = [], default_label } = settingsOf(node);
  const by = routerKindOf(node);
  const when = new Map(by === "expression" ? conditions.map((one) => [one.label, one.when]) : []);
  const edges = graph.edges.filter((edge) => isNormalFrom(edge, id));
  const exits = (kind.exits?.(node.config) ?? []).map(({ label }) => label);
  const offered =
    kind.routesKey === undefined ? ownLabels(node) : [...new Set([...ownLabels(node), ...exits])];
  const named = [...offered, ...edges.flatMap(({ edge_label }) => edge_label || [])];
  const labels = [...new Set(named)].filter(
    (label) => offered.includes(label) || (label !== default_label && !isDefaultLabel(label)),
  );
  const targets = (label: string) =>
    edges.flatMap((edge) => (edge.edge_label === label ? edge.target_node_id : []));
  const fallback = edges.filter((edge) => isFallback(edge, default_label));
  const shared = fallback.find(({ edge_label }) => edge_label && labels.includes(edge_label))?.edge_label;
  return {
    routes: labels.map((label) => {
      const condition = when.get(label);
      return {
        label,
        ...defined({ when: condition }),
        targets: targets(label),
        isOffered: offered.includes(label) || takesAny(node),
      };
    }),
    otherwise: { label: shared ?? null, targets: fallback.map((edge) => edge.target_node_id) },
    isOpen: !isFixed(node),
  };
}

/** The ways that the router itself names, without the one that is only taken when nothing fits. */
function ownLabels(node: WorkflowNode): string[] {
  const { default_label, conditions = [], ways: routes = [] } = settingsOf(node);
  const by = routerKindOf(node);
  const { routesKey } = getNodeKind(node.node_type);
  if (routesKey !== undefined) return [...new Set(listIn(node, routesKey))];
  const own = by === "expression" ? conditions.map(({ label }) => label) : isFixed(node) ? null : routes;
  const exits = (getNodeKind(node.node_type).exits?.(node.config) ?? []).map(({ label }) => label);
  return [...new Set(own ?? exits.filter((label) => label !== default_label))];
}

/** Its ways are those of a built-in rule. */
const isFixed = (node: WorkflowNode) => isRouterNode(node) && followsBuiltIn(node.config);
const takesAny = (node: WorkflowNode) =>
  routerKindOf(node) !== "expression" &&
  !isFixed(node) &&
  getNodeKind(node.node_type).routesKey === undefined;
const listIn = (node: WorkflowNode, key: string): string[] => textsOf(recordOf(node.config)[key]);

/** Whether an edge is taken where nothing else fits; the same rule by which a run takes it. */
const isFallback = (edge: WorkflowEdge, default_label: string | undefined) =>
  edge.is_default ||
  (!!edge.edge_label && (edge.edge_label === default_label || isDefaultLabel(edge.edge_label)));

/** One more way, with a name that is free or the one that is asked for. */
export function addRoute(graph: WorkflowGraph, id: string, name?: string): WorkflowGraph {
  const label = name ?? newRouteLabel(graph, id);
  return writeRoutes(graph, id, (routes) =>
    routes.some((way) => way.label === label) ? routes : [...routes, { label, when: "" }],
  );
}

/** A name for a way that none has yet. */
export function newRouteLabel(graph: WorkflowGraph, id: string): string {
  const taken = new Set(routerRoutes(graph, id)?.routes.map(({ label }) => label));
  for (let n = taken.size + 1; ; n++) if (!taken.has(`way ${n}`)) return `way ${n}`;
}

/** Without a way, and without the edges that are for it. */
export function removeRoute(graph: WorkflowGraph, id: string, label: string): WorkflowGraph {
  const rest = writeRoutes(graph, id, (routes) => routes.filter((way) => way.label !== label));
  return {
    ...rest,
    edges: rest.edges.filter((edge) => !(isNormalFrom(edge, id) && edge.edge_label === label)),
  };
}

/** Another name for a way; its edges follow. Nothing changes where the name is taken or empty. */
export function renameRoute(graph: WorkflowGraph, id: string, from: string, to: string): WorkflowGraph {
  const known = routerRoutes(graph, id)?.routes ?? [];
  if (to === "" || known.some(({ label }) => label === to)) return graph;
  const next = writeRoutes(graph, id, (routes) =>
    routes.map((way) => (way.label === from ? { ...way, label: to } : way)),
  );
  const node = next.nodes[id];
  const isDefault = node && settingsOf(node).default_label === from;
  return {
    ...next,
    nodes: isDefault ? { ...next.nodes, [id]: withConfig(node, { default_label: to }) } : next.nodes,
    edges: next.edges.map((edge) =>
      isNormalFrom(edge, id) && edge.edge_label === from ? { ...edge, edge_label: to } : edge,
    ),
  };
}

/** The way at one place goes to another; both count from 0. */
export function moveRoute(graph: WorkflowGraph, id: string, from: number, to: number): WorkflowGraph {
  return writeRoutes(graph, id, (routes) => {
    const next = [...routes];
    const [moved] = next.splice(from, 1);
    return moved ? next.toSpliced(to, 0, moved) : routes;
  });
}

/** When a way is taken, where conditions decide. */
export function setWhen(graph: WorkflowGraph, id: string, label: string, when: string): WorkflowGraph {
  return writeRoutes(graph, id, (routes) =>
    routes.map((way) => (way.label === label ? { ...way, when } : way)),
  );
}

/** Lets a way lead to this node instead of where its first edge leads; null: nowhere. */
export function connectRoute(
  graph: WorkflowGraph,
  id: string,
  label: string,
  target: string | null,
): WorkflowGraph {
  const first = graph.edges.find((edge) => isNormalFrom(edge, id) && edge.edge_label === label);
  return lead(graph, first, target, { source_node_id: id, edge_label: label });
}

/** Without the edge of a way to this node. */
export function disconnectRoute(
  graph: WorkflowGraph,
  id: string,
  label: string,
  target: string,
): WorkflowGraph {
  return {
    ...graph,
    edges: graph.edges.filter(
      (edge) => !(isNormalFrom(edge, id) && edge.edge_label === label && edge.target_node_id === target),
    ),
  };
}

/** Sets the route taken if none matches: a route by name, a separate one to a node, or none. */
export function setOtherwise(
  graph: WorkflowGraph,
  id: string,
  choice: { way: string } | { node: string } | null,
): WorkflowGraph {
  const node = graph.nodes[id];
  const routes = routerRoutes(graph, id);
  if (!node || !routes) return graph;
  const { default_label } = settingsOf(node);
  const isWay = (label: string | null | undefined) =>
    !!label && routes.routes.some((way) => way.label === label);
  const own = graph.edges.find(
    (edge) => isNormalFrom(edge, id) && isFallback(edge, default_label) && !isWay(edge.edge_label),
  );
  const cleared: WorkflowGraph = {
    ...graph,
    nodes: { ...graph.nodes, [id]: withConfig(node, { default_label: undefined }) },
    edges: graph.edges.flatMap((edge) => {
      if (!isNormalFrom(edge, id) || !isFallback(edge, default_label)) return edge;
      return isWay(edge.edge_label) ? { ...edge, is_default: false } : [];
    }),
  };
  if (choice === null) return cleared;
  if ("way" in choice)
    return {
      ...cleared,
      edges: cleared.edges.map((edge) =>
        isNormalFrom(edge, id) && edge.edge_label === choice.way ? { ...edge, is_default: true } : edge,
      ),
    };
  const edge =
    own ??
    newEdge({
      id: freshEdgeId(graph.edges.map((one) => one.id)),
      source_node_id: id,
      target_node_id: choice.node,
    });
  return {
    ...cleared,
    edges: [...cleared.edges, { ...edge, target_node_id: choice.node, is_default: true }],
  };
}

function lead(
  graph: WorkflowGraph,
  edge: WorkflowEdge | undefined,
  target: string | null,
  from: Pick<WorkflowEdge, "source_node_id" | "edge_label">,
): WorkflowGraph {
  if (target === null) return { ...graph, edges: graph.edges.filter((known) => known !== edge) };
  const isThere = graph.edges.some(
    (known) =>
      isNormalFrom(known, from.source_node_id) &&
      known.edge_label === from.edge_label &&
      known.target_node_id === target,
  );
  if (isThere) return graph;
  if (edge)
    return {
      ...graph,
      edges: graph.edges.map((known) => (known === edge ? { ...known, target_node_id: target } : known)),
    };
  const id = freshEdgeId(graph.edges.map((known) => known.id));
  return { ...graph, edges: [...graph.edges, newEdge({ id, ...from, target_node_id: target })] };
}

/** Changes the names and conditions that the router itself keeps; those that only edges name are taken in first. */
function writeRoutes(
  graph: WorkflowGraph,
  id: string,
  change: (routes: { label: string; when: string }[]) => { label: string; when: string }[],
): WorkflowGraph {
  const node = graph.nodes[id];
  const known = routerRoutes(graph, id);
  if (!node || !known?.isOpen) return graph;
  const { routesKey } = getNodeKind(node.node_type);
  const own = new Set(ownLabels(node));
  const before = known.routes
    .filter(({ isOffered, label }) => (routesKey === undefined ? isOffered : own.has(label)))
    .map(({ label, when }) => ({ label, when: when ?? "" }));
  const next = change(before);
  const patch =
    routerKindOf(node) === "expression"
      ? { conditions: next }
      : { [routesKey ?? "ways"]: next.map(({ label }) => label) };
  return { ...graph, nodes: { ...graph.nodes, [id]: withConfig(node, patch) } };
}

function withConfig(node: WorkflowNode, patch: Record<string, unknown>): WorkflowNode {
  const config = Object.entries({ ...node.config, ...patch }).filter(([, value]) => value !== undefined);
  return withSettings(node, Object.fromEntries(config));
}
