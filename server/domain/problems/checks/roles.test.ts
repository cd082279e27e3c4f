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
    .map(({ severity, code, at, message, fix, dismiss }) => [
      `${severity} ${code} ${at.field}`,
      message,
      fix ?? null,
      Boolean(dismiss),
    ]);
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

describe("an agent's task", () => {
  const noRole = (role: string) =>
    `"Task" asks for the role "${role}", which does not exist. Choose another role, or create this one.`;
  test.each<[string, object, unknown[]]>([
    ["has nothing wrong with a role that there is", task({ required_role: "Writer" }), []],
    [
      "may name some of its role's tools",
      task({ required_role: "Writer", tools: ["look", "mcp:desk/pen", "mcp:desk/*"] }),
      [],
    ],
    [
      "may name no other tools",
      task({ required_role: "Writer", tools: ["look", "shout", "cry"] }),
      [
        [
          "error E_TOOL_NOT_IN_ROLE tools",
          'The role Writer may not use "shout", "cry". Allow it in the role, or remove it here.',
          null,
          false,
        ],
      ],
    ],
    [
      "asks for a role that is called nearly so, which mends it",
      task({ required_role: "Wrtier" }),
      [
        [
          "error E_UNKNOWN_ROLE required_role",
          noRole("Wrtier"),
          { kind: "set_config", node_id: "a", path: ["required_role"], value: "Writer", label: "Use Writer" },
          false,
        ],
      ],
    ],
    [
      "asks for a role that nothing is called like",
      task({ required_role: "Zookeeper", tools: ["x"] }),
      [["error E_UNKNOWN_ROLE required_role", noRole("Zookeeper"), null, false]],
    ],
    [
      "has an agent whose role there is not",
      task({ agent_ref: "ref", agent: AgentConfig.parse(agent("ref", "Gone")) }),
      [
        [
          "error E_UNKNOWN_ROLE agent_ref",
          'The agent "ref" has the role "Gone", which does not exist. Give the agent another role, or create this one.',
          null,
          false,
        ],
      ],
    ],
    [
      "has an agent whose role there is, whatever role is left over",
      task({ required_role: "Gone", agent_ref: "ref", agent: AgentConfig.parse(agent("ref", "Writer")) }),
      [],
    ],
  ])("%s", (_what, node, problems) => {
    expect(found(node)).toEqual(problems);
  });
});

describe("tools that are not here, or cannot be used yet", () => {
  const here: ProblemContext = {
    isToolKnown: (name) => name !== "look",
    whyUnavailable: (name) => (name === "mcp:desk/*" || name === "off" ? "No key." : null),
  };
  const unknown =
    'The role Writer lists "look", and there is no such tool here: it works without. Add the tool, or take it from the role.';
  const off = 'The role Writer lists "mcp:desk/*", which cannot be used yet, so it works without: No key.';
  test("are told of a role at a task and at a crew, once for all members of that role", () => {
    expect(
      found(task({ required_role: "Writer" }), here).map(([what, message, , isAdvice]) => [
        what,
        message,
        isAdvice,
      ]),
    ).toEqual([
      ["warning W_UNKNOWN_TOOL required_role", unknown, false],
      ["warning W_TOOL_OFF required_role", off, true],
    ]);
    expect(
      found(crew([agent("x", "Writer"), agent("y", "Writer"), agent("z", "Idle")]), here).map(
        ([what, message]) => [what, message],
      ),
    ).toEqual([
      ["warning W_UNKNOWN_TOOL crew", unknown],
      ["warning W_TOOL_OFF crew", off],
    ]);
  });
  test("are told of a node that calls one", () => {
    const call = (tool_name: string) =>
      found({ node_type: "tool_call", config: { tool_name } }, here).map(([what, message]) => [
        what,
        message,
      ]);
    expect(call("on")).toEqual([]);
    expect(call("off")).toEqual([
      [
        "warning W_TOOL_OFF tool_name",
        '"Task" calls "off", which cannot be used yet, so it would fail: No key.',
      ],
    ]);
  });
});

test("members of a crew have names and roles of their own", () => {
  expect(
    found(crew([agent("x", "Wrtier"), agent("x", "Writer"), agent("y", "")])).map(([what, message, fix]) => [
      what,
      message,
      fix,
    ]),
  ).toEqual([
    [
      "error E_UNKNOWN_ROLE crew",
      'The agent "x" asks for the role "Wrtier", which does not exist. Choose another role, or create this one.',
      {
        kind: "set_config",
        node_id: "a",
        path: ["crew", "agents", 0, "role_name"],
        value: "Writer",
        label: "Use Writer",
      },
    ],
    ["error E_DUPLICATE_AGENT crew", 'Two agents of "Task" are called "x". Rename one.', null],
    ["error E_UNKNOWN_ROLE crew", 'Choose the role of the agent "y".', null],
  ]);
});

test("tasks of a plan are for members of the crew, and begin on conditions that can be read", () => {
  const one = (task_id: string, more: object) => ({ task_id, description: "Do it", ...more });
  const tasks = [
    one("t1", { required_role: "Writer" }),
    one("t2", { required_role: "Idle" }),
    one("t3", { assigned_agent: "x", required_role: "Idle" }),
    one("t4", { assigned_agent: "gone" }),
    one("t5", { condition: "state.t1 ==" }),
    one("t6", { condition: "true" }),
  ];
  const [condition, t2, t4, ...others] = found(crew([agent("x", "Writer"), agent("y", "Writer")], tasks));
  expect(t2).toEqual([
    "warning W_ROLE_WITHOUT_AGENT plan",
    'The task "t2" needs the role "Idle", which no agent of the crew has. Add such an agent, or choose another role.',
    null,
    false,
  ]);
  expect(t4).toEqual([
    "warning W_ROLE_WITHOUT_AGENT plan",
    'The task "t4" is given to the agent "gone", who is not in the crew. Add the agent, or give the task to another.',
    null,
    false,
  ]);
  expect(others).toEqual([]);
  expect(condition?.[0]).toBe("error E_BAD_EXPRESSION plan.tasks.4.condition");
});
