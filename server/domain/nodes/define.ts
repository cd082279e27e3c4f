import type { z } from "zod";
import type { ErrorCode, RunConfig, RunError, Usage } from "@/server/domain/agent/outcome";
import type { AgentConfig, Guardrail, LlmConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import type { BasicFieldVariant, FieldOf } from "@/server/domain/base/form";
import { must } from "@/server/domain/base/must";
import { namedError } from "@/server/domain/base/named-error";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { WrittenValue } from "@/server/domain/text/template/template";
import type { OwnRule } from "@/server/domain/tool/own-rule";
import type { NodeAnswer, NodeQuestion } from "@/server/domain/tool/person-question";
import type { SecretUse } from "@/server/domain/tool/secret";
import type { NodeBase } from "./node-base";
import type { SchemaParts } from "./schema-parts";

export type { NodeBase, SchemaParts };

/** The looks of a field of a node kind. Which keys of the config it may name is checked by the compiler. */
export type FieldVariant =
  | BasicFieldVariant
  | "template"
  | "expression"
  | "role"
  | "schema"
  | "ways"
  | "value"
  | "assignments"
  | "pairs"
  | "crew"
  | "crew_ref"
  | "agent_ref"
  | "tools"
  | "guardrails"
  | "plan"
  | "llm"
  | "router_function"
  | "own_rule"
  | "tool"
  | "arguments"
  | "workflow"
  | "body"
  | "code"
  | "label";

/**
 * The looks whose values are read outside of forms too, whatever the kind: each stands under names of its own, so that
 * `settingsOf(node)[field.key]` has a type.
 */
interface VariantKeys {
  llm: "llm_config";
  crew: "crew";
  plan: "plan";
  guardrails: "guardrails";
  schema: "input_schema" | "output_schema" | "schema";
  assignments: "set" | "input";
}

/** Few need what is rare: it is folded away. */
export type Field<C = Record<string, unknown>> = { isRare?: boolean } & (
  | FieldOf<C, Extract<keyof C, string>, Exclude<FieldVariant, keyof VariantKeys>>
  | { [L in keyof VariantKeys]: FieldOf<C, keyof C & VariantKeys[L], L> }[keyof VariantKeys]
);

/** What is wrong with a value by a schema, the first of it in words; null where it fits. */
export type Misfit = (schema: JsonSchema, value: unknown) => string | null;

/** A named way out of a node: what an edge's `edge_label` may say. */
export interface Exit {
  label: string;
  title?: string;
  isDefault?: boolean;
}

export interface NodeResult {
  /** Output values by output key. */
  output: JsonObject;
  /** State that is written beside the output. */
  writes?: JsonObject;
  /** Routers only: the labels whose edges are taken, and why. */
  labels?: string[];
  why?: {
    evaluations?: { label: string; when: string; value: boolean; note?: string }[];
    reason?: string;
    confidence?: number | null;
  };
  usage?: Usage;
  cost_usd?: number | null;
  /** The output is as an earlier run had it, mapping included: nothing was carried out. */
  pinned?: true;
}

/** The settings of a kind in which one agent works, for all that asks who it is and what it may use. */
export interface AgentSettings {
  required_role: string;
  agent_ref?: string | undefined;
  agent?: AgentConfig | undefined;
  tools?: string[] | undefined;
  llm_config?: LlmConfig | undefined;
}
/** The settings of a kind in which a crew works. */
export interface CrewSettings {
  plan_description_template: string;
  crew_id_or_config_ref?: string | undefined;
  crew?: CrewConfig | undefined;
  plan?: ExecutionPlan | undefined;
}
/** The settings of a kind that routes. */
export interface RouterSettings {
  kind: "function" | "expression" | "llm" | "value";
  router_function_name?: string | undefined;
  router_function?: OwnRule | undefined;
  llm_config?: LlmConfig | undefined;
}

/** Who can work in a node with these settings. */
type WorkerOf<C> = (C extends AgentSettings ? "agent" : never) | (C extends CrewSettings ? "crew" : never);

/** What a node does without any agent, which a person may have to allow. */
export type OwnUse =
  | { kind: "code"; source: string }
  | { kind: "request"; method: string; url: string }
  | { kind: "tool"; name: string; args: Readonly<Record<string, Json>> };

/** The pictures of kinds: lucide names that components/canvas/cards/kind-icon.tsx draws. */
export type KindIconName =
  | "bot"
  | "braces"
  | "database"
  | "flag"
  | "function-square"
  | "globe"
  | "layers"
  | "play"
  | "split"
  | "sticky-note"
  | "text-cursor-input"
  | "timer"
  | "user-round"
  | "user-round-check"
  | "users-round"
  | "workflow"
  | "wrench";

/** A fault that a kind finds in its own settings; findProblems adds the place. */
export interface NodeDiagnostic {
  severity: "error" | "warning";
  code: string;
  message: string;
  field?: string;
}

export interface NodeKind<T extends string = string, S extends z.ZodType = z.ZodType> {
  readonly type: T;
  readonly title: string;
  /** One short line for the palette. */
  readonly hint: string;
  readonly icon: KindIconName;
  readonly group: "flow" | "agents" | "people" | "data" | "notes";
  /** What its settings may be. Asked for where nodes are read, and not where they are only drawn. */
  config(parts: SchemaParts): S;
  readonly fields: readonly Field<z.output<S>>[];
  /** One line that says what this node will do, for its card. */
  summary(config: z.output<S>, node: NodeBase): string;
  /** Named ways out. Absent: one unnamed way out. Empty: none. */
  exits?(config: z.output<S>): readonly Exit[];
  /** Whether edges may end here; default true. */
  readonly hasEntry?: boolean;
  /** Whether edges may begin here; default true. */
  readonly hasExit?: boolean;
  /** False for notes: never part of a run. */
  readonly executes?: boolean;
  /** Labels choose the edges. */
  readonly routes?: boolean;
  /** Routers: the setting that lists the names of the ways, where people add, rename and move them; `ways` if absent. */
  readonly routesKey?: string;
  /**
   * What else changes in the settings when a person changes something there, so that nothing of theirs is lost.
   * `labels`: the names of all ways out, also of those that only edges name.
   */
  follow?(before: z.output<S>, after: z.output<S>, labels: readonly string[]): z.output<S>;
  /** Routers: how the label is found. */
  routerKind?(config: z.output<S>): RouterSettings["kind"];
  /** Who works in it: its settings then are those of an agent or of a crew, and everything that asks for them finds it. */
  readonly works?: WorkerOf<z.output<S>>;
  /** What it does without any agent. */
  uses?(config: z.output<S>): readonly OwnUse[];
  /** The workflow that it runs, by its id. */
  calls?(config: z.output<S>): string | undefined;
  /** The node or group of the same workflow that it runs, which then is no part of the flow. */
  body?(config: z.output<S>): string | undefined;
  /** Its result follows from what it reads alone, so a map computes it without starting runs. */
  readonly isPure?: true;
  /** Words for people, which the canvas shows in place of a card. */
  noteText?(config: z.output<S>): string;
  /** A run begins at a node of this kind. */
  readonly begins?: boolean;
  /** What stands in its settings under the names of keys, as what they are where the run is not given them. */
  presets?(config: z.output<S>): Readonly<Record<string, Json>>;
  /** The name of the signal that it waits for, where it does. */
  signal?(config: z.output<S>): string | undefined;
  /**
   * Reaching a node of this kind ends the run in that way; `terminate` cancels what is still under way. `givesAll`: the
   * run's output is the state as it is when the run ends.
   */
  ends?(
    config: z.output<S>,
    node: NodeBase,
  ): { status: "COMPLETED" | "ERROR"; terminate: boolean; givesAll: boolean };
  /** State keys that it writes; absent: its output_keys. */
  writes?(config: z.output<S>, node: NodeBase): readonly string[];
  /** How long one attempt may take where the node does not say, in milliseconds. */
  readonly timeoutMs?: number;
  /** The settings of a newly placed node, all that have a standard included. */
  newConfig(): z.output<S>;
  newNode?(): Partial<NodeBase>;
  /** `misfit`: checks a value, handed in so that not every drawing brings along what checks by JSON Schema. */
  validate?(config: z.output<S>, node: NodeBase, misfit: Misfit): NodeDiagnostic[];
  /** Expressions and templates in the settings, for checking and for key completion. */
  expressions?(config: z.output<S>): { field: string; expression: string; result?: "bool" | "any" }[];
  templates?(config: z.output<S>): { field: string; template: string }[];
  /** The fields of the settings in which references to secrets are filled in. */
  secretPlaces?(config: z.output<S>): { field: string; value: Json }[];
  run?(config: z.output<S>, ctx: NodeContext): Flow<NodeResult>;
}

/** Declares a node kind; write one file, name it in nodes/index.ts. */
export function defineNode<const T extends string, S extends z.ZodType>(
  kind: NodeKind<T, S>,
): NodeKind<T, S> {
  return kind;
}

/** What a node may do while it runs. Keys given to step, sleep and signal are local to the node's attempt. */
export interface NodeContext {
  readonly node: NodeBase & { node_type: string };
  readonly activationId: string;
  readonly attempt: number;
  /** The values this node reads, fixed at its start. */
  readonly input: Readonly<Record<string, Json>>;
  /** The run's state: read it before the first yield, it moves on afterwards. */
  readonly state: Readonly<Record<string, Json>>;
  /** What the run was started with. */
  readonly runInput: Readonly<Record<string, Json>>;
  /** `global_state_schema.properties`, or empty. */
  readonly stateProperties: Readonly<Record<string, JsonSchema>>;
  /** Outgoing edges with what they lead to; routers describe their labels with it. */
  readonly exits: readonly {
    edge_id: string;
    label: string | null;
    isDefault: boolean;
    target: string;
    description: string;
  }[];
  readonly config: RunConfig;
  /** The value of an expression over the run's state and what this node reads. */
  evaluate(expression: string): Json;
  /** Whether a condition over the same holds; `note` says why it could not be told. */
  holds(condition: string): { value: boolean; note?: string };
  /** A template filled in with the same; `write` says how each value is written. */
  render(template: string, write?: (value: WrittenValue) => string): string;
  step(key: string, work: (scope: { abort: AbortSignal }) => Promise<Json> | Json): Flow<Json>;
  sleep(key: string, ms: number): Flow<void>;
  signal(name: string, timeout_ms?: number): Flow<Json>;
  /** Lets one role do one task with a model; the answer has one value per output key. */
  agent(request: AgentRequest): Flow<AgentAnswer>;
  /** Lets several roles work on a plan. */
  crew(request: CrewRequest): Flow<CrewAnswer>;
  /** Asks a model for exactly one of the labels. */
  choose(request: ChooseRequest): Flow<{ label: string; reason: string; confidence: number | null }>;
  /** A rule of that name which the workflow brings along. */
  ownRule(name: string): OwnRule | undefined;
  /**
   * Calls a tool and returns its result. Asks a person for approval as for an agent. `secrets`: the
   * arguments in which the settings name secrets.
   */
  tool(name: string, args: JsonObject, secrets?: readonly SecretUse[]): Flow<Json>;
  /** Runs the body of a JavaScript function in the sandbox; `input` holds the value. */
  code(source: string, input: Json): Flow<Json>;
  /** Asks a person and waits, durably, unless nobody is to wait. */
  askPerson(key: string, question: NodeQuestion): Flow<NodeAnswer>;
  /** Runs another workflow as a separate run, and waits for it. Throws NodeFailure if it does not complete. */
  callWorkflow(workflow_id: string, input: JsonObject): Flow<JsonObject>;
  /** Runs a workflow or a part of this one for each item of a list; the outcomes have the order of the items. */
  map(request: MapRequest): Flow<ItemOutcome[]>;
  /** Writes a diagnostic into the run's events. */
  warn(code: string, message: string): void;
}

export interface MapRequest {
  items: readonly Json[];
  /** What is run for each item: a workflow by its id, or a node or group of this workflow. */
  target: { workflow_id: string } | { body: string };
  /** Name of an input to an expression over `state`, `item` and `index`. */
  input: Readonly<Record<string, string>>;
  /** An expression over `output`, `item` and `index`; absent: the whole output. */
  output?: string | undefined;
  /** How many items run at the same time. */
  concurrency: number;
  /** Whether the first failure ends the others. */
  stopsAtFailure: boolean;
}

/** What became of one item of a map. */
export type ItemOutcome = { ok: true; value: Json } | { ok: false; error: RunError };

export interface AgentRequest {
  agent_id?: string;
  required_role: string;
  /** As people read it. */
  task: string;
  /** What it was filled in from: models see its values between tags. */
  template?: string;
  expected_output?: string;
  output_keys: readonly string[];
  output_schema?: JsonSchema;
  llm_config?: LlmConfig;
  backstory?: string;
  max_iterations?: number;
  /** How the agent works; what else the request says goes before it. */
  config?: AgentConfig;
  /** Of the role's tools, only these. */
  tools?: readonly string[];
  /** Beside those of the role. */
  guardrails?: readonly Guardrail[];
}
export interface AgentAnswer {
  output: JsonObject;
  usage: Usage;
  cost_usd: number | null;
}
export interface CrewRequest {
  crew?: CrewConfig;
  crew_id?: string;
  plan?: ExecutionPlan;
  description: string;
  /** What that was filled in from. */
  template?: string;
  output_keys: readonly string[];
}
export interface CrewAnswer {
  output: JsonObject;
  usage: Usage;
  cost_usd: number | null;
}
export interface ChooseRequest {
  instruction: string;
  labels: readonly { label: string; description: string }[];
  llm_config?: LlmConfig;
}

/** One value per output key: those of the same names where the result has them all, else the result for each. */
export function toolOutputs(result: Json, keys: readonly string[]): JsonObject {
  const record =
    result !== null && typeof result === "object" && !Array.isArray(result) && keys.length > 1
      ? result
      : null;
  if (record && keys.every((key) => Object.hasOwn(record, key)))
    return Object.fromEntries(keys.map((key) => [key, must(record, key)]));
  return Object.fromEntries(keys.map((key) => [key, result]));
}

/** Expected trouble inside a node: ends the attempt with a coded error. */
export class NodeFailure extends namedError("NodeFailure") {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly more: Partial<Pick<RunError, "retryable" | "user_action" | "detail">> = {},
  ) {
    super(message);
  }
  toRunError(): RunError {
    return {
      code: this.code,
      message: this.message,
      retryable: this.more.retryable ?? false,
      user_action: this.more.user_action ?? "edit_graph",
      ...defined({ detail: this.more.detail }),
    };
  }
}
