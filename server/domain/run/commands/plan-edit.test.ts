import { describe, expect, test } from "vitest";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { addTask, changeTask, editPlan, isOpen, PlanEdit, unknownTask } from "./plan-edit";

test("a task edit changes only the fields it names: priority and dependencies are not reset", () => {
  const change = { kind: "change", task_id: "write", patch: { description: "Write it again" } };
  expect(PlanEdit.parse(change)).toEqual(change);
});

test("a new task needs only a description", () => {
  const add = { kind: "add", task: { description: "Check it" } };
  expect(PlanEdit.parse(add)).toEqual(add);
  expect(PlanEdit.safeParse({ kind: "add", task: {} }).success).toBe(false);
});

test("a task edit changes tags, expected output and duration, and an empty string clears them", () => {
  const plan = ExecutionPlan.parse({
    tasks: [
      {
        task_id: "write",
        description: "Write it",
        estimated_duration: "2h",
        metadata: { tags: ["old"], deadline: "2030-01-01" },
      },
    ],
  });
  const patch = { tags: ["deployment"], expected_output: "a page", estimated_duration: "" };
  const edit = PlanEdit.parse({ kind: "change", task_id: "write", patch });
  expect(editPlan(plan, { members: [], teams: {} }, edit)).toEqual({
    ok: true,
    change: {
      changed: {
        write: {
          expected_output: "a page",
          estimated_duration: "",
          metadata: { tags: ["deployment"], deadline: "2030-01-01" },
        },
      },
    },
  });
});

describe("plan edits", () => {
  const task = (task_id: string, more: object = {}) => ({ task_id, description: task_id, ...more });
  const plan = ExecutionPlan.parse({
    tasks: [
      task("a"),
      task("b", { dependencies: ["a"], status: "blocked" }),
      task("c", { status: "in_progress" }),
      task("d", { status: "awaiting_human" }),
    ],
  });
  const crew = { members: [{ agent_id: "ann", role_name: "Writer" }], teams: { desk: {} } };
  const edited = (edit: object) => () => editPlan(plan, crew, PlanEdit.parse(edit));
  const change = (task_id: string, patch: object) => edited({ kind: "change", task_id, patch });
  const add = (more: object) => edited({ kind: "add", task: { description: "x", ...more } });
  const rejected = (status: number, message: unknown) => ({ ok: false, status, message });
  const unknown = rejected(400, 'There is no task "x". The plan has: a, b, c, d.');
  const begun = rejected(409, 'Task "c" is in progress and can no longer be edited.');

  test.each<[string, () => unknown, unknown]>([
    [
      "cancels a task",
      edited({ kind: "cancel", task_id: "b" }),
      { ok: true, change: null, cancelled: plan.tasks[1] },
    ],
    ["cannot cancel an unknown task", edited({ kind: "cancel", task_id: "x" }), unknown],
    ["cannot cancel a task in progress", edited({ kind: "cancel", task_id: "c" }), begun],
    [
      "cannot cancel a task that waits for approval",
      edited({ kind: "cancel", task_id: "d" }),
      rejected(409, "This task is waiting for a person's approval. Reject it there instead."),
    ],
    [
      "assigns a task to an agent",
      change("a", { assigned_agent: "ann" }),
      { ok: true, change: { changed: { a: { assigned_agent: "ann" } } } },
    ],
    [
      "assigns a task to a team",
      change("a", { assigned_agent: "desk" }),
      { ok: true, change: { changed: { a: { assigned_agent: "desk" } } } },
    ],
    [
      "assigns a task to a role",
      change("d", { assigned_agent: null, required_role: "Writer" }),
      { ok: true, change: { changed: { d: { assigned_agent: null, required_role: "Writer" } } } },
    ],
    [
      "cannot assign a task to an unknown agent",
      change("a", { assigned_agent: "bob" }),
      rejected(404, 'This crew has no agent or team "bob".'),
    ],
    [
      "cannot assign a task to a role that no member has",
      change("a", { required_role: "Poet" }),
      rejected(404, 'No member of this crew has the role "Poet".'),
    ],
    ["cannot change an unknown task", change("x", { priority: "high" }), unknown],
    ["cannot change a task in progress", change("c", { priority: "high" }), begun],
    [
      "cannot create circular dependencies",
      change("a", { dependencies: ["b"] }),
      rejected(400, expect.stringMatching(/Circular dependency between tasks: a waits for b, b for a/)),
    ],
    [
      "cannot add a dependency on unknown tasks",
      change("a", { dependencies: ["x", "y"] }),
      rejected(
        400,
        'Task "a" waits for "x", which is not in the plan. Task "a" waits for "y", which is not in the plan.',
      ),
    ],
    [
      "cannot add a task without an assignee",
      add({ assigned_agent: null }),
      rejected(400, "Assign the task to an agent, a team or a role."),
    ],
    [
      "cannot add a task that depends on an unknown task",
      add({ required_role: "Writer", dependencies: ["x"] }),
      rejected(400, 'Task "task_005" waits for "x", which is not in the plan.'),
    ],
  ])("a plan edit %s", (_what, outcome, wanted) => {
    expect(outcome()).toEqual(wanted);
  });

  test("an added task gets a free number as its id", () => {
    const added = (of: typeof plan) => {
      const outcome = editPlan(of, crew, {
        kind: "add",
        task: { description: "x", assigned_agent: "ann", tags: ["t"] },
      });
      return (
        outcome.ok &&
        outcome.change?.added?.map(({ task_id, assigned_agent, metadata }) => [
          task_id,
          assigned_agent,
          metadata,
        ])
      );
    };
    const taken = ExecutionPlan.parse({ tasks: [task("task_002"), task("task_003")] });
    expect(added(plan)).toEqual([["task_005", "ann", { tags: ["t"] }]]);
    expect(added(taken)).toEqual([["task_004", "ann", { tags: ["t"] }]]);
    expect(added(ExecutionPlan.parse({ tasks: [] }))).toEqual([["task_001", "ann", { tags: ["t"] }]]);
  });

  test("a task cannot be added to a full plan, with an existing id or without a description", () => {
    const full = (count: number) =>
      ExecutionPlan.parse({ tasks: Array.from({ length: count }, (_, n) => task(`t${n}`)) });
    expect(addTask(full(100), { description: "x" })).toEqual(
      rejected(400, "A plan can have at most 100 tasks."),
    );
    expect(addTask(full(99), { description: "x", task_id: "x" }).ok).toBe(true);
    expect(addTask(plan, { description: "x", task_id: "a" })).toEqual(
      rejected(400, 'Two tasks are called "a".'),
    );
    expect(addTask(plan, { description: "" })).toEqual(rejected(400, "A task needs a description"));
    expect(changeTask(plan, "a", { description: "y" })).toEqual({
      ok: true,
      change: { changed: { a: { description: "y" } } },
    });
    expect(unknownTask(undefined, "a")).toEqual({
      status: 400,
      message: 'There is no task "a". The plan has: no tasks.',
    });
    const open = [
      "pending",
      "blocked",
      "awaiting_human",
      "in_progress",
      "completed",
      "failed",
      "skipped",
      "cancelled",
    ] as const;
    expect(open.filter((status) => isOpen({ status }))).toEqual(["pending", "blocked", "awaiting_human"]);
  });
});
