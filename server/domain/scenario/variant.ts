import { z } from "zod";
import { type LlmConfig, llmOver, RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { Id, type Result } from "@/server/domain/base/values";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findNodeKind, isCrewNode, settingsOf } from "@/server/domain/nodes";

/** A model by name at the same provider, or of another provider, by default that one's default model. */
const ModelChoice = z.union([
  z.string().min(1).max(300),
  z.strictObject({
    provider_id: z.string().min(1).max(200),
    model: z.string().min(1).max(300).exactOptional(),
  }),
]);

/** Keys of `models`: every model, and the default model of the settings. */
export const EVERY_MODEL = "*";
export const STANDARD_MODEL = "default";

/** A workflow with other models or prompts, for a comparison. */
export const Variant = z
  .strictObject({
    name: z.string().trim().min(1).max(80),
    /** Replaced models by name; `default` for the default model, `*` for all. */
    models: z.record(z.string().max(300), ModelChoice).exactOptional(),
    /** Replaced prompts: by node id its task or goal, by `role:NAME` the system prompt of that role. */
    prompts: z.record(z.string().max(200), z.string().max(65_536)).exactOptional(),
    /** Replaces the crew at that node by one agent with the same tools, inputs and limits. */
    twin: z.strictObject({ node_id: Id }).exactOptional(),
  })
  .describe("The workflow with these changes");
export type Variant = z.infer<typeof Variant>;

export interface Changed {
  graph: WorkflowGraph;
  roles: readonly RoleDefinition[];
}

/** The name of a chosen model; undefined if no provider is set up. */
export type NameModel = (choice: LlmConfig) => string | undefined;

/** The workflow of a variant, or errors about names in the variant that do not exist. */
export function variantOf(
  { graph, roles }: Changed,
  { models = {}, prompts = {}, twin }: Omit<Variant, "name">,
  nameModel: NameModel,
): Changed | { errors: string[] } {
  const errors: string[] = [];
  let changed: Changed = { graph: structuredClone(graph), roles: structuredClone([...roles]) };
  for (const [where, text] of Object.entries(prompts)) {
    const error = withPrompt(changed, where, text);
    if (error) errors.push(error);
  }
  if (twin) {
    const made = singleAgentOf(changed, twin.node_id);
    if ("error" in made) errors.push(made.error);
    else changed = made.value;
  }
  errors.push(...withModels(changed.graph, models, nameModel));
  return errors.length > 0 ? { errors } : changed;
}

/** Changes a prompt in place; returns an error if there is none. */
function withPrompt({ graph, roles }: Changed, where: string, text: string): string | null {
  if (where.startsWith("role:")) {
    const role = roles.find(({ name }) => name === where.slice("role:".length));
    if (!role) return `Can't change a prompt: there is no role ${where.slice("role:".length)}.`;
    role.system_prompt_template = text;
    return null;
  }
  const node = graph.nodes[where];
  if (!node) return `Can't change a prompt: there is no node ${where}.`;
  const { works } = findNodeKind(node.node_type) ?? {};
  if (works === undefined) return `${node.name || where} calls no model, so it has no prompt.`;
  Reflect.set(
    node.config,
    works === "agent" ? "task_description_template" : "plan_description_template",
    text,
  );
  return null;
}

/** Changes models in place; returns errors for unused names. */
function withModels(
  graph: WorkflowGraph,
  models: NonNullable<Variant["models"]>,
  nameModel: NameModel,
): string[] {
  const used = new Set<string>();
  const known = new Set<string>();
  const other = (config: LlmConfig | undefined, all: LlmConfig = config ?? {}): LlmConfig | undefined => {
    const name = all.model ?? nameModel(all);
    if (name !== undefined) known.add(name);
    const isStandard = all.model === undefined && all.provider_id === undefined;
    const from = [
      ...(name === undefined ? [] : [name]),
      ...(isStandard ? [STANDARD_MODEL] : []),
      EVERY_MODEL,
    ].find((one) => Object.hasOwn(models, one));
    const to = from === undefined ? undefined : models[from];
    if (from === undefined || to === undefined) return config;
    used.add(from);
    // A fallback would answer where the new model fails and be compared in its place.
    const { fallback_models: _f, model: _m, ...rest } = config ?? {};
    return { ...rest, ...(typeof to === "string" ? { model: to } : to) };
  };
  for (const node of Object.values(graph.nodes))
    for (const field of findNodeKind(node.node_type)?.fields ?? []) {
      if (field.showIf && !field.showIf(node.config)) continue;
      const settings = settingsOf(node);
      if (field.as === "llm") {
        const own = settings[field.key];
        const changed = other(own, llmOver(settings.agent?.llm_config, own));
        if (changed) Reflect.set(node.config, field.key, changed);
      }
      if (field.as !== "crew") continue;
      const { agents = [], manager }: Partial<CrewConfig> = settings[field.key] ?? {};
      for (const one of [...agents, ...(manager ? [manager] : [])]) {
        const changed = other(one.llm_config);
        if (changed) one.llm_config = changed;
      }
    }
  return Object.keys(models).flatMap((from) =>
    used.has(from)
      ? []
      : [
          `No node uses the model ${from}.${known.size > 0 ? ` Models in use: ${[...known].sort().join(", ")}.` : ""}`,
        ],
  );
}

const MOST_TURNS = 200;

interface Drawn {
  graph: WorkflowGraph;
  roles: readonly RoleDefinition[];
}

/**
 * A workflow in which one agent does what a crew does in the original: with all tools of its members, the same inputs and
 * outputs, the same goal and plan, as many turns as all of them together, and within the same limits of the run.
 */
export function singleAgentOf({ graph, roles }: Drawn, node_id: string): Result<Drawn> {
  const node = graph.nodes[node_id];
  if (!node) return { error: `Can't replace a crew with a single agent: there is no node ${node_id}.` };
  const name = node.name || node_id;
  if (!isCrewNode(node)) return { error: `${name} has no crew to replace with a single agent.` };
  const { crew, plan, plan_description_template, on_limit } = node.config;
  if (!crew)
    return { error: `The crew of ${name} is not known, so it can't be replaced with a single agent.` };
  const role = singleAgentRole(freshName(roles, name, " as a single agent"), crew, roles);
  const { llm_config } = crew.agents[0] ?? {};
  const config = defined({
    required_role: role.name,
    task_description_template: taskOf(plan_description_template, plan),
    guardrails: (plan?.tasks ?? []).flatMap(({ guardrails }) => guardrails),
    max_iterations: turnsOf(crew, plan),
    llm_config,
    on_limit,
  });
  const agent: WorkflowGraph["nodes"][string] = { ...node, node_type: "agent_task", config };
  return {
    value: { graph: { ...graph, nodes: { ...graph.nodes, [node_id]: agent } }, roles: [...roles, role] },
  };
}

const freshName = (roles: Drawn["roles"], base: string, suffix: string): string => {
  const taken = new Set(roles.map(({ name }) => name));
  const short = `${base.slice(0, 70 - suffix.length)}${suffix}`;
  for (let n = 1; ; n++) {
    const name = n === 1 ? short : `${short} ${n}`;
    if (!taken.has(name)) return name;
  }
};

/** One role with the instructions, tools and guardrails of all roles of the crew. */
function singleAgentRole(name: string, { agents }: CrewConfig, roles: Drawn["roles"]): RoleDefinition {
  const names = new Set(agents.map(({ role_name }) => role_name));
  const members = roles.filter((role) => names.has(role.name));
  const all = (of: (role: RoleDefinition) => readonly string[]) => [...new Set(members.flatMap(of))];
  return RoleDefinition.parse({
    name,
    description: [
      "You do alone, from beginning to end, what would take several people:",
      ...members.map((role) => `${role.name}: ${role.description}`.trim()),
    ]
      .join("\n")
      .slice(0, 4000),
    goals: all(({ goals }) => goals),
    responsibilities: all(({ responsibilities }) => responsibilities),
    tools: all(({ tools }) => tools),
    guardrails: members.flatMap(({ guardrails }) => guardrails),
  });
}

/** The crew's goal, with the steps of its plan if it has one. */
function taskOf(goal: string, plan: ExecutionPlan | undefined): string {
  const steps = (plan?.tasks ?? []).map(({ description, expected_output }, at) =>
    [`${at + 1}. ${description}`, ...(expected_output ? [`   It gives: ${expected_output}`] : [])].join("\n"),
  );
  const wanted = (plan?.success_criteria ?? []).filter((one) => !one.startsWith("cel:"));
  return [
    goal,
    ...(steps.length > 0 ? [`The steps:\n${steps.join("\n")}`] : []),
    ...(wanted.length > 0 ? [`The result has to meet:\n${wanted.map((one) => `- ${one}`).join("\n")}`] : []),
  ]
    .filter((part) => part.trim() !== "")
    .join("\n\n");
}

const turnsOf = ({ agents }: CrewConfig, plan: ExecutionPlan | undefined): number => {
  const most = Math.max(...agents.map(({ max_iterations }) => max_iterations));
  const own = agents.reduce((sum, { max_iterations }) => sum + max_iterations, 0);
  return Math.min(MOST_TURNS, Math.max(own, most * (plan?.tasks.length ?? 0)));
};
