import { z } from "zod";
import { findStuck } from "@/server/domain/agent/stuck";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { isObject, isText } from "@/server/domain/base/guards";
import { must } from "@/server/domain/base/must";
import type { JsonObject } from "@/server/domain/base/values";
import { NodeFailure } from "@/server/domain/nodes";
import {
  applyCondensation,
  type CondenseLimits,
  estimateTokens,
  estimateTranscript,
  planCondensation,
  summaryPrompt,
} from "@/server/domain/run/condense/condense";
import { isSince } from "@/server/domain/run/edition";
import type { Payloads } from "@/server/domain/run/events";
import { errorTexts, readSchema } from "@/server/domain/schema/schema";
import type { ModelAnswer } from "@/server/llm/model";
import { MAX_REPAIR_CHARS } from "@/server/llm/tool-calls/json";
import { type OutputShape, parseOutput, reaskMessage } from "@/server/llm/tool-calls/structured-output";
import type { AgentRuntime } from "../node/ports";
import { Agent } from "./agent";
import { callModel, errorOf } from "./call-model";
import { checkGuardrails } from "./guardrails";
import { hearLateAnswers } from "./late-answers";
import { atLimit } from "./limit-question";
import { isInstructed } from "./prompt/instructions";
import { openConversation, shapeOf } from "./prompt/opening";
import type { AgentEnd, AgentResult, AgentTask } from "./task";
import { executeCalls } from "./tools/tool-calls";

const MAX_ITERATIONS = 10;
const MAX_REASKS = 2;
/** The share of a model's window that is left for the conversation, however long the tools' descriptions are. */
const LEAST_SHARE = 0.25;
const LAST_TURN = "Give your best final answer now.";

/** What a model's refusal of a long prompt may tell. */
const ReportedWindow = z.object({ context_window: z.number().positive() });

/** Lets one role work on one task, turn by turn, until it has answered in the right shape or handed the task over. */
export function* runAgent(run: AgentRuntime, task: AgentTask): Flow<AgentResult> {
  const role = task.role ?? run.findRole(task.required_role);
  if (!role)
    throw new NodeFailure(
      "CONFIG",
      `There is no role called "${task.required_role}". Create it, or choose another for ${run.node.name || run.node.id}.`,
    );
  const agent = new Agent(run, task, role);
  const shape = shapeOf(agent);
  const limit = task.max_iterations ?? MAX_ITERATIONS;
  const { granted, withheld } = yield* agent.equip();
  run.emit({
    type: "agent_started",
    ...agent.about,
    payload: {
      role_name: role.name,
      output_keys: [...task.output_keys],
      limits: { max_iterations: limit },
      ...defined({
        tools: granted.length > 0 ? granted.map(({ name }) => name) : undefined,
        withheld: withheld.length > 0 ? withheld : undefined,
        delegate_level: agent.level > 0 ? agent.level : undefined,
        parent: task.parent ? task.parent.key : undefined,
      }),
    },
  });
  // What one agent of a run read, it may have passed on to any later one.
  for (const source of run.s.taint_sources) agent.taint(source);
  yield* openConversation(agent, shape, withheld);
  const { spent } = agent;
  let hasEnded = false;
  const over = (payload: Omit<Payloads["agent_finished"], keyof typeof spent>) => {
    hasEnded = true;
    run.emit({ type: "agent_finished", ...agent.about, payload: { ...payload, ...spent } });
  };
  try {
    yield* guardInput(agent);
    const end = yield* work(agent, shape, limit);
    if (end.kind === "reject") {
      over({ status: "rejected" });
      throw new NodeFailure("REJECTED", `${role.name} says that this cannot be done: ${end.reason}`, {
        user_action: "edit_graph",
      });
    }
    const transcript = agent.messages
      .filter((message) => message.role !== "system")
      // Whoever takes over thinks for itself.
      .map(({ reasoning: _own, carried: _sealed, ...message }) => message);
    if (end.kind === "handoff") {
      over({ status: "handed_off" });
      return { output: {}, handoff: end, transcript, ...spent };
    }
    const { output } = end;
    over({ status: "completed", output });
    return { output, transcript, ...spent };
  } catch (error) {
    if (!hasEnded) over({ status: "failed", error: errorOf(error) });
    throw error;
  } finally {
    run.endTask(agent);
    if (hasEnded) yield* run.forgetTask(agent);
    else {
      // Nobody waits for it any more.
      over({ status: "stopped" });
      run.startClock();
    }
  }
}

type WorkEnd = Exclude<AgentEnd, { kind: "finish" }> | { kind: "answer"; output: JsonObject };

function* work(agent: Agent, shape: OutputShape, limit: number): Flow<WorkEnd> {
  const { run, task } = agent;
  const { mayCall } = agent;
  const begun = run.now;
  const calledAt: number[] = [];
  let reasks = 0;
  let resets = 0;
  let maxTokens = task.llm_config?.max_tokens;
  // With tools on offer many servers cannot also hold to a schema: it is asked for once a free answer does not fit.
  let wantsShape = !mayCall;
  // What a person said while it answered is heard, too, as long as it has another turn.
  const mayHearMore = (local: number) => local + 1 < limit && isInstructed(agent);
  for (let local = 0; local < limit; local++) {
    yield* awaitRateLimit(agent, local, begun, calledAt);
    hearLateAnswers(agent);
    const isLast = mayCall && local > 0 && local === limit - 1;
    if (isLast) agent.addMessage({ role: "user", content: LAST_TURN }, "nudge");
    else yield* detectStuck(agent);
    yield* condense(agent, `${local}`, 0);
    run.emit({
      type: "iteration_started",
      ...agent.about,
      payload: {
        global_iteration: run.s.totals.global_iterations,
        local_iteration: local,
        ...defined({ delegate_level: agent.level > 0 ? agent.level : undefined }),
      },
    });
    calledAt.push(run.now);
    let answer: ModelAnswer & { call_id: string };
    try {
      answer = yield* callModel(agent, {
        name: String(local),
        messages: agent.messages,
        ...defined({
          schema: shape.kind === "json" && (wantsShape || isLast) ? shape.schema : undefined,
          tools: mayCall && !wantsShape && !isLast ? agent.offers : undefined,
          max_tokens: maxTokens,
        }),
      });
    } catch (error) {
      const cause = errorOf(error);
      if (cause.code !== "CONTEXT_OVERFLOW") throw error;
      const reported = ReportedWindow.safeParse(cause.detail);
      if (reported.success) agent.reads = { ...agent.reads, ...reported.data };
      if (!(yield* condense(agent, `${local}`, ++resets))) throw error;
      continue;
    }
    if (answer.refusal)
      throw new NodeFailure("MODEL_REFUSAL", `The model refused: ${answer.refusal}`, {
        user_action: "edit_graph",
      });
    const calls = answer.tool_calls ?? [];
    if (answer.finish_reason === "length" && calls.length === 0) {
      const cap = maxTokens ?? answer.capped_at;
      if (cap === undefined || maxTokens !== task.llm_config?.max_tokens)
        throw new NodeFailure(
          "OUTPUT_TRUNCATED",
          "The model's answer was cut off at its length limit. Raise the maximum of tokens, or ask for less.",
          { user_action: "edit_graph" },
        );
      maxTokens = cap * 2;
      continue;
    }
    agent.messages.push({
      role: "assistant",
      content: answer.content,
      ...defined({
        tool_calls: calls.length > 0 ? calls : undefined,
        reasoning: answer.reasoning || undefined,
        carried: answer.carried
          ? { provider_id: answer.provider_id, model: answer.model, parts: answer.carried }
          : undefined,
      }),
    });
    if (calls.length > 0) {
      const end = yield* executeCalls(agent, calls, {
        by_call: answer.call_id,
        protocol: answer.tool_protocol ?? "native",
        thought: answer.content,
        turn: local,
      });
      if (end?.kind === "finish") {
        const checked = yield* checkFinish(agent, shape, end, String(local));
        if ("output" in checked) {
          if (mayHearMore(local)) continue;
          return { kind: "answer", output: checked.output };
        }
        agent.addMessage({ role: "user", content: reaskMessage(checked.errors) }, "reask");
        wantsShape = true;
      } else if (end) return end;
      continue;
    }
    agent.steps.push({ kind: "message", agent: task.agent_id, text: answer.content });
    const read = readAnswer(answer.content, shape, agent);
    run.emit({
      type: "output_parsed",
      ...agent.about,
      payload: {
        ok: read.errors.length === 0,
        errors: read.errors,
        repair: read.repair,
        attempt: reasks + 1,
      },
    });
    if (read.output && read.errors.length === 0) {
      const guardrailError = yield* checkGuardrails(
        agent,
        "output",
        read.output,
        `${agent.path}/turn${local}`,
      );
      if (guardrailError === null && mayHearMore(local)) continue;
      if (guardrailError === null) return { kind: "answer", output: read.output };
      agent.addMessage({ role: "user", content: reaskMessage([guardrailError]) }, "reask");
      continue;
    }
    if (++reasks > MAX_REASKS)
      throw new NodeFailure(
        "OUTPUT_INVALID",
        `The model's answer did not have the asked shape, also after ${MAX_REASKS} corrections: ${read.errors[0]}`,
        { retryable: true, user_action: "retry" },
      );
    agent.addMessage({ role: "user", content: reaskMessage(read.errors) }, "reask");
    wantsShape = true;
  }
  throw new NodeFailure("MAX_ITERATIONS", `${agent.role.name} did not come to an answer in ${limit} turns.`, {
    user_action: "edit_graph",
  });
}

function* guardInput(agent: Agent): Flow<void> {
  const { run, task } = agent;
  const { input_schema } = agent.role;
  const given = task.inputs ?? run.input;
  const errors = input_schema ? readSchema(input_schema).errors(given) : [];
  if (errors.length > 0)
    throw new NodeFailure(
      "INPUT_MISSING",
      `${agent.role.name} was not given what it needs: ${errorTexts(errors).join("; ")}. Pass it on to ${run.node.name || run.node.id}, or change what the role takes in.`,
      { user_action: "edit_graph" },
    );
  if (!agent.guardrails.some(({ target }) => target === "input")) return;
  const inputs = { task: task.task, ...given };
  const guardrailError = yield* checkGuardrails(agent, "input", inputs, `${agent.path}/input`);
  // The input can't be retried.
  if (guardrailError !== null)
    throw new NodeFailure("GUARDRAIL", `${agent.role.name} may not take this: ${guardrailError}`);
}

/** Waits for whatever blocks another turn: the run's limits, the agent's own time and rate. */
function* awaitRateLimit(
  agent: Agent,
  local: number,
  begun: number,
  calledAt: readonly number[],
): Flow<void> {
  const { run } = agent;
  const config = agent.task.config;
  for (let blocked = run.limitBeforeCall(), k = 1; blocked; blocked = run.limitBeforeCall(), k++)
    yield* atLimit(agent, blocked, `${agent.path}/turn${local}/blocked${k}`);
  if (!config) return;
  if (run.now - begun > config.max_execution_time_s * 1000)
    throw new NodeFailure(
      "TIME_LIMIT",
      `${agent.role.name} was not done after ${config.max_execution_time_s} s, which is its limit.`,
      { user_action: "edit_graph" },
    );
  const { max_rpm } = config;
  const oldest = max_rpm === undefined ? undefined : calledAt.at(-max_rpm);
  if (oldest !== undefined && run.now - oldest < 60_000)
    yield* run.pause(`${agent.path}/turn${local}/rate`, 60_000 - (run.now - oldest));
}

/** Warns an agent that goes in circles; if it continues, stops it or asks a person. */
function* detectStuck(agent: Agent): Flow<void> {
  const { run, steps } = agent;
  const policy = run.config.on_stuck;
  const stuck = findStuck(steps, { nudges: policy !== "fail" });
  if (!stuck) return;
  const action =
    stuck.severity === "nudge" ? "nudge" : policy === "nudge_then_escalate" ? "escalate" : "stop";
  run.emit({
    type: "stuck_detected",
    ...agent.about,
    payload: { pattern: stuck.pattern, message: stuck.message, action },
  });
  if (action === "nudge") {
    steps.push({ kind: "nudge", pattern: stuck.pattern });
    agent.addMessage({ role: "user", content: stuck.message }, "nudge");
    return;
  }
  if (action === "escalate") {
    const answer = yield* run.ask(`${agent.path}/stuck${steps.length}`, {
      about: agent.about,
      kind: "escalation",
      title: `${agent.role.name} goes round in circles`,
      why: stuck.message,
    });
    if (answer.answer === "approve" || answer.answer === "approve_always") {
      steps.push({ kind: "human" });
      agent.addMessage({ role: "user", content: answer.message ?? "Go on, but take another way." }, "person");
      return;
    }
  }
  throw new NodeFailure("STUCK", `${agent.role.name} goes round in circles: ${stuck.message}`, {
    user_action: "edit_graph",
  });
}

/** Shortens what the model is sent where it grows too long; false where nothing more can go. */
function* condense(agent: Agent, turn: string, reset: number): Flow<boolean> {
  const { run, task, messages } = agent;
  const settings = task.config?.context;
  const { context_window, token_ratio } = agent.reads;
  const tools = estimateTokens(JSON.stringify(agent.offers), token_ratio);
  const limits: CondenseLimits = {
    context_window: Math.max(Math.floor(context_window * LEAST_SHARE), context_window - tools),
    ratio: token_ratio,
    condense_at: settings?.condense_at ?? 0.75,
    target: settings?.target ?? 0.5,
    keep_first: settings?.keep_first ?? 4,
    max_messages: settings?.max_messages ?? 80,
  };
  const plan = planCondensation(messages, limits, reset);
  if (plan === null) return true;
  if (plan.kind === "impossible") return false;
  const before = estimateTranscript(messages, token_ratio);
  let summary = "";
  if (plan.kind === "summarise") {
    const answer = yield* callModel(agent, {
      name: `${turn}/summary${reset}`,
      purpose: "summary",
      messages: summaryPrompt(messages, plan, run.s.run),
    });
    summary = isSince(run.s.run, 3) ? agent.fences.harmless(answer.content) : answer.content;
  }
  const shorter = applyCondensation(messages, plan, summary, token_ratio);
  messages.splice(0, messages.length, ...shorter);
  agent.steps.push({ kind: "condensation" });
  run.emit({
    type: "context_condensed",
    ...agent.about,
    payload: {
      kind: reset > 0 ? "reset" : plan.kind === "prune" ? "pruned" : "summarised",
      from: plan.kind === "summarise" ? plan.from : (plan.cut[0] ?? 0),
      to: plan.kind === "summarise" ? plan.to : (plan.cut.at(-1) ?? 0) + 1,
      tokens_before: before,
      tokens_after: estimateTranscript(messages, token_ratio),
      ...defined({ summary: summary || undefined }),
    },
  });
  return true;
}

/** What `finish` gave, as the outputs that were asked for. */
function* checkFinish(
  agent: Agent,
  shape: OutputShape,
  end: Extract<AgentEnd, { kind: "finish" }>,
  turn: string,
): Flow<{ output: JsonObject } | { errors: string[] }> {
  const outputs = end.outputs ?? {};
  const isNamed = shape.kind === "json" && shape.whole !== undefined && Object.hasOwn(outputs, shape.whole);
  const named = shape.kind === "text" ? outputs[shape.key] : undefined;
  const text =
    shape.kind === "json"
      ? JSON.stringify(isNamed ? outputs[must(shape, "whole")] : outputs)
      : isText(named)
        ? named
        : end.message;
  const read = readAnswer(text, shape, agent);
  if (!read.output || read.errors.length > 0) return { errors: read.errors };
  const guardrailError = yield* checkGuardrails(
    agent,
    "output",
    read.output,
    `${agent.path}/turn${turn}/finish`,
  );
  return guardrailError === null ? { output: read.output } : { errors: [guardrailError] };
}

function readAnswer(
  content: string,
  shape: OutputShape,
  { task, run }: Agent,
): { output?: JsonObject; errors: string[]; repair: "none" | "jsonrepair" | "coerced" | "extracted" } {
  if (shape.kind === "text") {
    const text = content.trim();
    if (text === "") return { errors: ["The answer was empty."], repair: "none" };
    return { output: { [shape.key]: text }, errors: [], repair: "none" };
  }
  const isBefore3 = !isSince(run.s.run, 3);
  const parsed = parseOutput(content, shape.schema, isBefore3 ? { mostGuessed: MAX_REPAIR_CHARS } : {});
  if (!parsed.ok) return { errors: parsed.errors, repair: "none" };
  const checkErrors = task.check?.(parsed.value) ?? [];
  if (checkErrors.length > 0) return { errors: checkErrors, repair: parsed.repair };
  const { value } = parsed;
  const output = shape.whole === undefined ? value : { [shape.whole]: value };
  // Its schema asks for an object at the root.
  if (!isObject(output)) return { errors: ["The answer is not an object."], repair: parsed.repair };
  return { output, errors: [], repair: parsed.repair };
}
