import { expect, test } from "vitest";
import { sampleGraph } from "@/components/editor/testing";
import { withRoomBelow } from "./places";

test("closely stacked cards move apart to fit run details, and others stay", () => {
  const graph = sampleGraph();
  expect(withRoomBelow(graph, 54)).toBe(graph);
  const [first, second] = Object.values(graph.nodes);
  if (!first || !second) throw new Error("The sample has nodes.");
  const close = {
    ...graph,
    nodes: {
      ...graph.nodes,
      [second.id]: { ...second, ui: { x: first.ui?.x ?? 0, y: (first.ui?.y ?? 0) + 100 } },
    },
  };
  const roomy = withRoomBelow(close, 54);
  const apart = (roomy.nodes[second.id]?.ui?.y ?? 0) - (roomy.nodes[first.id]?.ui?.y ?? 0);
  expect(apart).toBeGreaterThanOrEqual(74 + 54);
});
