import type { CanvasRun, EdgeRunView, NodeRunView } from "@/components/canvas/canvas-run-context";
import { runParts } from "@/components/canvas/run-parts";
import { oneLine } from "@/components/display/one-line";
import type { NodeComparison, NodePart, RunComparison } from "@/server/domain/run/compare/compare";

/** Characters of each output on a card. */
const MAX_EXCERPT = 120;

/** Two runs as one on the canvas: cards show how a step differs, edges which run took them. */
export function compareOnCanvas(comparison: Pick<RunComparison, "nodes" | "edges">): CanvasRun {
  const nodes = new Map(comparison.nodes.map((node) => [node.id, nodeView(node)]));
  const edges = new Map(
    comparison.edges.map(({ id, a, b }): [string, EdgeRunView] => [
      id,
      { status: "taken", count: Math.max(a, b), only: a === 0 ? "b" : b === 0 ? "a" : undefined },
    ]),
  );
  return {
    parts: runParts,
    subscribe: () => () => undefined,
    node: (id) => nodes.get(id),
    edge: (id) => edges.get(id),
  };
}

function nodeView({ a, b, differs }: NodeComparison): NodeRunView {
  const shown = b ?? a;
  return {
    status: shown?.status ?? "idle",
    count: Math.max(a?.count ?? 0, b?.count ?? 0),
    summary: onCard(a, b, differs),
    only: a ? (b ? undefined : "a") : "b",
  };
}

/** Short: the list shows both outputs. */
const onCard = (
  a: NodeComparison["a"],
  b: NodeComparison["b"],
  differs: NodeComparison["differs"],
): string =>
  differs.length === 1 && differs[0] === "output" ? "Different output" : describeDifference(a, b, differs);

/** How a step differs, in one line. */
export function describeDifference(
  a: NodeComparison["a"],
  b: NodeComparison["b"],
  differs: NodeComparison["differs"],
): string {
  if (!a) return "Only in B";
  if (!b) return "Only in A";
  const parts = [
    ...(a.count === b.count ? [] : [`Ran ${a.count}× in A, ${b.count}× in B`]),
    ...(a.status === b.status ? [] : [`A ${a.status}, B ${b.status}`]),
    ...(differs.includes("output")
      ? [`A: ${oneLine(a.output).slice(0, MAX_EXCERPT)} B: ${oneLine(b.output).slice(0, MAX_EXCERPT)}`]
      : []),
    ...(differs.includes("way") ? [`A took ${routesOf(a)}, B took ${routesOf(b)}`] : []),
  ];
  return parts.length === 0 ? "Same in both" : parts.join("; ");
}

function routesOf({ labels = [], next }: NodePart): string {
  if (next !== undefined) return `“${next}” (overridden)`;
  return labels.length === 0 ? "no route" : labels.map((label) => `“${label}”`).join(" and ");
}
