/** The distance from one node of a grid to the next. */
export const CELL = { width: 320, height: 180 };

/** A drawing of so many nodes: chains below each other, each as long as a row, joined by their first nodes. */
export function grid(
  count: number,
  columns = 10,
): {
  nodes: { id: string; x: number; y: number }[];
  edges: [string, string][];
} {
  const nodes = Array.from({ length: count }, (_, at) => ({
    id: `n${at}`,
    x: (at % columns) * CELL.width,
    y: Math.floor(at / columns) * CELL.height,
  }));
  const edges = nodes.flatMap((_, at): [string, string][] => {
    if (at === 0) return [];
    return [[at % columns === 0 ? `n${at - columns}` : `n${at - 1}`, `n${at}`]];
  });
  return { nodes, edges };
}
