import type { WorkflowEdge, WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, isRouterNode, routerKindOf, settingsOf } from "@/server/domain/nodes";
import { followsBuiltIn } from "@/server/domain/nodes/conditional-router";

/** An output port on the right side of a node card. */
export interface Port {
  id: string;
  kind: "out" | "exit" | "error";
  /** The label of edges from here; null for the plain output. */
  label: string | null;
  title: string;
  isDefault: boolean;
  /** False if an edge uses a label that the node does not offer. */
  isOffered: boolean;
  isConnected: boolean;
}

export const OUT = "out";
export const ERROR = "error";
const EXIT = "exit:";

/** The source port of an edge. */
export function portOf(
  edge: Pick<WorkflowEdge, "kind" | "edge_label">,
  source: WorkflowNode | undefined,
): string {
  if (edge.kind === "error") return ERROR;
  if (edge.edge_label && source && getNodeKind(source.node_type).routes) return EXIT + edge.edge_label;
  return OUT;
}

/** The kind and label of a new edge from this port. */
export function edgeFrom(portId: string): Pick<WorkflowEdge, "kind" | "edge_label"> {
  if (portId === ERROR) return { kind: "error", edge_label: null };
  return { kind: "normal", edge_label: portId.startsWith(EXIT) ? portId.slice(EXIT.length) : null };
}

/** The ports of a node, in the order on its card. */
export function portsOf(node: WorkflowNode, outgoing: readonly WorkflowEdge[]): Port[] {
  const kind = getNodeKind(node.node_type);
  if (kind.hasExit === false) return [];
  const used = new Set(outgoing.map((edge) => portOf(edge, node)));
  const ports = kind.routes ? exitPorts(node, outgoing, used) : [];
  // A router with an Otherwise route always takes one of its routes, so it needs no plain output.
  const isOpen = takesAnyLabel(node) && !settingsOf(node).default_label && !outgoing.some(isDefault);
  if (!kind.routes || isOpen || used.has(OUT) || ports.length === 0)
    ports.push(
      newPort({
        id: OUT,
        kind: "out",
        title: kind.routes ? (outgoing.some(isOwnDefault) ? "otherwise" : "another route") : "next",
        isConnected: used.has(OUT),
      }),
    );
  if (node.on_error === "error_edge" || used.has(ERROR))
    ports.push(newPort({ id: ERROR, kind: "error", title: "on error", isConnected: used.has(ERROR) }));
  return ports;
}

/** The ports of a node in a graph. */
export const portsIn = ({ edges }: WorkflowGraph, node: WorkflowNode): Port[] =>
  portsOf(
    node,
    edges.filter(({ source_node_id }) => source_node_id === node.id),
  );

const isDefault = ({ kind, is_default }: WorkflowEdge) => kind === "normal" && is_default;

/** A separate default edge, without the label of a route. */
const isOwnDefault = (edge: WorkflowEdge) => edge.is_default && !edge.edge_label;

/** The possible edge labels of a router: its routes, then further labels of its edges. */
export function exitLabels(graph: WorkflowGraph, nodeId: string): string[] {
  const node = graph.nodes[nodeId];
  if (!node) return [];
  return portsIn(graph, node).flatMap(({ label }) => (label === null ? [] : [label]));
}

function exitPorts(node: WorkflowNode, outgoing: readonly WorkflowEdge[], used: ReadonlySet<string>): Port[] {
  const kind = getNodeKind(node.node_type);
  const offered = kind.exits?.(node.config) ?? [];
  const known = new Set(offered.map(({ label }) => label));
  const others = new Set(
    outgoing.flatMap(({ edge_label, kind }) =>
      kind === "normal" && edge_label && !known.has(edge_label) ? [edge_label] : [],
    ),
  );
  const free = takesAnyLabel(node);
  return [
    ...offered.map(({ label, title, isDefault }) =>
      newPort({
        id: EXIT + label,
        kind: "exit",
        label,
        title: title ?? label,
        isDefault: !!isDefault,
        isConnected: used.has(EXIT + label),
      }),
    ),
    ...[...others].map((label) =>
      newPort({ id: EXIT + label, kind: "exit", label, title: label, isOffered: free, isConnected: true }),
    ),
  ];
}

/** For routers by value, by model or by custom rule, only the edges name the possible answers. */
function takesAnyLabel(node: WorkflowNode): boolean {
  const by = routerKindOf(node);
  return isRouterNode(node) && by !== "expression" && !followsBuiltIn(node.config);
}

const newPort = (port: Pick<Port, "id" | "kind" | "title" | "isConnected"> & Partial<Port>): Port => ({
  label: null,
  isDefault: false,
  isOffered: true,
  ...port,
});
