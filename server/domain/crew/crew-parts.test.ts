import { describe, expect, test } from "vitest";
import { type Ballot, tally } from "./consensus";
import { CrewConfig } from "./crew";
import { lostTools, newIsToolKnown, toolFacts } from "./crew-tools";
import { asksOnError, interventionPoint } from "./intervention";
import { CustomPattern } from "./pattern";
import { circleText, ExecutionPlan, findCircle, planErrors } from "./plan";
import { isPlanFile, isPlanPath, planPath, planText } from "./plan-file";
import { readPlanText } from "./read-plan";
import { agreement } from "./samples";
import { teamNow } from "./team-now";

describe("a vote", () => {
  const rules = (more: object) =>
    CrewConfig.parse({ agents: [{ agent_id: "a", role_name: "A" }], consensus: { quorum: 0.5, ...more } })
      .consensus;
  const ballots = (votes: string): Ballot[] =>
    [...votes].map((sign, at) => ({
      agent_id: `a${at}`,
      vote: sign === "+" ? "approve" : sign === "-" ? "reject" : "abstain",
    }));
  const outcome = (votes: string, members: number, more: object) =>
    tally(ballots(votes), members, rules(more)).outcome;
  test.each<[string, number, object, string | null]>([
    ["++-", 3, {}, "approved"],
    ["+--", 3, {}, "rejected"],
    ["+-", 2, {}, "tie"],
    ["+", 2, {}, "approved"],
    ["+", 3, {}, "no_quorum"],
    ["0", 1, {}, "no_quorum"],
    ["0", 1, { quorum: 0 }, "no_quorum"],
    ["", 0, {}, "no_quorum"],
    ["++-", 3, { rule: "two_thirds" }, "approved"],
    ["+++--", 5, { rule: "two_thirds" }, null],
    ["+--", 3, { rule: "two_thirds" }, "rejected"],
    ["+++", 3, { rule: "unanimous" }, "approved"],
    ["++-", 3, { rule: "unanimous" }, null],
    ["+-", 2, { rule: "weighted", weights: { a0: 2 } }, "approved"],
    ["+-", 2, { rule: "majority", weights: { a0: 2 } }, "tie"],
    ["+-", 2, { rule: "weighted", weights: { a0: -5 } }, "rejected"],
    ["++", 2, { rule: "weighted", weights: { a0: 0, a1: 0 } }, "no_quorum"],
  ])("the ballots %s of %i members under %j result in %s", (votes, members, more, expected) => {
    expect(outcome(votes, members, more)).toBe(expected);
  });
  test("a tally includes weights, abstentions and turnout", () => {
    expect(tally(ballots("+-0"), 4, rules({ rule: "weighted", weights: { a0: 3 } }))).toEqual({
      outcome: "approved",
      approve: 3,
      reject: 1,
      abstain: 2,
      turnout: 0.5,
    });
    expect(tally([], 0, rules({}))).toEqual({
      outcome: "no_quorum",
      approve: 0,
      reject: 0,
      abstain: 0,
      turnout: 0,
    });
  });
});

test.each([
  [["Yes.", "yes", "no"], { at: 0, votes: 2 }],
  [["no", " Yes!", "yes"], { at: 1, votes: 2 }],
  [["a", "b"], { at: 0, votes: 1 }],
  [
    [
      ["A", 1],
      ["a", 1],
      ["a", 2],
    ],
    { at: 0, votes: 2 },
  ],
  [[{ b: "X", a: null }, 1, { a: null, b: "x" }], { at: 0, votes: 2 }],
  [[true, "true", 1, 1], { at: 0, votes: 2 }],
])("for the answers %j, the largest agreement is %j", (answers, expected) => {
  expect([true, false].map((signs) => agreement(answers, { signs }))).toEqual([expected, expected]);
});

test.each([
  ["5", "-5"],
  ["x is 5", "x is −5"],
  [".5", "-.5"],
  ["C", "C++"],
  ["C", "C#"],
  ["5", "5%"],
  ["x < 3", "x > 3", "x >= 3"],
])("%s differs from answers with the same letters only if symbols count", (...answers) => {
  expect(agreement(answers, { signs: true })).toEqual({ at: 0, votes: 1 });
  expect(agreement(answers, { signs: false })).toEqual({ at: 0, votes: answers.length });
});

test("punctuation between words is ignored even if symbols count", () => {
  const same = [
    "well-known, (really)!",
    "Well known - really",
    "**well** known... `really`",
    "“well known” really?",
  ];
  expect(agreement(["5", "5%", "5 %"], { signs: true })).toEqual({ at: 1, votes: 2 });
  expect(agreement(same, { signs: true })).toEqual({ at: 0, votes: same.length });
  expect(agreement(["-5", "− 5", "–5", "−5"], { signs: true })).toEqual({ at: 0, votes: 2 });
});

describe("plan tasks", () => {
  const task = (task_id: string, ...dependencies: string[]) => ({ task_id, dependencies });
  test.each([
    ["no error in valid tasks", [task("a"), task("b", "a")], []],
    ["a duplicate task name", [task("a"), task("a")], [{ at: 1, message: 'Two tasks are called "a".' }]],
    [
      "a missing dependency",
      [task("a"), task("b", "a", "z")],
      [{ at: 1, message: 'Task "b" waits for "z", which is not in the plan.' }],
    ],
    [
      "a task that waits for itself",
      [task("a", "a")],
      [{ at: 0, message: "Circular dependency between tasks: a waits for a." }],
    ],
    [
      "a cycle behind a task outside it",
      [task("x", "b"), task("a", "c"), task("b", "a"), task("c", "b")],
      [{ at: 2, message: "Circular dependency between tasks: b waits for a, a for c, c for b." }],
    ],
    [
      "only the missing dependency if there's also a cycle",
      [task("a", "a", "z")],
      [{ at: 0, message: 'Task "a" waits for "z", which is not in the plan.' }],
    ],
  ])("the plan check reports %s", (_what, tasks, errors) => {
    expect(planErrors(tasks)).toEqual(errors);
  });
  test("tasks form a cycle only if each waits for the next", () => {
    expect(findCircle([task("a", "b", "c"), task("b", "c"), task("c")])).toBeNull();
    expect(findCircle([task("a", "gone")])).toBeNull();
    expect(circleText(["a", "b"])).toBe("a waits for b, b for a");
  });
});

test.each([
  ["not JSON", null, ["Invalid JSON."]],
  ["[1]", null, ["Not a plan. Expected a JSON object with tasks."]],
  ["{}", null, ["Not a plan: the list of tasks is missing."]],
  ['{"tasks":[]}', null, ["The plan has no tasks."]],
  [`${'{"a":'.repeat(300)}1${"}".repeat(300)}`, null, ["The file is nested too deeply to be a plan."]],
])("the text %s is rejected as a plan with the reason", (text, plan, messages) => {
  const read = readPlanText(text);
  expect([read.plan, read.findings.map(({ message }) => message)]).toEqual([plan, messages]);
});

test("numeric task IDs of other planners are read as names", () => {
  const { plan } = readPlanText(
    '{"tasks":[{"id":1,"description":"A","output":null},{"id":"b","description":"B","dependencies":[1]}]}',
  );
  expect(plan?.tasks.map(({ task_id, dependencies }) => [task_id, dependencies])).toEqual([
    ["task_1", []],
    ["b", ["task_1"]],
  ]);
});

test("a plan file is recognized at the root or in its node's folder", () => {
  expect([planPath("n", true), planPath("n", false)]).toEqual(["plan.json", "n/plan.json"]);
  expect(isPlanFile("plan.json")).toBe(true);
  expect(isPlanFile("n/plan.json")).toBe(true);
  expect(isPlanFile("myplan.json")).toBe(false);
  expect(isPlanFile("plan.json/x")).toBe(false);
  expect(isPlanFile(3)).toBe(false);
  expect(
    ["./n//plan.json", "././n/plan.json", "n/plan.json", "plan.json", "x/./n/plan.json", 3].map((path) =>
      isPlanPath(path, ["n/plan.json"]),
    ),
  ).toEqual([true, true, true, false, false, false]);
});

test("a plan file contains short results, but only the length of long results", () => {
  const of = (output: string) => {
    const plan = ExecutionPlan.parse({
      tasks: [
        { task_id: "a", description: "A", output, metadata: { tags: ["t"] } },
        { task_id: "b", description: "B" },
      ],
    });
    const { tasks } = JSON.parse(planText(plan)) as { tasks: { output?: string; metadata: object }[] };
    return [tasks[0]?.output, tasks[0]?.metadata, tasks[1]?.metadata];
  };
  expect(of("x".repeat(998))).toEqual(["x".repeat(998), { tags: ["t"] }, {}]);
  expect(of("x".repeat(999))).toEqual([undefined, { tags: ["t"], output_chars: 1001 }, {}]);
});

describe("human intervention points", () => {
  const plan = (...human_intervention_points: string[]) =>
    ExecutionPlan.parse({
      human_intervention_points,
      tasks: [
        { task_id: "write", description: "Write the report\nwith care", metadata: { tags: ["text"] } },
        { task_id: "send", description: "Send it" },
      ],
    });
  const at = (point: string, when: "before" | "after" = "before") => {
    const read = plan(point);
    return read.tasks
      .filter((task) => interventionPoint(task, when, read) === point)
      .map(({ task_id }) => task_id);
  };
  test("an intervention point matches a task by ID, tag or description, before or after it", () => {
    expect(at("before_write")).toEqual(["write"]);
    expect(at("Before_TEXT")).toEqual(["write"]);
    expect(at("before_reports")).toEqual(["write"]);
    expect(at("after_write")).toEqual([]);
    expect(at("before_care")).toEqual([]);
    expect(at("write")).toEqual([]);
    expect(at("after_send", "after")).toEqual(["send"]);
  });
  test("a failed task asks a person only if the plan lists on_error", () => {
    expect(
      [plan("On error"), plan("before_write", "on_error"), plan("before_write"), plan()].map(asksOnError),
    ).toEqual([true, true, false, false]);
  });
});

test("a step outcome must name its target", () => {
  const read = (more: object) =>
    CustomPattern.safeParse({ type: "custom", workflow: [{ step: "s", agent: "a", ...more }] });
  expect(read({ next_on_done: "b", other: 3 }).success).toBe(true);
  expect(read({ next_on_done: 3 }).error?.issues.map(({ path, message }) => [path, message])).toEqual([
    [["workflow", 0, "next_on_done"], '"next_on_done" must name a step or an agent'],
  ]);
});

test("tool facts tell why a tool is unavailable and whether it acts outside the run", () => {
  const facts = toolFacts([
    { name: "off", unavailable: "No key.", read_only: true, sink: true },
    { name: "send", read_only: false, sink: true },
    { name: "note", read_only: false, sink: false },
  ]);
  const names = ["off", "send", "note", "gone"];
  expect(names.map(facts.whyUnavailable)).toEqual(["No key.", null, null, null]);
  expect(names.map(facts.actsOutside)).toEqual([false, true, false, false]);
});

test("a tool is known by name, as a crew tool or through a server wildcard", () => {
  const isKnown = newIsToolKnown(["look", "mcp:desk/pen"], ["desk"]);
  expect(isKnown("look")).toBe(true);
  expect(isKnown("handoff")).toBe(true);
  expect(isKnown("mcp:desk/*")).toBe(true);
  expect(isKnown("mcp:desk/pen")).toBe(true);
  expect(isKnown("mcp:desk/cup")).toBe(false);
  expect(isKnown("mcp:shop/*")).toBe(false);
  expect(isKnown("xmcp:desk/*")).toBe(false);
  expect(isKnown("gone")).toBe(false);
  expect(lostTools(["look", "mcp:desk/*"], ["look", "mcp:desk/pen", "handoff", "send"])).toEqual(["send"]);
});

describe("a crew changed during a run", () => {
  const crew = (more: object = {}) =>
    CrewConfig.parse({
      agents: [
        { agent_id: "ann", role_name: "A" },
        { agent_id: "bob", role_name: "B" },
      ],
      process: "hierarchical",
      ...more,
    });
  const agent = (agent_id: string, more: object = {}) => {
    const [made] = CrewConfig.parse({ agents: [{ agent_id, role_name: "New", ...more }] }).agents;
    if (!made) throw new Error("no agent");
    return { agent: made };
  };
  const now = (before: CrewConfig, changes: Parameters<typeof teamNow>[1]) => {
    const { agents, manager } = teamNow(before, changes);
    return [agents.map(({ agent_id, role_name }) => `${agent_id} ${role_name}`), manager];
  };
  test("a crew without changes stays the same", () => {
    const before = crew();
    expect(teamNow(before, undefined)).toBe(before);
    expect(teamNow(before, {})).toEqual(before);
  });
  test("changed members keep their place, new members come last, removed members are gone", () => {
    expect(now(crew(), { bob: agent("bob"), cy: agent("cy"), dan: null })).toEqual([
      ["ann A", "bob New", "cy New"],
      undefined,
    ]);
    expect(now(crew(), { bob: null })).toEqual([["ann A"], undefined]);
  });
  test("a crew keeps its manager with the model that a person chose", () => {
    const named = crew({ manager: { agent_id: "bob", llm_config: { model: "m" } } });
    expect(now(named, { bob: agent("bob", { llm_config: { model: "n" } }) })[1]).toEqual({ agent_id: "bob" });
    expect(now(named, { bob: agent("bob") })[1]).toEqual({ agent_id: "bob", llm_config: { model: "m" } });
    expect(now(named, { ann: agent("ann", { llm_config: { model: "n" } }) })[1]).toEqual({
      agent_id: "bob",
      llm_config: { model: "m" },
    });
  });
  test("a crew keeps its manager even if another role now matches better", () => {
    const sounding = (manager?: object) =>
      CrewConfig.parse({
        agents: [
          { agent_id: "ann", role_name: "A" },
          { agent_id: "bob", role_name: "Planner", llm_config: { model: "n" } },
        ],
        ...(manager ? { manager } : {}),
      });
    const worker = { bob: agent("bob", { role_name: "Worker", llm_config: { model: "n" } }) };
    expect(now(sounding(), worker)[1]).toEqual({ agent_id: "bob" });
    expect(now(sounding({ llm_config: { model: "m" } }), worker)[1]).toEqual({
      agent_id: "bob",
      llm_config: { model: "m" },
    });
    expect(
      now(sounding(), { bob: agent("bob", { role_name: "Planner", llm_config: { model: "o" } }) })[1],
    ).toBeUndefined();
    expect(now(sounding({ llm_config: { model: "m" } }), { bob: null })[1]).toEqual({
      llm_config: { model: "m" },
    });
    expect(now(sounding(), { ann: null, bob: null })).toEqual([[], undefined]);
  });
});
