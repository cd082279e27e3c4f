import { expect, test } from "vitest";
import type { Mark } from "@/components/canvas/flow-mapping";
import { NodeGroup } from "@/server/domain/graph/graph";
import { newNode } from "@/server/domain/nodes/new-node";
import { boxOf, worstMark } from "./group-frames";
import { sampleGraph } from "./testing";

const marks = new Map<string, Mark>([
  ["a", { severity: "warning", text: "Nothing leads here." }],
  ["b", { severity: "error", text: "Select a role." }],
  ["c", { severity: "error", text: "Write a task." }],
]);

test("a collapsed group shows its most severe problem, and an open one leaves it to its cards", () => {
  const group = { is_collapsed: true, node_ids: ["a", "b", "c", "d"] };
  expect(worstMark(group, marks)).toEqual({ severity: "error", text: "Select a role. (and 1 more)" });
  expect(worstMark({ ...group, node_ids: ["a", "d"] }, marks)).toEqual({
    severity: "warning",
    text: "Nothing leads here.",
  });
  expect(worstMark({ ...group, node_ids: ["d"] }, marks)).toBeUndefined();
  expect(worstMark({ ...group, is_collapsed: false }, marks)).toBeUndefined();
});

test("a group frame fits its widest member, with notes at their rendered size", () => {
  const sample = sampleGraph();
  const note = newNode("note", { id: "hint", name: "Note", ui: { x: 320, y: 200 } });
  const graph = { ...sample, nodes: { ...sample.nodes, hint: note } };
  const group = NodeGroup.parse({ id: "group", name: "Asking", node_ids: ["ask", "hint"] });
  const drawn = boxOf(graph, group, new Map([["hint", { width: 240, height: 130 }]]));
  expect(drawn).toMatchObject({ x: 300, width: 20 + 240 + 20 });
  expect((drawn?.y ?? 0) + (drawn?.height ?? 0)).toBe(200 + 130 + 20);
});
