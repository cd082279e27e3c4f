import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import type { ChatMessage, Payloads } from "@/server/domain/run/events";
import {
  succeeded,
  type ToolCall,
  type ToolOutput,
  type ToolProtocol,
  type ToolSpec,
} from "@/server/domain/tool/tool";
import { toolResultText } from "@/server/llm/tool-calls/text-protocol";
import { Children } from "@/server/runner/node/flow";
import { askForApproval, askTogether, questionOf, recordCall, taints } from "@/server/runner/node/tool-call";
import { invalidArguments, unknownTool } from "@/server/tools/registry";
import { RUN_JAVASCRIPT } from "@/server/tools/sandbox/run-javascript";
import { checkBySchema } from "@/server/tools/schema-check";
import type { Agent } from "../agent";
import { backOff } from "../call-model";
import { checkGuardrails } from "../guardrails";
import { asking, type CallOutcome, inConflict, type Job, newJob } from "../job";
import type { AgentEnd, RunToolResult } from "../task";
import { callableBy } from "./callable-tools";
import { followCalls } from "./program-calls";
import { runAgentsCode } from "./run-code";

/** More calls in one message are refused. */
const MAX_CALLS = 8;
const CONCURRENCY = 4;
/** Attempts at one call of a tool, with back-off between them. */
const TOOL_ATTEMPTS = 3;
/** Status codes of errors that may pass: timeout, rate limit, unavailable. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 429, 503]);
/** Crew tools that end the agent's turn: executed last, and only the first of them. */
const ENDING: ReadonlySet<string> = new Set(["handoff", "finish", "reject_task"]);

/**
 * Executes the calls of a message, native or text: each must be known, permitted, valid and approved. Their results go
 * into the transcript in the order of the calls. Returns how the agent's work ended, if it did.
 */
export function* executeCalls(
  agent: Agent,
  calls: readonly ToolCall[],
  about: { by_call: string; protocol: ToolProtocol; thought: string; turn: number },
): Flow<AgentEnd | null> {
  const results = new Map<string, ToolOutput>();
  const jobs = calls.map((call, at) => newJob(agent, call, at, about));
  const ending = jobs.filter(({ call }) => ENDING.has(call.tool_name));
  let end: AgentEnd | null = null;
  const agreed = yield* agreeTogether(
    agent,
    jobs.filter((job) => !ending.includes(job)),
    about.turn,
  );

  const children = new Children<CallOutcome>();
  const waiting = jobs.filter((job) => !ending.includes(job));
  const running = new Map<string, Job>();
  const limit = agent.task.config?.tool_concurrency ?? CONCURRENCY;
  try {
    for (;;) {
      for (const job of [...waiting]) {
        if (running.size >= limit) break;
        const ahead = [...running.values(), ...waiting.slice(0, waiting.indexOf(job))];
        if (ahead.some((other) => inConflict(job, other))) continue;
        waiting.splice(waiting.indexOf(job), 1);
        running.set(job.id, job);
        children.add(job.id, executeCall(agent, job, agreed.get(job)));
      }
      if (children.size === 0) break;
      const next = yield* children.next();
      running.delete(next.id);
      if (!next.ok) throw next.error;
      results.set(next.id, next.value.output);
    }
  } finally {
    children.stop();
  }
  // The first that is accepted ends the turn.
  for (const job of ending) {
    if (end) {
      const what = job.call.tool_name === "handoff" ? "handoffs" : "endings";
      results.set(job.id, refuse(agent, job, 409, `Multiple ${what} detected, ignoring this one.`));
      continue;
    }
    const outcome = yield* executeCall(agent, job);
    results.set(job.id, outcome.output);
    end = outcome.ends ?? null;
  }

  for (const job of jobs) {
    const output = must(results, job.id);
    const text = toolText(output);
    const message: ChatMessage = {
      role: "tool",
      name: job.call.tool_name,
      tool_call_id: job.call.id,
      content: toolResultText(job.call.tool_name, output.status_code, text),
    };
    agent.addMessage(message, "tool");
    agent.steps.push(
      {
        kind: "action",
        agent: agent.task.agent_id,
        tool_name: job.call.tool_name,
        args: job.call.args,
        thought: about.thought,
        call_id: job.id,
      },
      {
        kind: "observation",
        agent: agent.task.agent_id,
        status: output.status_code,
        text,
        call_id: job.id,
      },
    );
  }
  return end;
}

type Answered = Payloads["interaction_answered"];

/**
 * Combines the questions about all calls of a message that need a person, if there are several: people who are asked
 * often stop reading. Returns the answers by call; other calls are asked about when they are due.
 */
function* agreeTogether(agent: Agent, jobs: readonly Job[], turn: number): Flow<Map<Job, Answered>> {
  const questions = jobs.flatMap((job) => {
    const { call, spec } = job;
    if (!spec || call.fault !== undefined || job.at >= MAX_CALLS || !argumentsOf(agent, spec, call).ok)
      return [];
    if (mustBeMadeAgain(agent, call, spec)) return [];
    const question = questionOf(agent.run, asking(agent, job, spec));
    return question ? [{ job, question }] : [];
  });
  if (questions.length < 2) return new Map();
  const answers = yield* askTogether(
    agent.run,
    `${agent.path}/turn${turn}/asked`,
    {
      about: agent.about,
      title: `${agent.role.name} wants to make ${questions.length} calls`,
      taint_sources: [...agent.taintSources],
    },
    questions.map(({ question }) => question),
  );
  return new Map(questions.map(({ job }, at) => [job, must(answers, at)]));
}

/** The tool and the input of a call, or why it is refused. */
function resolveCall(agent: Agent, { call, spec, at }: Job) {
  const refused = (status_code: ToolOutput["status_code"], reason: string) =>
    ({ ok: false, status_code, reason }) as const;
  if (call.fault !== undefined) return refused(400, call.fault);
  if (at >= MAX_CALLS)
    return refused(400, `At most ${MAX_CALLS} calls in one message; this one was not executed.`);
  const withheld = agent.whyWithheld(call.tool_name);
  if (withheld !== undefined && !spec)
    return refused(
      403,
      `${call.tool_name} is unavailable here. ${withheld} Tools you may use: ${agent.toolNames.join(", ") || "none"}.`,
    );
  if (!agent.isKnown(call.tool_name)) return refused(404, unknownTool(call.tool_name, agent.toolNames));
  if (!spec) {
    const may = agent.toolNames.length > 0 ? agent.toolNames.join(", ") : "none";
    return refused(
      403,
      `Your role "${agent.role.name}" may not use ${call.tool_name}. Tools you may use: ${may}.`,
    );
  }
  const checked = argumentsOf(agent, spec, call);
  if (!checked.ok) return refused(400, invalidArguments(spec, checked.errors));
  if (mustBeMadeAgain(agent, call, spec)) return refused(400, madeAgain(call));
  return { ok: true, spec, input: checked.input } as const;
}

/** Why a person's answer forbids a call; null if it doesn't. */
function declineReason(answer: Answered | null): string | null {
  if (answer?.answer === "expired") return "No one answered in time, so the call was rejected.";
  if (answer?.answer !== "reject") return null;
  return `A person rejected this call${answer.message ? `: ${answer.message}` : "."}`;
}

function* executeCall(agent: Agent, job: Job, agreed?: Answered): Flow<CallOutcome> {
  const { run } = agent;
  const { call } = job;
  const resolved = resolveCall(agent, job);
  if (!resolved.ok) return { output: refuse(agent, job, resolved.status_code, resolved.reason) };
  const { spec, input } = resolved;
  const value = { tool: spec.name, args: call.args };
  const guardrailError = yield* checkGuardrails(agent, "tool_input", value, job.key);
  if (guardrailError !== null) return { output: refuse(agent, job, 403, guardrailError) };
  const declined = declineReason(agreed ?? (yield* askForApproval(run, job.key, asking(agent, job, spec))));
  if (declined !== null) return { output: refuse(agent, job, 403, declined) };

  const crewTool = agent.crewTools.get(spec.name);
  const { output: kept, ends } = yield* recordCall(
    run,
    {
      about: agent.about,
      call_id: job.id,
      spec,
      args: call.args,
      protocol: job.protocol,
      by_call: job.by_call,
      tool_call_id: call.id,
      ...defined({ repaired: call.repaired || undefined }),
    },
    function* (): Flow<CallOutcome> {
      const { ends, ...output }: RunToolResult = crewTool
        ? yield* crewTool.call(input, agent, job.key)
        : spec.name === RUN_JAVASCRIPT
          ? yield* runAgentsCode(agent, job, executeCall)
          : yield* followCalls(
              agent,
              job,
              { spec, output: yield* callPatiently(agent, job, spec) },
              executeCall,
            );
      return { output: yield* guardOutput(agent, spec, output, job.key), ...defined({ ends }) };
    },
  );
  if (taints(spec, kept)) {
    // A coworker's result is tainted by what the coworker read, so people see that source.
    const read = crewTool ? run.s.taint_sources : [];
    for (const source of read.length > 0 ? read : [spec.name]) agent.taint(source);
  }
  if (succeeded(kept)) run.noteEffects(agent.about, { name: spec.name, args: call.args }, kept);
  return { output: kept, ...defined({ ends }) };
}

/** Calls a tool, and again after a back-off if the error may pass and repeating the call does no harm. */
function* callPatiently(agent: Agent, job: Job, spec: ToolSpec): Flow<ToolOutput> {
  const { run } = agent;
  const attempts = spec.read_only || spec.idempotent ? TOOL_ATTEMPTS : 1;
  for (let attempt = 1; ; attempt++) {
    const output = yield* run.callTool(job.key, {
      name: spec.name,
      args: job.call.args,
      agent,
      again: attempt - 1,
      spec,
      ...defined({ callable: callableBy(agent, spec) }),
    });
    if (attempt >= attempts || spec.unavailable || !TRANSIENT.has(output.status_code)) return output;
    const delay_ms = backOff(job.id, attempt);
    run.emit({
      type: "tool_call_retried",
      ...agent.about,
      call_id: job.id,
      payload: {
        tool_name: spec.name,
        attempt,
        status_code: output.status_code,
        ...defined({ error: output.error || undefined }),
        delay_ms,
      },
    });
    yield* run.pause(`${job.key}/backoff${attempt}`, delay_ms);
  }
}

function* guardOutput(agent: Agent, spec: ToolSpec, output: ToolOutput, key: string): Flow<ToolOutput> {
  if (!succeeded(output)) return output;
  const guardrailError = yield* checkGuardrails(
    agent,
    "tool_output",
    { tool: spec.name, output: output.output ?? null },
    `${key}/output`,
  );
  // The guardrail's reason may repeat untrusted content.
  return guardrailError === null
    ? output
    : { status_code: 403, error: guardrailError, tainted: taints(spec, output) };
}

/**
 * Whether a call has side effects and its arguments could only be parsed after repair: a repair guesses, so the model
 * has to write it again. Read-only calls use the guess, and what the run executes itself can be undone.
 */
const mustBeMadeAgain = (agent: Agent, call: ToolCall, spec: ToolSpec): boolean =>
  call.repaired === true && !spec.read_only && !agent.crewTools.has(spec.name);

const madeAgain = ({ tool_name, args }: ToolCall): string =>
  `${tool_name} has side effects, and its arguments were not valid JSON, so it was not called. They were read as ${JSON.stringify(args).slice(0, 2_000)}. If that is exactly what you meant, call it again with precisely these arguments; otherwise send the right ones as valid JSON.`;

/** Records a call that is not executed. */
function refuse(agent: Agent, job: Job, status_code: ToolOutput["status_code"], reason: string): ToolOutput {
  agent.run.emit({
    type: "tool_call_refused",
    ...agent.about,
    call_id: job.id,
    payload: {
      tool_name: job.call.tool_name,
      args: job.call.args,
      status_code,
      reason,
      by_call: job.by_call,
      tool_call_id: job.call.id,
    },
  });
  return { status_code, error: reason };
}

function argumentsOf(agent: Agent, spec: ToolSpec, call: ToolCall) {
  const crewTool = agent.crewTools.get(spec.name);
  return crewTool ? crewTool.check(call.args) : checkBySchema(spec.input_schema, call.args);
}

const toolText = (output: ToolOutput): string =>
  output.error ?? (typeof output.output === "string" ? output.output : JSON.stringify(output.output ?? null));
