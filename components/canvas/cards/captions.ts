import { nodesOfBody } from "@/server/domain/graph/bodies";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { bodyIdOf, calledBy, getNodeKind, type WorkflowNode } from "@/server/domain/nodes";

/** What a card says that its own node doesn't know. */
export interface Caption {
  /** In place of the kind's summary: what the node runs, by name. */
  summary?: string;
  /** The node that runs this one, which is no part of the flow. */
  owner?: string;
}

/** The captions of nodes that run workflows or parts of this one, and of these parts. `names`: of workflows, by id. */
export function captionsOf(
  graph: WorkflowGraph,
  names: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, Caption> {
  const captions = new Map<string, Caption>();
  const add = (id: string, caption: Caption) => captions.set(id, { ...captions.get(id), ...caption });
  for (const node of Object.values(graph.nodes)) {
    const workflow = calledBy(node);
    const body = bodyIdOf(node);
    if (body !== undefined) {
      const part = graph.groups?.find(({ id }) => id === body) ?? graph.nodes[body];
      if (part) add(node.id, { summary: summaryOf(node, part.name || body) });
      for (const id of new Set([body, ...nodesOfBody(graph, body)]))
        if (graph.nodes[id]) add(id, { owner: node.name || node.id });
    } else if (workflow !== undefined) {
      const name = names.get(workflow);
      if (name !== undefined) add(node.id, { summary: summaryOf(node, name) });
    }
  }
  return captions;
}

/** "Summarize for each of state.tickets", or "Runs Summarize". */
function summaryOf(node: WorkflowNode, what: string): string {
  const kind = getNodeKind(node.node_type);
  const own = kind.summary(node.config, node);
  return kind.body ? `${what} ${own.charAt(0).toLowerCase()}${own.slice(1)}` : `Runs ${what}`;
}

export const isSameCaption = (a: Caption | undefined, b: Caption | undefined): boolean =>
  a?.summary === b?.summary && a?.owner === b?.owner;
