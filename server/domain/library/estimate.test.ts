import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtinRoles, findBuiltinRole } from "@/server/domain/agent/builtin-roles";
import { systemPrompt } from "@/server/domain/agent/prompt";
import { RoleDefinition } from "@/server/domain/agent/role";
import { CrewConfig, CrewProcess } from "@/server/domain/crew/crew";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { draw } from "@/server/domain/testing/drawing";
import { templates } from "@/server/templates";
import { estimateCrew, estimateRun, totalOf } from "./estimate";

const crew = fc
  .record({
    process: fc.constantFrom(...CrewProcess.options),
    members: fc.integer({ min: 2, max: 7 }),
    max_rounds: fc.integer({ min: 1, max: 30 }),
    samples: fc.integer({ min: 2, max: 15 }),
  })
  .map(({ members, ...rest }) =>
    CrewConfig.parse({
      ...rest,
      agents: Array.from({ length: members }, (_, at) => ({
        agent_id: `a${at}`,
        role_name: builtinRoles[at % builtinRoles.length]!.name,
      })),
    }),
  );

describe("estimates", () => {
  test("an estimate is a valid range of at least one call", () => {
    fc.assert(
      fc.property(crew, (one) => {
        const { calls, input_tokens, output_tokens, basis } = estimateCrew(one, undefined, findBuiltinRole);
        expect(calls[0]).toBeGreaterThan(0);
        for (const [least, most] of [calls, input_tokens, output_tokens])
          expect(least).toBeLessThanOrEqual(most);
        expect(basis).not.toBe("");
      }),
    );
  });

  test("an estimate grows with samples and voting rounds", () => {
    const of = (more: object) =>
      estimateCrew(
        CrewConfig.parse({ agents: [{ agent_id: "a", role_name: "Writer" }], ...more }),
        undefined,
        findBuiltinRole,
      ).calls[1];
    expect(of({ process: "sample", samples: 9 })).toBeGreaterThan(of({ process: "sample", samples: 3 }));
    expect(of({ process: "consensus", consensus: { rounds: 4 } })).toBeGreaterThan(
      of({ process: "consensus", consensus: { rounds: 1 } }),
    );
  });

  test("an estimate lists every node of a template that calls a model", () => {
    for (const { graph } of templates) {
      const parts = estimateRun(graph, findBuiltinRole);
      expect(parts.map(({ node_id }) => node_id)).toEqual(
        Object.values(graph.nodes).flatMap(({ id, node_type }) => (/_task$/.test(node_type) ? [id] : [])),
      );
      expect(totalOf(parts).calls[0]).toBeGreaterThan(0);
    }
  });
});

/** A role whose prompt is known to the letter: 400 letters are 100 tokens. */
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
const router = (kind: string) => ({
  config: { kind, value: "state.r", ways: ["a"], llm_config: { model: "m" } },
});
const callsOf = (text: string, nodes: object) =>
  estimateRun(draw(text, nodes as never), findRole).map(({ node_id, calls }) => [node_id, ...calls]);
const fork = "start > r; r x> a > end; r y> end2";
const loop = "start > a > r; r x> a; r y> end";
const library = { agent_ref: "f", agent: agent("Finder", { max_iterations: 4 }) };

test.each<[string, string, object, unknown[]]>([
  ["A task takes a call and a correction", "start > a > end", { a: task("Writer") }, [["a", 1, 2]]],
  ["A task with tools takes several turns", "start > a > end", { a: task("Finder") }, [["a", 1, 5]]],
  [
    "A task takes at most its maximum turns",
    "start > a > end",
    { a: task("Finder", { max_iterations: 3 }) },
    [["a", 1, 3]],
  ],
  [
    "A task with a library agent has that agent's turn limit",
    "start > a > end",
    { a: task("Idle", library) },
    [["a", 1, 4]],
  ],
  ["A router decided by a model makes a call", fork, { r: router("llm") }, [["r", 1, 1]]],
  ["A router decided by a value makes no call", fork, { r: router("value") }, []],
  [
    "An unknown crew is omitted",
    "start > a > end",
    { a: { node_type: "crew_task", config: { crew_id_or_config_ref: "gone" } } },
    [],
  ],
  ["A node that a router can bypass may make no call", fork, { a: task("Writer") }, [["a", 0, 2]]],
  [
    "A node on all routes of a router makes calls",
    "start > r; r x> b > a; r y> a; a > end",
    { a: task("Writer") },
    [["a", 1, 2]],
  ],
  [
    "A node before a router makes calls",
    "start > a > r; r x> end; r y> end2",
    { a: task("Writer") },
    [["a", 1, 2]],
  ],
  ["A node in a loop counts up to 3 times", loop, { a: task("Writer") }, [["a", 1, 6]]],
  [
    "A node in a loop counts at most up to its limit",
    loop,
    { a: { ...task("Writer"), max_iterations: 2 } },
    [["a", 1, 4]],
  ],
])("%s", (_what, text, nodes, expected) => {
  expect(callsOf(text, nodes)).toEqual(expected);
});

const three = [agent("Writer", { max_iterations: 4 }), agent("Finder", { agent_id: "f" }), agent("Nobody")];
const plan = (count: number, ...success_criteria: string[]) =>
  ExecutionPlan.parse({
    tasks: Array.from({ length: count }, (_, at) => ({ task_id: `t${at}`, description: "do it" })),
    success_criteria,
  });
const planned = "2 to 8 planned tasks, 1 to 5 calls each";
test.each<[string, object, ExecutionPlan | undefined, number[], string]>([
  ["plans", {}, undefined, [3, 41], planned],
  ["has an empty plan, so it plans", { process: "parallel" }, plan(0), [3, 41], planned],
  ["follows its plan", { process: "parallel" }, plan(3), [3, 15], "3 tasks, 1 to 5 calls each"],
  ["plans again", { planning: true }, plan(3), [3, 41], planned],
  [
    "checks criteria in plain language",
    {},
    plan(1, "short"),
    [2, 8],
    "1 task, 1 to 5 calls each, plus checking the criteria",
  ],
  ["computes its criteria", {}, plan(1, "cel:true"), [1, 5], "1 task, 1 to 5 calls each"],
  ["has a manager", { process: "hierarchical", max_rounds: 4 }, undefined, [5, 24], "2 members"],
  ["has a manager and no rounds", { process: "hierarchical", max_rounds: 0 }, undefined, [5, 5], "0 manager"],
  ["hands off", { process: "swarm", max_handoffs: 3 }, undefined, [1, 20], "1 agent, up to 3 handoffs"],
  [
    "votes",
    { process: "consensus", consensus: { rounds: 2 } },
    undefined,
    [4, 8],
    "1 to 2 rounds of 3 votes",
  ],
  ["samples", { process: "sample", samples: 3 }, undefined, [3, 16], "3 answers, 1 to 5 calls each"],
  ["has a pattern without steps", { process: "custom", max_rounds: 4 }, undefined, [1, 20], "1 step once"],
])("The estimate covers a crew that %s", (_what, more, given, expected, words) => {
  const { calls, basis } = estimateCrew(CrewConfig.parse({ agents: three, ...more }), given, findRole);
  expect(calls).toEqual(expected);
  expect(basis).toContain(words);
  if (!words.includes("check")) expect(basis).not.toContain("check");
});

test("Estimated tokens grow with the prompt and the members, and faster than the calls of a manager", () => {
  const [short, unknown] = ["Writer", "Nobody"].map(
    (name) =>
      estimateRun(draw("start > a > end", { a: task(name, { llm_config: { model: "m" } }) }), findRole)[0],
  );
  expect(short).toMatchObject({
    choice: { model: "m" },
    input_tokens: [250, 3200],
    output_tokens: [150, 1800],
  });
  expect(unknown?.input_tokens).toEqual([450, 3600]);
  const most = (agents: object[], more: object) =>
    estimateCrew(CrewConfig.parse({ agents, ...more }), undefined, findRole).input_tokens[1];
  const swarm = { process: "swarm", max_handoffs: 0 };
  expect(most([agent("Writer"), agent("Writer", { agent_id: "b" })], swarm)).toBeGreaterThan(
    most([agent("Writer")], swarm),
  );
  const led = (max_rounds: number) => most(three, { process: "hierarchical", max_rounds });
  expect(led(8) - led(4)).toBeGreaterThan(led(4) - led(0));
});

test("A part of an estimate names its provider and model unless they are the defaults", () => {
  const choiceOf = (llm_config?: object) =>
    estimateRun(draw("start > a > end", { a: task("Writer", llm_config ? { llm_config } : {}) }), findRole)[0]
      ?.choice;
  expect(choiceOf({ provider_id: "p", model: "m" })).toEqual({ provider_id: "p", model: "m" });
  expect(choiceOf({ provider_id: "", model: "" })).toEqual({});
  expect(choiceOf()).toEqual({});
});

test("A role without a template counts its generated prompt, including tools", () => {
  for (const tools of [[], ["web_search"]]) {
    const plain = RoleDefinition.parse({ name: "Plain", description: "Plain work", tools });
    const [part] = estimateRun(draw("start > a > end", { a: task("Plain") }), () => plain);
    const prompt = Math.round(systemPrompt(plain, { hasTools: tools.length > 0 }).length / 4);
    expect((part?.input_tokens[0] ?? 0) - prompt).toBe(150);
  }
});

test("A managed crew reads more tokens per call than a voting crew", () => {
  const inputOf = (more: object) =>
    estimateCrew(CrewConfig.parse({ agents: three, ...more }), undefined, findRole);
  const led = inputOf({ process: "hierarchical", max_rounds: 4 });
  const voting = inputOf({ process: "consensus", consensus: { rounds: 1 } });
  const perCall = (part: typeof led, at: 0 | 1) => part.input_tokens[at] / part.calls[at];
  expect(perCall(led, 0)).toBeGreaterThan(perCall(voting, 0));
  expect(perCall(led, 1)).toBeGreaterThan(perCall(voting, 1));
});

test("The total is the sum of all parts", () => {
  const part = { calls: [1, 2], input_tokens: [3, 4], output_tokens: [5, 6] } as const;
  expect(totalOf([part, part])).toEqual({ calls: [2, 4], input_tokens: [6, 8], output_tokens: [10, 12] });
  expect(totalOf([])).toEqual({ calls: [0, 0], input_tokens: [0, 0], output_tokens: [0, 0] });
});

test("The basis of an estimate mentions only loop iterations and optional parts", () => {
  const basisOf = (text: string, more: object = {}) =>
    estimateRun(draw(text, { a: { ...task("Writer"), ...more } }), findRole)[0]?.basis;
  const once = basisOf("start > a > end");
  expect(once).toContain("1 to 2 calls");
  expect(basisOf(loop)).toMatch(/1 to 3 loop iterations/);
  expect(basisOf(loop, { max_iterations: 1 })).toBe(once);
  expect(basisOf(fork)).toMatch(new RegExp(`^${once}[,;] .`));
});
