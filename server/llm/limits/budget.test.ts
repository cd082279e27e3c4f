import { describe, expect, test } from "vitest";
import { containing } from "@/server/domain/testing/containing";
import type { BudgetCheck, ModelError } from "../model";
import { type Estimate, newBudgets, USUAL_ANSWER } from "./budget";

const signal = new AbortController().signal;
const check = (given: Partial<BudgetCheck>): BudgetCheck => ({
  max_cost_usd: null,
  max_total_tokens: null,
  spent_cost_usd: 0,
  spent_tokens: 0,
  mode: "hard",
  ...given,
});
/** Ten tokens are read and ninety may be answered; a token costs `each` dollars, and null is not known. */
const estimate = (each: number | null = 0, max_tokens: number | undefined = 90): Estimate => ({
  input_tokens: 10,
  max_tokens,
  usual_tokens: USUAL_ANSWER,
  price: (read, written) => (each === null ? null : (read + written) * each),
  model: "a model",
});
const open = (length: number | undefined, each = 0): Estimate => ({ ...estimate(each), max_tokens: length });

/** What comes of a call: "goes" where its own limit is its cap, the cap that it got, or the limit it is refused at. */
async function outcome(given: Partial<BudgetCheck>, about = estimate(), budgets = newBudgets()) {
  return budgets.reserve("r", check(given), about, signal).then(
    ({ max_tokens }) =>
      max_tokens === about.max_tokens || max_tokens === undefined ? "goes" : `goes with ${max_tokens}`,
    (error: ModelError) => error.error.detail ?? error.error.code,
  );
}

describe("budget limits", () => {
  test("a call that exactly fits the remaining budget is sent, a token more is rejected", async () => {
    expect(await outcome({ max_total_tokens: 100 })).toBe("goes");
    expect(await outcome({ max_total_tokens: 150, spent_tokens: 50 })).toBe("goes");
    expect(await outcome({ max_total_tokens: 99 })).toEqual({ metric: "total_tokens", used: 0, limit: 99 });
    expect(await outcome({ max_total_tokens: 150, spent_tokens: 51 })).toEqual({
      metric: "total_tokens",
      used: 51,
      limit: 150,
    });
    expect(await outcome({ max_cost_usd: 100 }, estimate(1))).toBe("goes");
    expect(await outcome({ max_cost_usd: 99 }, estimate(1))).toEqual({
      metric: "cost_usd",
      used: 0,
      limit: 99,
    });
  });

  test("an exhausted budget rejects every call, in hard and soft mode", async () => {
    for (const mode of ["hard", "soft"] as const) {
      const overBudget = { metric: "total_tokens", used: 100, limit: 100 };
      expect(await outcome({ max_total_tokens: 100, spent_tokens: 100, mode })).toEqual(overBudget);
      const broke = { metric: "cost_usd", used: 2, limit: 2 };
      expect(await outcome({ max_cost_usd: 2, spent_cost_usd: 2, mode }, estimate(1))).toEqual(broke);
    }
    expect(await outcome({ max_total_tokens: 100, spent_tokens: 99, mode: "soft" })).toBe("goes");
    expect(await outcome({ max_cost_usd: 2, spent_cost_usd: 1.99, mode: "soft" }, estimate(1))).toBe("goes");
  });

  test("a call in soft mode reserves nothing of the budget", async () => {
    const budgets = newBudgets();
    const soft = check({ max_total_tokens: 100, mode: "soft" });
    await budgets.reserve("r", soft, estimate(), signal);
    expect(await outcome({ max_total_tokens: 100 }, estimate(), budgets)).toBe("goes");
  });

  test("a free call is sent even if the cost budget is exhausted", async () => {
    expect(await outcome({ max_cost_usd: 0 })).toBe("goes");
    expect(await outcome({ max_cost_usd: 2, spent_cost_usd: 2 })).toBe("goes");
  });

  test("token and cost limits both apply, and the exceeded limit is named", async () => {
    const both = { max_total_tokens: 100, max_cost_usd: 100 };
    expect(await outcome(both, estimate(1))).toBe("goes");
    expect(await outcome({ ...both, max_total_tokens: 99 }, estimate(1))).toMatchObject({
      metric: "total_tokens",
    });
    expect(await outcome({ ...both, max_cost_usd: 99 }, estimate(1))).toMatchObject({ metric: "cost_usd" });
  });

  test("calls without a budget are unlimited, and a cost budget requires a known price", async () => {
    expect(await outcome({}, estimate(null))).toBe("goes");
    expect(await outcome({ max_total_tokens: 100 }, estimate(null))).toBe("goes");
    expect(await outcome({ max_cost_usd: 100 }, estimate(null))).toMatchObject({ model: "a model" });
  });
});

describe("answers without a length limit", () => {
  test("an answer without a length limit gets the default length or the usable remaining budget", async () => {
    expect(await outcome({ max_total_tokens: 1_000_000 }, open(undefined))).toBe(`goes with ${USUAL_ANSWER}`);
    expect(await outcome({ max_total_tokens: 10 + USUAL_ANSWER }, open(undefined))).toBe(
      `goes with ${USUAL_ANSWER}`,
    );
    expect(await outcome({ max_total_tokens: 100, mode: "soft" }, open(undefined))).toBe("goes");
    expect(await outcome({ max_cost_usd: 1 }, open(undefined))).toBe("goes");
    expect(await outcome({ max_total_tokens: 9 + USUAL_ANSWER }, open(undefined))).toBe(
      `goes with ${USUAL_ANSWER - 1}`,
    );
    expect(await outcome({ max_total_tokens: 266 }, open(undefined))).toBe("goes with 256");
    expect(await outcome({ max_total_tokens: 265 }, open(undefined))).toMatchObject({
      metric: "total_tokens",
    });
    expect(await outcome({ max_cost_usd: 310 }, open(undefined, 1))).toBe("goes with 300");
    expect(await outcome({ max_cost_usd: 265 }, open(undefined, 1))).toMatchObject({ metric: "cost_usd" });
    expect(await outcome({ max_total_tokens: 400, max_cost_usd: 310 }, open(undefined, 1))).toBe(
      "goes with 300",
    );
  });

  test("an explicit answer length is never reduced", async () => {
    expect(await outcome({ max_total_tokens: 1000 }, open(5000))).toMatchObject({ metric: "total_tokens" });
  });
});

describe("concurrent calls", () => {
  const usual = check({ max_total_tokens: 150 });
  const settledBy = async (promise: Promise<unknown>) => {
    let done = false;
    void promise.then(
      () => (done = true),
      () => (done = true),
    );
    await new Promise((resolve) => setImmediate(resolve));
    return done;
  };

  test("budget reserved by a running call is unavailable to other calls until it is released", async () => {
    const budgets = newBudgets();
    const first = await budgets.reserve("r", usual, estimate(), signal);
    const second = budgets.reserve("r", usual, estimate(), signal);
    expect(await settledBy(second)).toBe(false);
    // Another run has a budget of its own.
    await budgets.reserve("another", usual, estimate(), signal);
    first.settle({ tokens: 50, cost_usd: null });
    expect(await second).toBeDefined();
  });

  test("the settled usage of a call counts for the waiting call exactly once", async () => {
    const budgets = newBudgets();
    const first = await budgets.reserve("r", usual, estimate(), signal);
    const second = budgets.reserve("r", usual, estimate(), signal);
    first.settle({ tokens: 51, cost_usd: 0 });
    first.settle({ tokens: 51, cost_usd: 0 });
    await expect(second).rejects.toMatchObject({ error: { detail: { used: 51, limit: 150 } } });
    // The next call may have been asked for before anybody counted what the first one used.
    expect(await outcome({ max_total_tokens: 150 }, estimate(), budgets)).toMatchObject({ used: 51 });
    expect(await outcome({ max_total_tokens: 151, spent_tokens: 51 }, estimate(), budgets)).toBe("goes");
  });

  test("cost budgets are reserved like token budgets", async () => {
    const budgets = newBudgets();
    const dollars = check({ max_cost_usd: 150 });
    const first = await budgets.reserve("r", dollars, estimate(1), signal);
    const second = budgets.reserve("r", dollars, estimate(1), signal);
    expect(await settledBy(second)).toBe(false);
    first.settle({ tokens: 0, cost_usd: 51 });
    await expect(second).rejects.toMatchObject({ error: { detail: { metric: "cost_usd", used: 51 } } });
  });

  test("a call waits for a running call to settle instead of getting a shorter answer", async () => {
    const budgets = newBudgets();
    const some = check({ max_total_tokens: 1000 });
    const first = await budgets.reserve("r", some, estimate(), signal);
    const second = budgets.reserve("r", some, open(undefined), signal);
    expect(await settledBy(second)).toBe(false);
    first.settle({ tokens: 20, cost_usd: 0 });
    expect((await second).max_tokens).toBe(970);
  });

  test("a cancelled call stops waiting for budget", async () => {
    const budgets = newBudgets();
    await budgets.reserve("r", usual, estimate(), signal);
    const abort = new AbortController();
    const second = budgets.reserve("r", usual, estimate(), abort.signal);
    abort.abort(new Error("stopped"));
    await expect(second).rejects.toThrow("stopped");
    await expect(budgets.reserve("r", usual, estimate(), abort.signal)).rejects.toThrow("stopped");
  });
});

describe("budget accounting of a run", () => {
  const usual = check({ max_total_tokens: 150, max_cost_usd: 150 });
  const reserve = (budgets: ReturnType<typeof newBudgets>, of = usual, about = estimate(1)) =>
    budgets.reserve("r", of, about, signal);
  const rest = () => new Promise((resolve) => setImmediate(resolve));

  test("usage is kept while any call is running, so that new calls count it", async () => {
    const budgets = newBudgets();
    const small = { ...estimate(0, 10), input_tokens: 0 };
    const [first, second] = [await reserve(budgets, usual, small), await reserve(budgets, usual, small)];
    const third = reserve(budgets, usual, estimate(0, 130));
    await rest();
    first.settle({ tokens: 20, cost_usd: null });
    await rest();
    // 150 less 20 that were used: what the second holds back is still missing.
    second.settle({ tokens: 0, cost_usd: null });
    await expect(third).rejects.toMatchObject({ error: { detail: { metric: "total_tokens", used: 20 } } });
  });

  test("usage is counted once, whether or not the next call already includes it", async () => {
    const budgets = newBudgets();
    (await reserve(budgets, usual, estimate(1))).settle({ tokens: 50, cost_usd: 50 });
    (await reserve(budgets, usual, estimate(1))).settle({ tokens: 0, cost_usd: 0 });
    expect(
      await reserve(budgets, { ...usual, spent_tokens: 50, spent_cost_usd: 50 }, estimate(1)),
    ).toBeDefined();
  });

  test("the error of a rejected call states the usage and the limit", async () => {
    const rejection = async (given: Partial<BudgetCheck>, about = estimate(1)) =>
      newBudgets()
        .reserve("r", check(given), about, signal)
        .then(
          () => null,
          ({ error }: ModelError) => [error.code, error.message, error.retryable, error.user_action],
        );
    const over = (words: string) => ["BUDGET", containing(words), false, "raise_limit"];
    const spent = (spent_cost_usd: number) => rejection({ max_cost_usd: 1, spent_cost_usd });
    expect(await rejection({ max_total_tokens: 50, spent_tokens: 7 })).toEqual(
      over("this run's budget of 50 tokens; 7 used"),
    );
    expect(await spent(0.012_345_678)).toEqual(over("this run's budget of $1; $0.01235 spent"));
    expect(await spent(0.1)).toEqual(over("$0.1 spent"));
    expect(await spent(0.123_456)).toEqual(over("$0.12 spent"));
    const [code, message, ...more] = (await rejection({ max_cost_usd: 1 }, estimate(null))) ?? [];
    expect([code, ...more]).toEqual(["CONFIG", false, "settings"]);
    expect(message).toMatch(/Set its price.*token budget.*remove the dollar budget/);
  });

  test("concurrent calls each reserve their maximum cost", async () => {
    const budgets = newBudgets();
    const dollars = check({ max_cost_usd: 250 });
    const [first, second] = [await reserve(budgets, dollars), await reserve(budgets, dollars)];
    let hasCome = false;
    const third = reserve(budgets, dollars).then(() => (hasCome = true));
    await rest();
    expect(hasCome).toBe(false);
    first.settle({ tokens: 0, cost_usd: 50 });
    expect(await third).toBe(true);
    second.settle({ tokens: 0, cost_usd: 0 });
  });

  test("an answer is shortened to the output affordable after the input cost", async () => {
    // Reading costs a dollar each, writing a quarter.
    const dear: Estimate = { ...open(undefined), price: (read, written) => read + written / 4 };
    expect(await outcome({ max_cost_usd: 110 }, dear)).toBe("goes with 400");
    expect(await outcome({ max_cost_usd: 74 }, dear)).toBe("goes with 256");
    expect(await outcome({ max_cost_usd: 73.9 }, dear)).toEqual({
      metric: "cost_usd",
      used: 0,
      limit: 73.9,
    });
    // Writing is free: what is left of tokens alone cuts it.
    const free: Estimate = { ...open(undefined), price: (read) => read };
    expect(await outcome({ max_cost_usd: 11, max_total_tokens: 500 }, free)).toBe("goes with 490");
    expect(await outcome({ max_cost_usd: 10, max_total_tokens: 500 }, free)).toBe("goes with 490");
    expect(await outcome({ max_cost_usd: 9, max_total_tokens: 500 }, free)).toMatchObject({
      metric: "total_tokens",
    });
  });
});
