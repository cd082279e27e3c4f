import { describe, expect, test } from "vitest";
import { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import type { ProblemContext } from "../problem";
import { findProblems } from "../problems";

const roles = [
  RoleDefinition.parse({ name: "Writer", tools: ["look", "mcp:desk/*"] }),
  RoleDefinition.parse({ name: "Idle", tools: [] }),
];
const found = (node: object, here: ProblemContext = {}, all = roles) =>
  findProblems(draw("start > a > end", { a: { name: "Task", ...node } }), all, undefined, here)
    .filter(({ code }) => /ROLE|TOOL|AGENT|EXPRESSION/.test(code))
    .map(({ code, at, fix, dismiss }) =>
      [code, at.field, fix?.label, dismiss && "(may be dismissed)"].filter(Boolean).join(" "),
    );
const task = (config: object) => ({
  node_type: "agent_task",
  config: { task_description_template: "Go", ...config },
});
const crew = (agents: object[], tasks: object[] = []) => ({
  node_type: "crew_task",
  config: {
    plan_description_template: "Go",
    crew: { agents },
    ...(tasks.length > 0 ? { plan: { tasks } } : {}),
  },
});
const agent = (agent_id: string, role_name: string) => ({ agent_id, role_name });

test.each<[string, object, string[]]>([
  ["has a known role", task({ required_role: "Writer" }), []],
  ["names tools of its role", task({ required_role: "Writer", tools: ["look", "mcp:desk/pen"] }), []],
  [
    "names tools outside its role",
    task({ required_role: "Writer", tools: ["look", "cry"] }),
    ["E_TOOL_NOT_IN_ROLE tools"],
  ],
  ["has a misspelled role", task({ required_role: "Wrtier" }), ["E_UNKNOWN_ROLE required_role Use Writer"]],
  [
    "has an unknown role",
    task({ required_role: "Zookeeper", tools: ["x"] }),
    ["E_UNKNOWN_ROLE required_role"],
  ],
  [
    "has an agent with an unknown role",
    task({ agent_ref: "ref", agent: AgentConfig.parse(agent("ref", "Gone")) }),
    ["E_UNKNOWN_ROLE agent_ref"],
  ],
  [
    "has an agent with a known role and a leftover role",
    task({ required_role: "Gone", agent_ref: "ref", agent: AgentConfig.parse(agent("ref", "Writer")) }),
    [],
  ],
])("an agent task that %s has the expected problems", (_what, node, problems) => {
  expect(found(node)).toEqual(problems);
});

describe("missing and unavailable tools", () => {
  const here: ProblemContext = {
    isToolKnown: (name) => name !== "look",
    whyUnavailable: (name) => (name === "mcp:desk/*" || name === "off" ? "No key." : null),
  };
  test("missing tools are reported at a task, and once per role at a crew", () => {
    const crewOfTwo = crew([agent("x", "Writer"), agent("y", "Writer"), agent("z", "Idle")]);
    expect(found(task({ required_role: "Writer" }), here)).toEqual([
      "W_UNKNOWN_TOOL required_role",
      "W_TOOL_OFF required_role (may be dismissed)",
    ]);
    expect(found(crewOfTwo, here)).toEqual(["W_UNKNOWN_TOOL crew", "W_TOOL_OFF crew (may be dismissed)"]);
  });
  test("an unavailable tool is reported at the node that calls it", () => {
    const call = (tool_name: string) => found({ node_type: "tool_call", config: { tool_name } }, here);
    expect(call("on")).toEqual([]);
    expect(call("off")).toEqual(["W_TOOL_OFF tool_name"]);
  });
});

test("crew members need unique names and known roles", () => {
  expect(found(crew([agent("x", "Wrtier"), agent("x", "Writer"), agent("y", "")]))).toEqual([
    "E_UNKNOWN_ROLE crew Use Writer",
    "E_DUPLICATE_AGENT crew",
    "E_UNKNOWN_ROLE crew",
  ]);
});

test("plan tasks need a member of the crew and a valid condition", () => {
  const one = (task_id: string, more: object) => ({ task_id, description: "Do it", ...more });
  const members = [agent("x", "Writer"), agent("y", "Writer")];
  const problemsOf = (more: object) => found(crew(members, [one("t", more)]));
  expect(problemsOf({ required_role: "Writer" })).toEqual([]);
  expect(problemsOf({ required_role: "Idle" })).toEqual(["W_ROLE_WITHOUT_AGENT plan"]);
  expect(problemsOf({ assigned_agent: "x", required_role: "Idle" })).toEqual([]);
  expect(problemsOf({ assigned_agent: "gone" })).toEqual(["W_ROLE_WITHOUT_AGENT plan"]);
  expect(problemsOf({ condition: "state.t1 ==" })).toEqual(["E_BAD_EXPRESSION plan.tasks.0.condition"]);
  expect(problemsOf({ condition: "true" })).toEqual([]);
});

describe("roles that answer by rule", () => {
  const byRule = (rule: object, more: object = {}) => [
    RoleDefinition.parse({ name: "Clerk", rule, ...more }),
  ];
  const messages = (node: object, all: RoleDefinition[]) =>
    findProblems(draw("start > a > end", { a: { name: "Task", output_keys: ["x"], ...node } }), all)
      .filter(({ code }) => /RULE/.test(code))
      .map(({ severity, at, message }) => `${severity} at ${at.field}: ${message}`);

  test("a sound rule has no problems", () => {
    expect(messages(task({ required_role: "Clerk" }), byRule({ kind: "echo" }))).toEqual([]);
  });

  test("a broken expression is an error at every node that uses the role", () => {
    const broken = byRule({ kind: "expression", expression: "input.task +" });
    const error = "The rule of the role Clerk can't be used: The expression is incomplete.";
    expect(messages(task({ required_role: "Clerk" }), broken)).toEqual([`error at required_role: ${error}`]);
    expect(messages(crew([agent("x", "Clerk")]), broken)).toEqual([`error at crew: ${error}`]);
  });

  test("a lookup needs something to answer", () => {
    expect(messages(task({ required_role: "Clerk" }), byRule({ kind: "lookup", table: {} }))).toEqual([
      "error at required_role: The rule of the role Clerk can't be used: Add an entry or a default.",
    ]);
  });

  test("tools, prompt and model settings do nothing, and a warning says so", () => {
    const rich = byRule({ kind: "echo" }, { tools: ["look"], system_prompt_template: "You are it." });
    expect(messages(task({ required_role: "Clerk", llm_config: { model: "m" } }), rich)).toEqual([
      "warning at required_role: The role Clerk answers by rule, without a model: tools, prompt template, model settings do nothing. Remove them, or remove the rule.",
    ]);
    const member = { ...agent("x", "Clerk"), llm_config: { model: "m" } };
    expect(messages(crew([member]), byRule({ kind: "echo" }))).toEqual([
      "warning at crew: The role Clerk answers by rule, without a model: model settings do nothing. Remove them, or remove the rule.",
    ]);
  });
});
