import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { Flow, StepScope, StepWork } from "@/server/domain/base/durable";
import { isText } from "@/server/domain/base/guards";
import { asJson } from "@/server/domain/base/json";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { isPlanPath, planPath } from "@/server/domain/crew/plan-file";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isCrewNode } from "@/server/domain/nodes";
import { isSince } from "@/server/domain/run/edition";
import { isGranted, onCrashOf, type ToolAnswer, type ToolOutput } from "@/server/domain/tool/tool";
import type { ToolScope } from "@/server/tools/define";
import type { CallsStep, ProgramWithCalls } from "@/server/tools/sandbox/sandbox";
import { askForTool } from "../people/tool-question";
import { type Caller, makeCall } from "../replay/make-call";
import { GrantedTools, RanCode, toolOutputFrom } from "../replay/read-result";
import { continuedRequest, toolRequest } from "../replay/requests";
import type { About, Effects, ToolCaller, ToolInvocation, ToolRuntime } from "./ports";

// How a node's attempt calls tools, each call as its own step; the caller decides which.

/** The attempt that calls. */
export interface CallingRun extends ToolRuntime, Caller {
  readonly effects: Effects;
  /** The graph as analyzed: nodes that are never executed are not part of it. */
  readonly drawn: WorkflowGraph;
  /** A key of this attempt, unique in the run. */
  keyOf(local: string): string;
  step(key: string, work: StepWork): Flow<Json>;
}

/** More questions of one call are refused. */
const MAX_QUESTIONS = 5;

const FILE_TOOLS: ReadonlySet<string> = new Set(["create_artifact", "file_write"]);
const PLAN_IS_KEPT =
  "plan.json mirrors the plan, and the run writes it. Change the plan with the plan tools, if you have them, or write another file.";
const WrittenFile = z.object({
  artifact_id: z.string(),
  path: z.string(),
  version: z.number(),
  size: z.number(),
});

/** Tools of this installation that the list grants, as they are now, and the names of all; recorded. */
export function* grantedTools(run: CallingRun, who: string, granted: readonly string[]): Flow<GrantedTools> {
  const { tools } = run.effects;
  const recorded = yield* run.step(`${who}/tools`, async () => {
    const all = (await tools?.specs()) ?? [];
    const specs = all.filter(({ name }) => isGranted(granted, name));
    return asJson({ specs, names: all.map(({ name }) => name) });
  });
  return GrantedTools.parse(recorded);
}

/** Deletes an agent's memory of the task it has finished, as its own step if there is any. */
export function* forgetTask(run: CallingRun, agent: ToolCaller): Flow<void> {
  if (!run.s.agents[agent.key]?.has_task_memory) return;
  yield* run.step(`${agent.path}/forget`, async () => {
    await run.effects.tools?.forgetTask(callerOf(run, agent));
    return null;
  });
}

/** What tools keep between calls of an agent can go. */
export function endTask(run: CallingRun, agent: ToolCaller): void {
  run.effects.tools?.endTask?.(callerOf(run, agent));
}

/** The caller, as tools see it. */
function callerOf(run: CallingRun, agent: ToolCaller | null): Pick<ToolScope, "run" | "agent" | "tainted"> {
  const { id, workflow_id } = run.s.run;
  return {
    tainted: run.s.taint_sources.length > 0,
    run: { id, workflow_id },
    agent: agent && {
      ...agent.about,
      role_name: agent.role.name,
      node_id: run.node.id,
      ...defined({ memory_scopes: agent.task.config ? agent.task.config.memory_scopes : undefined }),
    },
  };
}

/**
 * Calls a tool as its own step. Never throws: errors are outputs too. A tool that asks a person something is called
 * again with the answer.
 */
export function* callTool(run: CallingRun, key: string, call: ToolInvocation): Flow<ToolOutput> {
  const { name, args, agent, again = 0, called } = call;
  // The events define the plan, and its file only shows it: nobody may write another one there.
  if (FILE_TOOLS.has(name) && isPlanPath(args.path, planPaths(run)))
    return { status_code: 403, error: PLAN_IS_KEPT };
  const step = called ? `${key}/called${called.nth}` : again === 0 ? key : `${key}/again${again}`;
  const answers: ToolAnswer[] = [];
  for (;;) {
    const at = answers.length === 0 ? step : `${step}/answered${answers.length}`;
    const { asks, ...output } = yield* callOnce(run, at, call, {
      ...keysOf(run, key),
      answers,
      ...defined({ again: again > 0 ? again : undefined }),
    });
    if (!asks) return output;
    if (answers.length >= MAX_QUESTIONS)
      return { status_code: 409, error: `${name} asked more than ${MAX_QUESTIONS} questions in one call.` };
    const about = agent?.about ?? { agent_id: run.node.id };
    answers.push(yield* askForTool(run, `${step}/asked${answers.length + 1}`, { tool: name, about }, asks));
  }
}

/** By which a tool knows a call again: in this run, and in the first of its lineage. */
function keysOf(run: CallingRun, key: string): Pick<ToolScope, "idempotencyKey" | "originalKey"> {
  const { id, forks = [] } = run.s.run;
  const idempotencyKey = `${id}/${run.keyOf(key)}`;
  return forks[0]
    ? { idempotencyKey, originalKey: `${forks[0].root_run}/${run.keyOf(key)}` }
    : { idempotencyKey };
}

/** Where the plans of a run's crews stand among its files. */
function planPaths(run: CallingRun): string[] {
  return Object.keys(run.s.plans).flatMap((id) => {
    const node = run.s.activations[id]?.node_id;
    return node === undefined ? [] : [planPathOf(run, node)];
  });
}
function planPathOf(run: CallingRun, nodeId: string): string {
  const crews = Object.values(run.drawn.nodes).filter((node) => isCrewNode(node));
  return planPath(nodeId, crews.length < 2);
}

/** Writes the plan of this node's crew to its file in the workspace, as its own step. */
export function* writePlanFile(run: CallingRun, key: string, content: string): Flow<ToolOutput> {
  const path = planPathOf(run, run.node.id);
  const call = { name: "file_write", args: { path, content }, agent: null };
  // The plan tells when its tasks were done, so that no other run would ask the same: it is known by its place.
  const asked = { path };
  const output = yield* callOnce(run, key, call, { ...keysOf(run, key), answers: [], asked });
  if (output.status_code === 200) noteEffects(run, {}, call, output);
  return output;
}

function* callOnce(
  run: CallingRun,
  key: string,
  { name, args, secrets = [], agent, spec, callable, called }: ToolInvocation,
  {
    asked = args,
    ...about
  }: Pick<ToolScope, "idempotencyKey" | "originalKey" | "answers" | "again"> & { asked?: JsonObject },
): Flow<ToolOutput> {
  const { tools } = run.effects;
  const caller = callerOf(run, agent);
  // A program continues only in the process in which it began.
  const onCrash = spec && !called && isSince(run.s.run, 3) ? onCrashOf(spec) : null;
  // The same text without secret references is a different request.
  const named = defined({ secrets: secrets.length > 0 ? secrets : undefined });
  const request = toolRequest({ tool: name, args: asked, answers: about.answers ?? [], ...named }, spec, {
    onCrash,
    retries: run.s.run.forks?.at(-1)?.retries === true,
  });
  const call = {
    key,
    request: called ? continuedRequest(request, called) : request,
    onRepeated() {
      const message = `${name} may have been executed twice: the server stopped while the call was in flight, and it was repeated (idempotency key ${about.idempotencyKey}).`;
      run.emit({ type: "warning", ...agent?.about, payload: { code: "MAY_HAVE_HAPPENED_TWICE", message } });
    },
    isRepeatable: spec?.read_only === true && !called,
    question: {
      about: agent?.about ?? { agent_id: run.node.id },
      tool_name: name,
      args,
      risk: spec?.risk,
    },
    work: async ({ abort }: StepScope) => {
      if (!tools) return { status_code: 503, error: "There are no tools here." };
      // People may take long to approve; permissions that were withdrawn meanwhile win. A role that the run created
      // itself can't be changed.
      const why =
        agent && !agent.task.role ? ((await tools.withdrawn?.(agent.role.name, name)) ?? null) : null;
      const rejection: ToolOutput = { status_code: 403, error: why ?? "", withdrawn: true };
      if (why !== null) return rejection;
      const output = await tools.invoke(name, args, {
        signal: abort,
        ...about,
        ...caller,
        ...named,
        ...defined({ callable, called: called && { nth: called.nth, output: called.output } }),
      });
      return asJson(output);
    },
  };
  const { value, reused } = yield* makeCall(run, call);
  return { ...toolOutputFrom(value), ...defined({ reused }) };
}

/** Runs an agent's code up to its next call, as its own step; null if no code runs here. */
export function* runCode(run: CallingRun, key: string, program: ProgramWithCalls): Flow<CallsStep | null> {
  const { tools } = run.effects;
  const step = yield* run.step(key, async ({ abort }) =>
    tools ? asJson(await tools.runCode(program, abort, run.s.run.id)) : null,
  );
  return RanCode.parse(step);
}

/** Null where the pattern matches, else why not. Tried where a bad pattern can do no harm. */
export function* matches(run: CallingRun, key: string, pattern: string, text: string): Flow<string | null> {
  const { tools } = run.effects;
  const error = yield* run.step(`${key}/pattern`, ({ abort }) =>
    tools ? tools.matches(pattern, text, abort) : "Patterns cannot be checked here.",
  );
  return isText(error) ? error : null;
}

/** Reports a tool's effects besides its result. */
export function noteEffects(
  run: CallingRun,
  about: Partial<About>,
  { name, args }: Pick<ToolInvocation, "name" | "args">,
  { output }: ToolOutput,
): void {
  const made = WrittenFile.safeParse(output);
  if (FILE_TOOLS.has(name) && made.success)
    run.emit({ type: "artifact_created", ...about, payload: { ...made.data, kind: "file" } });
  if (name === "store_memory" && typeof args.key === "string")
    run.emit({
      type: "memory_stored",
      ...about,
      payload: {
        scope: typeof args.scope === "string" ? args.scope : "run",
        key: args.key,
        tainted: run.s.taint_sources.length > 0,
      },
    });
}
