import { expect, test } from "vitest";
import type { RunError } from "@/server/domain/agent/outcome";
import { type BudgetCheck, ModelError, type ModelRequest } from "@/server/llm/model";
import { fakeModels } from "../testing";
import { SpendingCap, SpendingCapReached } from "./spending-cap";

type Cost = number | null;
/** Models whose calls cost this, one after the other; an error is what a call fails with. */
function modelsThat(...outcomes: (Cost | Error)[]) {
  const asked: { run_id: string; budget: BudgetCheck | undefined }[] = [];
  const models = fakeModels(() => "words");
  return {
    asked,
    models: {
      ...models,
      async complete(...[request, io]: Parameters<typeof models.complete>) {
        asked.push({ run_id: request.run_id, budget: request.budget });
        const [outcome = 0] = outcomes.splice(0, 1);
        if (outcome instanceof Error) throw outcome;
        return { ...(await models.complete(request, io)), cost_usd: outcome };
      },
    },
  };
}
const request = (budget?: BudgetCheck): ModelRequest => ({
  llm_config: {},
  messages: [{ role: "user", content: "Write" }],
  call_id: "call",
  run_id: "run_1",
  ...(budget ? { budget } : {}),
});
const io = { signal: new AbortController().signal, delta() {} };
const budgetError = (metric: string | null, code: RunError["code"] = "BUDGET") =>
  new ModelError({
    code,
    message: "Too much.",
    retryable: false,
    user_action: "raise_limit",
    ...(metric === null ? {} : { detail: { metric, used: 1, limit: 1 } }),
  });
const own = (more: Partial<BudgetCheck> = {}): BudgetCheck => ({
  max_cost_usd: null,
  spent_cost_usd: 0,
  max_total_tokens: null,
  spent_tokens: 0,
  mode: "soft",
  ...more,
});

test("calls are paid from the cap in turn, under a run ID of its own", async () => {
  const spendingCap = new SpendingCap(1);
  const { models, asked } = modelsThat(0.25, 0.5);
  const paying = spendingCap.paying(models);
  await paying.complete(request(), io);
  await paying.complete(request(own({ max_total_tokens: 90, spent_tokens: 30 })), io);
  expect(spendingCap.spending).toEqual({ spent_usd: 0.75, max_cost_usd: 1, stopped: null });
  const { run_id } = asked[0] ?? {};
  expect(run_id).toMatch(/^test_[0-9a-f-]{36}$/);
  const ours = { max_cost_usd: 1, mode: "hard" };
  expect(asked).toEqual([
    { run_id, budget: { ...ours, spent_cost_usd: 0, max_total_tokens: null, spent_tokens: 0 } },
    { run_id, budget: { ...ours, spent_cost_usd: 0.25, max_total_tokens: 90, spent_tokens: 30 } },
  ]);
  expect(paying.describe).toBe(models.describe);
});

test.each([
  ["less is left of the run's own budget", own({ max_cost_usd: 2, spent_cost_usd: 1.5 }), false],
  ["as much is left of both", own({ max_cost_usd: 3, spent_cost_usd: 2 }), true],
  ["more is left of the run's own budget", own({ max_cost_usd: 3, spent_cost_usd: 1.5 }), true],
  ["the run has no cost limit", own(), true],
])("the tighter limit applies if %s", async (_what, budget, isOurs) => {
  const { models, asked } = modelsThat(0);
  await new SpendingCap(1).paying(models).complete(request(budget), io);
  expect(asked[0]?.budget).toEqual(
    isOurs ? { ...budget, max_cost_usd: 1, spent_cost_usd: 0, mode: "hard" } : budget,
  );
});

test("a call that could exceed the cap stops all further calls with the reason", async () => {
  const spendingCap = new SpendingCap(0.5);
  const { models, asked } = modelsThat(0.25, budgetError("cost_usd"));
  const paying = spendingCap.paying(models);
  await paying.complete(request(), io);
  expect(spendingCap.why).toBeNull();
  const why = "The next model call could exceed the limit of $0.500; $0.250 spent.";
  for (let k = 0; k < 2; k++) {
    const error = await paying.complete(request(), io).catch((thrown: unknown) => thrown);
    expect([error instanceof SpendingCapReached, String(error)]).toEqual([
      true,
      `SpendingCapReached: ${why}`,
    ]);
  }
  expect(asked).toHaveLength(2);
  expect([spendingCap.why, spendingCap.spending]).toEqual([
    why,
    { spent_usd: 0.25, max_cost_usd: 0.5, stopped: why },
  ]);
});

test.each([
  ["because of the run's own cost limit", budgetError("cost_usd"), own({ max_cost_usd: 0.25 })],
  ["because of a token limit", budgetError("total_tokens"), undefined],
  ["without naming a limit", budgetError(null), undefined],
  ["for another reason", budgetError("cost_usd", "QUOTA"), undefined],
  ["because of an unexpected error", new TypeError("odd"), undefined],
])("a call rejected %s is left to the run, and the cap stays unchanged", async (_what, error, budget) => {
  const spendingCap = new SpendingCap(1);
  const paying = spendingCap.paying(modelsThat(error, 0.25).models);
  await expect(paying.complete(request(budget), io)).rejects.toBe(error);
  await paying.complete(request(), io);
  expect(spendingCap.spending).toEqual({ spent_usd: 0.25, max_cost_usd: 1, stopped: null });
});

test("a failed call that cost money is paid, too", async () => {
  const failed = budgetError(null, "TRANSIENT").costing({
    usage: {
      input_tokens: 1,
      output_tokens: 1,
      cached_input_tokens: 0,
      reasoning_tokens: 0,
      requests: 1,
      estimated: false,
    },
    cost_usd: 0.125,
    cost_source: "price_table",
    provider: "Fake",
    model: "fake-1",
    simulated: false,
  });
  const spendingCap = new SpendingCap(1);
  await expect(spendingCap.paying(modelsThat(failed).models).complete(request(), io)).rejects.toBe(failed);
  expect(spendingCap.spending.spent_usd).toBe(0.125);
});

test("an answer of unknown price still counts and is the last", async () => {
  const spendingCap = new SpendingCap(2);
  const { models, asked } = modelsThat(null);
  const paying = spendingCap.paying(models);
  expect((await paying.complete(request(), io)).content).toBe("words");
  await expect(paying.complete(request(), io)).rejects.toThrow(SpendingCapReached);
  expect(asked).toHaveLength(1);
  expect(spendingCap.spending).toEqual({
    spent_usd: null,
    max_cost_usd: 2,
    stopped:
      "The price of a response from fake-1 is unknown, so the limit of $2.000 can't be enforced and no more calls were made.",
  });
});
