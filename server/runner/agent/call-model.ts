import { z } from "zod";
import { NO_USAGE, pay, type RunError, type Spent, Usage } from "@/server/domain/agent/outcome";
import type { LlmConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { must, present } from "@/server/domain/base/must";
import type { JsonSchema } from "@/server/domain/base/values";
import { NodeFailure } from "@/server/domain/nodes";
import { isSince } from "@/server/domain/run/edition";
import type { ChatMessage, Payloads } from "@/server/domain/run/events";
import { fraction } from "@/server/domain/run/schedule/retry-delay";
import type { FailedCost, ModelAnswer, ToolOffer } from "@/server/llm/model";
import { StepFailed } from "../node/flow";
import { asError, internalError, recordedError } from "../node/internal-error";
import type { AgentRuntime, CheaperModel } from "../node/ports";
import type { Agent } from "./agent";
import { atLimit } from "./limit-question";
import { hearInstructions } from "./prompt/instructions";
import { hearTeamNews } from "./team-news";

/** Attempts at one model call, with back-off between them (docs/decisions/04-two-retry-layers.md). */
const CALL_ATTEMPTS = 4;
const LONGEST_RETRY_AFTER_MS = 60_000;

export interface ModelTurn {
  /** Names the turn in keys, unique in the agent's work. */
  name: string;
  messages: readonly ChatMessage[];
  schema?: JsonSchema;
  tools?: readonly ToolOffer[];
  max_tokens?: number;
  purpose?: Payloads["llm_call_started"]["purpose"];
}

/** One model turn: attempts with back-off, each an event and a step of its own; then the fallback models. */
export function* callModel(agent: Agent, turn: ModelTurn): Flow<ModelAnswer & { call_id: string }> {
  const { run, task, about } = agent;
  const { messages, schema, max_tokens: maxTokens, tools } = turn;
  const protocol = task.config?.tool_protocol ?? "auto";
  let configs = modelsFor(agent, maxTokens);
  let last: unknown;
  /** Failures of a kind that is not tried again as often as others, such as time that ran out. */
  let costly = 0;
  for (let which = 0; which < configs.length; which++) {
    if (which < agent.firstModel) continue;
    for (let attempt = 1; attempt <= CALL_ATTEMPTS; attempt++) {
      const local = [
        agent.path,
        `turn${turn.name}`,
        ...(which > 0 ? [`fallback${which}`] : []),
        `call${attempt}`,
      ].join("/");
      const call_id = `${run.activationId}/${run.attempt}/${local}`;
      const config = run.config;
      const isTurn = (turn.purpose ?? task.purpose ?? "task") === "task" && which === 0 && attempt === 1;
      yield* run.arrive({ point: "llm_call", ...about, isTurn });
      run.reached();
      // A person may have chosen another model while it was held here.
      configs = modelsFor(agent, maxTokens);
      const llm_config = configs[which] ?? must(configs, 0);
      agent.takeEdits();
      if (messages === agent.messages) {
        hearInstructions(agent);
        hearTeamNews(agent);
      }
      run.emit({
        type: "llm_call_started",
        ...about,
        call_id,
        payload: {
          purpose: turn.purpose ?? task.purpose ?? "task",
          attempt,
          message_count: messages.length,
          ...defined({ model: llm_config.model || undefined }),
        },
      });
      try {
        const isLast = which >= configs.length - 1;
        const answer = yield* run.call(local, isLast, {
          llm_config,
          messages: [...messages],
          ...defined({ response: schema ? { name: "answer", schema } : undefined }),
          ...(tools && tools.length > 0 && protocol !== "none" ? { tools, tool_protocol: protocol } : {}),
          call_id,
          run_id: run.s.run.id,
          budget: {
            max_cost_usd: config.budget.max_cost_usd ?? null,
            max_total_tokens: config.budget.max_total_tokens ?? null,
            spent_cost_usd: run.s.totals.cost_usd,
            spent_tokens: run.s.totals.usage.input_tokens + run.s.totals.usage.output_tokens,
            mode: config.budget.mode,
          },
        });
        const { provider_id: _id, reads, reused, capped_at, ...seen } = answer;
        if (reads) agent.reads = reads;
        const payload = reused === undefined ? seen : asReused(seen, reused);
        run.emit({ type: "llm_call_completed", ...about, call_id, payload });
        // Once per run is enough: the note comes with every call that it applies to.
        for (const message of answer.notes ?? [])
          if (!run.s.run.warnings.includes(message))
            run.emit({ type: "warning", ...about, call_id, payload: { code: "MODEL_CALL", message } });
        warnOfBudget(run, payload, capped_at ?? llm_config.max_tokens);
        pay(agent.spent, payload);
        return { ...answer, call_id };
      } catch (error) {
        if (!(error instanceof StepFailed)) throw error;
        last = error;
        const detail = FailureDetail.safeParse(error.error.detail).data;
        const cause = errorOf(error);
        const budget = cause.code === "BUDGET";
        const wait = detail?.retry_after_ms;
        const cost = detail?.cost;
        if (detail?.tries !== undefined) costly++;
        const mayRetry =
          cause.retryable &&
          attempt < CALL_ATTEMPTS &&
          (detail?.tries === undefined || costly < detail.tries) &&
          (wait === undefined || wait <= LONGEST_RETRY_AFTER_MS);
        const delay = Math.max(wait ?? 0, backOff(call_id, attempt));
        run.emit({
          type: "llm_call_failed",
          ...about,
          call_id,
          payload: {
            error: cause,
            attempt,
            will_retry: mayRetry || budget,
            ...defined({
              http_status: detail?.http_status ? detail.http_status : undefined,
              delay_ms: mayRetry ? delay : undefined,
            }),
            ...cost,
          },
        });
        if (cost) {
          warnOfBudget(run, cost);
          pay(agent.spent, cost);
        }
        if (budget) {
          const { metric, used, limit } = OverBudget.parse(cause.detail);
          run.emit({
            type: "budget_exceeded",
            ...about,
            payload: { metric: metric ?? "cost_usd", used: used ?? 0, limit: limit ?? 0 },
          });
          const stands = metric === "total_tokens" ? "max_total_tokens" : "max_cost_usd";
          const next = configs[which + 1]?.model;
          const goesOn = yield* atLimit(agent, stands, local, { llm_config, next });
          if (goesOn === "next_model") {
            agent.skipModels(which + 1);
            break;
          }
          if (goesOn !== "again") agent.cheaper = goesOn;
          return yield* callModel(agent, { ...turn, name: `${turn.name}+` });
        }
        if (!mayRetry) break;
        yield* run.pause(`${local}/backoff`, delay);
      }
    }
    const cause = errorOf(last);
    const mayGoOn = ["QUOTA", "AUTH", "BUDGET"].includes(cause.code);
    if (!cause.retryable && !mayGoOn) break;
  }
  throw last;
}

/** The settings with which an agent's model is asked, and then its fallback models. */
function modelsFor(agent: Agent, maxTokens: number | undefined): LlmConfig[] {
  const { task } = agent;
  const own = agent.modelNow;
  // More tokens than its settings say were asked for because an answer was cut off.
  const most = maxTokens === task.llm_config?.max_tokens ? own?.max_tokens : maxTokens;
  const base: LlmConfig = { ...own, ...defined({ max_tokens: most }) };
  if (agent.cheaper) return [withModel(base, agent.cheaper)];
  return [base, ...(base.fallback_models ?? []).map((other) => ({ ...base, ...other }))];
}

/** The same call of another model, and of no other but that. */
function withModel({ fallback_models: _others, ...base }: LlmConfig, model: CheaperModel): LlmConfig {
  return { ...base, provider_id: model.provider_id, model: model.model };
}

/** A reused answer: another run paid for it. */
const asReused = (seen: Payloads["llm_call_completed"], run_id: string): Payloads["llm_call_completed"] => ({
  ...seen,
  usage: NO_USAGE,
  cost_usd: 0,
  reused: { run_id, usage: seen.usage, cost_usd: seen.cost_usd },
});

/** What a failed call's record tells besides the error (see ModelError); absent in records from before it was told. */
const FailureDetail = z.object({
  http_status: z.number().optional().catch(undefined),
  retry_after_ms: z.number().optional().catch(undefined),
  tries: z.number().optional().catch(undefined),
  cost: z
    .custom<FailedCost>((cost) => Cost.safeParse(cost).success)
    .optional()
    .catch(undefined),
});
const Cost: z.ZodType<FailedCost> = z.object({
  usage: Usage,
  cost_usd: z.number().nullable(),
  cost_source: z.enum(["provider", "override", "price_table", "local", "simulated", "unknown"]),
  provider: z.string(),
  model: z.string(),
  simulated: z.boolean(),
});

/** Which budget a call would have gone beyond, and how far. */
const OverBudget = z
  .object({
    metric: z.enum(["cost_usd", "total_tokens"]).optional().catch(undefined),
    used: z.number().optional().catch(undefined),
    limit: z.number().optional().catch(undefined),
  })
  .catch({});

/** 1 s, 2 s, 4 s ... at most 30 s, each varied by up to a quarter; the same on every replay. */
export function backOff(call_id: string, attempt: number): number {
  return Math.round(Math.min(30_000, 1000 * 2 ** (attempt - 1)) * (0.75 + 0.5 * fraction(call_id)));
}

/** Says once when a budget is nearly used up, and when an answer went beyond it. `cap`: how many tokens it was allowed. */
function warnOfBudget(run: AgentRuntime, paid: Spent, cap?: number) {
  const { budget } = run.config;
  const { totals } = run.s;
  const tokens = totals.usage.input_tokens + totals.usage.output_tokens;
  const over = (used: number, added: number, limit: number | null | undefined, unit: string) => {
    if (budget.mode !== "hard" || limit == null || used <= limit || used - added > limit) return;
    if (!isSince(run.s.run, 3)) return;
    const { output_tokens } = paid.usage;
    const why =
      cap !== undefined && output_tokens > cap
        ? `An answer took ${output_tokens} tokens, although only ${cap} were asked for: its server does not keep to such limits.`
        : "The server counted more than was expected of the last call.";
    const message = `This run went over its limit of ${limit} ${unit}: ${Number(used.toFixed(5))} are used. ${why}`;
    run.emit({ type: "warning", payload: { code: "OVER_BUDGET", message } });
  };
  const crossed = (used: number, added: number, limit: number | null | undefined) =>
    limit != null && used >= limit * budget.warn_at && used - added < limit * budget.warn_at;
  if (crossed(totals.cost_usd, paid.cost_usd ?? 0, budget.max_cost_usd))
    run.emit({
      type: "budget_warning",
      payload: {
        metric: "cost_usd",
        used: totals.cost_usd,
        limit: present(budget.max_cost_usd ?? undefined, "budget.max_cost_usd"),
      },
    });
  if (crossed(tokens, paid.usage.input_tokens + paid.usage.output_tokens, budget.max_total_tokens))
    run.emit({
      type: "budget_warning",
      payload: {
        metric: "total_tokens",
        used: tokens,
        limit: present(budget.max_total_tokens ?? undefined, "budget.max_total_tokens"),
      },
    });
  over(totals.cost_usd, paid.cost_usd ?? 0, budget.max_cost_usd, "US dollars");
  over(tokens, paid.usage.input_tokens + paid.usage.output_tokens, budget.max_total_tokens, "tokens");
}

export function errorOf(error: unknown): RunError {
  if (error instanceof NodeFailure) return error.toRunError();
  if (error instanceof StepFailed) {
    const recorded = recordedError(error.error);
    if (recorded) return recorded;
  }
  return internalError(error instanceof StepFailed ? error.error : asError(error), "The agent failed");
}

/** Whether a failure concerns the whole run, such as a rejected key: no other agent can fix it. */
export const concernsRun = ({ code }: RunError): boolean =>
  code === "BUDGET" || code === "AUTH" || code === "QUOTA";
