import { describe, expect, test } from "vitest";
import { agent, as, call, calls, of, runCrew } from "@/server/conformance/stage";
import type { RunState } from "@/server/domain/run";
import { answersTo, runTalk, skilled } from "./testing";

const agents = ["ann", "bob"].map((name) => agent(name));
/** A task that begins once so many turns are over. */
const later = (turns = 1) => ({
  task_id: "later",
  description: "do it later",
  assigned_agent: "bob",
  dependencies: [`turn_${turns}`],
});
const update = (args: object, task_id = "later") => ["plan_update_task", { task_id, ...args }] as const;

describe("task updates by an agent", () => {
  test("a task update is merged and creates a new plan version", async () => {
    const { events, state } = await runTalk(
      [
        ["ann", update({ description: "do it well", metadata: { progress_percentage: 10 } })],
        ["ann", update({ metadata: { tags: ["hard"] } })],
        ["ann", update({})],
      ],
      { agents },
      { tasks: [later(3)] },
    );
    expect(of(events, "plan_changed")).toEqual([
      {
        version: 2,
        by: "ann",
        changed: { later: { description: "do it well", metadata: { progress_percentage: 10 } } },
      },
      {
        version: 3,
        by: "ann",
        changed: { later: { metadata: { progress_percentage: 10, tags: ["hard"] } } },
      },
      { version: 4, by: "ann", changed: { later: {} } },
    ]);
    expect(answersTo(state, "ann")).toEqual([
      [200, '{"task_id":"later","version":2}'],
      [200, '{"task_id":"later","version":3}'],
      [200, '{"task_id":"later","version":4}'],
    ]);
  });

  test("a task skipped by an agent never runs, and repeating the same status changes nothing", async () => {
    const { events, state } = await runTalk(
      [
        ["ann", update({ status: "pending" })],
        ["ann", update({ status: "skipped" })],
        ["ann", update({ status: "skipped" })],
      ],
      { agents },
      { tasks: [later(3)] },
    );
    const moves = of(events, "task_status_changed");
    expect(moves.filter(({ to }) => to === "skipped")).toEqual([{ from: "pending", to: "skipped" }]);
    expect(
      events.filter(({ type, task_id }) => type === "task_status_changed" && task_id === "later"),
    ).toHaveLength(1);
    expect(Object.values(state.plans)[0]!.tasks.map(({ status }) => status)).toEqual([
      "completed",
      "completed",
      "completed",
      "skipped",
    ]);
    expect(state.run.final_status).toBe("COMPLETED");
  });

  test("an invalid task update is refused, and so is a status change of a running task", async () => {
    const { events, state } = await runTalk(
      [
        [
          "ann",
          update({ status: "completed" }, "turn_1"),
          update({ metadata: { progress_percentage: 101 } }),
          update({ status: "skipped" }, "ghost"),
          update({ description: "noted all the same" }, "turn_1"),
        ],
      ],
      { agents },
      { tasks: [later()] },
    );
    expect(answersTo(state, "ann")).toEqual([
      [409, 'Task "turn_1" is in progress, so its status cannot be set.'],
      [400, "Too big: expected number to be <=100"],
      [400, 'There is no task "ghost". The plan has: turn_1, later.'],
      [200, '{"task_id":"turn_1","version":2}'],
    ]);
    expect(of(events, "plan_changed")).toHaveLength(1);
  });
});

describe("tasks that agents start and fail", () => {
  const [own, bobs] = ["ann", "bob"].map((assigned_agent) => ({
    task_id: `${assigned_agent}s`,
    description: "do it",
    assigned_agent,
    priority: "low" as const,
  }));
  const statusOf = (state: RunState, id: string) =>
    Object.values(state.plans)[0]!.tasks.find(({ task_id }) => task_id === id)!;

  test("an agent starts and completes its own task, which then isn't started again", async () => {
    const { events, state } = await runTalk(
      [
        ["ann", update({ status: "in_progress" }, "anns")],
        ["ann", update({ status: "completed" }, "anns")],
      ],
      { agents },
      { tasks: [own!] },
    );
    const moves = events.filter(({ type, task_id }) => type === "task_status_changed" && task_id === "anns");
    expect(answersTo(state, "ann").map(([status]) => status)).toEqual([200, 200]);
    // What was left unfinished at the end of its agent's turn begins like any other task.
    expect(of(moves, "task_status_changed").map(({ from, to }) => `${from} > ${to}`)).toEqual([
      "pending > in_progress",
      "in_progress > pending",
      "pending > completed",
    ]);
    expect(state.run.final_status).toBe("COMPLETED");
  });

  test("a task that an agent starts and finishes in one turn isn't started again", async () => {
    const { state, models } = await runTalk(
      [["ann", update({ status: "in_progress" }, "anns"), update({ status: "completed" }, "anns")]],
      { agents },
      { tasks: [own!] },
    );
    expect(statusOf(state, "anns")).toMatchObject({ status: "completed", assigned_agent: "ann" });
    expect(models.calls).toHaveLength(2);
  });

  test("an agent that fails its own task gives the reason, and the crew acts as configured", async () => {
    const fails = update({ status: "failed", reason: "the server is gone" }, "turn_1");
    const { state, events } = await runTalk([["ann", fails]], { agents }, { tasks: [bobs!] });
    expect(statusOf(state, "turn_1")).toMatchObject({
      status: "failed",
      error_message: 'ann set "turn_1" to failed: the server is gone',
    });
    expect(of(events, "task_status_changed").filter(({ to }) => to === "failed")).toHaveLength(1);
    expect(state.run.error?.message).toContain("the server is gone");
    const spared = await runTalk(
      [["ann", fails]],
      { agents, on_task_failure: "continue_independent" },
      { tasks: [bobs!] },
    );
    expect(spared.state.run.final_status).toBe("COMPLETED");
    expect(spared.state.run.warnings).toEqual([
      `Some of crew's tasks failed: ann set "turn_1" to failed: the server is gone`,
    ]);
  });

  test("a pending task that its agent fails blocks what waits for it", async () => {
    const { state } = await runTalk(
      [["ann", update({ status: "failed", reason: "not needed" }, "anns")]],
      { agents, on_task_failure: "continue_independent" },
      { tasks: [own!, { ...bobs!, dependencies: ["anns"] }] },
    );
    expect(["anns", "bobs"].map((id) => statusOf(state, id).status)).toEqual(["failed", "blocked"]);
  });

  test("tasks of others, finished tasks and failures without a reason are refused", async () => {
    const { state, events } = await runTalk(
      [
        ["bob", ["plan_read"]],
        [
          "ann",
          update({ status: "in_progress" }, "bobs"),
          update({ status: "failed", reason: "no" }, "bobs"),
          update({ status: "in_progress" }, "turn_1"),
          update({ status: "failed", reason: "no" }, "turn_1"),
          update({ status: "failed" }, "turn_2"),
          update({ status: "in_progress" }, "waits"),
          update({ status: "completed" }, "turn_2"),
        ],
      ],
      { agents },
      {
        tasks: [
          { ...bobs!, dependencies: ["turn_2"] },
          { ...own!, task_id: "waits", dependencies: ["bobs"] },
        ],
      },
    );
    expect(answersTo(state, "ann")).toEqual([
      [403, 'Task "bobs" belongs to bob. You can set only your own tasks to in_progress.'],
      [403, 'Task "bobs" belongs to bob. You can set only your own tasks to failed.'],
      [409, 'Task "turn_1" is completed, so it cannot become in progress.'],
      [409, 'Task "turn_1" is completed, so it cannot become failed.'],
      [400, 'Give the reason why "turn_2" failed.'],
      [409, 'Task "waits" waits for bobs.'],
      [409, 'Task "turn_2" is in progress, so its status cannot be set.'],
    ]);
    expect(of(events, "plan_changed")).toEqual([]);
  });
});

describe("added tasks", () => {
  test("an added task goes to its author unless it names an agent or role", async () => {
    const add = (more: object) => ["plan_add_task", { description: "more", ...more }] as const;
    const { events, state } = await runTalk(
      [
        ["ann", add({})],
        ["ann", add({ required_role: "bob", task_id: "extra" })],
        ["ann", add({ assigned_agent: "bob", priority: "high", dependencies: ["extra"] })],
      ],
      { agents },
      { tasks: [later(3), { ...later(3), task_id: "x" }, { ...later(3), task_id: "y" }] },
    );
    expect(answersTo(state, "ann")).toEqual([
      [200, '{"task_id":"task_007","version":2}'],
      [200, '{"task_id":"extra","version":3}'],
      [200, '{"task_id":"task_009","version":4}'],
    ]);
    expect(
      of(events, "plan_changed").flatMap(({ added = [] }) =>
        added.map(({ task_id, assigned_agent, required_role, priority, dependencies }) => [
          task_id,
          assigned_agent,
          required_role,
          priority,
          dependencies,
        ]),
      ),
    ).toEqual([
      ["task_007", "ann", undefined, "medium", []],
      ["extra", undefined, "bob", "medium", []],
      ["task_009", "bob", undefined, "high", ["extra"]],
    ]);
  });
});

test("dependencies, agent and duration of a task can be changed until it starts", async () => {
  const { events, state } = await runTalk(
    [
      ["ann", ["plan_set_dependencies", { task_id: "later", dependencies: ["turn_2", "turn_3", "turn_4"] }]],
      ["ann", ["plan_assign_task", { task_id: "later", agent_name: "ANN" }]],
      ["ann", ["plan_estimate_duration", { task_id: "later", duration: "2h" }]],
      [
        "ann",
        ["plan_assign_task", { task_id: "later", agent_name: "dan" }],
        ["plan_estimate_duration", { task_id: "later", duration: "" }],
        ["plan_estimate_duration", { task_id: "turn_1", duration: "1m" }],
        ["plan_set_dependencies", { task_id: "ghost", dependencies: [] }],
      ],
    ],
    { agents },
    { tasks: [later()] },
  );
  expect(of(events, "plan_changed")).toEqual([
    { version: 2, by: "ann", changed: { later: { dependencies: ["turn_2", "turn_3", "turn_4"] } } },
    { version: 3, by: "ann", changed: { later: { assigned_agent: "ann" } } },
    { version: 4, by: "ann", changed: { later: { estimated_duration: "2h" } } },
  ]);
  expect(answersTo(state, "ann")).toEqual([
    [200, '{"task_id":"later","version":2}'],
    [200, '{"task_id":"later","version":3}'],
    [200, '{"task_id":"later","version":4}'],
    [404, 'Unknown agent: "dan". The crew has: ann, bob.'],
    [400, "Write a duration like 15m or 2h."],
    [409, 'Task "turn_1" is completed and can no longer be edited.'],
    [400, 'There is no task "ghost". The plan has: turn_1, turn_2, turn_3, turn_4, later.'],
  ]);
});

test("plan tools fail in a crew without a plan", async () => {
  const { state } = await runCrew(
    [
      as(
        "ann",
        calls(
          call("plan_read"),
          call("plan_add_task", { description: "more" }),
          call("plan_update_task", { task_id: "a", status: "skipped" }),
          call("plan_set_dependencies", { task_id: "a", dependencies: [] }),
        ),
      ),
      as("ann", { text: "done" }),
    ],
    { agents, process: "swarm", entry_agent: "ann" },
    { roles: skilled("ann", "bob") },
  );
  expect(answersTo(state, "ann")).toEqual([
    [404, "The crew has no plan."],
    [404, "The crew has no plan."],
    [400, 'There is no task "a". The plan has: no tasks.'],
    [404, "The crew has no plan."],
  ]);
});

test("two calls in one message that skip the same task skip it once", async () => {
  const skip = update({ status: "skipped" });
  const { events, state } = await runTalk([["ann", skip, skip]], { agents }, { tasks: [later()] });
  expect(of(events, "task_status_changed").filter(({ to }) => to === "skipped")).toEqual([
    { from: "pending", to: "skipped" },
  ]);
  expect(answersTo(state, "ann")).toEqual([
    [200, '{"task_id":"later","version":3}'],
    [200, '{"task_id":"later","version":3}'],
  ]);
});
