import { z } from "zod";
import { findStuck } from "@/server/domain/agent/stuck";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { isObject, isText } from "@/server/domain/base/guards";
import { must } from "@/server/domain/base/must";
import type { JsonObject } from "@/server/domain/base/values";
import { NodeFailure } from "@/server/domain/nodes";
import { isSince } from "@/server/domain/run/edition";
import type { Payloads } from "@/server/domain/run/events";
import { errorTexts, readSchema } from "@/server/domain/schema/schema";
import type { ToolCall } from "@/server/domain/tool/tool";
import type { ModelAnswer } from "@/server/llm/model";
import { MAX_REPAIR_CHARS } from "@/server/llm/tool-calls/json";
import { type OutputShape, parseOutput, reaskMessage } from "@/server/llm/tool-calls/structured-output";
import type { Grants } from "@/server/tools/policy";
import type { AgentRuntime } from "../node/ports";
import { Agent } from "./agent";
import { answerByRule } from "./by-rule";
import { callModel, errorOf } from "./call-model";
import { condense } from "./condense";
import { checkGuardrails } from "./guardrails";
import { hearLateAnswers } from "./late-answers";
import { atLimit } from "./limit-question";
import { isInstructed } from "./prompt/instructions";
import { openConversation, shapeOf } from "./prompt/opening";
import type { AgentEnd, AgentResult, AgentTask } from "./task";
import { executeCalls } from "./tools/tool-calls";

const MAX_ITERATIONS = 10;
const MAX_REASKS = 2;
const NO_TOOLS: Grants = { granted: [], withheld: [] };
const LAST_TURN = "Give your best final answer now.";

/** Details of a model's refusal of a long prompt. */
const ReportedWindow = z.object({ context_window: z.number().positive() });

/** Runs one role on one task, turn by turn, until it has answered in the right shape or handed the task off. */
export function* runAgent(run: AgentRuntime, task: AgentTask): Flow<AgentResult> {
  const role = task.role ?? run.findRole(task.required_role);
  if (!role)
    throw new NodeFailure(
      "CONFIG",
      `There is no role "${task.required_role}". Create it, or choose another for ${run.node.name || run.node.id}.`,
    );
  const agent = new Agent(run, task, role);
  const shape = shapeOf(agent);
  const limit = task.max_iterations ?? MAX_ITERATIONS;
  const rule = isSince(run.s.run, 5) ? role.rule : undefined;
  const { granted, withheld } = rule ? NO_TOOLS : yield* agent.equip();
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
        by_rule: rule?.kind,
      }),
    },
  });
  // An agent may have passed what it read on to any later one.
  for (const source of run.s.taint_sources) agent.taint(source);
  if (!rule) yield* openConversation(agent, shape, withheld);
  const { spent } = agent;
  let hasEnded = false;
  const over = (payload: Omit<Payloads["agent_finished"], keyof typeof spent>) => {
    hasEnded = true;
    run.emit({ type: "agent_finished", ...agent.about, payload: { ...payload, ...spent } });
  };
  try {
    yield* guardInput(agent);
    const end: WorkEnd = rule
      ? { kind: "answer", output: yield* answerByRule(agent, rule, shape) }
      : yield* new Iterations(agent, shape, limit).work();
    if (end.kind === "reject") {
      over({ status: "rejected" });
      throw new NodeFailure("REJECTED", `${role.name} rejected the task: ${end.reason}`, {
        user_action: "edit_graph",
      });
    }
    const transcript = agent.messages
      .filter((message) => message.role !== "system")
      // The next agent does its own reasoning.
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
      // Its flow was abandoned.
      over({ status: "stopped" });
      run.startClock();
    }
  }
}

type Answer = ModelAnswer & { call_id: string };
type WorkEnd = Exclude<AgentEnd, { kind: "finish" }> | { kind: "answer"; output: JsonObject };

/** The turns of an agent, until it has answered in the right shape or ended its task. */
class Iterations {
  private readonly run: AgentRuntime;
  private readonly begun: number;
  /** As it was at first: tools that it learns on the way don't change how it is asked. */
  private readonly mayCall: boolean;
  private readonly calledAt: number[] = [];
  private reasks = 0;
  private resets = 0;
  private maxTokens: number | undefined;
  /** Many servers can't offer tools and enforce a schema at once: the schema is sent after a free answer that doesn't fit. */
  private wantsShape: boolean;

  constructor(
    private readonly agent: Agent,
    private readonly shape: OutputShape,
    private readonly limit: number,
  ) {
    this.run = agent.run;
    this.begun = agent.run.now;
    this.mayCall = agent.mayCall;
    this.maxTokens = agent.task.llm_config?.max_tokens;
    this.wantsShape = !this.mayCall;
  }

  *work(): Flow<WorkEnd> {
    const { agent, limit } = this;
    for (let local = 0; local < limit; local++) {
      const end = yield* this.iterate(local);
      if (end) return end;
    }
    throw new NodeFailure("MAX_ITERATIONS", `${agent.role.name} used all ${limit} turns without an answer.`, {
      user_action: "edit_graph",
    });
  }

  private *iterate(local: number): Flow<WorkEnd | undefined> {
    const { agent } = this;
    yield* awaitRateLimit(agent, local, this.begun, this.calledAt);
    hearLateAnswers(agent);
    const isLast = this.mayCall && local > 0 && local === this.limit - 1;
    if (isLast) agent.addMessage({ role: "user", content: LAST_TURN }, "nudge");
    else yield* detectStuck(agent);
    yield* condense(agent, `${local}`, 0);
    const answer = yield* this.ask(local, isLast);
    if (!answer) return undefined;
    if (answer.refusal)
      throw new NodeFailure("MODEL_REFUSAL", `The model refused: ${answer.refusal}`, {
        user_action: "edit_graph",
      });
    const calls = answer.tool_calls ?? [];
    if (answer.finish_reason === "length" && calls.length === 0) {
      this.allowLonger(answer.capped_at);
      return undefined;
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
    return calls.length > 0
      ? yield* this.makeCalls(answer, calls, local)
      : yield* this.readText(answer, local);
  }

  /** The model's answer; undefined if the conversation was too long and has been shortened. */
  private *ask(local: number, isLast: boolean): Flow<Answer | undefined> {
    const { run, agent, shape, wantsShape } = this;
    run.emit({
      type: "iteration_started",
      ...agent.about,
      payload: {
        global_iteration: run.s.totals.global_iterations,
        local_iteration: local,
        ...defined({ delegate_level: agent.level > 0 ? agent.level : undefined }),
      },
    });
    this.calledAt.push(run.now);
    try {
      return yield* callModel(agent, {
        name: String(local),
        messages: agent.messages,
        ...defined({
          schema: shape.kind === "json" && (wantsShape || isLast) ? shape.schema : undefined,
          tools: this.mayCall && !wantsShape && !isLast ? agent.offers : undefined,
          max_tokens: this.maxTokens,
        }),
      });
    } catch (error) {
      const cause = errorOf(error);
      if (cause.code !== "CONTEXT_OVERFLOW") throw error;
      const reported = ReportedWindow.safeParse(cause.detail);
      if (reported.success) agent.reads = { ...agent.reads, ...reported.data };
      if (!(yield* condense(agent, `${local}`, ++this.resets))) throw error;
      return undefined;
    }
  }

  /** Doubles the length limit that cut an answer off; throws if it was doubled before. */
  private allowLonger(cappedAt: number | undefined): void {
    const cap = this.maxTokens ?? cappedAt;
    if (cap === undefined || this.maxTokens !== this.agent.task.llm_config?.max_tokens)
      throw new NodeFailure(
        "OUTPUT_TRUNCATED",
        "The response was truncated. Raise Max output tokens, or ask for a shorter response.",
        { user_action: "edit_graph" },
      );
    this.maxTokens = cap * 2;
  }

  private *makeCalls(answer: Answer, calls: readonly ToolCall[], local: number): Flow<WorkEnd | undefined> {
    const { agent, shape } = this;
    const end = yield* executeCalls(agent, calls, {
      by_call: answer.call_id,
      protocol: answer.tool_protocol ?? "native",
      thought: answer.content,
      turn: local,
    });
    if (end?.kind !== "finish") return end ?? undefined;
    const checked = yield* checkFinish(agent, shape, end, String(local));
    if ("output" in checked) return this.unlessInstructed(checked.output, local);
    this.reask(checked.errors);
    this.wantsShape = true;
    return undefined;
  }

  private *readText({ content }: Answer, local: number): Flow<WorkEnd | undefined> {
    const { run, agent, shape } = this;
    agent.steps.push({ kind: "message", agent: agent.task.agent_id, text: content });
    const { output, errors, repair } = readAnswer(content, shape, agent);
    run.emit({
      type: "output_parsed",
      ...agent.about,
      payload: { ok: errors.length === 0, errors, repair, attempt: this.reasks + 1 },
    });
    if (output && errors.length === 0) {
      const guardrailError = yield* checkGuardrails(agent, "output", output, `${agent.path}/turn${local}`);
      if (guardrailError === null) return this.unlessInstructed(output, local);
      this.reask([guardrailError]);
      return undefined;
    }
    if (++this.reasks > MAX_REASKS)
      throw new NodeFailure(
        "OUTPUT_INVALID",
        `The output didn't match the schema after ${MAX_REASKS} retries: ${errors[0]}`,
        { retryable: true, user_action: "retry" },
      );
    this.reask(errors);
    this.wantsShape = true;
    return undefined;
  }

  /** Ends with the output, unless a person gave an instruction meanwhile and a turn is left to follow it. */
  private unlessInstructed(output: JsonObject, local: number): WorkEnd | undefined {
    const mayContinue = local + 1 < this.limit && isInstructed(this.agent);
    return mayContinue ? undefined : { kind: "answer", output };
  }

  private reask(errors: string[]): void {
    this.agent.addMessage({ role: "user", content: reaskMessage(errors) }, "reask");
  }
}

function* guardInput(agent: Agent): Flow<void> {
  const { run, task } = agent;
  const { input_schema } = agent.role;
  const given = task.inputs ?? run.input;
  const errors = input_schema ? readSchema(input_schema).errors(given) : [];
  if (errors.length > 0)
    throw new NodeFailure(
      "INPUT_MISSING",
      `${agent.role.name} is missing inputs: ${errorTexts(errors).join("; ")}. Pass them to ${run.node.name || run.node.id}, or change the role's inputs.`,
      { user_action: "edit_graph" },
    );
  if (!agent.guardrails.some(({ target }) => target === "input")) return;
  const inputs = { task: task.task, ...given };
  const guardrailError = yield* checkGuardrails(agent, "input", inputs, `${agent.path}/input`);
  // The input can't be retried.
  if (guardrailError !== null)
    throw new NodeFailure(
      "GUARDRAIL",
      `The input for ${agent.role.name} failed a guardrail: ${guardrailError}`,
    );
}

/** Waits while a limit of the run or the agent's rate blocks another turn. Throws if the agent's time is over. */
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
      `${agent.role.name} timed out after ${config.max_execution_time_s} s.`,
      { user_action: "edit_graph" },
    );
  const { max_rpm } = config;
  const oldest = max_rpm === undefined ? undefined : calledAt.at(-max_rpm);
  if (oldest !== undefined && run.now - oldest < 60_000)
    yield* run.pause(`${agent.path}/turn${local}/rate`, 60_000 - (run.now - oldest));
}

/** Warns an agent that is stuck in a loop; if it continues, stops it or asks a person. */
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
      title: `${agent.role.name} is stuck in a loop`,
      why: stuck.message,
    });
    if (answer.answer === "approve" || answer.answer === "approve_always") {
      steps.push({ kind: "human" });
      agent.addMessage(
        { role: "user", content: answer.message ?? "Continue, but try a different approach." },
        "person",
      );
      return;
    }
  }
  throw new NodeFailure("STUCK", `${agent.role.name} is stuck in a loop: ${stuck.message}`, {
    user_action: "edit_graph",
  });
}

/** The output of a `finish` call, or why it doesn't fit. */
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
  if (!isObject(output)) return { errors: ["The answer is not an object."], repair: parsed.repair };
  return { output, errors: [], repair: parsed.repair };
}
