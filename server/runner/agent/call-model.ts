import { z } from "zod";
import { NO_USAGE, pay, type RunError, type Spent, Usage } from "@/server/domain/agent/outcome";
import type { LlmConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import type { JsonSchema } from "@/server/domain/base/values";
import { NodeFailure } from "@/server/domain/nodes";
import { isSince } from "@/server/domain/run/edition";
import type { ChatMessage, Payloads } from "@/server/domain/run/events";
import { fraction } from "@/server/domain/run/schedule/retry-delay";
import type { FailedCost, ModelAnswer, ModelRequest, ToolOffer } from "@/server/llm/model";
import { StepFailed } from "../node/flow";
import { asError, internalError, recordedError } from "../node/internal-error";
import type { AgentRuntime, CheaperModel, Reused } from "../node/ports";
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

type Answered = ModelAnswer & { call_id: string };

/** One attempt at a call. `which` counts the agent's models from 0; `local` is the key of its step. */
interface Attempt {
  which: number;
  attempt: number;
  local: string;
  call_id: string;
  llm_config: LlmConfig;
}

/** One model turn: attempts with back-off, each an event and a step of its own; then the fallback models. */
export function* callModel(agent: Agent, turn: ModelTurn): Flow<Answered> {
  return yield* new ModelCalls(agent, turn).answer();
}

/** The calls of one model turn. */
class ModelCalls {
  private readonly run: AgentRuntime;
  private readonly purpose: NonNullable<ModelTurn["purpose"]>;
  private configs: LlmConfig[];
  private last: unknown;
  /** Failures that get fewer attempts than others, such as timeouts. */
  private costly = 0;

  constructor(
    private readonly agent: Agent,
    private readonly turn: ModelTurn,
  ) {
    this.run = agent.run;
    this.purpose = turn.purpose ?? agent.task.purpose ?? "task";
    this.configs = modelsFor(agent, turn.max_tokens);
  }

  *answer(): Flow<Answered> {
    for (let which = 0; which < this.configs.length; which++) {
      if (which < this.agent.firstModel) continue;
      const answer = yield* this.ask(which);
      if (answer) return answer;
      const { code, retryable } = errorOf(this.last);
      if (!retryable && !["QUOTA", "AUTH", "BUDGET"].includes(code)) break;
    }
    throw this.last;
  }

  /** One model's answer; undefined if its attempts failed. */
  private *ask(which: number): Flow<Answered | undefined> {
    for (let attempt = 1; ; attempt++) {
      const call = yield* this.start(which, attempt);
      const isLast = which >= this.configs.length - 1;
      try {
        return this.completed(call, yield* this.run.call(call.local, isLast, this.requestOf(call)));
      } catch (error) {
        if (!(error instanceof StepFailed)) throw error;
        this.last = error;
        const { cause, retryAfter } = this.failed(call, error);
        if (cause.code === "BUDGET") return yield* this.overBudget(call, cause);
        if (retryAfter === undefined) return undefined;
        yield* this.run.pause(`${call.local}/backoff`, retryAfter);
      }
    }
  }

  private *start(which: number, attempt: number): Flow<Attempt> {
    const { run, agent, purpose, turn } = this;
    const fallback = which > 0 ? [`fallback${which}`] : [];
    const local = [agent.path, `turn${turn.name}`, ...fallback, `call${attempt}`].join("/");
    const call_id = `${run.activationId}/${run.attempt}/${local}`;
    const isTurn = purpose === "task" && which === 0 && attempt === 1;
    yield* run.arrive({ point: "llm_call", ...agent.about, isTurn });
    run.reached();
    // A person may have chosen another model while it waited.
    this.configs = modelsFor(agent, turn.max_tokens);
    const llm_config = this.configs[which] ?? must(this.configs, 0);
    agent.takeEdits();
    if (turn.messages === agent.messages) {
      hearInstructions(agent);
      hearTeamNews(agent);
    }
    run.emit({
      type: "llm_call_started",
      ...agent.about,
      call_id,
      payload: {
        purpose,
        attempt,
        message_count: turn.messages.length,
        ...defined({ model: llm_config.model || undefined }),
      },
    });
    return { which, attempt, local, call_id, llm_config };
  }

  private requestOf({ call_id, llm_config }: Attempt): ModelRequest {
    const { messages, schema, tools } = this.turn;
    const { config, s } = this.run;
    const protocol = this.agent.task.config?.tool_protocol ?? "auto";
    return {
      llm_config,
      messages: [...messages],
      ...defined({ response: schema ? { name: "answer", schema } : undefined }),
      ...(tools && tools.length > 0 && protocol !== "none" ? { tools, tool_protocol: protocol } : {}),
      call_id,
      run_id: s.run.id,
      budget: {
        max_cost_usd: config.budget.max_cost_usd ?? null,
        max_total_tokens: config.budget.max_total_tokens ?? null,
        spent_cost_usd: s.totals.cost_usd,
        spent_tokens: s.totals.usage.input_tokens + s.totals.usage.output_tokens,
        mode: config.budget.mode,
      },
    };
  }

  private completed({ call_id, llm_config }: Attempt, answer: ModelAnswer & Reused): Answered {
    const { run, agent } = this;
    const { provider_id: _id, reads, reused, capped_at, ...seen } = answer;
    if (reads) agent.reads = reads;
    const payload = reused === undefined ? seen : asReused(seen, reused);
    run.emit({ type: "llm_call_completed", ...agent.about, call_id, payload });
    // Notes come with every call that they apply to; each is shown once per run.
    for (const message of answer.notes ?? [])
      if (!run.s.run.warnings.includes(message))
        run.emit({ type: "warning", ...agent.about, call_id, payload: { code: "MODEL_CALL", message } });
    warnOfBudget(run, payload, capped_at ?? llm_config.max_tokens);
    pay(agent.spent, payload);
    return { ...answer, call_id };
  }

  /** Records a failed attempt. `retryAfter`: milliseconds until the next one; undefined if there is none. */
  private failed({ call_id, attempt }: Attempt, error: StepFailed): { cause: RunError; retryAfter?: number } {
    const { run, agent } = this;
    const {
      tries,
      cost,
      http_status,
      retry_after_ms: wait,
    } = FailureDetail.safeParse(error.error.detail).data ?? {};
    const cause = errorOf(error);
    if (tries !== undefined) this.costly++;
    const mayRetry =
      cause.retryable &&
      attempt < CALL_ATTEMPTS &&
      (tries === undefined || this.costly < tries) &&
      (wait === undefined || wait <= LONGEST_RETRY_AFTER_MS);
    const delay_ms = mayRetry ? Math.max(wait ?? 0, backOff(call_id, attempt)) : undefined;
    run.emit({
      type: "llm_call_failed",
      ...agent.about,
      call_id,
      payload: {
        error: cause,
        attempt,
        will_retry: mayRetry || cause.code === "BUDGET",
        ...defined({ http_status: http_status || undefined, delay_ms }),
        ...cost,
      },
    });
    if (cost) {
      warnOfBudget(run, cost);
      pay(agent.spent, cost);
    }
    return { cause, ...defined({ retryAfter: delay_ms }) };
  }

  /** Asks how to continue after the budget blocked a call; undefined to ask the next model. */
  private *overBudget({ which, local, llm_config }: Attempt, cause: RunError): Flow<Answered | undefined> {
    const { run, agent, turn } = this;
    const { metric, used, limit } = OverBudget.parse(cause.detail);
    run.emit({
      type: "budget_exceeded",
      ...agent.about,
      payload: { metric: metric ?? "cost_usd", used: used ?? 0, limit: limit ?? 0 },
    });
    const blocking = metric === "total_tokens" ? "max_total_tokens" : "max_cost_usd";
    const next = this.configs[which + 1]?.model;
    const goesOn = yield* atLimit(agent, blocking, local, { llm_config, next });
    if (goesOn === "next_model") {
      agent.skipModels(which + 1);
      return undefined;
    }
    if (goesOn !== "again") agent.cheaper = goesOn;
    return yield* callModel(agent, { ...turn, name: `${turn.name}+` });
  }
}

/** The settings of an agent's model, then those of its fallback models. */
function modelsFor(agent: Agent, maxTokens: number | undefined): LlmConfig[] {
  const { task } = agent;
  const own = agent.modelNow;
  // A longer answer than its settings allow is asked for after one was cut off.
  const most = maxTokens === task.llm_config?.max_tokens ? own?.max_tokens : maxTokens;
  const base: LlmConfig = { ...own, ...defined({ max_tokens: most }) };
  if (agent.cheaper) return [withModel(base, agent.cheaper)];
  return [base, ...(base.fallback_models ?? []).map((other) => ({ ...base, ...other }))];
}

/** The same settings for another model, without fallback models. */
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

/** The details of a failed call besides the error (see ModelError); old records lack them. */
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

/** The budget that a call would have exceeded, and by how much. */
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

/** Warns once when a budget is nearly used up, and when an answer exceeded it. `cap`: the tokens it was allowed. */
function warnOfBudget(run: AgentRuntime, paid: Spent, cap?: number) {
  const { budget } = run.config;
  const { cost_usd, usage } = run.s.totals;
  const { input_tokens, output_tokens } = paid.usage;
  const cost = { metric: "cost_usd", unit: "US dollars", used: cost_usd, added: paid.cost_usd ?? 0 } as const;
  const tokens = {
    metric: "total_tokens",
    unit: "tokens",
    used: usage.input_tokens + usage.output_tokens,
    added: input_tokens + output_tokens,
  } as const;
  const limited = [
    ...(budget.max_cost_usd == null ? [] : [{ ...cost, limit: budget.max_cost_usd }]),
    ...(budget.max_total_tokens == null ? [] : [{ ...tokens, limit: budget.max_total_tokens }]),
  ];
  for (const { metric, used, added, limit } of limited)
    if (used >= limit * budget.warn_at && used - added < limit * budget.warn_at)
      run.emit({ type: "budget_warning", payload: { metric, used, limit } });
  if (budget.mode !== "hard" || !isSince(run.s.run, 3)) return;
  const why =
    cap !== undefined && output_tokens > cap
      ? `A response used ${output_tokens} tokens despite a limit of ${cap}: its server ignores token limits.`
      : "The server reported more usage than expected for the last call.";
  for (const { unit, used, added, limit } of limited)
    if (used > limit && used - added <= limit) {
      const message = `This run exceeded its limit of ${limit} ${unit}: ${Number(used.toFixed(5))} used. ${why}`;
      run.emit({ type: "warning", payload: { code: "OVER_BUDGET", message } });
    }
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
