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

describe("crew diagnostics", () => {
  test.each<[string, object, string[]]>([
    ["with a sequential process is valid", {}, []],
    [
      "with a custom process and steps is valid",
      { process: "custom", collaboration_patterns: [steps("p")] },
      [],
    ],
    ["with a custom process but no steps is invalid", { process: "custom" }, ["E_CREW_PROCESS"]],
    [
      "with only a manager is invalid",
      { process: "hierarchical", agents: agents.slice(0, 1) },
      ["E_CREW_PROCESS"],
    ],
    ["with a manager and a member is valid", { process: "hierarchical" }, []],
    ["with a single member is valid", { agents: agents.slice(0, 1) }, []],
    [
      "that escalates questions to no one is invalid",
      { questions: { on_timeout: "escalate" } },
      ["E_CREW_QUESTIONS"],
    ],
    ["with a question timeout is valid", { questions: { timeout_s: 5 } }, []],
    [
      "with groups and a parallel process is valid",
      { process: "parallel", collaboration_patterns: [groups("g")] },
      [],
    ],
    ["with groups and a sequential process is valid", { collaboration_patterns: [groups("g")] }, []],
  ])("a crew %s", (_what, more, expected) => {
    expect(codes(more)).toEqual(expected);
  });

  test("parallel groups in a swarm are an error that names them", () => {
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

  test("a group with unknown members or an unknown coordinator is an error", () => {
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

  test("steps in a sequential crew are an error", () => {
    expect(diagnosticsOf({ collaboration_patterns: [steps("p", { agent: "nobody" })] })).toMatchObject([
      {
        severity: "error",
        code: "E_PATTERN_NOT_FOLLOWED",
        message: containing("“sequential” ignores the steps of “p”"),
        repair: { label: "Use custom steps", path: ["crew", "process"], value: "custom" },
      },
    ]);
  });

  test("extra step patterns are an error whose fix keeps only the first", () => {
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

  test("unknown step agents and targets are errors, and a fix turns targets into ends", () => {
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

  test("unknown collaboration patterns are listed by name or by content", () => {
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

describe("plan diagnostics", () => {
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
  ])("a plan with %j counts as empty: %s", (plan, is) => {
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
  ])("a swarm with the plan %j ignores its %s", (plan, what) => {
    expect(lost(plan)).toBe(what);
  });
  test("a crew that ignores its plan can be switched to sequential", () => {
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
    ["with new tasks is valid", {}, { tasks: [task("a")] }, []],
    ["without tasks is valid", { planning: true }, {}, []],
    [
      "with an unmatched intervention point gets a warning",
      {},
      { tasks: [task("a")], human_intervention_points: ["before_z"] },
      ["warning W_POINT_UNMATCHED"],
    ],
    ["with an intervention point but no tasks is valid", {}, { human_intervention_points: ["before_z"] }, []],
    [
      "with an intervention point and planning enabled is valid",
      { planning: true },
      { human_intervention_points: ["before_z"] },
      [],
    ],
    [
      "with tasks that will be replanned gets a warning",
      { planning: true },
      { tasks: [task("a")], human_intervention_points: ["before_z", "odd"] },
      ["warning W_POINT_UNMATCHED", "warning W_PLAN_REWRITTEN"],
    ],
  ])("a plan %s", (_what, crew, plan, expected) => {
    expect(codesOf(crew, plan)).toEqual(expected);
  });
  test("a partly done plan continues, and its warning says how each task is handled", () => {
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
