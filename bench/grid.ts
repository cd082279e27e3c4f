/** A drawing of so many nodes: chains beside each other, each ten nodes long, joined by their first nodes. */
export function grid(count: number): {
  nodes: { id: string; x: number; y: number }[];
  edges: [string, string][];
} {
  const nodes = Array.from({ length: count }, (_, at) => ({
    id: `n${at}`,
    x: (at % 10) * 320,
    y: Math.floor(at / 10) * 180,
  }));
  const edges = nodes.flatMap((_, at): [string, string][] => {
    if (at === 0) return [];
    return [[at % 10 === 0 ? `n${at - 10}` : `n${at - 1}`, `n${at}`]];
  });
  return { nodes, edges };
}
