import type { Flow } from "@/server/domain/durable";
import type { ChatMessage } from "@/server/domain/events";
import { NodeFailure } from "@/server/domain/nodes";
import type { AgentAnswer, AgentRequest } from "@/server/domain/nodes/define";
import { addUsage, NO_USAGE, type RunError, type Usage } from "@/server/domain/outcome";
import { rolePrompt, taskPrompt } from "@/server/domain/prompt";
import type { RoleDefinition } from "@/server/domain/role";
import { fraction } from "@/server/domain/schedule";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/values";
import type { ModelAnswer } from "@/server/llm/model";
import { outputSchema, parseOutput, reaskMessage } from "@/server/llm/structured-output";
import { StepFailed } from "../flow";
import type { NodeRun } from "../node-run";

const MAX_ITERATIONS = 10;
/** Attempts at one model call, with back-off between them (runtime.md 2.7). */
const CALL_ATTEMPTS = 4;
const MAX_REASKS = 2;
const LONGEST_RETRY_AFTER_MS = 60_000;

export interface AgentTask extends AgentRequest {
  agent_id: string;
  task_id?: string;
  /** A role of our own making, instead of one that people defined. */
  role?: RoleDefinition;
  purpose?: "task" | "plan" | "route";
  /** Coworkers in one line each, for agents of a crew. */
  team?: string;
  /** Results of earlier tasks by name. */
  earlier?: Record<string, Json>;
  /** What else must hold of the answer; faults are fed back like a wrong shape. */
  check?: (value: Json) => string[];
  /** The answer's shape where it is not one value per output key. */
  answer_schema?: JsonSchema;
  /** What the role reads; the node's input where absent. */
  inputs?: JsonObject;
}

/** Lets one role work on one task until its answer has the right shape. */
export function* runAgent(run: NodeRun, task: AgentTask): Flow<AgentAnswer> {
  const role = task.role ?? run.findRole(task.required_role);
  if (!role)
    throw new NodeFailure(
      "CONFIG",
      `There is no role called "${task.required_role}". Create it, or choose another for ${run.node.name || run.node.id}.`,
    );
  const about = { agent_id: task.agent_id, ...(task.task_id ? { task_id: task.task_id } : {}) };
  const limit = task.max_iterations ?? MAX_ITERATIONS;
  const shape = task.answer_schema
    ? ({ kind: "json", schema: task.answer_schema } as const)
    : outputSchema([...task.output_keys], {
        ...(task.output_schema ? { nodeSchema: task.output_schema } : {}),
        ...(role.output_schema ? { roleSchema: role.output_schema } : {}),
        stateProperties: run.stateProperties,
      });

  run.emit({
    type: "agent_started",
    ...about,
    payload: { role_name: role.name, output_keys: [...task.output_keys], limits: { max_iterations: limit } },
  });
  const messages: ChatMessage[] = [];
  const say = (message: ChatMessage, origin: "system" | "template" | "reask" | "nudge") => {
    messages.push(message);
    run.emit({ type: "message_added", ...about, payload: { message, origin } });
  };
  say(
    {
      role: "system",
      content: rolePrompt(role, {
        ...(task.backstory ? { backstory: task.backstory } : {}),
        ...(task.team ? { team: task.team } : {}),
      }),
    },
    "system",
  );
  say(
    {
      role: "user",
      content: taskPrompt({
        task: task.task,
        ...(task.expected_output ? { expected_output: task.expected_output } : {}),
        inputs: task.inputs ?? run.input,
        ...(task.earlier ? { earlier: task.earlier } : {}),
        ...(shape.kind === "json" ? { schema: shape.schema } : {}),
        output_keys: [...task.output_keys],
      }),
    },
    "template",
  );

  const spent = { usage: NO_USAGE, cost_usd: 0 as number | null };
  let reasks = 0;
  let maxTokens = task.llm_config?.max_tokens;
  try {
    for (let local = 0; local < limit; local++) {
      for (let blocked = run.limitBeforeCall(); blocked; blocked = run.limitBeforeCall())
        yield* run.hold(blocked);
      run.emit({
        type: "iteration_started",
        ...about,
        payload: { global_iteration: run.s.totals.global_iterations, local_iteration: local },
      });
      const answer = yield* callModel(
        run,
        task,
        about,
        String(local),
        messages,
        shape.kind === "json" ? shape.schema : undefined,
        maxTokens,
        spent,
      );
      if (answer.refusal)
        throw new NodeFailure("MODEL_REFUSAL", `The model refused: ${answer.refusal}`, {
          user_action: "edit_graph",
        });
      messages.push({ role: "assistant", content: answer.content });
      if (answer.finish_reason === "length") {
        if (maxTokens === undefined || maxTokens !== task.llm_config?.max_tokens)
          throw new NodeFailure(
            "OUTPUT_TRUNCATED",
            "The model's answer was cut off at its length limit. Raise the maximum of tokens, or ask for less.",
            { user_action: "edit_graph" },
          );
        maxTokens *= 2;
        messages.pop();
        continue;
      }
      const read = readAnswer(answer.content, shape, task);
      run.emit({
        type: "output_parsed",
        ...about,
        payload: {
          ok: read.errors.length === 0,
          errors: read.errors,
          repair: read.repair,
          attempt: reasks + 1,
        },
      });
      if (read.errors.length === 0) {
        const output = read.output!;
        run.emit({ type: "agent_finished", ...about, payload: { status: "completed", output, ...spent } });
        return { output, ...spent };
      }
      if (++reasks > MAX_REASKS)
        throw new NodeFailure(
          "OUTPUT_INVALID",
          `The model's answer did not have the asked shape, also after ${MAX_REASKS} corrections: ${read.errors[0]}`,
          { retryable: true, user_action: "retry" },
        );
      say({ role: "user", content: reaskMessage(read.errors) }, "reask");
    }
    throw new NodeFailure("MAX_ITERATIONS", `${role.name} did not come to an answer in ${limit} turns.`, {
      user_action: "edit_graph",
    });
  } catch (error) {
    run.emit({
      type: "agent_finished",
      ...about,
      payload: { status: "failed", error: errorOf(error), ...spent },
    });
    throw error;
  }
}

function readAnswer(
  content: string,
  shape: ReturnType<typeof outputSchema>,
  task: AgentTask,
): { output?: JsonObject; errors: string[]; repair: "none" | "jsonrepair" | "coerced" | "extracted" } {
  if (shape.kind === "text") {
    const text = content.trim();
    if (text === "") return { errors: ["The answer was empty."], repair: "none" };
    return { output: { [shape.key]: text }, errors: [], repair: "none" };
  }
  const parsed = parseOutput(content, shape.schema);
  if (!parsed.ok) return { errors: parsed.errors, repair: "none" };
  const faults = task.check?.(parsed.value) ?? [];
  if (faults.length > 0) return { errors: faults, repair: parsed.repair };
  return { output: parsed.value as JsonObject, errors: [], repair: parsed.repair };
}

/** One model turn: attempts with back-off, each an event and a step of its own; then the fallback models. */
function* callModel(
  run: NodeRun,
  task: AgentTask,
  about: { agent_id: string; task_id?: string },
  turn: string,
  messages: readonly ChatMessage[],
  schema: JsonSchema | undefined,
  maxTokens: number | undefined,
  spent: { usage: Usage; cost_usd: number | null },
): Flow<ModelAnswer> {
  const base = { ...task.llm_config, ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }) };
  const configs = [base, ...(base.fallback_models ?? []).map((other) => ({ ...base, ...other }))];
  let last: unknown;
  for (const [which, llm_config] of configs.entries()) {
    for (let attempt = 1; attempt <= CALL_ATTEMPTS; attempt++) {
      const local = [
        task.task_id ?? task.agent_id,
        `turn${turn}`,
        ...(which > 0 ? [`fallback${which}`] : []),
        `call${attempt}`,
      ].join("/");
      const call_id = `${run.activationId}/${run.attempt}/${local}`;
      const config = run.config;
      run.emit({
        type: "llm_call_started",
        ...about,
        call_id,
        payload: {
          purpose: task.purpose ?? "task",
          attempt,
          message_count: messages.length,
          ...(llm_config.model ? { model: llm_config.model } : {}),
        },
      });
      try {
        const answer = yield* run.call(local, {
          llm_config,
          messages: [...messages],
          ...(schema ? { response: { name: "answer", schema } } : {}),
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
        const { provider_id: _id, ...seen } = answer;
        run.emit({ type: "llm_call_completed", ...about, call_id, payload: seen });
        warnOfBudget(run, answer);
        spent.usage = addUsage(spent.usage, answer.usage);
        spent.cost_usd =
          spent.cost_usd === null || answer.cost_usd === null ? null : spent.cost_usd + answer.cost_usd;
        return answer;
      } catch (error) {
        if (!(error instanceof StepFailed)) throw error;
        last = error;
        const detail = error.error.detail as
          | { error?: RunError; http_status?: number; retry_after_ms?: number }
          | undefined;
        const cause = errorOf(error);
        const budget = cause.code === "BUDGET";
        const wait = detail?.retry_after_ms;
        const mayRetry =
          cause.retryable &&
          attempt < CALL_ATTEMPTS &&
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
            ...(detail?.http_status ? { http_status: detail.http_status } : {}),
            ...(mayRetry ? { delay_ms: delay } : {}),
          },
        });
        if (budget) {
          const { metric, used, limit } = (cause.detail ?? {}) as {
            metric?: "cost_usd" | "total_tokens";
            used?: number;
            limit?: number;
          };
          run.emit({
            type: "budget_exceeded",
            ...about,
            payload: { metric: metric ?? "cost_usd", used: used ?? 0, limit: limit ?? 0 },
          });
          yield* run.hold(metric === "total_tokens" ? "max_total_tokens" : "max_cost_usd");
          return yield* callModel(run, task, about, `${turn}+`, messages, schema, maxTokens, spent);
        }
        if (!mayRetry) break;
        yield* run.pause(`${local}/backoff`, delay);
      }
    }
    const cause = errorOf(last);
    if (!cause.retryable && cause.code !== "QUOTA" && cause.code !== "AUTH") break;
  }
  throw last;
}

/** 1 s, 2 s, 4 s ... at most 30 s, each varied by up to a quarter; the same on every replay. */
function backOff(call_id: string, attempt: number): number {
  return Math.round(Math.min(30_000, 1000 * 2 ** (attempt - 1)) * (0.75 + 0.5 * fraction(call_id)));
}

/** Says once when a budget is nearly used up. */
function warnOfBudget(run: NodeRun, answer: ModelAnswer) {
  const { budget } = run.config;
  const { totals } = run.s;
  const tokens = totals.usage.input_tokens + totals.usage.output_tokens;
  const crossed = (used: number, added: number, limit: number | null | undefined) =>
    limit != null && used >= limit * budget.warn_at && used - added < limit * budget.warn_at;
  if (crossed(totals.cost_usd, answer.cost_usd ?? 0, budget.max_cost_usd))
    run.emit({
      type: "budget_warning",
      payload: { metric: "cost_usd", used: totals.cost_usd, limit: budget.max_cost_usd! },
    });
  if (crossed(tokens, answer.usage.input_tokens + answer.usage.output_tokens, budget.max_total_tokens))
    run.emit({
      type: "budget_warning",
      payload: { metric: "total_tokens", used: tokens, limit: budget.max_total_tokens! },
    });
}

export function errorOf(error: unknown): RunError {
  if (error instanceof NodeFailure) return error.toRunError();
  if (error instanceof StepFailed) {
    const detail = error.error.detail as { error?: RunError } | undefined;
    if (detail?.error) return detail.error;
  }
  return {
    code: "INTERNAL",
    message: error instanceof Error ? error.message : String(error),
    retryable: false,
    user_action: "none",
  };
}
