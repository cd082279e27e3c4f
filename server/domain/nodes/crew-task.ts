import { defined } from "@/server/domain/base/defined";
import { CREW_PROCESSES } from "@/server/domain/crew/processes";
import { ON_LIMIT_FIELD } from "./asking/question-terms";
import { defineNode, type SchemaParts } from "./define";

/** Several roles work on a plan: one that is written here, or one that a planner role writes. */
export const crewTask = defineNode({
  type: "crew_task",
  title: "Crew task",
  hint: "Several agents work together on a goal",
  icon: "users-round",
  group: "agents",
  works: "crew",
  timeoutMs: 30 * 60_000,
  config: ({ z, Template, CrewConfig, ExecutionPlan, OnLimit }: SchemaParts) =>
    z.object({
      crew_id_or_config_ref: z.string().max(200).optional(),
      plan_description_template: Template.default(""),
      crew: CrewConfig.optional(),
      plan: ExecutionPlan.optional(),
      on_limit: OnLimit.optional(),
    }),
  fields: [
    {
      key: "plan_description_template",
      label: "Goal",
      as: "template",
      hint: "What to achieve; type {{ to insert a value",
    },
    { key: "crew_id_or_config_ref", label: "Crew source", as: "crew_ref" },
    { key: "crew", label: "Crew", as: "crew" },
    { key: "plan", label: "Plan", as: "plan", hint: "Leave empty to let a planner write it" },
    ON_LIMIT_FIELD,
  ],
  summary: (config) => {
    if (config.crew_id_or_config_ref) return `Crew ${config.crew_id_or_config_ref}`;
    const members = config.crew?.agents.length ?? 0;
    if (members === 0) return "No crew yet";
    const who = `${members} ${members === 1 ? "agent" : "agents"}`;
    const tasks = config.plan?.tasks.length ?? 0;
    const process = config.crew?.process ?? "sequential";
    if (process !== "sequential" && process !== "parallel") return `${who}, ${CREW_PROCESSES[process].how}`;
    return tasks > 0
      ? `${who}, ${tasks} ${tasks === 1 ? "task" : "tasks"} ${CREW_PROCESSES[process].how}`
      : `${who}, plan written by ${config.crew?.agents[0]?.role_name}`;
  },
  newConfig: () => ({ plan_description_template: "" }),
  newNode: () => ({ name: "Crew task", output_keys: ["crew_result"] }),
  validate: (config) =>
    config.crew || config.crew_id_or_config_ref
      ? []
      : [
          {
            severity: "error",
            code: "E_CREW_EMPTY",
            message: "Add at least one agent.",
            field: "crew",
          },
        ],
  templates: (config) => [{ field: "plan_description_template", template: config.plan_description_template }],
  *run(config, ctx) {
    const description = ctx.render(config.plan_description_template);
    return yield* ctx.crew({
      description,
      template: config.plan_description_template,
      output_keys: ctx.node.output_keys,
      ...defined({
        crew: config.crew,
        crew_id: config.crew_id_or_config_ref || undefined,
        plan: config.plan,
      }),
    });
  },
});
