import { defined } from "@/server/domain/base/defined";
import { reasonOf } from "@/server/domain/base/guards";
import { must } from "@/server/domain/base/must";
import { type BudgetCheck, ModelError } from "../model";

/** An estimate of what a call will use at most. */
export interface Estimate {
  input_tokens: number;
  /** The call's own limit on its answer; undefined if it has none. */
  max_tokens: number | undefined;
  /** The expected length of an answer without a limit. */
  usual_tokens: number;
  /** US dollars for this many tokens; null if the price is unknown. */
  price(inputTokens: number, outputTokens: number): number | null;
  /** Its name for people. */
  model: string;
}

export interface Reservation {
  /** Tokens reserved for the answer, which may not become longer; undefined if there is no hard limit. */
  max_tokens?: number;
  /** Releases the reservation, and counts the real usage. */
  settle(used: { tokens: number; cost_usd: number | null }): void;
}

/** Reserves what running calls may use, so that concurrent calls can't overspend together. */
export interface Budgets {
  /**
   * Throws a ModelError (BUDGET, CONFIG) if the call exceeds the budget. Waits if only the reservations of running
   * calls block it.
   */
  reserve(
    runId: string,
    check: BudgetCheck | undefined,
    estimate: Estimate,
    signal: AbortSignal,
  ): Promise<Reservation>;
}

/** Tokens reserved for an answer without a limit of its own; four times as many if the model thinks first. */
export const USUAL_ANSWER = 8192;
export const THOUGHTFUL_ANSWER = 4 * USUAL_ANSWER;
/** With less than this left, an answer would be useless. */
const SMALLEST_ANSWER = 256;

interface Ledger {
  held: { tokens: number; cost: number }[];
  /** The run's known usage: the figures passed with the next call don't include a call that just ended. */
  used: { tokens: number; cost: number };
  waiting: Set<() => void>;
}
const MOST_LEDGERS = 1000;
type Metric = "total_tokens" | "cost_usd";

export function newBudgets(): Budgets {
  const ledgers = new Map<string, Ledger>();
  const ledgerOf = (runId: string) => {
    const ledger = ledgers.get(runId) ?? { held: [], used: { tokens: 0, cost: 0 }, waiting: new Set() };
    ledgers.delete(runId);
    ledgers.set(runId, ledger);
    const [oldest, { held, waiting }] = must(ledgers.entries().next(), "value");
    if (ledgers.size > MOST_LEDGERS && held.length + waiting.size === 0) ledgers.delete(oldest);
    return ledger;
  };

  const hold = (
    ledger: Ledger,
    amount: { tokens: number; cost: number },
    maxTokens?: number,
  ): Reservation => {
    ledger.held.push(amount);
    let settled = false;
    return {
      ...defined({ max_tokens: maxTokens }),
      settle(used) {
        if (settled) return;
        settled = true;
        ledger.held.splice(ledger.held.indexOf(amount), 1);
        ledger.used.tokens += used.tokens;
        ledger.used.cost += used.cost_usd ?? 0;
        for (const wake of [...ledger.waiting]) wake();
      },
    };
  };

  return {
    async reserve(runId, check, estimate, signal) {
      if (!check || (check.max_cost_usd === null && check.max_total_tokens === null))
        return { settle: () => undefined };
      refuseUnknownPrice(check, estimate);
      const ledger = ledgerOf(runId);
      ledger.used = {
        tokens: Math.max(ledger.used.tokens, check.spent_tokens),
        cost: Math.max(ledger.used.cost, check.spent_cost_usd),
      };
      for (;;) {
        const verdict = weigh(check, estimate, ledger.used, ledger.held);
        if (verdict.go) return hold(ledger, verdict.amount, verdict.max_tokens);
        if (ledger.held.length === 0) throw overBudget(verdict.metric, verdict.used, verdict.limit);
        await woken(ledger, signal);
      }
    },
  };
}

function woken(ledger: Ledger, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(reasonOf(signal));
    const done = () => {
      ledger.waiting.delete(wake);
      signal.removeEventListener("abort", stop);
    };
    const wake = () => {
      done();
      resolve();
    };
    const stop = () => {
      done();
      reject(reasonOf(signal));
    };
    ledger.waiting.add(wake);
    signal.addEventListener("abort", stop, { once: true });
  });
}

type Verdict =
  | { go: true; amount: { tokens: number; cost: number }; max_tokens?: number }
  | { go: false; metric: Metric; used: number; limit: number };

function weigh(check: BudgetCheck, estimate: Estimate, spent: Ledger["used"], held: Ledger["held"]): Verdict {
  const over = (metric: Metric, limit: number): Verdict => ({
    go: false,
    metric,
    limit,
    used: metric === "total_tokens" ? spent.tokens : spent.cost,
  });
  const { max_total_tokens: mostTokens, max_cost_usd: mostCost } = check;
  if (mostTokens !== null && spent.tokens >= mostTokens) return over("total_tokens", mostTokens);
  if (mostCost !== null && spent.cost >= mostCost && (estimate.price(1, 1) ?? 0) > 0)
    return over("cost_usd", mostCost);
  if (check.mode === "soft") return { go: true, amount: { tokens: 0, cost: 0 } };

  const costs = (output: number) => estimate.price(estimate.input_tokens, output) ?? 0;
  const reserved = held.reduce(
    (sum, { tokens, cost }) => ({ tokens: sum.tokens + tokens, cost: sum.cost + cost }),
    { tokens: 0, cost: 0 },
  );
  const left = {
    tokens: mostTokens === null ? Number.POSITIVE_INFINITY : mostTokens - spent.tokens - reserved.tokens,
    cost: mostCost === null ? Number.POSITIVE_INFINITY : mostCost - spent.cost - reserved.cost,
  };
  const wanted = estimate.max_tokens ?? estimate.usual_tokens;
  const fits = (output: number) =>
    estimate.input_tokens + output <= left.tokens && costs(output) <= left.cost;
  const isFree = mostTokens === null && costs(wanted) === 0;
  if (fits(wanted))
    return {
      go: true,
      ...defined({ max_tokens: isFree ? undefined : wanted }),
      amount: { tokens: estimate.input_tokens + wanted, cost: costs(wanted) },
    };
  // Other calls are running and may leave budget over: waiting is better than a truncated answer.
  const perToken = Math.max(0, costs(1000) - costs(0)) / 1000;
  const byCost = perToken === 0 ? Number.POSITIVE_INFINITY : Math.floor((left.cost - costs(0)) / perToken);
  const affordable = Math.min(wanted, left.tokens - estimate.input_tokens, byCost);
  const mayShorten =
    estimate.max_tokens === undefined &&
    held.length === 0 &&
    affordable >= SMALLEST_ANSWER &&
    fits(affordable);
  if (mayShorten)
    return {
      go: true,
      max_tokens: affordable,
      amount: { tokens: estimate.input_tokens + affordable, cost: costs(affordable) },
    };
  return estimate.input_tokens + wanted > left.tokens && mostTokens !== null
    ? over("total_tokens", mostTokens)
    : over("cost_usd", mostCost ?? 0);
}

function overBudget(metric: Metric, used: number, limit: number): ModelError {
  const message =
    metric === "cost_usd"
      ? `The next model call could exceed this run's budget of $${limit}; $${round(used)} spent. Raise the limit to continue.`
      : `The next model call could exceed this run's budget of ${limit} tokens; ${used} used. Raise the limit to continue.`;
  return new ModelError({
    code: "BUDGET",
    message,
    retryable: false,
    user_action: "raise_limit",
    detail: { metric, used, limit },
  });
}
const round = (usd: number) => Number(usd.toFixed(usd < 0.1 ? 5 : 2));

function refuseUnknownPrice(check: BudgetCheck, estimate: Estimate) {
  if (check.max_cost_usd === null || estimate.price(1, 1) !== null) return;
  throw new ModelError({
    code: "CONFIG",
    message: `This run has a dollar budget, but the price of ${estimate.model} is unknown. Set its price in the provider's settings, use a token budget instead, or remove the dollar budget.`,
    retryable: false,
    user_action: "settings",
    detail: { choices: ["set_price", "use_token_budget", "run_without_cost_budget"], model: estimate.model },
  });
}
