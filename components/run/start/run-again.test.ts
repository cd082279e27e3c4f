import { expect, test } from "vitest";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { changesSince } from "./run-again";

const drawn = () => draw("start > a > b > end");

test("moving nodes on the canvas doesn't count as a change", () => {
  const moved: WorkflowGraph = drawn();
  moved.nodes.a!.ui = { x: 5, y: 7 };
  expect(changesSince(drawn(), moved)).toBeNull();
  expect(changesSince(drawn(), drawn())).toBeNull();
});

test("a few changes are named, and many are counted", () => {
  const renamed = drawn();
  renamed.nodes.b!.name = "Second";
  expect(changesSince(drawn(), renamed)).toBe("Node “Second” changed");
  expect(changesSince(drawn(), draw("start > a > end"))).toBe(
    "Node “b” removed, Connection a → end changed, Connection b → end removed",
  );
  expect(changesSince(draw("start > end"), draw("start > a > b > c > end"))).toMatch(
    /^Node “a” added, Node “b” added, Node “c” added and \d more$/,
  );
});
