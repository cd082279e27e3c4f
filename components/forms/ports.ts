import type { WorkflowEdge, WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, isRouterNode, routerKindOf, settingsOf } from "@/server/domain/nodes";
import { followsBuiltIn } from "@/server/domain/nodes/conditional-router";

/** A place on the right side of a card where edges begin. */
export interface Port {
  id: string;
  kind: "out" | "exit" | "error";
  /** The label that an edge from here carries; null for the plain way out. */
  label: string | null;
  title: string;
  isDefault: boolean;
  /** False: an edge uses this label although the node does not offer it. */
  isOffered: boolean;
  isConnected: boolean;
}

export const OUT = "out";
export const ERROR = "error";
const EXIT = "exit:";

/** The port at which an edge begins. */
export function portOf(
  edge: Pick<WorkflowEdge, "kind" | "edge_label">,
  source: WorkflowNode | undefined,
): string {
  if (edge.kind === "error") return ERROR;
  if (edge.edge_label && source && getNodeKind(source.node_type).routes) return EXIT + edge.edge_label;
  return OUT;
}

/** What a new edge from this port says. */
export function edgeFrom(portId: string): Pick<WorkflowEdge, "kind" | "edge_label"> {
  if (portId === ERROR) return { kind: "error", edge_label: null };
  return { kind: "normal", edge_label: portId.startsWith(EXIT) ? portId.slice(EXIT.length) : null };
}

/** The ports of a node, in the order in which its card shows them. */
export function portsOf(node: WorkflowNode, outgoing: readonly WorkflowEdge[]): Port[] {
  const kind = getNodeKind(node.node_type);
  if (kind.hasExit === false) return [];
  const used = new Set(outgoing.map((edge) => portOf(edge, node)));
  const ports = kind.routes ? exitPorts(node, outgoing, used) : [];
  // A router with an Otherwise branch always takes one of its branches: no stub for another one.
  const isOpen = takesAnyLabel(node) && !settingsOf(node).default_label && !outgoing.some(isDefault);
  if (!kind.routes || isOpen || used.has(OUT) || ports.length === 0)
    ports.push(
      newPort({
        id: OUT,
        kind: "out",
        title: kind.routes ? (outgoing.some(isOwnDefault) ? "otherwise" : "another way") : "next",
        isConnected: used.has(OUT),
      }),
    );
  if (node.on_error === "error_edge" || used.has(ERROR))
    ports.push(newPort({ id: ERROR, kind: "error", title: "on error", isConnected: used.has(ERROR) }));
  return ports;
}

/** The ports of a node as its drawing has it. */
export const portsIn = ({ edges }: WorkflowGraph, node: WorkflowNode): Port[] =>
  portsOf(
    node,
    edges.filter(({ source_node_id }) => source_node_id === node.id),
  );

const isDefault = ({ kind, is_default }: WorkflowEdge) => kind === "normal" && is_default;

/** A line of its own for what fits no way. */
const isOwnDefault = (edge: WorkflowEdge) => edge.is_default && !edge.edge_label;

/** The labels that edges of a router may carry: what it offers, then what its edges use besides. */
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

/** Routers by value, by model, or by a rule of one's own answer with words that only their edges name. */
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
