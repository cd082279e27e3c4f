import type { LlmConfig, RoleDefinition } from "@/server/domain/agent/role";
import type { AgentStep } from "@/server/domain/agent/stuck";
import type { Flow } from "@/server/domain/base/durable";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import type { AgentAnswer, AgentRequest } from "@/server/domain/nodes/define";
import type { ChatMessage, Payloads } from "@/server/domain/run/events";
import type { ToolOutput, ToolSpec } from "@/server/domain/tool/tool";
import type { ToolCaller } from "../node/ports";

// What an agent is given and gives back, and the tools of a crew that it may call: they speak of one another.

/** What one agent is to do, and with what. */
export interface AgentTask extends AgentRequest {
  agent_id: string;
  task_id?: string;
  /** A role of our own making, instead of one that people defined. */
  role?: RoleDefinition;
  purpose?: Payloads["llm_call_started"]["purpose"];
  /** What a rule answers, where `task` is only an instruction for a model. */
  message?: string;
  /** The task in the words of a prompt, where it is not filled in from a template. */
  prompt?: string;
  /** Who else than the workflow asks for it. */
  from?: string;
  /** Everybody in its crew, one line each. */
  team?: readonly string[];
  /** How the crew works, and what this agent does in it. */
  how?: string;
  /** What all of the crew work for. */
  goal?: string;
  /** Of what the role reads, what the prompt has already, such as in the goal. */
  shown?: readonly string[];
  /** The status of its crew. */
  status?: string;
  /** It continues in its own conversation, which has its inputs and the output instructions. */
  continues?: boolean;
  /** It says what it thinks of something, and does none of its role's work. */
  is_stance?: boolean;
  /** Results of earlier tasks by name. */
  earlier?: Record<string, Json>;
  /** Another check of the answer; its errors are fed back like those of the schema. */
  check?: (value: Json) => string[];
  /** The answer's shape where it is not one value per output key. */
  answer_schema?: JsonSchema;
  /** What the role reads; the node's input where absent. */
  inputs?: JsonObject;
  /** Tools executed by the run itself, which the crew's process grants. */
  crew_tools?: readonly RunTool[];
  /** Others of the kind, granted only where the role names them. */
  crew_tools_by_role?: readonly RunTool[];
  /** What its crew does without, though a role names it. */
  without?: { tools: readonly string[]; reason: string };
  /** The agent that delegated this task. */
  parent?: Caller;
  /** A delegate that may call what its own role may, also what the agent that delegated may not. */
  keeps_tools?: boolean;
  /** A conversation that it takes over, without system messages. */
  history?: readonly ChatMessage[];
  /** The settings of its model by now, which a person may have changed since it began. */
  llm_now?: () => LlmConfig | undefined;
  /** False: no tools at all, for managers and voters. */
  may_use_tools?: boolean;
}

/** A running agent, as its tools and its subordinate agents see it. */
export interface Caller extends ToolCaller {
  readonly task: AgentTask;
  /** How many agents delegated above it; 0 for one without a delegator. */
  readonly level: number;
  /** Its actions and their results, for detecting circles. */
  readonly steps: readonly AgentStep[];
  /** The names of what it may call. */
  readonly toolNames: readonly string[];
  /** A text as a message may hold it: what is too long for the model is cut, with a tool that reads on. */
  fitted(name: string, text: string): string;
}

/** What a crew tool gives: an output like every tool's, and perhaps the end of the agent's work. */
export type RunToolResult = ToolOutput & { ends?: AgentEnd };

/** A tool executed by the run itself: it changes the run by events, or runs other agents. */
export interface RunTool {
  readonly spec: ToolSpec;
  check(args: unknown): { ok: true; input: unknown } | { ok: false; errors: string[] };
  /** `key`: a part for keys of steps, unique in the node's attempt. */
  call(input: unknown, caller: Caller, key: string): Flow<RunToolResult>;
}

/** How much of the conversation goes along with a handoff. */
export type HandoffMode = "full" | "summary" | "last_n" | "context_only";

/** How an agent's work ended, other than with an answer. */
export type AgentEnd =
  | { kind: "finish"; message: string; outputs?: JsonObject }
  | { kind: "reject"; reason: string }
  | { kind: "handoff"; to: string; reason: string; context?: JsonObject; mode: HandoffMode };

export interface AgentResult extends AgentAnswer {
  handoff?: Extract<AgentEnd, { kind: "handoff" }>;
  /** What was said, without system messages. */
  transcript: readonly ChatMessage[];
}
