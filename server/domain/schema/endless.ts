import type { Node } from "./check";

/** Schemas that may be applied to the same value inside of each other. */
const MAX_IN_PLACE = 200;

/** Nodes that are applied to a value again before any part of it was looked at, or whose schemas are stacked too high. */
export function endless(nodes: Iterable<Node>): Node[] {
  const found = new Set<Node>();
  /** How many are stacked upon a node; 0 while that is being found out. */
  const heights = new Map<Node, number>();
  for (const start of nodes) {
    if (heights.has(start)) continue;
    heights.set(start, 0);
    const way: { node: Node; next: number; height: number }[] = [{ node: start, next: 0, height: 1 }];
    for (let top = way.at(-1); top; top = way.at(-1)) {
      const inner = top.node.inPlace[top.next];
      if (!inner) {
        const isTooHigh = top.height > MAX_IN_PLACE;
        if (isTooHigh) found.add(top.node);
        heights.set(top.node, isTooHigh ? 1 : top.height);
        way.pop();
        continue;
      }
      const height = heights.get(inner);
      if (height === undefined) {
        heights.set(inner, 0);
        way.push({ node: inner, next: 0, height: 1 });
        continue;
      }
      if (height === 0) found.add(inner);
      top.height = Math.max(top.height, height + 1);
      top.next++;
    }
  }
  return [...found];
}
