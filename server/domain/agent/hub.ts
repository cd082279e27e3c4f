import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { Json, type JsonObject } from "@/server/domain/base/values";
import { succeeded, type ToolCall, type ToolOutput } from "@/server/domain/tool/tool";

/**
 * What agents do and meet in the forms of OpenHands' agent hub: for people (toDict), for a model (toMemory), and back.
 * Runs are recorded as our own events; these forms are a view of them.
 */

export const AgentState = z.enum([
  "LOADING",
  "RUNNING",
  "AWAITING_USER_INPUT",
  "PAUSED",
  "STOPPED",
  "FINISHED",
  "REJECTED",
  "ERROR",
  "AWAITING_USER_CONFIRMATION",
  "USER_CONFIRMED",
  "USER_REJECTED",
  "RATE_LIMITED",
]);
export type AgentState = z.infer<typeof AgentState>;

const Args = z.record(z.string(), Json);
const form = <T extends string, S extends z.ZodRawShape>(action: T, args: S) =>
  z.object({ action: z.literal(action), args: z.object({ ...args, thought: z.string().default("") }) });

export const Action = z.discriminatedUnion("action", [
  form("run", { command: z.string() }),
  form("run_ipython", { code: z.string() }),
  form("read", { path: z.string() }),
  form("write", { path: z.string(), content: z.string() }),
  form("browse", { url: z.string() }),
  form("add_task", { goal: z.string(), dependencies: z.array(z.string()).default([]) }),
  form("modify_task", { task_id: z.string(), state: z.string() }),
  form("finish", { outputs: Args.default({}) }),
  form("reject", { reason: z.string().default("") }),
  form("delegate", { agent: z.string(), inputs: Args.default({}) }),
  form("message", { content: z.string(), wait_for_response: z.boolean().default(false) }),
  /** A tool that the agent hub has no action of its own for. */
  form("call_tool", { name: z.string(), arguments: Args.default({}) }),
]);
export type Action = z.infer<typeof Action>;

const observed = <T extends string, S extends z.ZodRawShape>(observation: T, extras: S) =>
  z.object({ observation: z.literal(observation), content: z.string(), extras: z.object(extras) });

export const Observation = z.discriminatedUnion("observation", [
  observed("run", { command: z.string(), exit_code: z.number().int() }),
  observed("run_ipython", { code: z.string() }),
  observed("browse", { url: z.string(), status_code: z.number().int() }),
  observed("read", { path: z.string() }),
  observed("write", { path: z.string() }),
  observed("delegate", { agent: z.string() }),
  /** `exception`: the raw cause, which people are not shown. */
  observed("error", { status_code: z.number().int().exactOptional(), exception: z.string().exactOptional() }),
  observed("success", {}),
]);
export type Observation = z.infer<typeof Observation>;

/** The arguments of each action, by its name. */
type ArgsOf = { [A in Action as A["action"]]: A["args"] };

/** What an action says to people, one sentence for each. */
const sentences: { [T in keyof ArgsOf]: (args: ArgsOf[T]) => string } = {
  run: ({ command }) => `Running command: ${command}`,
  run_ipython: ({ code }) => `Running Python code:\n${code}`,
  read: ({ path }) => `Reading file: ${path}`,
  write: ({ path }) => `Writing file: ${path}`,
  browse: ({ url }) => `Browsing ${url}`,
  add_task: ({ goal }) => `Added task: ${goal}`,
  modify_task: ({ task_id, state }) => `Set task ${task_id} to ${state}`,
  finish: () => "All done! What's next on the agenda?",
  reject: ({ reason }) => `Task rejected${reason ? `: ${reason}` : "."}`,
  delegate: ({ agent }) => `Asking ${agent} for help with this task`,
  message: ({ content }) => content,
  call_tool: ({ name }) => `Calling ${name}`,
};

export type ActionDict = Action & { message: string };
export type ObservationDict = Observation & { message: string };

/** For the interface: the form with a sentence for people, and without raw causes. */
export function toDict(event: Action): ActionDict;
export function toDict(event: Observation): ObservationDict;
export function toDict(event: Action | Observation): ActionDict | ObservationDict {
  if ("action" in event) {
    return { ...event, message: describeAction(event) };
  }
  if (event.observation !== "error") return { ...event, message: describeObservation(event) };
  const { exception: _raw, ...extras } = event.extras;
  return { ...event, extras, message: event.content };
}

/** One of these actions, so that its name and its arguments are known to belong together. */
type ActionOf<T extends keyof ArgsOf> = { [K in T]: { action: K; args: ArgsOf[K] } }[T];

const describeAction = <T extends keyof ArgsOf>({ action, args }: ActionOf<T>): string =>
  sentences[action](args);

function describeObservation(seen: Exclude<Observation, { observation: "error" }>): string {
  switch (seen.observation) {
    case "run":
      return `Command \`${seen.extras.command}\` exited with code ${seen.extras.exit_code}.`;
    case "run_ipython":
      return "Executed code in an IPython cell.";
    case "browse":
      return `Visited ${seen.extras.url}`;
    case "read":
      return `Read file: ${seen.extras.path}`;
    case "write":
      return `Wrote file: ${seen.extras.path}`;
    case "delegate":
      return `${seen.extras.agent} answered.`;
    case "success":
      return seen.content;
  }
}

/** For a model: the form itself, with raw causes, which it can learn from. */
export function toMemory(event: Action | Observation): JsonObject {
  if ("action" in event) return { action: event.action, args: event.args };
  return { observation: event.observation, content: event.content, extras: withoutAbsent(event.extras) };
}

const withoutAbsent = (record: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(
    Object.entries(record).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );

/** Reads an action of toDict or toMemory; what else stands in it is left out. Throws ZodError. */
export const actionFromDict = (dict: unknown): Action => Action.parse(dict);

/** Reads an observation of toDict or toMemory; what else stands in it is left out. Throws ZodError. */
export const observationFromDict = (dict: unknown): Observation => Observation.parse(dict);

/** Which action a call of one of our tools is; a tool without one of its own becomes `call_tool`. */
export function actionOfCall(
  { tool_name, args }: Pick<ToolCall, "tool_name" | "args">,
  thought = "",
): Action {
  const read = Action.safeParse(formOf(tool_name, args, thought));
  // Arguments that do not fit stay visible as they are: the call was made, and refused.
  return read.success
    ? read.data
    : { action: "call_tool", args: { name: tool_name, arguments: args, thought } };
}

function formOf(tool: string, args: JsonObject, thought: string): unknown {
  switch (tool) {
    case "run_command":
      return { action: "run", args: { command: args.command, thought } };
    case "run_python_cell":
      return { action: "run_ipython", args: { code: args.code, thought } };
    case "file_read":
      return { action: "read", args: { path: args.path, thought } };
    case "file_write":
      return { action: "write", args: { path: args.path, content: args.content, thought } };
    case "browse_url":
      return { action: "browse", args: { url: args.url, thought } };
    case "plan_add_task":
      return {
        action: "add_task",
        args: { goal: args.description, dependencies: args.dependencies, thought },
      };
    case "plan_update_task":
      return { action: "modify_task", args: { task_id: args.task_id, state: args.status, thought } };
    case "finish":
      return {
        action: "finish",
        args: { outputs: args.outputs, thought: typeof args.message === "string" ? args.message : thought },
      };
    case "reject_task":
      return { action: "reject", args: { reason: args.reason, thought } };
    case "delegate_task": {
      const { coworker, ...inputs } = args;
      return { action: "delegate", args: { agent: coworker, inputs, thought } };
    }
    default:
      return null;
  }
}

/** A message of an agent, or of a person. */
export const messageAction = (content: string, wait_for_response = false): Action => ({
  action: "message",
  args: { content, wait_for_response, thought: "" },
});

/** What came of an action. */
export function observationOf(action: Action, result: ToolOutput): Observation {
  const content =
    typeof result.output === "string"
      ? result.output
      : result.output === undefined
        ? ""
        : JSON.stringify(result.output);
  if (action.action === "run") {
    const exit = exitCode(result.output);
    if (exit !== null)
      return { observation: "run", content, extras: { command: action.args.command, exit_code: exit } };
  }
  if (!succeeded(result))
    return {
      observation: "error",
      content: result.error ?? "The call failed.",
      extras: { status_code: result.status_code, ...defined({ exception: content || undefined }) },
    };
  switch (action.action) {
    case "run":
      return { observation: "run", content, extras: { command: action.args.command, exit_code: 0 } };
    case "run_ipython":
      return { observation: "run_ipython", content, extras: { code: action.args.code } };
    case "browse":
      return { observation: "browse", content, extras: { url: action.args.url, status_code: 200 } };
    case "read":
      return { observation: "read", content, extras: { path: action.args.path } };
    case "write":
      return { observation: "write", content, extras: { path: action.args.path } };
    case "delegate":
      return { observation: "delegate", content, extras: { agent: action.args.agent } };
    default:
      return { observation: "success", content, extras: {} };
  }
}

/** A command may run and still say that it failed. */
function exitCode(output: Json | undefined): number | null {
  if (output === null || typeof output !== "object" || Array.isArray(output)) return null;
  return typeof output.exit_code === "number" ? Math.trunc(output.exit_code) : null;
}
