import { describe, expect, it } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import { Variant, variantOf } from "./variant";

const GRAPH = draw("start > a > b > crew > end", {
  a: {
    node_type: "agent_task",
    config: { required_role: "Writer", task_description_template: "Write", llm_config: { model: "big" } },
  },
  b: { node_type: "agent_task", config: { required_role: "Editor", task_description_template: "Edit" } },
  crew: {
    node_type: "crew_task",
    name: "Desk",
    input_keys: ["text"],
    output_keys: ["issue"],
    config: {
      plan_description_template: "Make an issue of {{ text }}",
      crew: {
        agents: [
          { agent_id: "w", role_name: "Writer", llm_config: { model: "big" }, max_iterations: 4 },
          { agent_id: "e", role_name: "Editor", max_iterations: 6 },
        ],
      },
      plan: {
        tasks: [
          { task_id: "one", description: "Draft it", expected_output: "a draft" },
          { task_id: "two", description: "Polish it", dependencies: ["one"] },
        ],
        success_criteria: ["It is short.", "cel: size(state.issue) > 3"],
      },
    },
  },
});
const ROLES = [
  RoleDefinition.parse({
    name: "Writer",
    description: "Writes.",
    goals: ["Be clear"],
    tools: ["web_search", "file_write"],
  }),
  RoleDefinition.parse({ name: "Editor", description: "Edits.", tools: ["file_write", "file_read"] }),
  RoleDefinition.parse({ name: "Accountant", tools: ["pay"] }),
];
const BASE = { graph: GRAPH, roles: ROLES };
const naming = ({ model }: { model?: string | undefined }) => model ?? "usual";

function made(variant: object) {
  const { name: _, ...read } = Variant.parse({ name: "Other", ...variant });
  const changed = variantOf(BASE, read, naming);
  if ("errors" in changed) throw new Error(changed.errors.join("\n"));
  return changed;
}
const errorsOf = (variant: object) => {
  const { name: _, ...read } = Variant.parse({ name: "Other", ...variant });
  const changed = variantOf(BASE, read, naming);
  return "errors" in changed ? changed.errors : [];
};

/** The models of a, b and the crew's members. */
const modelsOf = ({ graph }: Pick<typeof BASE, "graph">) => {
  const config = (id: string) => graph.nodes[id]?.config as Record<string, unknown>;
  const { agents } = config("crew").crew as { agents: { llm_config?: unknown }[] };
  return [config("a").llm_config, config("b").llm_config, ...agents.map(({ llm_config }) => llm_config)];
};

describe("a variant of a workflow", () => {
  it("a variant replaces the named models and leaves the workflow unchanged", () => {
    const before = structuredClone(BASE);
    expect(modelsOf(made({ models: { big: "small" } }))).toEqual([
      { model: "small" },
      undefined,
      { model: "small" },
      undefined,
    ]);
    const there = { provider_id: "other", model: "tiny" };
    expect(modelsOf(made({ models: { default: there } }))).toEqual([
      { model: "big" },
      there,
      { model: "big" },
      there,
    ]);
    // The standard model is also known by its name; what is named goes before what stands for every model.
    expect(modelsOf(made({ models: { "*": "every", usual: "new" } }))).toEqual([
      { model: "every" },
      { model: "new" },
      { model: "every" },
      { model: "new" },
    ]);
    expect(BASE).toEqual(before);
  });

  it("a variant replaces the prompt of a node's task or a role", () => {
    const { graph, roles } = made({
      prompts: { a: "Write less", crew: "Make it", "role:Editor": "You cut." },
    });
    expect([
      (graph.nodes.a?.config as { task_description_template: string }).task_description_template,
      (graph.nodes.crew?.config as { plan_description_template: string }).plan_description_template,
      roles.map(({ system_prompt_template }) => system_prompt_template),
    ]).toEqual(["Write less", "Make it", [undefined, "You cut.", undefined]]);
  });

  it("a variant replaces a crew with a single agent that keeps its tools, inputs, goal, plan and iterations", () => {
    const { graph, roles } = made({ twin: { node_id: "crew" } });
    expect(graph.nodes.crew).toMatchObject({
      node_type: "agent_task",
      input_keys: ["text"],
      output_keys: ["issue"],
      config: { required_role: "Desk as a single agent", max_iterations: 12, llm_config: { model: "big" } },
    });
    expect(roles.at(-1)).toMatchObject({
      name: "Desk as a single agent",
      goals: ["Be clear"],
      tools: ["web_search", "file_write", "file_read"],
    });
    expect(graph.edges).toEqual(GRAPH.edges);
  });

  it("a variant reports names that don't exist, with those that do", () => {
    expect(
      errorsOf({
        models: { gone: "small" },
        prompts: { nobody: "x", start: "x", "role:Nobody": "x" },
        twin: { node_id: "a" },
      }),
    ).toEqual([
      "Can't change a prompt: there is no node nobody.",
      "start calls no model, so it has no prompt.",
      "Can't change a prompt: there is no role Nobody.",
      "a has no crew to replace with a single agent.",
      "No node uses the model gone. Models in use: big, usual.",
    ]);
  });
});
