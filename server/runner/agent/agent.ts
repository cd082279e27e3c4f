import { z } from "zod";
import { NO_USAGE, type Spent } from "@/server/domain/agent/outcome";
import type { Guardrail, LlmConfig, RoleDefinition } from "@/server/domain/agent/role";
import type { AgentStep } from "@/server/domain/agent/stuck";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { canonicalJson } from "@/server/domain/base/json";
import { Json, type JsonObject } from "@/server/domain/base/values";
import { freeTools, NEEDS_CREW } from "@/server/domain/crew/crew-tools";
import { choiceKey } from "@/server/domain/library/model-uses";
import { agentKey } from "@/server/domain/run";
import { isSince } from "@/server/domain/run/edition";
import type { ChatMessage, Payloads } from "@/server/domain/run/events";
import type { Fences } from "@/server/domain/text/fence";
import { NO_SUCH_TOOL, type ToolSpec } from "@/server/domain/tool/tool";
import type { Reads, ToolOffer } from "@/server/llm/model";
import { type Grants, grantTools } from "@/server/tools/policy";
import { changeMessages } from "../fork/apply-fork";
import type { AgentRuntime, CheaperModel } from "../node/ports";
import { Given } from "./prompt/given";
import { fencesOf } from "./prompt/prompt-edition";
import type { AgentTask, Caller, RunTool } from "./task";
import { callableBy, callsText } from "./tools/callable-tools";
import { personTools } from "./tools/person-tools";
import { defineRunTool, done } from "./tools/run-tool";

/** Where nothing is recorded of how much a model reads; tokens. */
const USUAL_WINDOW = 128_000;

/** For models that always call a tool: an answer as a call. */
export const finish = defineRunTool({
  name: "finish",
  description: "Give your final answer and end your work. An answer without a tool call does the same.",
  input: z.object({
    message: z.string().describe("The answer"),
    outputs: z
      .record(z.string(), Json)
      .optional()
      .describe("One value per output key, if several are requested"),
  }),
  *call({ message, outputs }) {
    return { ...done("Done."), ends: { kind: "finish", message, ...defined({ outputs }) } };
  },
});

export const rejectTask = defineRunTool({
  name: "reject_task",
  description: "Return the task if it cannot be done, and say why. This ends your work.",
  input: z.object({ reason: z.string().min(1).max(4000) }),
  *call({ reason }) {
    return { ...done("The task was returned."), ends: { kind: "reject", reason } };
  },
});

/** Granted with any other tool, or where a role names them. */
const ENDINGS: readonly RunTool[] = [finish, rejectTask];

/** One role running one task: who it is, its conversation, and what it may call. */
export class Agent implements Caller {
  readonly key: string;
  readonly messages: ChatMessage[] = [];
  /** Its actions and their results, for detecting circles. */
  readonly steps: AgentStep[] = [];
  readonly level: number;
  readonly spent: Spent = { usage: NO_USAGE, cost_usd: 0 };
  /** Tools whose untrusted results it has read. */
  readonly taintSources = new Set<string>();
  readonly crewTools = new Map<string, RunTool>();
  /** How much its model reads: as recorded at the run's start, then as each answer says. */
  reads: Reads;
  /** Variables that its programs left. They come from recorded steps, so a replay finds them again. */
  variables: JsonObject = {};
  /** The values that it was given, whole or cut. */
  readonly given: Given;
  /** Questions with which it did not wait, and whose answers it was told. */
  readonly heard = new Set<string>();
  /** Of the run's instructions by people, how many it has looked at. */
  instructed = 0;
  /** Of the changes of its crew's members, how many it knows of: those of before it began are in its opening. */
  teamHeard: number;
  /** How often each guardrail has sent it back. */
  readonly guardTries = new Map<Guardrail, number>();
  /** The cheaper model with which a person let it continue. */
  cheaper: CheaperModel | undefined;
  private model: LlmConfig | undefined;
  private readonly tools = new Map<string, ToolSpec>();
  private readonly withheld = new Map<string, string>();
  private known: readonly string[] = [];
  private modelsLeftOut = 0;
  private editsTaken = 0;

  constructor(
    readonly run: AgentRuntime,
    readonly task: AgentTask,
    readonly role: RoleDefinition,
  ) {
    this.key = agentKey(run.activationId, task.agent_id, task.task_id);
    this.given = new Given(this.fences);
    this.level = task.parent ? task.parent.level + 1 : 0;
    this.model = task.llm_config;
    this.teamHeard = run.s.team_news.length;
    this.reads = { context_window: this.windowOf(this.model), token_ratio: 1 };
  }

  private windowOf(model: LlmConfig | undefined): number {
    const windows = this.run.s.run.context_windows ?? {};
    // An agent that joined later may use a model that was unknown at the start.
    return windows[choiceKey(model ?? {})] ?? Math.min(USUAL_WINDOW, ...Object.values(windows));
  }

  /** The settings of its model as they are by now: a person may have changed them since its last call. */
  get modelNow(): LlmConfig | undefined {
    const { llm_now } = this.task;
    if (!llm_now) return this.model;
    const now = llm_now();
    if (canonicalJson(now ?? {}) === canonicalJson(this.model ?? {})) return this.model;
    this.model = now;
    this.cheaper = undefined;
    this.modelsLeftOut = 0;
    this.reads = { ...this.reads, context_window: this.windowOf(now) };
    return now;
  }

  /** Rules for its input and output: its role's, then its task's. */
  get guardrails(): readonly Guardrail[] {
    return [...this.role.guardrails, ...(this.task.guardrails ?? [])];
  }
  get about(): { agent_id: string; task_id?: string } {
    const { agent_id, task_id } = this.task;
    return { agent_id, ...defined({ task_id: task_id || undefined }) };
  }
  /** The format of data in its prompts. */
  get fences(): Fences {
    return fencesOf(this.run.s.run);
  }
  /** Names the agent's part of a key, unique in the node's attempt. */
  get path(): string {
    const { agent_id, task_id } = this.task;
    return task_id ? `${task_id}/${agent_id}` : agent_id;
  }

  /** Finds out what it may call. What it gets is recorded: it stays the same, whatever changes meanwhile. */
  *equip(): Flow<Grants> {
    const { run, task, role } = this;
    if (task.may_use_tools === false) return { granted: [], withheld: [] };
    const isFifth = isSince(run.s.run, 5);
    // Runs from before people had rules were told that there are no such tools.
    const toPeople = run.s.run.people ? personTools(run) : [];
    const byRole = [...(task.crew_tools_by_role ?? []), ...toPeople, ...ENDINGS];
    const crewSpecs = byRole.map(({ spec }) => spec);
    const { specs: registered, names } =
      role.tools.length > 0 ? yield* run.toolSpecs(this.path, role.tools) : { specs: [], names: [] };
    const grants = grantTools({
      role_tools: role.tools,
      known: [...registered, ...crewSpecs],
      denied: run.config.denied_tools,
      ...defined({
        only: task.tools,
        without: task.without,
        parent: task.parent && !task.keeps_tools ? task.parent.toolNames : undefined,
        whyMissing: isFifth
          ? (name: string) => (!task.team && freeTools.has(name) ? NEEDS_CREW : undefined)
          : undefined,
      }),
    });
    if (isFifth)
      for (const { tool_name, reason } of grants.withheld)
        if (reason !== NO_SUCH_TOOL) this.withheld.set(tool_name, reason);
    const granted = new Set(grants.granted.map(({ name }) => name));
    for (const spec of grants.granted) this.tools.set(spec.name, spec);
    for (const tool of [...(task.crew_tools ?? []), ...byRole.filter(({ spec }) => granted.has(spec.name))]) {
      if (!run.config.denied_tools.includes(tool.spec.name)) this.learn(tool);
    }
    if (this.tools.size > 0) for (const tool of ENDINGS) this.learn(tool);
    this.known = [...names, ...crewSpecs.map(({ name }) => name)];
    return { ...grants, granted: [...this.tools.values()] };
  }

  /** The first of its models that is asked, counted from 0: a person may have gone on with a later one. */
  get firstModel(): number {
    return this.modelsLeftOut;
  }
  skipModels(count: number): void {
    this.modelsLeftOut = Math.max(this.modelsLeftOut, count);
  }

  get toolNames(): string[] {
    return [...this.tools.keys()];
  }
  /** Whether it can call anything. */
  get mayCall(): boolean {
    return this.tools.size > 0 && this.task.config?.tool_protocol !== "none";
  }
  /** Adds a tool that the run executes. */
  learn(tool: RunTool): void {
    this.tools.set(tool.spec.name, tool.spec);
    this.crewTools.set(tool.spec.name, tool);
  }
  fitted(name: string, text: string): string {
    const known = this.given.cuts.length;
    const fitted = this.given.fitted(name, text);
    for (const { name: cut, shown, total } of this.given.cuts.slice(known))
      this.run.warn(
        "VALUE_CUT",
        `"${cut}" is too long for ${this.task.agent_id}'s model: it received the first ${shown} of ${total} characters and can read the rest.`,
      );
    if (this.given.cuts.length > known) this.learn(this.given.tool);
    return fitted;
  }
  tool(name: string): ToolSpec | undefined {
    return this.tools.get(name);
  }
  /** Why it doesn't get a tool that its role or task names. */
  whyWithheld(name: string): string | undefined {
    return this.withheld.get(name);
  }
  /** Whether there is such a tool at all, permitted or not. */
  isKnown(name: string): boolean {
    return this.tools.has(name) || this.known.includes(name);
  }
  get offers(): ToolOffer[] {
    return [...this.tools.values()].map((spec) => ({
      name: spec.name,
      description: spec.description + callsText(callableBy(this, spec)),
      parameters: spec.input_schema,
    }));
  }

  /** `instruction`: that of a person which it brings, by its number. */
  addMessage(
    rawMessage: ChatMessage,
    origin: Payloads["message_added"]["origin"],
    instruction?: number,
  ): void {
    const message = this.withoutTasks(rawMessage, origin);
    this.messages.push(message);
    const brings = instruction === undefined ? {} : { instruction };
    this.run.emit({ type: "message_added", ...this.about, payload: { message, origin, ...brings } });
  }

  /**
   * Neutralizes prompt tags in mid-conversation messages, so that they can't give a task: only the messages that open a
   * conversation may hold such tags.
   */
  private withoutTasks(message: ChatMessage, origin: Payloads["message_added"]["origin"]): ChatMessage {
    if (!isSince(this.run.s.run, 3) || origin === "system" || origin === "template") return message;
    if (origin === "handoff" && message.role === "user") return message;
    const { harmless, harmlessResult } = this.fences;
    const { role, name, content } = message;
    if (role !== "tool") return { ...message, content: harmless(content) };
    return {
      ...message,
      ...defined({ name: name === undefined ? undefined : harmlessResult(name) }),
      content: harmlessResult(content),
    };
  }

  /** What a fork changed in its transcript. */
  takeEdits(): void {
    const edits = this.run.editsOf(this.key);
    changeMessages(this.messages, edits.slice(this.editsTaken));
    this.editsTaken = edits.length;
  }

  taint(source: string): void {
    if (this.taintSources.has(source)) return;
    this.run.emit({ type: "agent_tainted", ...this.about, payload: { tool_name: source } });
    this.taintSources.add(source);
  }
}
