import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { Expr, Id, Json, JsonSchema, Ms } from "@/server/domain/base/values";
import { MemoryScope } from "./memory/memory-scope";

export const Guardrail = z.object({
  name: z.string(),
  target: z.enum(["input", "output", "tool_input", "tool_output"]).default("output"),
  kind: z.enum(["expression", "json_schema", "regex", "llm_judge", "registered"]),
  /** An expression over `output` or `input`, a JSON Schema, a pattern, a rule in words, or a registered check's name. */
  spec: z.string(),
  on_fail: z.enum(["retry", "fail", "escalate", "warn"]).default("retry"),
  max_retries: z.number().int().default(2),
});

export type Guardrail = z.infer<typeof Guardrail>;

/** What a guardrail looks at, in words. */
export const GUARDRAIL_TARGETS: Record<Guardrail["target"], string> = {
  output: "Output",
  input: "Input",
  tool_input: "Tool input",
  tool_output: "Tool output",
};

/** How a guardrail checks, in words. */
export const GUARDRAIL_KINDS: Record<Guardrail["kind"], string> = {
  expression: "Expression",
  json_schema: "JSON Schema",
  regex: "Regular expression",
  llm_judge: "LLM judge",
  registered: "Built-in check",
};

export const Knowledge = z.enum(["material", "general"]);
export type Knowledge = z.infer<typeof Knowledge>;

/** Labels for what a role's answers may rest on. */
export const KNOWLEDGE: Record<Knowledge, string> = {
  material: "Provided material only",
  general: "General knowledge too",
};

export const ConfirmationPolicy = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("never") }),
  z.object({ kind: z.literal("always") }),
  z.object({
    kind: z.literal("risky"),
    threshold: z.enum(["LOW", "MEDIUM", "HIGH"]).default("HIGH"),
    confirm_unknown: z.boolean().default(true),
  }),
  z.object({ kind: z.literal("tools"), tools: z.array(z.string()) }),
  z.object({ kind: z.literal("when"), when: Expr }),
]);

export type ConfirmationPolicy = z.infer<typeof ConfirmationPolicy>;

/** What happens where a limit is reached: a person is asked before the run stops, or it stops. */
export const OnLimit = z.enum(["stop", "ask"]);
export type OnLimit = z.infer<typeof OnLimit>;

/** How a role answers without a model. Expressions read `input` (see role-rule.ts), `state` and `now`. */
export const RoleRule = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("echo") }),
  /** Its value is the answer: a text, or an object with a value per output key. */
  z.object({ kind: z.literal("expression"), expression: Expr }),
  z.object({
    kind: z.literal("lookup"),
    table: z.record(z.string(), Json),
    /** The key to look up; absent: the message. */
    key: Expr.optional(),
    /** The answer where the table has no entry; absent: the task fails. */
    default: Json.optional(),
  }),
]);
export type RoleRule = z.infer<typeof RoleRule>;

/** Labels for how a role answers by rule. */
export const ROLE_RULES: Record<RoleRule["kind"], string> = {
  echo: "Echo",
  expression: "Expression",
  lookup: "Lookup table",
};

export const RoleName = z.string().trim().min(1, "A role needs a name").max(80);

/** What a kind of agent is for: the blueprint behind an agent's prompt. The name is the key everywhere. */
export const RoleDefinition = z.object({
  name: RoleName,
  description: z.string().max(4000).default(""),
  goals: z.array(z.string().max(2000)).default([]),
  responsibilities: z.array(z.string().max(2000)).default([]),
  /** Names of the tools that this role may use; the only source of that right. */
  tools: z.array(z.string().max(200)).default([]),
  input_schema: JsonSchema.optional(),
  output_schema: JsonSchema.optional(),
  /** What its answers may rest on; absent: on general knowledge only where the material does not cover the task. */
  knowledge: Knowledge.optional(),
  /** Replaces the standard prompt of prompt.ts. */
  system_prompt_template: z.string().max(65_536).optional(),
  /** Answers instead of a model; then its prompt, tools and model settings are unused. */
  rule: RoleRule.optional(),
  guardrails: z.array(Guardrail).default([]),
  confirmation: ConfirmationPolicy.optional(),
  /** Where a limit of the run stands in its way; absent: as the run says. */
  on_limit: OnLimit.optional(),
  color: z.string().max(40).optional(),
  icon: z.string().max(40).optional(),
  version: z.number().int().default(1),
});
export type RoleDefinition = z.infer<typeof RoleDefinition>;

/** Settings of a model call; what is absent comes from the default provider. */
export const LlmConfig = z
  .object({
    provider_id: z.string(),
    model: z.string(),
    temperature: z.number().min(0).max(2),
    top_p: z.number(),
    max_tokens: z.number().int().positive(),
    seed: z.number().int(),
    stop: z.array(z.string()).max(4),
    reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]),
    structured_output: z.enum(["auto", "json_schema", "json_object", "prompt"]),
    fallback_models: z.array(z.object({ provider_id: z.string(), model: z.string() })).max(3),
    /** For a whole answer. */
    timeout_ms: Ms,
    /** Between two pieces of an answer. */
    idle_timeout_ms: Ms,
    /** Until an answer's first word. */
    first_byte_ms: Ms,
    extra_body: z.record(z.string(), Json),
  })
  .partial();
export type LlmConfig = z.infer<typeof LlmConfig>;

/** Settings over others, key by key; who names another provider does not get the model that was meant for the first. */
export function llmOver(base: LlmConfig | undefined, own: LlmConfig | undefined): LlmConfig | undefined {
  if (!base || !own) return own ?? base;
  const { model, ...rest } = base;
  return {
    ...defined({ model: own.provider_id === undefined && model !== undefined ? model : undefined }),
    ...rest,
    ...own,
  };
}

/** One agent, of a crew or of the library: a role with its own model settings and limits. */
export const AgentConfig = z.object({
  agent_id: Id,
  /** The agent of the library that a member of a crew is; the rest is a copy of it. */
  agent_ref: Id.optional(),
  role_name: z.string(),
  llm_config: LlmConfig.optional(),
  backstory: z.string().optional(),
  allow_delegation: z.boolean().default(false),
  /** Model turns per task. */
  max_iterations: z.number().int().min(1).max(200).default(10),
  tool_protocol: z.enum(["auto", "native", "text", "none"]).default("auto"),
  /** Whom it may hand over to, by id or role; absent: anyone. */
  handoffs: z.array(z.string()).optional(),
  max_delegation_depth: z.number().int().min(0).max(5).default(2),
  max_execution_time_s: z.number().int().default(600),
  max_rpm: z.number().int().positive().optional(),
  tool_concurrency: z.number().int().min(1).max(8).default(4),
  context: z
    .object({
      condense_at: z.number().default(0.75),
      keep_first: z.number().default(4),
      target: z.number().default(0.5),
      max_messages: z.number().default(80),
    })
    .prefault({}),
  memory_scopes: z.array(MemoryScope).default(["run"]),
});
export type AgentConfig = z.infer<typeof AgentConfig>;
