import { describe, expect, test } from "vitest";
import { NO_USAGE } from "@/server/domain/agent/outcome";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import type { NewEvent, Payloads } from "../events";
import { crewRun, failedWith, fold, of } from "../testing";

const members = { ann: "Writer", bob: "Reader" };
const { running } = crewRun({ members });
const by = (agent_id: string, task_id?: string) => ({ agent_id, ...(task_id ? { task_id } : {}) });

describe("a plan", () => {
  const plan = ExecutionPlan.parse({
    tasks: [
      { task_id: "a", description: "A" },
      { task_id: "a.b", description: "B" },
    ],
  });
  const made = of("crew", "plan_created", { by: "ann", plan });
  const task = (to: Payloads["task_status_changed"]["to"], task_id: string | undefined, more: object = {}) =>
    of("crew", "task_status_changed", { from: "pending", to, ...more }, task_id ? { task_id } : {});
  const planOf = (...events: NewEvent[]) => fold(...running, made, ...events).plans["crew#1"];
  const [first, second] = plan.tasks;

  test("a plan's tasks have their assignee, start and end times, errors and outputs", () => {
    expect(
      planOf(
        task("in_progress", "a", { assigned_agent: "ann", chosen_because: "so" }),
        task("failed", "a", {
          error: { code: "CONFIG", message: "No.", retryable: false, user_action: "none" },
        }),
        task("in_progress", "a"),
        task("completed", "a", { output: null }),
        task("skipped", "unknown"),
        task("skipped", undefined),
      ),
    ).toEqual({
      ...plan,
      overall_status: "in_progress",
      tasks: [
        {
          ...first,
          status: "completed",
          assigned_agent: "ann",
          error_message: "No.",
          output: null,
          metadata: { started_at: "1970-01-01T00:00:00.050Z", completed_at: "1970-01-01T00:00:00.080Z" },
        },
        second,
      ],
    });
    expect(planOf(task("blocked", "a"))?.overall_status).toBe("pending");
  });

  test("costs are attributed to the task with the longest matching id", () => {
    const spent = (task_id: string, cost_usd: number | null) =>
      of(
        "crew",
        "agent_finished",
        { status: "completed", usage: { ...NO_USAGE, input_tokens: 2, output_tokens: 1 }, cost_usd },
        by("ann", task_id),
      );
    expect(
      planOf(
        spent("a.r1", 1),
        spent("a", 2),
        spent("a.b.r1", 1),
        spent("a.b", null),
        spent("a.b", 1),
        spent("ax", 1),
      )?.tasks,
    ).toEqual([
      { ...first, tokens_used: 6, cost_usd: 3 },
      { ...second, tokens_used: 9, cost_usd: null },
    ]);
  });

  test("a plan can change during the run, and every change is kept", () => {
    const extra = { ...second, task_id: "c" } as never;
    const change = { version: 2, by: "eve", added: [extra], changed: { a: { description: "A2" } } };
    const events = [
      of("crew", "plan_changed", change),
      of("crew", "plan_changed", { version: 3, by: "ann" }),
    ];
    const state = fold(...running, made, ...events);
    expect(state.plans["crew#1"]).toEqual({
      ...plan,
      version: 3,
      tasks: [{ ...first, description: "A2" }, second, extra],
    });
    expect(state.plan_changes["crew#1"]).toEqual([change, { version: 3, by: "ann" }]);
    const planless = fold(...running, ...events);
    expect([planless.plans, planless.plan_changes["crew#1"]?.length]).toEqual([{}, 2]);
  });

  test("a plan keeps every check of its criteria, and each file of its tasks once", () => {
    const check = { criterion: "kind", met: true, evidence: "" };
    const file = (path: string) =>
      of(
        "crew",
        "artifact_created",
        { artifact_id: path, path, version: 1, size: 1, kind: "file" },
        { task_id: "a" },
      );
    const state = fold(
      ...running,
      made,
      of("crew", "criterion_checked", check),
      of("crew", "criterion_checked", { ...check, met: false }),
      file("x"),
      file("y"),
      file("x"),
    );
    expect(state.criteria["crew#1"]).toEqual([check, { ...check, met: false }]);
    expect(state.plans["crew#1"]?.tasks[0]?.metadata).toEqual({ artifacts_created: ["x", "y"] });
    expect(Object.keys(state.files)).toEqual(["x", "y"]);
  });

  test("a plan ends with its crew: open tasks are cancelled, finished ones stay as they are", () => {
    const all = [
      "pending",
      "in_progress",
      "completed",
      "failed",
      "blocked",
      "skipped",
      "awaiting_human",
    ] as const;
    const tasks = all.map((status) => ({ task_id: status, description: status, status }));
    const full = of("crew", "plan_created", { by: "ann", plan: ExecutionPlan.parse({ tasks }) });
    const open = of("crew", "delegation_started", {
      from: "ann",
      to: "bob",
      task: "x",
      kind: "ask",
      level: 1,
      child: "x",
    });
    const done = of("crew", "delegation_started", {
      from: "ann",
      to: "bob",
      task: "x",
      kind: "ask",
      level: 1,
      child: "y",
    });
    const finished = of("crew", "delegation_finished", {
      from: "ann",
      to: "bob",
      child: "y",
      status: "completed",
    });
    const talk = of("crew", "post_sent", { from: "ann", to: "bob", message: "Hi", kind: "post" });
    const state = fold(...running, full, talk, open, done, finished, failedWith("crew", "fail_run"));
    expect(state.plans["crew#1"]?.tasks.map(({ status }) => status)).toEqual([
      "cancelled",
      "cancelled",
      "completed",
      "failed",
      "blocked",
      "skipped",
      "cancelled",
    ]);
    const crew = state.crews["crew#1"];
    expect(crew?.status).toBe("failed");
    expect(crew?.active_agent).toBeUndefined();
    expect(crew?.exchanges.map((one) => (one.kind === "delegation" ? one.done : "-"))).toEqual([
      "-",
      "stopped",
      "completed",
    ]);
    const over = of("crew", "crew_finished", { status: "completed" });
    expect(fold(...running, over, failedWith("crew", "fail_run")).crews["crew#1"]?.status).toBe("completed");
  });
});
