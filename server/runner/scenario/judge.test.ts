import { expect, test } from "vitest";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { JsonObject } from "@/server/domain/base/values";
import { foldRun } from "@/server/domain/run";
import type { JudgeExpectation } from "@/server/domain/scenario/expectation";
import { draw } from "@/server/domain/testing/drawing";
import { ModelError } from "@/server/llm/model";
import { BrokenOff } from "../durable/virtual-run";
import { fakeModels } from "../testing";
import { EMPTY_BOOK, type Judges, judge, judgeId, LONGEST_JUDGED, type Verdict } from "./judging";

const state = (output: JsonObject | null, values: JsonObject = {}) => {
  const run = foldRun("run_1", [
    {
      type: "run_created",
      seq: 1,
      ts: 0,
      payload: {
        graph: draw("start > end"),
        roles: [],
        workflow_id: null,
        workflow_name: "Test",
        input: {},
        config: RunConfig.parse({}),
        trigger: "test",
        provider_summary: null,
      },
    },
  ]);
  Object.assign(run.state, values);
  if (output) run.run.output = output;
  return run;
};
const RUBRIC: JudgeExpectation = {
  kind: "judge",
  rubric: "It is kind.",
  of: "state",
  threshold: 0.5,
  gate_kappa: 0.6,
};
const GOOD = JSON.stringify({ reason: "It greets", score: 0.5 });

/** Somebody who judges by these answers; an error is what asking fails with. */
function judges(answers: (string | Error)[], more: Partial<Judges> = {}) {
  const kept: [string, string, Verdict][] = [];
  const models = fakeModels(() => {
    const answer = answers.shift() ?? "";
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const all: Judges = {
    test_id: "one",
    book: { ...EMPTY_BOOK, keep: ({ test_id, text }, verdict) => void kept.push([test_id, text, verdict]) },
    ask: () => models,
    describe: models.describe,
    ...more,
  };
  return { all, kept, asked: models.requests };
}
const notChecked = (sentence: string) => ({ status: "not_checked", sentence });

test.each<[string, Partial<JudgeExpectation>, string]>([
  ["the output of a run", {}, "Dear Oslo"],
  ["a value of the output", { key: "letter", of: "output" }, "Dear Oslo"],
  ["a value of the state", { key: "text" }, "Dear all"],
])("%s is judged as written, and the verdict is stored", async (_what, more, reasons) => {
  const { all, kept, asked } = judges([GOOD]);
  const run = state({ letter: "Dear Oslo" }, { text: "Dear all" });
  expect((await judge(all, { ...RUBRIC, ...more }, run)).status).toBe("note");
  const [verdict] = kept;
  expect(kept).toEqual([["one", verdict?.[1], { score: 0.5, reason: "It greets" }]]);
  expect(verdict?.[1]).toMatch("key" in more ? new RegExp(`^${reasons}$`) : new RegExp(`letter.*${reasons}`));
  const prompt = asked[0]?.messages.at(-1)?.content;
  expect([prompt?.includes("It is kind."), prompt?.includes(reasons)]).toEqual([true, true]);
});

test.each([
  [undefined, "The output can't be judged because it doesn't exist."],
  ["text", "text can't be judged because it doesn't exist."],
])("a missing value fails without a judge (%s)", async (key, sentence) => {
  const { all, asked } = judges([GOOD]);
  const result = await judge(all, { ...RUBRIC, ...(key ? { key } : {}) }, state(null));
  expect([result, asked]).toEqual([{ status: "failed", sentence }, []]);
});

test("a value of the maximum length is judged, and a longer value is not, not even partly", async () => {
  const longest = "x".repeat(LONGEST_JUDGED);
  const of = (text: string) => judge(judges([GOOD]).all, { ...RUBRIC, key: "text" }, state(null, { text }));
  expect((await of(longest)).status).toBe("note");
  expect(await of(`${longest}x`)).toEqual(
    notChecked("It is too long to judge: 60001 characters; the maximum is 60000."),
  );
});

test("nothing is judged without a model or an earlier verdict", async () => {
  const of = async (more: Partial<Judges>) => judge(judges([GOOD], more).all, RUBRIC, state({ a: 1 }));
  expect(await of({ describe: () => null })).toEqual(
    notChecked("No model is available as a judge. Add one in Settings."),
  );
  expect(await of({ ask: () => null })).toMatchObject({
    status: "not_checked",
    sentence: expect.stringMatching(
      /^This needs a model's verdict: run the test with real models\. The judge/,
    ) as string,
  });
  expect(
    await of({ ask: () => null, book: { ...EMPTY_BOOK, find: () => ({ score: 0.25, reason: "Short!" }) } }),
  ).toMatchObject({
    status: "note",
    sentence: expect.stringMatching(
      /^The offline demo model gave a score of 0\.25 \(minimum 0\.5\): Short! This score is simulated/,
    ) as string,
    judge: { score: 0.25, recorded: true, tokens: 0, cost_usd: 0 },
  });
});

test.each([
  ["no JSON", "Fine!"],
  ["a list", "[1]"],
  ["null", "null"],
  ["no reason", '{"score": 1}'],
  ["a score above 1", '{"reason": "Good.", "score": 1.1}'],
  ["text instead of a number", '{"reason": "Good.", "score": "high"}'],
])("a judge that returns %s twice gives no verdict", async (_what, answer) => {
  const { all, kept, asked } = judges([answer, answer, GOOD]);
  expect(await judge(all, RUBRIC, state({ a: 1 }))).toEqual(
    notChecked("The judge returned no verdict: its response did not match the schema."),
  );
  expect([kept, asked.map(({ call_id }) => call_id)]).toEqual([[], ["judge/1", "judge/2"]]);
});

test("a verdict on the second attempt costs both attempts, and an unknown cost stays unknown", async () => {
  const costs = async (...prices: (number | null)[]) => {
    const { all } = judges(["Fine!", GOOD]);
    const { ask } = all;
    const priced: Judges = {
      ...all,
      ask: (config) => {
        const models = ask(config);
        return (
          models && {
            ...models,
            complete: async (...of: Parameters<typeof models.complete>) => ({
              ...(await models.complete(...of)),
              cost_usd: prices.shift() ?? null,
            }),
          }
        );
      },
    };
    const { judge: verdict } = await judge(priced, RUBRIC, state({ a: 1 }));
    return [verdict?.cost_usd, verdict?.tokens];
  };
  expect(await costs(0.25, 0.5)).toEqual([0.75, 30]);
  expect(await costs(null, 0.5)).toEqual([null, 30]);
  expect(await costs(0.5, null)).toEqual([null, 30]);
});

test("a failed model gives no verdict, and an exhausted budget or an abort ends the test", async () => {
  const failure = new ModelError({
    code: "AUTH",
    message: "No key.",
    retryable: false,
    user_action: "settings",
  });
  const run = (error: Error, aborted?: AbortSignal) =>
    judge(judges([error], { aborted }).all, RUBRIC, state({ a: 1 }));
  expect(await run(failure)).toEqual(notChecked("The judge returned no verdict: No key."));
  expect(await run(failure, new AbortController().signal)).toEqual(
    notChecked("The judge returned no verdict: No key."),
  );
  await expect(run(failure, AbortSignal.abort())).rejects.toBe(failure);
  const gone = new BrokenOff("No money.");
  await expect(run(gone)).rejects.toBe(gone);
});

test.each([
  ["It greets", "It greets."],
  [" It greets. ", "It greets."],
  ["It greets!", "It greets!"],
  ["Does it?", "Does it?"],
  ["And so…", "And so…"],
])("the reason %j is shown as a sentence", async (reason, expected) => {
  const { sentence } = await judge(
    judges([JSON.stringify({ reason, score: 0.75 })]).all,
    RUBRIC,
    state({ a: 1 }),
  );
  expect(sentence).toContain(`gave a score of 0.75 (minimum 0.5): ${expected} This score is simulated`);
});

test.each([
  [0.5, "passed"],
  [0.49, "failed"],
])("a real model's score of %d with a threshold of 0.5 has the result %s", async (score, status) => {
  const { all } = judges([JSON.stringify({ reason: "So.", score })]);
  const described = all.describe({});
  const describe = () => described && { ...described, simulated: false };
  const result = await judge({ ...all, describe }, RUBRIC, state({ a: 1 }));
  expect(result).toMatchObject({
    status,
    sentence: `fake-1 gave a score of ${score.toFixed(2)} (minimum 0.5): So.`,
    judge: { score, threshold: 0.5, kappa: null, labels: 0, counts: true },
  });
});

test("another rubric, provider or model is another judge, and the demo model is always the same judge", () => {
  const of = (rubric: string, provider_id: string, model: string, simulated = false) =>
    judgeId(rubric, { provider_id, model, simulated });
  const different = [
    of("a", "p", "m"),
    of("b", "p", "m"),
    of("a", "q", "m"),
    of("a", "p", "n"),
    of("a", "p", "m", true),
  ];
  expect(new Set(different).size).toBe(5);
  expect(of("a", "p", "m")).toBe(different[0]);
  expect(of("a", "q", "n", true)).toBe(different[4]);
});
