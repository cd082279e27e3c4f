import type { RaisableLimit, RunConfig } from "@/server/domain/agent/outcome";
import type { AgentConfig, ConfirmationPolicy, LlmConfig, RoleDefinition } from "@/server/domain/agent/role";
import type { Durable, Flow, StepRequest } from "@/server/domain/base/durable";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import type { NodeContext } from "@/server/domain/nodes";
import type { RunState } from "@/server/domain/run";
import type { NewEvent, Payloads } from "@/server/domain/run/events";
import type { ParentRun } from "@/server/domain/run/events/child-events";
import type { SecretUse } from "@/server/domain/tool/secret";
import type { CallableTool, ToolOutput, ToolSpec } from "@/server/domain/tool/tool";
import type { ModelAnswer, ModelRequest, Models } from "@/server/llm/model";
import type { ToolHost } from "@/server/tools/host";
import type { Context } from "@/server/tools/policy";
import type { CallsStep, ProgramWithCalls } from "@/server/tools/sandbox/sandbox";
import type { MessageEdit } from "../fork/apply-fork";
import type { Place } from "../interpreter/places";
import type { StartRequest } from "../lifecycle/start-request";

// What the parts of the runner need of one another. `NodeRun` is one attempt of one node and offers all of it; a node's
// behaviour sees `NodeContext` of the domain, tool calls see `ToolRuntime`, agents `AgentRuntime`, crews `CrewRuntime`.
// `Engine` (`interpreter/engine.ts`) is what `NodeRun` in turn needs of the interpreter.

/** What a run reaches outside itself. */
export interface Effects {
  models: Models;
  /** Absent where runs have no tools. */
  tools?: ToolHost;
  /** Absent where runs start no others. */
  runs?: ChildRunner;
}

/** Starts runs for runs. */
export interface ChildRunner {
  /** The result of the run of that id, once it has ended; starts it unless it was started before. */
  run(start: ChildStart, abort: AbortSignal): Promise<Json>;
  /** Cancels a run that nothing waits for any longer; does nothing if it has ended or never started. */
  cancel(start: ChildStart): void;
}

/** A run that a node starts. */
export interface ChildStart {
  run_id: string;
  request: StartRequest & { parent: ParentRun };
  /** In a fork, the runs that its originals started at the same place: the new one begins as the first of them that there is. */
  originals: readonly string[];
}

/** An answer that was not requested again: that run had the answer to the same request. */
export interface Reused {
  reused?: string;
}

/** Whose doing an event is, within the node. */
export interface About {
  agent_id: string;
  task_id?: string;
}

/** A model that costs less than another by prices that are known; `name` is for people. */
export interface CheaperModel {
  provider_id: string;
  model: string;
  name: string;
}

/** An agent that calls a tool, as far as the call's record and the tool need to know. */
export interface ToolCaller {
  /** Its key in the run's state. */
  readonly key: string;
  /** Its part of a key of steps, unique in the node's attempt. */
  readonly path: string;
  readonly about: About;
  readonly role: RoleDefinition;
  /** `role` is there where the run made the role for itself. */
  readonly task: { readonly role?: RoleDefinition | undefined; readonly config?: AgentConfig | undefined };
}

/** One call of a tool. */
export interface ToolInvocation {
  name: string;
  args: JsonObject;
  /** The arguments in which the node's settings name secrets. */
  secrets?: readonly SecretUse[];
  /** Null where the node itself calls it. */
  agent: ToolCaller | null;
  /** How often the same call was made before; it keeps its idempotency key. */
  again?: number;
  spec?: ToolSpec | undefined;
  /** The tools that its program may call. */
  callable?: readonly CallableTool[];
  /** The result of the `nth` call (from 1) of its program, which continues with it. */
  called?: { nth: number; output: ToolOutput } & Reused;
}

/** What a person is asked; the rest is filled in where it is asked. */
export type PersonQuestion = Omit<
  Payloads["interaction_requested"],
  "interaction_id" | "fingerprint" | "expires_at"
> & { about: About | Record<string, never> };

/** What a call of a tool needs of the attempt that makes it, whether the node's own or an agent's. */
export interface ToolRuntime {
  /** The run as the events have it so far. */
  readonly s: RunState;
  readonly node: WorkflowNode;
  readonly activationId: string;
  readonly attempt: number;
  readonly config: RunConfig;
  /** When the present answer was recorded, Unix time in milliseconds. */
  readonly now: number;
  /** Records an event of this activation. */
  emit(event: NewEvent): void;
  /** Comes to a place of this activation at which the run may be held; waits there while it is. */
  arrive(place: Omit<Place, "node_id" | "activation_id">): Flow<void>;
  /** A point at which nothing has begun yet that is about to. */
  reached(): void;
  /** Asks a person and waits, durably. No answer in time means no. `key` is local to the attempt. */
  ask(key: string, question: PersonQuestion): Flow<Payloads["interaction_answered"]>;
  /** Tools of this installation that the list grants, as they are now, and the names of all; recorded. */
  toolSpecs(who: string, granted: readonly string[]): Flow<{ specs: ToolSpec[]; names: string[] }>;
  /** Calls a tool as its own step. Never throws: errors are outputs too. */
  callTool(key: string, call: ToolInvocation): Flow<ToolOutput>;
  /** Reports a tool's effects besides its result. */
  noteEffects(about: Partial<About>, call: Pick<ToolInvocation, "name" | "args">, output: ToolOutput): void;
  /** What decides whether a person must agree to a call. */
  policies(role?: RoleDefinition): ConfirmationPolicy[];
  /** Whether a person has approved this tool for the rest of the run. */
  isApproved(name: string): boolean;
  /** What `judge` is to know of this run, for an agent of this role or for the node itself. */
  judging(taint_sources: readonly string[], role?: RoleDefinition): Context;
}

/** What an agent needs from the attempt that it works in. */
export interface AgentRuntime
  extends ToolRuntime,
    Pick<NodeContext, "state" | "stateProperties" | "render" | "warn"> {
  /** The values that the node reads. */
  readonly input: JsonObject;
  /** What messages of an agent's transcript say instead since a fork. */
  editsOf(agent: string): readonly MessageEdit[];
  findRole(name: string): RoleDefinition | undefined;
  /** The limit that forbids another model call now, if any. */
  limitBeforeCall(): RaisableLimit | null;
  /** Waits until that limit is raised. */
  hold(limit: RaisableLimit): Flow<void>;
  /** Raises a limit after a person's answer; tasks that wait at it continue. */
  raiseLimit(limit: RaisableLimit, to: number, by: string): void;
  /** Whoever waits at a limit looks at it again. */
  openLimit(): void;
  /** A cheaper model than that one, at current prices; recorded. Null if none is known. */
  cheaperModel(key: string, than: LlmConfig): Flow<CheaperModel | null>;
  /** Waits, durably, without saying so. */
  pause(key: string, ms: number): Flow<void>;
  /** The node's own time runs again, once nothing in it waits for a person. */
  startClock(): void;
  /** One attempt at a model call, as its own step. Throws StepFailed with the ModelError. */
  call(key: string, isLast: boolean, request: ModelRequest): Flow<ModelAnswer & Reused>;
  /** Runs code up to its next call, as its own step; null if no code runs here. */
  runCode(key: string, program: ProgramWithCalls): Flow<CallsStep | null>;
  /** Null where the pattern matches, else why not. */
  matches(key: string, pattern: string, text: string): Flow<string | null>;
  /** What tools keep between calls of an agent can go. */
  endTask(agent: ToolCaller): void;
  /** Forgets what an agent remembered for the task that it has ended. */
  forgetTask(agent: ToolCaller): Flow<void>;
}

/** What a crew needs in addition to its agents. */
export interface CrewRuntime extends AgentRuntime {
  /** Settled when a person changes this node's plan. */
  planEdited(): Durable;
  /** Writes what there is of the node's output before it fails. */
  keep(output: JsonObject): void;
  /** Writes the plan of this node's crew to its file in the workspace, as its own step. */
  writePlanFile(key: string, content: string): Flow<ToolOutput>;
}

export interface StepOptions {
  /** Whether it may be given up when the run is paused at once, and made again: nothing outside changes by it. */
  isRepeatable?: boolean;
  /** Of a step that asks a model or a tool. */
  request?: StepRequest;
}
