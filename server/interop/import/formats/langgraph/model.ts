/** A graph as LangGraph describes it: names, and what leads where. What its steps do is code, which no file holds. */
export interface LangGraph {
  name: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
}
export interface GraphNode {
  id: string;
  name: string;
  /** Its place in the file, dotted. */
  at: string;
}
export interface GraphEdge {
  from: string;
  to: string;
  isConditional: boolean;
  label: string | null;
  /** The name of the function that decides. */
  decides: string | null;
}

export const START = "__start__";
export const END = "__end__";

/** Whether a node only marks where a graph inside another begins or ends. */
const isMark = (id: string): boolean => id !== START && id !== END && /:__(start|end)__$/.test(id);

/** The graph without the marks of graphs inside it: what led to one leads to what came after it. */
export function withoutMarks({ name, nodes, edges }: LangGraph): LangGraph {
  let left = edges;
  for (const { id } of nodes.filter((node) => isMark(node.id))) {
    const out = left.filter(({ from }) => from === id);
    left = left.flatMap((edge) => {
      if (edge.from === id) return [];
      if (edge.to !== id) return [edge];
      return out.map((next) => ({
        ...edge,
        to: next.to,
        isConditional: edge.isConditional || next.isConditional,
        label: edge.label ?? next.label,
      }));
    });
  }
  const seen = new Set<string>();
  const once = left.filter(({ from, to, label }) => {
    const key = JSON.stringify([from, to, label]);
    return !seen.has(key) && seen.add(key);
  });
  return { name, nodes: nodes.filter(({ id }) => !isMark(id)), edges: once };
}
