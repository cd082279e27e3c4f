import { describe, expect, test } from "vitest";
import { containing } from "@/server/domain/testing/containing";
import { CrewConfig } from "./crew";
import { crewDiagnostics, isEmptyPlan, planDiagnostics } from "./crew-diagnostics";
import { ExecutionPlan } from "./plan";

const agents = [
  { agent_id: "ann", role_name: "Writer" },
  { agent_id: "bob", role_name: "Reader" },
];
const diagnosticsOf = (more: object) => crewDiagnostics(CrewConfig.parse({ agents, ...more }));
const codes = (more: object) => diagnosticsOf(more).map(({ code }) => code);
const groups = (...names: string[]) => ({
  parallel_groups: names.map((name) => ({ name, agents: ["ann"] })),
});
const steps = (name: string, more: object = {}) => ({
  name,
  type: "custom",
  workflow: [{ step: "draft", agent: "ann", ...more }],
});

describe("what keeps a crew from working", () => {
  test.each<[string, object, string[]]>([
    ["nothing, where it works one after another", {}, []],
    ["nothing, where it works by its steps", { process: "custom", collaboration_patterns: [steps("p")] }, []],
    ["steps of its own that nobody wrote", { process: "custom" }, ["E_CREW_PROCESS"]],
    ["a manager alone", { process: "hierarchical", agents: agents.slice(0, 1) }, ["E_CREW_PROCESS"]],
    ["nothing, where a manager has one to lead", { process: "hierarchical" }, []],
    ["nothing, where one works alone", { agents: agents.slice(0, 1) }, []],
    ["others to ask, and nobody named", { questions: { on_timeout: "escalate" } }, ["E_CREW_QUESTIONS"]],
    ["nothing, where questions fit", { questions: { timeout_s: 5 } }, []],
    [
      "nothing, of groups where it works in parallel",
      { process: "parallel", collaboration_patterns: [groups("g")] },
      [],
    ],
    ["nothing, of groups where it works one after another", { collaboration_patterns: [groups("g")] }, []],
  ])("%s", (_what, more, expected) => {
    expect(codes(more)).toEqual(expected);
  });

  test("groups where it does not work by tasks, with their names", () => {
    expect(diagnosticsOf({ process: "swarm", collaboration_patterns: [groups("one", "two")] })).toMatchObject(
      [
        {
          severity: "error",
          code: "E_PATTERN_NOT_FOLLOWED",
          message: containing("“swarm (handoffs)” ignores parallel groups: one, two"),
          repair: { label: "Run in parallel", path: ["crew", "process"], value: "parallel" },
        },
      ],
    );
  });

  test("groups that name nobody, as members or as who brings their work together", () => {
    const group = (name: string, members: string[], coordination_agent?: string) => ({
      name,
      agents: members,
      ...(coordination_agent ? { coordination_agent } : {}),
    });
    const collaboration_patterns = [
      {
        parallel_groups: [
          group("one", ["ann", "x"], "y"),
          group("two", ["ann"], "bob"),
          group("three", ["ann"]),
        ],
      },
    ];
    expect(diagnosticsOf({ collaboration_patterns })).toMatchObject([
      {
        severity: "error",
        code: "E_PATTERN_AGENT",
        message: containing('Group “one” has unknown agents: "x", "y"'),
      },
    ]);
  });

  test("steps where it works in another way", () => {
    expect(diagnosticsOf({ collaboration_patterns: [steps("p", { agent: "nobody" })] })).toMatchObject([
      {
        severity: "error",
        code: "E_PATTERN_NOT_FOLLOWED",
        message: containing("“sequential” ignores the steps of “p”"),
        repair: { label: "Use custom steps", path: ["crew", "process"], value: "custom" },
      },
    ]);
  });

  test("more patterns than the one that it follows, all of which but that can be taken out", () => {
    const patterns = [{ odd: 1 }, steps("p"), steps("q"), steps("r")];
    expect(diagnosticsOf({ process: "custom", collaboration_patterns: patterns })[0]).toMatchObject({
      severity: "error",
      code: "E_PATTERN_NOT_FOLLOWED",
      message: containing('one pattern: "p". Remove "q", "r"'),
      repair: {
        label: 'Keep only "p"',
        path: ["crew", "collaboration_patterns"],
        value: patterns.slice(0, 2),
      },
    });
  });

  test("a step for nobody, and outcomes that lead to nobody, each with a way to end there", () => {
    const pattern = steps("p", {
      agent: "nobody",
      next_on_done: "nowhere",
      next_on_failed: "elsewhere",
      next_on_ok: "draft",
    });
    expect(
      diagnosticsOf({ process: "custom", collaboration_patterns: [{ odd: 1 }, pattern] }).map(
        ({ code, repair }) => [code, repair],
      ),
    ).toEqual([
      ["E_PATTERN_AGENT", undefined],
      [
        "E_PATTERN_TARGET",
        {
          label: "End as completed",
          path: ["crew", "collaboration_patterns", 1, "workflow", 0, "next_on_done"],
          value: "end:nowhere",
        },
      ],
      [
        "E_PATTERN_TARGET",
        {
          label: "End as failed",
          path: ["crew", "collaboration_patterns", 1, "workflow", 0, "next_on_failed"],
          value: "fail:elsewhere",
        },
      ],
      ["W_PATTERN_UNKNOWN", undefined],
    ]);
  });

  test("ways of working together that are not known, by their names or as they stand", () => {
    const unknown = [
      { name: "Round", type: "x" },
      { type: "debate" },
      { x: 1 },
      ["a"],
      null,
      4,
      { long: "y".repeat(80) },
    ];
    expect(diagnosticsOf({ collaboration_patterns: [...unknown, groups("g")] })).toMatchObject([
      {
        severity: "warning",
        code: "W_PATTERN_UNKNOWN",
        message: `These collaboration patterns are unknown or incomplete and have no effect: "Round", "debate", {"x":1}, ["a"], null, 4, {"long":"${"y".repeat(51)}. Rewrite them as parallel groups or steps.`,
      },
    ]);
  });
});

describe("what of a plan does not come about", () => {
  const task = (task_id: string, more: object = {}) => ({ task_id, description: `Do ${task_id}`, ...more });
  const of = (crew: object, plan: object) =>
    planDiagnostics(CrewConfig.parse({ agents, ...crew }), ExecutionPlan.parse({ tasks: [], ...plan }));
  const codesOf = (crew: object, plan: object) =>
    of(crew, plan).map(({ severity, code }) => `${severity} ${code}`);
  const lost = (plan: object) =>
    /ignores plans, including this one's (.*)\. Switch/.exec(
      of({ process: "swarm" }, plan)[0]?.message ?? "",
    )?.[1];

  test.each<[object, boolean]>([
    [{}, true],
    [{ user_instruction: "go" }, true],
    [{ tasks: [task("a")] }, false],
    [{ execution_mode: "step" }, false],
    [{ human_intervention_points: ["on_error"] }, false],
    [{ success_criteria: ["short"] }, false],
  ])("a plan with %j says nothing: %s", (plan, is) => {
    expect(isEmptyPlan(ExecutionPlan.parse({ tasks: [], ...plan }))).toBe(is);
    expect(codesOf({ process: "swarm" }, plan)).toEqual(is ? [] : ["error E_PLAN_NOT_FOLLOWED"]);
  });
  test.each<[object, string]>([
    [{ tasks: [task("a")] }, "tasks"],
    [{ execution_mode: "step" }, "human intervention points"],
    [{ human_intervention_points: ["on_error"] }, "human intervention points"],
    [{ success_criteria: ["short"] }, "success criteria"],
    [
      { tasks: [task("a")], execution_mode: "step", success_criteria: ["short"] },
      "tasks, human intervention points, success criteria",
    ],
  ])("of a crew that follows no plan, with %j is lost: %s", (plan, what) => {
    expect(lost(plan)).toBe(what);
  });
  test("a crew that follows no plan can be made to", () => {
    expect(of({ process: "swarm" }, { success_criteria: ["short"] })).toMatchObject([
      {
        severity: "error",
        code: "E_PLAN_NOT_FOLLOWED",
        message: containing("ignores plans, including this one's success criteria"),
        repair: { label: "Switch to sequential", path: ["crew", "process"], value: "sequential" },
      },
    ]);
  });
  test.each<[string, object, object, string[]]>([
    ["nothing, of tasks that are new", {}, { tasks: [task("a")] }, []],
    ["nothing, of no tasks", { planning: true }, {}, []],
    [
      "a point that no task is meant by",
      {},
      { tasks: [task("a")], human_intervention_points: ["before_z"] },
      ["warning W_POINT_UNMATCHED"],
    ],
    [
      "nothing, of a point whose tasks are not planned yet",
      {},
      { human_intervention_points: ["before_z"] },
      [],
    ],
    [
      "nothing, of a point whose tasks are planned anew",
      { planning: true },
      { human_intervention_points: ["before_z"] },
      [],
    ],
    [
      "tasks that are planned anew",
      { planning: true },
      { tasks: [task("a")], human_intervention_points: ["before_z", "odd"] },
      ["warning W_POINT_UNMATCHED", "warning W_PLAN_REWRITTEN"],
    ],
  ])("%s", (_what, crew, plan, expected) => {
    expect(codesOf(crew, plan)).toEqual(expected);
  });
  test("a plan that was begun goes on from there, which is said with what becomes of each task", () => {
    const tasks = [
      task("done", { status: "completed", output: "x" }),
      task("lost", { status: "completed" }),
      task("skipped", { status: "skipped" }),
      task("half", { status: "in_progress" }),
      task("broken", { status: "failed" }),
      task("new"),
    ];
    const [begun, ...others] = of({ on_task_failure: "replan" }, { tasks });
    expect(begun?.code).toBe("W_PLAN_BEGUN");
    expect(begun?.severity).toBe("warning");
    expect(begun?.repair?.label).toBe("Reset plan");
    expect(begun?.repair?.path).toEqual(["plan"]);
    expect(others).toEqual([]);
    expect(begun?.message).toBe(
      "This plan is partly done, and every run continues from there: done, lost, skipped are not repeated; the plan has no result for lost; half is restarted; failed tasks (broken) are replanned.",
    );
    const alone = (more: object, on_task_failure = "stop") =>
      of({ on_task_failure }, { tasks: [task("a", more)] })[0]?.message.split(": ")[1];
    expect(alone({ status: "completed", output: 1 })).toBe("a is not repeated.");
    expect(alone({ status: "failed" })).toBe("failed tasks (a) are retried.");
    expect(alone({ status: "failed" }, "continue_independent")).toBe("failed tasks (a) stay failed.");
    expect(alone({ status: "failed" }, "escalate")).toBe("failed tasks (a) are escalated to a person.");
  });
});
