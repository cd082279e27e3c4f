import { describe, expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import { CrewConfig } from "@/server/domain/crew/crew";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { draw } from "@/server/domain/testing/drawing";
import { estimateCrew, estimateRun, totalOf } from "./estimate";

/** Roles whose prompts are known to the letter: 400 letters are 100 tokens. */
const role = (name: string, tools: string[] = []) =>
  RoleDefinition.parse({ name, tools, system_prompt_template: "x".repeat(400) });
const roles = [role("Writer"), role("Finder", ["web_search"])];
const findRole = (name: string) => roles.find((one) => one.name === name);
const agent = (role_name: string, more: object = {}) => ({
  agent_id: role_name.toLowerCase(),
  role_name,
  ...more,
});
const task = (required_role: string, more: object = {}) => ({
  node_type: "agent_task",
  config: { required_role, ...more },
});
const parts = (text: string, nodes: NonNullable<Parameters<typeof draw>[1]>) =>
  estimateRun(draw(text, nodes), findRole).map(({ node_id, calls, basis }) => [node_id, calls, basis]);

describe("an agent's task", () => {
  test("is a call and one correction, each with its role's prompt and what it is given", () => {
    expect(estimateRun(draw("start > a > end", { a: task("Writer") }), findRole)).toEqual([
      {
        node_id: "a",
        choice: {},
        calls: [1, 2],
        input_tokens: [250, 3200],
        output_tokens: [150, 1800],
        basis: "1 to 2 calls of its agent",
      },
    ]);
  });
  test.each<[string, object, readonly [number, number], string]>([
    ["has some turns with tools", task("Finder"), [1, 5], "1 to 5 calls of its agent"],
    [
      "has no more turns with tools than it may",
      task("Finder", { max_iterations: 3 }),
      [1, 3],
      "1 to 3 calls of its agent",
    ],
    [
      "has no correction where it may not",
      task("Writer", { max_iterations: 1 }),
      [1, 1],
      "1 call of its agent",
    ],
    [
      "has as many turns as its agent of the library",
      task("Idle", { agent_ref: "f", agent: agent("Finder", { max_iterations: 4 }) }),
      [1, 4],
      "1 to 4 calls of its agent",
    ],
  ])("%s", (_what, node, calls, basis) => {
    expect(parts("start > a > end", { a: node as never })).toEqual([["a", calls, basis]]);
  });
  test("of a role that nobody knows is taken for a usual one, by the model that is set", () => {
    const [part] = estimateRun(
      draw("start > a > end", { a: task("Nobody", { llm_config: { provider_id: "p", model: "m" } }) }),
      findRole,
    );
    expect([part?.choice, part?.input_tokens]).toEqual([{ provider_id: "p", model: "m" }, [450, 3600]]);
  });
});

test("a router asks a model once where a model decides, and not at all where something else does", () => {
  const router = (kind: string) => ({
    config: { kind, value: "state.r", ways: ["a"], llm_config: { model: "m" } },
  });
  expect(estimateRun(draw("start > r; r a> end", { r: router("llm") }), findRole)).toEqual([
    {
      node_id: "r",
      choice: { model: "m" },
      calls: [1, 1],
      input_tokens: [450, 1800],
      output_tokens: [150, 900],
      basis: "1 call to choose",
    },
  ]);
  expect(estimateRun(draw("start > r; r a> end", { r: router("value") }), findRole)).toEqual([]);
});

test("a crew that is not known is left out", () => {
  const node = { node_type: "crew_task", config: { crew_id_or_config_ref: "gone" } };
  expect(parts("start > a > end", { a: node })).toEqual([]);
});

describe("a node", () => {
  const a = task("Writer");
  const once = "1 to 2 calls of its agent";
  test.each<[string, string, object, readonly [number, number], string]>([
    [
      "that a router may pass by is perhaps not asked",
      "start > r; r x> a > end; r y> end2",
      a,
      [0, 2],
      `${once}, where the run comes there`,
    ],
    ["that all ways of a router lead to is asked", "start > r; r x> b > a; r y> a; a > end", a, [1, 2], once],
    ["before a router is asked", "start > a > r; r x> end; r y> end2", a, [1, 2], once],
    [
      "in a loop is asked some times",
      "start > a > r; r x> a; r y> end",
      a,
      [1, 6],
      `${once}, 1 to 3 times round`,
    ],
    [
      "in a loop is asked no more than it may go round",
      "start > a > r; r x> a; r y> end",
      { ...a, max_iterations: 2 },
      [1, 4],
      `${once}, 1 to 2 times round`,
    ],
    [
      "in a loop that goes round once is asked once",
      "start > a > r; r x> a; r y> end",
      { ...a, max_iterations: 1 },
      [1, 2],
      once,
    ],
  ])("%s", (_what, text, node, calls, basis) => {
    expect(parts(text, { a: node as never })).toEqual([["a", calls, basis]]);
  });
});

describe("a crew", () => {
  const three = [agent("Writer", { max_iterations: 4 }), agent("Finder", { agent_id: "f" }), agent("Nobody")];
  const plan = (count: number, ...success_criteria: string[]) =>
    ExecutionPlan.parse({
      tasks: Array.from({ length: count }, (_, at) => ({ task_id: `t${at}`, description: "do it" })),
      success_criteria,
    });
  const of = (more: object, given?: ExecutionPlan) => {
    const { calls, basis } = estimateCrew(CrewConfig.parse({ agents: three, ...more }), given, findRole);
    return [...calls, basis];
  };
  test.each<[string, object, ExecutionPlan | undefined, unknown[]]>([
    ["that plans", {}, undefined, [3, 41, "2 to 8 planned tasks, 1 to 5 calls each"]],
    [
      "with a plan of no tasks plans",
      { process: "parallel" },
      plan(0),
      [3, 41, "2 to 8 planned tasks, 1 to 5 calls each"],
    ],
    ["with a plan follows it", { process: "parallel" }, plan(3), [3, 15, "3 tasks, 1 to 5 calls each"]],
    [
      "that is to plan anew does",
      { planning: true },
      plan(3),
      [3, 41, "2 to 8 planned tasks, 1 to 5 calls each"],
    ],
    [
      "checks criteria in words",
      {},
      plan(1, "short"),
      [2, 8, "1 task, 1 to 5 calls each, and the check of the criteria"],
    ],
    [
      "asks no model for criteria that are computed",
      {},
      plan(1, "cel:true"),
      [1, 5, "1 task, 1 to 5 calls each"],
    ],
    [
      "with a manager",
      { process: "hierarchical", max_rounds: 4 },
      undefined,
      [5, 24, "2 members asked once, to 4 rounds of manager and member"],
    ],
    [
      "with a manager and few rounds has no fewer than it has least",
      { process: "hierarchical", max_rounds: 0 },
      undefined,
      [5, 5, "2 members asked once, to 0 rounds of manager and member"],
    ],
    [
      "that hands over",
      { process: "swarm", max_handoffs: 3 },
      undefined,
      [1, 20, "one agent, to 3 handovers"],
    ],
    [
      "that votes",
      { process: "consensus", consensus: { rounds: 2 } },
      undefined,
      [4, 8, "a proposal and 3 votes in 1 to 2 rounds"],
    ],
    ["that samples", { process: "sample", samples: 3 }, undefined, [3, 16, "3 answers, 1 to 5 calls each"]],
    [
      "with steps of its own that nobody wrote",
      { process: "custom", max_rounds: 4 },
      undefined,
      [1, 20, "1 step once, to 4 steps"],
    ],
  ])("%s", (_what, more, given, expected) => {
    expect(of(more, given)).toEqual(expected);
  });
  test("is given its members' prompts on average, with a line of each for the others", () => {
    const sized = (agents: object[], more: object = {}) => {
      const { choice, input_tokens } = estimateCrew(
        CrewConfig.parse({ agents, process: "swarm", max_handoffs: 0, ...more }),
        undefined,
        findRole,
      );
      return [choice, ...input_tokens];
    };
    const writer = agent("Writer", { llm_config: { model: "m" } });
    expect(sized([writer])).toEqual([{ model: "m" }, 250, 3200]);
    expect(sized([writer, agent("Nobody")])).toEqual([{ model: "m" }, 385, 3470]);
  });
  test("has a manager whose conversation grows", () => {
    const { input_tokens } = estimateCrew(
      CrewConfig.parse({
        agents: [agent("Writer"), agent("Nobody")],
        process: "hierarchical",
        max_rounds: 2,
      }),
      undefined,
      findRole,
    );
    expect(input_tokens).toEqual([3 * 385 + 338, 6 * 1735 + 8100]);
  });
});

test("all parts together are the sum of each, and nothing where there are none", () => {
  const nothing = { calls: [0, 0], input_tokens: [0, 0], output_tokens: [0, 0] };
  expect(totalOf([])).toEqual(nothing);
  const part = { calls: [1, 2], input_tokens: [3, 4], output_tokens: [5, 6] } as const;
  expect(totalOf([part, part])).toEqual({ calls: [2, 4], input_tokens: [6, 8], output_tokens: [10, 12] });
});
