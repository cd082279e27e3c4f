import { expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { newStage } from "../testing";

const sets = (key: string, expression: string, more: object = {}) => ({
  node_type: "transform",
  config: { set: { [key]: expression } },
  output_keys: [key],
  ...more,
});
const waits = (ms: number) => ({ node_type: "wait", config: { ms } });
const outputOf = async (text: string, nodes: object) =>
  (await newStage().run(draw(text, nodes as never))).state.run;

test("the output of a run includes values written after an end node was reached", async () => {
  const nodes = { a: sets("x", "1"), w: waits(30), b: sets("y", "2") };
  expect(await outputOf("start > a > end; start > w > b", nodes)).toMatchObject({
    final_status: "COMPLETED",
    output: { x: 1, y: 2 },
  });
});

test("an end node with keys outputs only these, as of when it was reached", async () => {
  const nodes = {
    a: sets("x", "1"),
    w: waits(30),
    b: sets("y", "2"),
    end: { input_keys: ["x"] },
  };
  expect((await outputOf("start > a > end; start > w > b", nodes)).output).toEqual({ x: 1 });
});

test("an end node with a mapping outputs the mapped values", async () => {
  const nodes = { a: sets("x", "1"), end: { input_mapping: { twice: "state.x * 2" } } };
  expect((await outputOf("start > a > end", nodes)).output).toEqual({ twice: 2 });
});

test.each([
  [1, 40],
  [40, 1],
])("the order of reaching two end nodes doesn't change the output (%i and %i ms)", async (one, other) => {
  const end = (value: string) => ({ node_type: "end", input_mapping: { by: value } });
  const nodes = { a: waits(one), b: waits(other), first: end("'first'"), second: end("'second'") };
  expect((await outputOf("start > a > first; start > b > second", nodes)).output).toEqual({ by: "second" });
});

test("an output mapping derives a node's output from its result", async () => {
  const mapped = (expression: string, more: JsonObject = {}) =>
    newStage().run(
      draw("start > a > end", {
        a: {
          node_type: "transform",
          config: { set: { n: "20" } },
          output_keys: ["n"],
          output_mapping: { sum: expression },
          ...more,
        },
      }),
      { input: { s: 3 } },
    );
  const { state } = await mapped("output.n + state.s");
  expect([state.run.final_status, state.state]).toEqual(["COMPLETED", { s: 3, sum: 23 }]);
  expect(state.run.warnings).toEqual([]);
  const failed = (await mapped("output.other + 1")).state.run;
  expect([failed.final_status, failed.error?.code, failed.error?.node_id]).toEqual(["ERROR", "CONFIG", "a"]);
  expect(failed.error?.message).toContain(
    'The output mapping of "sum" in a (output.other + 1) can\'t be evaluated: There is no "other".',
  );
});
