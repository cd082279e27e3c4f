import { expect, test } from "vitest";
import type { Mark } from "@/components/canvas/flow-mapping";
import { worstMark } from "./group-frames";

const marks = new Map<string, Mark>([
  ["a", { severity: "warning", text: "Nothing leads here." }],
  ["b", { severity: "error", text: "Choose a role." }],
  ["c", { severity: "error", text: "Write a task." }],
]);

test("a collapsed group shows the worst of what is wrong inside; open, its cards show it themselves", () => {
  const group = { is_collapsed: true, node_ids: ["a", "b", "c", "d"] };
  expect([
    worstMark(group, marks),
    worstMark({ ...group, node_ids: ["a", "d"] }, marks),
    worstMark({ ...group, node_ids: ["d"] }, marks),
    worstMark({ ...group, is_collapsed: false }, marks),
  ]).toEqual([
    { severity: "error", text: "Choose a role. And 1 more." },
    { severity: "warning", text: "Nothing leads here." },
    undefined,
    undefined,
  ]);
});
