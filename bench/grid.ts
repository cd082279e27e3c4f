/** The distance from one node of a grid to the next. */
export const CELL = { width: 320, height: 180 };

/** A grid of `count` nodes: each row is a chain, and the first nodes of the rows are connected. */
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
