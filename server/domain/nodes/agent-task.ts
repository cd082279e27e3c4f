import { defined } from "@/server/domain/base/defined";
import { ON_LIMIT_FIELD } from "./asking/question-terms";
import { defineNode, type SchemaParts } from "./define";

/** One role does one task with a model. */
export const agentTask = defineNode({
  type: "agent_task",
  title: "Agent task",
  hint: "Runs one agent on a task",
  icon: "user-round",
  group: "agents",
  works: "agent",
  timeoutMs: 10 * 60_000,
  config: ({ z, Id, JsonSchema, Template, AgentConfig, Guardrail, LlmConfig, OnLimit }: SchemaParts) =>
    z.object({
      required_role: z.string().default(""),
      /** The name that it works under. */
      agent_id: Id.optional(),
      /** The agent of the library that does it; its role goes before `required_role`. */
      agent_ref: Id.optional(),
      /** The copy of that agent, in runs and in files. */
      agent: AgentConfig.optional(),
      task_description_template: Template.default(""),
      expected_output: z.string().max(8000).optional(),
      /** Of the role's tools, only these. */
      tools: z.array(z.string()).optional(),
      output_schema: JsonSchema.optional(),
      /** Beside those of the role. */
      guardrails: z.array(Guardrail).default([]),
      max_iterations: z.number().int().min(1).max(200).optional(),
      llm_config: LlmConfig.optional(),
      on_limit: OnLimit.optional(),
    }),
  fields: [
    { key: "required_role", label: "Role", as: "role", showIf: ({ agent_ref }) => !agent_ref },
    { key: "agent_ref", label: "Agent", as: "agent_ref" },
    { key: "task_description_template", label: "Task", as: "template", hint: "Type {{ to insert a value" },
    { key: "expected_output", label: "Expected output", as: "multiline" },
    { key: "output_schema", label: "Output schema", as: "schema", hint: "Type of each output key" },
    { key: "llm_config", label: "Model", as: "llm" },
    { key: "tools", label: "Tools", as: "tools", isRare: true },
    {
      key: "guardrails",
      label: "Guardrails",
      as: "guardrails",
      hint: "Checks for this task, in addition to the role's",
      isRare: true,
    },
    {
      key: "max_iterations",
      label: "Max turns",
      as: "number",
      hint: "The task must finish within this many model turns",
      min: 1,
      max: 200,
      isRare: true,
    },
    ON_LIMIT_FIELD,
  ],
  summary: (config) => config.agent?.role_name || config.agent_ref || config.required_role || "No role yet",
  newConfig: () => ({ required_role: "", task_description_template: "", guardrails: [] }),
  newNode: () => ({ name: "Agent task", output_keys: ["result"] }),
  validate: (config) => {
    if (!config.required_role && !config.agent_ref)
      return [
        {
          severity: "error",
          code: "E_UNKNOWN_ROLE",
          message: "Choose a role for this task.",
          field: "required_role",
        },
      ];
    if (!config.task_description_template.trim())
      return [
        {
          severity: "warning",
          code: "W_EMPTY_TASK",
          message: "Describe the task.",
          field: "task_description_template",
        },
      ];
    return [];
  },
  templates: (config) => [{ field: "task_description_template", template: config.task_description_template }],
  *run(config, ctx) {
    const task = ctx.render(config.task_description_template);
    return yield* ctx.agent({
      required_role: config.required_role,
      task,
      template: config.task_description_template,
      output_keys: ctx.node.output_keys,
      ...defined({
        agent_id: config.agent_id || undefined,
        expected_output: config.expected_output || undefined,
        output_schema: config.output_schema,
        llm_config: config.llm_config,
        max_iterations: config.max_iterations || undefined,
        config: config.agent_ref && config.agent ? config.agent : undefined,
        tools: config.tools,
        guardrails: config.guardrails.length > 0 ? config.guardrails : undefined,
      }),
    });
  },
});
