import { bodyIdOf, getNodeKind, isExecutable, type WorkflowNode, withSettings } from "../nodes";
import type { WorkflowGraph } from "./graph";

// Bodies: nodes and groups that another node of the same workflow runs, such as a map for each item.

type Parts = Pick<WorkflowGraph, "nodes" | "groups">;

/** The nodes of a body: of a group, or the node of that id. Empty if there is neither. */
export function nodesOfBody(graph: Parts, bodyId: string): string[] {
  const group = graph.groups?.find(({ id }) => id === bodyId);
  if (group) return group.node_ids.filter((id) => isPart(graph, id));
  return isPart(graph, bodyId) ? [bodyId] : [];
}

const isPart = ({ nodes }: Parts, id: string): boolean =>
  Object.hasOwn(nodes, id) && nodes[id] !== undefined && isExecutable(nodes[id]);

/** Nodes that another node runs as its body, each with that node: they are no part of the flow. */
export const ownersOfBodies = (graph: Parts): Map<string, WorkflowNode> =>
  new Map(
    Object.values(graph.nodes).flatMap((owner) => {
      const id = bodyIdOf(owner);
      return id === undefined ? [] : nodesOfBody(graph, id).map((node) => [node, owner] as const);
    }),
  );

/** All nodes that another node runs as its body. */
export const bodyNodes = (graph: Parts): Set<string> => new Set(ownersOfBodies(graph).keys());

/** These nodes and those that run in them, and so on. */
export function withInnerBodies(graph: Parts, ids: readonly string[]): Set<string> {
  const all = new Set<string>();
  const open = [...ids];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (all.has(id)) continue;
    all.add(id);
    const node = graph.nodes[id];
    const body = node && bodyIdOf(node);
    if (body !== undefined) open.push(...nodesOfBody(graph, body));
  }
  return all;
}

/** The setting in which nodes of this kind name their body. */
export const bodyFieldOf = (type: WorkflowNode["node_type"]): string | undefined =>
  getNodeKind(type).fields.find(({ as }) => as === "body")?.key;

/** A node with the id of its body replaced; undefined from `idOf` keeps the id. */
export function withBodyId(node: WorkflowNode, idOf: (id: string) => string | undefined): WorkflowNode {
  const field = bodyFieldOf(node.node_type);
  const id = bodyIdOf(node);
  const next = id === undefined ? undefined : idOf(id);
  return field === undefined || next === undefined || next === id
    ? node
    : withSettings(node, { ...node.config, [field]: next });
}
