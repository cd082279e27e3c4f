import { expect, test } from "vitest";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { draw } from "@/server/domain/testing/drawing";
import { newDemoModels } from "@/server/llm/demo-models";
import { ModelError, type ModelRequest } from "@/server/llm/model";
import { newScratchTools } from "@/server/scratch-tools";
import { fakeModels, fakeTools, role } from "../testing";
import type { TestParts } from "./answering";
import type { JudgeBook, Verdict } from "./judging";
import { runSuite } from "./run-suite";
import { runTest } from "./run-test";
import { SpendingCap } from "./spending-cap";

const RUBRIC = "It names the city.";
const GRAPH = draw("start > a > end", {
  a: {
    node_type: "agent_task",
    config: { required_role: "Writer", task_description_template: "Write" },
    output_keys: ["text"],
  },
});
const tested = { name: "Letters", graph: GRAPH, roles: [role("Writer")] };

const judgedTest = (more: object = {}) =>
  ScenarioTest.parse({
    id: "one",
    name: "One",
    expect: [
      { kind: "status", is: "COMPLETED" },
      { kind: "judge", rubric: RUBRIC, key: "text", threshold: 0.7 },
    ],
    ...more,
  });

const isJudge = ({ messages }: ModelRequest) => messages.some(({ content }) => content.includes(RUBRIC));

/** Models that cost a dollar for each thousand calls, and are none of the demo. */
function realModels(answer: (request: ModelRequest) => string) {
  const models = fakeModels(answer);
  const { complete } = models;
  return {
    ...models,
    complete: async (...of: Parameters<typeof complete>) => ({
      ...(await complete(...of)),
      simulated: false,
    }),
    describe: () => ({
      provider_id: "fake",
      name: "Fake",
      model: "fake-1",
      simulated: false,
      price_known: true,
    }),
  };
}

const partsOf = (models: TestParts["models"]): TestParts => ({
  models,
  demoModels: newDemoModels,
  tools: fakeTools([]),
  scratchTools: newScratchTools,
});

/** Verdicts in memory. */
function bookOf() {
  const verdicts = new Map<string, Verdict & { text: string; test_id: string }>();
  const book: JudgeBook = {
    find: (judge, item) => verdicts.get(`${judge} ${item}`),
    keep: ({ judge, item, text, test_id }, verdict) =>
      void verdicts.set(`${judge} ${item}`, { ...verdict, text, test_id }),
  };
  return { book, verdicts };
}

const writing = (score: number) => (request: ModelRequest) =>
  isJudge(request) ? JSON.stringify({ reason: "It says Oslo.", score }) : "Dear Oslo";

test("the verdict of a real model decides and is labeled with the model", async () => {
  const models = realModels(writing(0.9));
  const { book, verdicts } = bookOf();
  const spendingCap = new SpendingCap(1);
  const report = await runTest(tested, judgedTest(), partsOf(models), { spendingCap, book });
  expect([report.status, report.sentence]).toEqual(["passed", "All 2 expectations passed."]);
  const [, result] = report.results;
  expect([result?.status, result?.sentence]).toEqual([
    "passed",
    "fake-1 gave a score of 0.90 (minimum 0.7): It says Oslo.",
  ]);
  expect(result?.judge).toEqual({
    judge: expect.stringMatching(/^[0-9a-f]{24}$/) as string,
    item: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    score: 0.9,
    threshold: 0.7,
    reason: "It says Oslo.",
    model: "fake-1",
    simulated: false,
    recorded: false,
    tokens: 15,
    cost_usd: 0.001,
    kappa: null,
    labels: 0,
    counts: true,
  });
  expect([...verdicts.values()]).toEqual([
    { score: 0.9, reason: "It says Oslo.", text: "Dear Oslo", test_id: "one" },
  ]);
  // The writer and the judge share one spending cap.
  expect(spendingCap.spending).toEqual({ spent_usd: 0.002, max_cost_usd: 1, stopped: null });
  expect(report.outcome).toMatchObject({ real: true, simulated: false, cost_usd: 0.001 });
});

test("a recorded verdict on the same text is reused, even if no model can be called", async () => {
  const models = realModels(writing(0.9));
  const { book } = bookOf();
  await runTest(tested, judgedTest(), partsOf(models), { spendingCap: new SpendingCap(1), book });
  const calls = models.requests.length;
  const pinned = judgedTest({ pins: { a: { output: { text: "Dear Oslo" } } } });
  const again = await runTest(tested, pinned, partsOf(models), { book });
  expect(again.results[1]).toMatchObject({ status: "passed", judge: { recorded: true, cost_usd: 0 } });
  const other = await runTest(
    tested,
    judgedTest({ pins: { a: { output: { text: "Dear all" } } } }),
    partsOf(models),
    {
      book,
    },
  );
  expect([other.results[1]?.status, other.results[1]?.sentence]).toEqual([
    "not_checked",
    "This needs a model's verdict: run the test with real models. The judge's verdict on an output is kept and reused for identical outputs.",
  ]);
  expect(models.requests).toHaveLength(calls);
});

test("the offline demo model judges if the workflow uses it, and says so", async () => {
  const report = await runTest(tested, judgedTest({ simulated: true }), partsOf(realModels(writing(0.9))), {
    book: bookOf().book,
  });
  expect(report.results[1]).toMatchObject({ status: "note", judge: { simulated: true } });
  expect(report.results[1]?.sentence).toMatch(/^The offline demo model gave a score of /);
});

test("the spending cap covers all tests: calls beyond it are not made, and skipped tests are reported", async () => {
  const models = realModels(writing(0.9));
  const { complete } = models;
  const limited: TestParts["models"] = {
    ...models,
    complete(request, io) {
      const { budget } = request;
      if (budget && budget.spent_cost_usd + 0.001 > (budget.max_cost_usd ?? 1))
        throw new ModelError({
          code: "BUDGET",
          message: "Too dear.",
          retryable: false,
          user_action: "raise_limit",
          detail: { metric: "cost_usd", used: budget.spent_cost_usd, limit: budget.max_cost_usd ?? null },
        });
      return complete(request, io);
    },
  };
  const suite = await runSuite({
    tested,
    tests: ["one", "two", "three"].map((id) => judgedTest({ id, name: id })),
    parts: partsOf(limited),
    spendingCap: new SpendingCap(0.0025),
    book: bookOf().book,
  });
  const stopped = "The next model call could exceed the limit of $0.0025; $0.0020 spent.";
  expect(suite.tests.map(({ status, sentence }) => [status, sentence])).toEqual([
    ["passed", "All 2 expectations passed."],
    ["not_run", stopped],
    ["not_run", stopped],
  ]);
  expect(suite.spending).toEqual({ spent_usd: 0.002, max_cost_usd: 0.0025, stopped });
});
