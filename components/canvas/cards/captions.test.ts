import { expect, test } from "vitest";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { captionsOf } from "./captions";

test("cards name what they run, and in which node they run", () => {
  const graph: WorkflowGraph = {
    ...draw("start > m > s > end; a > b; x", {
      m: { node_type: "map", name: "Each", config: { items: "state.tickets", node: "g" } },
      s: { node_type: "sub_workflow", config: { workflow_id: "wf_1" } },
    }),
    groups: [{ id: "g", name: "Summarize", color: "grey", node_ids: ["a", "b"], is_collapsed: false }],
  };
  expect(Object.fromEntries(captionsOf(graph, new Map([["wf_1", "Letters"]])))).toEqual({
    m: { summary: "Summarize for each of state.tickets" },
    s: { summary: "Runs Letters" },
    a: { owner: "Each" },
    b: { owner: "Each" },
  });
  expect(captionsOf(graph).has("s")).toBe(false);
});
