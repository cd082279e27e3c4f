import { expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import { singleAgentOf } from "./variant";

const guardrail = (name: string) => ({
  name,
  kind: "regex" as const,
  spec: "x",
  target: "output" as const,
  on_fail: "retry" as const,
  max_retries: 2,
});
const role = (name: string, more: object = {}) => RoleDefinition.parse({ name, ...more });
const agent = (agent_id: string, role_name: string, more: object = {}) => ({
  agent_id,
  role_name,
  max_iterations: 10,
  ...more,
});
const graphOf = (config: object, more: object = {}) =>
  draw("start > desk > end", {
    desk: {
      node_type: "crew_task",
      output_keys: ["k"],
      config: { plan_description_template: "Write {{a}}", ...config },
      ...more,
    },
  });
const replaced = (config: object, roles: RoleDefinition[] = [], more: object = {}) => {
  const made = singleAgentOf({ graph: graphOf(config, more), roles }, "desk");
  if ("error" in made) throw new Error(made.error);
  const { graph, roles: all } = made.value;
  const { node_type, config: settings, output_keys } = graph.nodes.desk ?? {};
  return {
    node_type,
    settings,
    output_keys,
    added: all.slice(roles.length),
    kept: all.slice(0, roles.length),
  };
};

test.each([
  ["nowhere", {}, "Can't replace a crew with a single agent: there is no node nowhere."],
  ["start", {}, "start has no crew to replace with a single agent."],
  ["desk", { name: "" }, "The crew of desk is not known, so it can't be replaced with a single agent."],
  ["desk", { name: "Desk" }, "The crew of Desk is not known, so it can't be replaced with a single agent."],
])("%s with %j can't be replaced with a single agent, with a reason", (id, more, error) => {
  expect(singleAgentOf({ graph: graphOf({}, more), roles: [] }, id)).toEqual({ error });
});

test("a crew without a plan becomes one agent with its goal and all its members' iterations", () => {
  const { settings, ...made } = replaced({
    crew: { agents: [agent("ann", "Writer"), agent("bob", "Reader", { max_iterations: 5 })] },
  });
  expect(settings).toEqual({
    required_role: "desk as a single agent",
    task_description_template: "Write {{a}}",
    guardrails: [],
    max_iterations: 15,
  });
  expect(made).toMatchObject({ node_type: "agent_task", output_keys: ["k"], kept: [] });
});

test("a crew with a plan becomes one agent with its steps, criteria, guardrails, model and limit", () => {
  const task = (task_id: string, more: object) => ({ task_id, description: `Do ${task_id}`, ...more });
  const roles = [
    role("Reader", {
      description: "reads",
      goals: ["know", "tell"],
      tools: ["b"],
      guardrails: [guardrail("r")],
    }),
    role("Idle", { goals: ["rest"], tools: ["z"] }),
    role("Writer", { goals: ["tell"], responsibilities: ["write"], tools: ["a", "b"] }),
  ];
  const made = replaced(
    {
      on_limit: "ask",
      crew: {
        agents: [
          agent("ann", "Writer", { llm_config: { model: "m" } }),
          agent("bob", "Reader", { llm_config: { model: "n" } }),
        ],
      },
      plan: {
        tasks: [
          task("one", { expected_output: "a text", guardrails: [guardrail("g")] }),
          task("two", {}),
          task("three", {}),
        ],
        success_criteria: ["short", "cel:true"],
      },
    },
    roles,
    { name: "Desk" },
  );
  expect(made).toEqual({
    node_type: "agent_task",
    output_keys: ["k"],
    settings: {
      required_role: "Desk as a single agent",
      task_description_template:
        "Write {{a}}\n\nThe steps:\n1. Do one\n   It gives: a text\n2. Do two\n3. Do three\n\nThe result has to meet:\n- short",
      guardrails: [guardrail("g")],
      max_iterations: 30,
      llm_config: { model: "m" },
      on_limit: "ask",
    },
    kept: roles,
    added: [
      role("Desk as a single agent", {
        description:
          "You do alone, from beginning to end, what would take several people:\nReader: reads\nWriter:",
        goals: ["know", "tell"],
        responsibilities: ["write"],
        tools: ["b", "a"],
        guardrails: [guardrail("r")],
      }),
    ],
  });
});

test("a single agent has capped iterations, a unique role name and no empty parts", () => {
  const crew = {
    agents: [
      agent("ann", "Writer", { max_iterations: 150 }),
      agent("bob", "Reader", { max_iterations: 100 }),
    ],
  };
  const taken = [role("desk as a single agent"), role("desk as a single agent 2")];
  const { settings } = replaced({ crew, plan_description_template: " " }, taken);
  expect(settings).toMatchObject({
    required_role: "desk as a single agent 3",
    max_iterations: 200,
    task_description_template: "",
  });
  expect(replaced({ crew }, [], { name: "x".repeat(90) }).settings).toMatchObject({
    required_role: `${"x".repeat(52)} as a single agent`,
  });
});
