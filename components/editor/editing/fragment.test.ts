import { expect, test } from "vitest";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { bodyIdOf } from "@/server/domain/nodes";
import { draw } from "@/server/domain/testing/drawing";
import { fragmentOf, freshIds, withFragment } from "./fragment";

const map = (node: string) => ({ node_type: "map", config: { items: "state.list", node } });
const pasted = (graph: WorkflowGraph, ...ids: string[]) => {
  const fragment = fragmentOf(graph, ids);
  const fresh = freshIds(graph, fragment);
  const next = withFragment(graph, { fragment, at: { x: 0, y: 0 }, ids: fresh });
  const body = (id: string) => bodyIdOf(next.nodes[fresh[id] ?? ""]!);
  return { next, fresh, body };
};

test("a copied map runs the copy of its node or group", () => {
  const graph: WorkflowGraph = {
    ...draw("start > m > n > end; x; a > b", { m: map("x"), n: map("group") }),
    groups: [{ id: "group", name: "", color: "grey", node_ids: ["a", "b"], is_collapsed: false }],
  };
  const { next, fresh, body } = pasted(graph, "m", "n", "x", "a", "b");
  expect(body("m")).toBe(fresh.x);
  expect(body("n")).toBe("group_2");
  expect(next.groups?.[1]?.node_ids).toEqual([fresh.a, fresh.b]);
  expect(bodyIdOf(next.nodes.m!)).toBe("x");
});

test("a map that is copied alone runs the same node", () => {
  const graph = draw("start > m > end; x", { m: map("x") });
  expect(pasted(graph, "m").body("m")).toBe("x");
});
