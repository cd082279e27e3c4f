import { expect, test } from "vitest";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { draw } from "@/server/domain/testing/drawing";
import { newDemoModels } from "@/server/llm/demo-models";
import { newScratchTools } from "@/server/scratch-tools";
import { fakeTools } from "../testing";
import type { TestParts } from "./answering";
import { runMutants } from "./run-mutants";

const parts: TestParts = {
  models: newDemoModels(),
  demoModels: newDemoModels,
  tools: fakeTools([]),
  scratchTools: newScratchTools,
};
const graph = draw("start > a > r; r big> b > end; r small> end; a > c > end3", {
  start: { output_keys: ["n"] },
  a: { config: { set: { a: "state.n * 2" } }, output_keys: ["a"] },
  b: { config: { set: { b: "'big'" } }, output_keys: ["b"] },
  c: { config: { set: { c: "'side'" } }, output_keys: ["c"] },
  r: {
    config: {
      kind: "expression",
      conditions: [
        { label: "big", when: "state.a > 10" },
        { label: "small", when: "state.a <= 10" },
      ],
    },
  },
});
const testOf = (id: string, n: number, nodes: string[]) =>
  ScenarioTest.parse({ id, name: id, input: { n }, expect: [{ kind: "path", nodes, mode: "in_order" }] });
const big = testOf("big", 6, ["start", "a", "r", "b", "end"]);
const small = testOf("small", 1, ["start", "a", "r", "end"]);
const tested = { name: "Sizes", graph, roles: [] };

test("mutants that no test detects are listed with their place, and another test detects them", async () => {
  const report = async (tests: ScenarioTest[]) => {
    const { mutants, noticed, survived, why_not } = await runMutants({ tested, tests, parts });
    const left = mutants.flatMap((one) => (one.status === "survived" ? [one.sentence] : []));
    return { noticed, survived, why_not, left };
  };
  const side = ["c was removed.", "c wrote c_2 instead of c.", "b wrote b_2 instead of b."];
  expect(await report([big])).toEqual({
    noticed: 4,
    survived: 6,
    why_not: null,
    left: expect.arrayContaining([
      ...side,
      "In r, “big” was taken regardless of state.a > 10.",
      "In r, “small” was taken regardless of state.a <= 10.",
      "In r, “small” was taken if state.a <= 10 is false.",
    ]) as string[],
  });
  const stricter = {
    ...small,
    expect: [...small.expect, { kind: "path" as const, nodes: ["b"], mode: "never" as const }],
  };
  const after = await report([big, stricter]);
  expect(after.left).toEqual(expect.arrayContaining(side) as string[]);
  expect(after.left).not.toContain("In r, “big” was taken regardless of state.a > 10.");
  const wrong = { ...big, input: { n: 1 } };
  expect(await report([wrong])).toMatchObject({
    noticed: 0,
    why_not: expect.stringContaining(
      "doesn't pass on the unchanged workflow: Expected b to run after r, but it n",
    ) as string,
  });
});
