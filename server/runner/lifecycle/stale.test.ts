import { expect, test } from "vitest";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { staleOutputs } from "@/server/domain/run/stale";
import { draw } from "@/server/domain/testing/drawing";
import { newStage, role } from "../testing";

const set = (key: string, value: string) => ({ config: { set: { [key]: value } }, output_keys: [key] });
const agent = {
  node_type: "agent_task" as const,
  config: { required_role: "Worker", task_description_template: "Go." },
  output_keys: ["said"],
};
const drawing = (a = "'1'") =>
  draw("start > a > b > end; start > ask > end", { a: set("x", a), b: set("y", "'2'"), ask: agent });

test("outputs that may have changed give the reason, and current outputs give none", async () => {
  const stage = newStage();
  const { state } = await stage.run(drawing(), { roles: [role("Worker")] });
  const now = { graph: drawing(), roles: [role("Worker")] };
  const staleReasons = (...[more]: [Partial<Parameters<typeof staleOutputs>[1]>]) =>
    Object.fromEntries(
      staleOutputs(state, { ...now, ...more }).map(({ node_id, reason }) => [node_id, reason]),
    );
  const after = (name: string) => `${name}, an upstream node, may now return a different output.`;
  expect(staleReasons({})).toEqual({});
  const moved: WorkflowGraph = drawing();
  for (const node of Object.values(moved.nodes))
    Object.assign(node, { name: "Another name", ui: { x: 1, y: 2 } });
  expect(staleReasons({ graph: moved })).toEqual({});
  expect(staleReasons({ graph: drawing("'3'") })).toEqual({
    a: "It has been edited since.",
    b: after("a"),
    end: after("a"),
  });
  expect(staleReasons({ roles: [{ ...role("Worker"), goals: ["Be kind"] }] })).toEqual({
    ask: "The role Worker has been edited since.",
    end: after("ask"),
  });
  expect(
    staleReasons({ graph: draw("start > a > end; start > ask > end", { a: set("x", "'1'"), ask: agent }) }),
  ).toEqual({
    b: "It is no longer in the workflow.",
    end: "Its incoming connections have changed since.",
  });
  expect(staleReasons({ pins: { b: { output: { y: "9" } } } })).toEqual({
    b: "An output has been pinned since.",
    end: after("b"),
  });
});

test("a pinned output is stale unless the same output is still pinned", async () => {
  const stage = newStage();
  const pins = { a: { output: { x: "7" } } };
  const { state } = await stage.run(drawing(), { roles: [role("Worker")] });
  const withPins = { ...state, run: { ...state.run, pins } };
  const reasonOf = (now?: typeof pins) =>
    staleOutputs(withPins, { graph: drawing(), roles: [role("Worker")], pins: now }).find(
      ({ node_id }) => node_id === "a",
    )?.reason;
  expect([reasonOf(), reasonOf(pins), reasonOf({ a: { output: { x: "8" } } })]).toEqual([
    "Its output was pinned in this run.",
    undefined,
    "A different output has been pinned since.",
  ]);
});
