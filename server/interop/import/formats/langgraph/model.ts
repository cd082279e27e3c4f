import type { Work } from "@/server/domain/base/work-budget";

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
  /** Where the graph stops for a person: before this node, after it, or both. */
  stops: readonly Stop[];
}
type Stop = "before" | "after";

/** What `__interrupt` of a node says. */
export const stopsOf = (interrupt: string): Stop[] =>
  (["before", "after"] as const).filter((stop) => interrupt.includes(stop));
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
export function withoutMarks({ name, nodes, edges }: LangGraph, work: Work): LangGraph {
  const marks = new Map(nodes.filter(({ id }) => isMark(id)).map(({ id }) => [id, [] as GraphEdge[]]));
  for (const edge of edges) marks.get(edge.from)?.push(edge);
  const behind = new Map<string, readonly GraphEdge[]>();
  const leaving = (mark: string): readonly GraphEdge[] => {
    const known = behind.get(mark);
    if (known) return known;
    // Marks in a circle lead nowhere.
    behind.set(mark, []);
    const found = once((marks.get(mark) ?? []).flatMap(past));
    behind.set(mark, found);
    return found;
  };
  const past = (edge: GraphEdge): readonly GraphEdge[] => {
    if (!marks.has(edge.to)) return [edge];
    const found = leaving(edge.to);
    work.makeList(found.length);
    return found.map((next) => ({
      ...edge,
      to: next.to,
      isConditional: edge.isConditional || next.isConditional,
      label: edge.label ?? next.label,
    }));
  };
  return {
    name,
    nodes: nodes.filter(({ id }) => !marks.has(id)),
    edges: once(edges.filter(({ from }) => !marks.has(from)).flatMap(past)),
  };
}

function once(edges: readonly GraphEdge[]): GraphEdge[] {
  const seen = new Set<string>();
  return edges.filter(({ from, to, label }) => {
    const key = JSON.stringify([from, to, label]);
    return !seen.has(key) && seen.add(key);
  });
}
