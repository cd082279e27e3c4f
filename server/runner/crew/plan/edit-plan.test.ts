import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { errorMessage } from "@/server/domain/base/guards";
import type { JsonObject } from "@/server/domain/base/values";
import type { ExecutionPlan, Task } from "@/server/domain/crew/plan";
import type { RunState } from "@/server/domain/run";
import type { PlanEdit } from "@/server/domain/run/commands/plan-edit";
import { draw } from "@/server/domain/testing/drawing";
import { planEdited } from "@/server/runner/interpreter/commands";
import { cutAt, fakeModels, newStage, role } from "@/server/runner/testing";

const team = ["analyst", "coder", "tester"];
const task = (task_id: string, who: string, more: Partial<Task> = {}) => ({
  task_id,
  description: `do ${task_id}`,
  assigned_agent: who,
  ...more,
});
const graph = (process: "sequential" | "parallel", plan: z.input<typeof ExecutionPlan>) =>
  draw("start > crew > end", {
    crew: {
      node_type: "crew_task",
      output_keys: ["result"],
      config: {
        crew: { process, agents: team.map((name) => ({ agent_id: name, role_name: name })) },
        plan: plan as unknown as JsonObject,
      },
    },
  });

/** A crew at work, and what a person does to its plan meanwhile. */
function begin(process: "sequential" | "parallel", plan: z.input<typeof ExecutionPlan>, held = false) {
  let release = () => {};
  const gate = held ? new Promise<void>((resolve) => (release = resolve)) : Promise.resolve();
  const models = fakeModels(async ({ messages }) => {
    await gate;
    return `done: ${/do \w+/.exec(String(messages.at(-1)?.content))?.[0] ?? "?"}`;
  });
  const stage = newStage({ models });
  const id = stage.start(graph(process, plan), { roles: team.map(role) });
  const state = () => stage.store.state(id)!;
  const activation = () => Object.keys(state().crews)[0]!;
  return {
    ...stage,
    id,
    models,
    release: () => release(),
    state,
    tasks: () => state().plans[activation()]!.tasks.map((t) => [t.task_id, t.assigned_agent, t.status]),
    edit: (edit: PlanEdit) => {
      try {
        void stage.host.steering.editPlan(id, activation(), edit, { by: "ann" });
        return null;
      } catch (error) {
        return errorMessage(error);
      }
    },
    turns: () =>
      stage.db.$client.prepare("select count(*) from run_turns where run_id = ?").pluck().get(id) as number,
    /** Waits until that is asked, and nothing else. */
    async asked(title: string) {
      const open = () => Object.values(state().interactions).find(({ status }) => status === "open");
      await expect.poll(() => open()?.requested.title).toBe(title);
      return open()!;
    },
    async agree(title: string) {
      const question = await this.asked(title);
      stage.host.steering.answer(id, question.id, question.requested.fingerprint, {
        answer: "approve",
        by: "ann",
      });
    },
  };
}

describe("plan edits in a running crew", () => {
  test("a person can change, reassign, add and cancel tasks that have not started", async () => {
    const crew = begin("sequential", {
      execution_mode: "step",
      tasks: [task("a", "analyst"), task("b", "coder"), task("c", "tester")],
    });
    await crew.asked('Start "do a"?');
    expect(crew.edit({ kind: "change", task_id: "b", patch: { description: "do better" } })).toBeNull();
    expect(crew.edit({ kind: "cancel", task_id: "c" })).toBeNull();
    expect(
      crew.edit({
        kind: "add",
        task: { description: "do deploy", assigned_agent: "tester", dependencies: ["b"] },
      }),
    ).toBeNull();
    await expect.poll(() => crew.tasks().length).toBe(4);
    await crew.agree('Start "do a"?');
    await crew.asked('Start "do better"?');
    // Also while it waits for their word.
    expect(crew.edit({ kind: "change", task_id: "b", patch: { assigned_agent: "analyst" } })).toBeNull();
    await expect.poll(() => crew.tasks()[1]?.[1]).toBe("analyst");
    await crew.agree('Start "do better"?');
    await crew.agree('Start "do deploy"?');
    await crew.host.settled(crew.id);

    expect(crew.tasks()).toEqual([
      ["a", "analyst", "completed"],
      ["b", "analyst", "completed"],
      ["c", "tester", "cancelled"],
      ["task_004", "tester", "completed"],
    ]);
    expect(crew.state().state.result).toEqual({ a: "done: do a", task_004: "done: do deploy" });
    const changes = Object.values(crew.state().plan_changes)[0]!;
    expect(changes.map(({ by, version }) => [by, version])).toEqual([
      ["ann", 2],
      ["ann", 3],
      ["ann", 4],
    ]);
  });

  test("a crash at any turn does not change the outcome of plan edits", async () => {
    const crew = begin("sequential", {
      execution_mode: "step",
      tasks: [task("a", "analyst"), task("b", "coder")],
    });
    await crew.asked('Start "do a"?');
    // A person can only change a plan that they have seen: that far, the log is safe.
    const seen = crew.turns();
    crew.edit({ kind: "change", task_id: "b", patch: { description: "do better" } });
    crew.edit({ kind: "add", task: { description: "do more", required_role: "tester" } });
    await expect.poll(() => Object.values(crew.state().plan_changes)[0]?.length).toBe(2);
    await crew.agree('Start "do a"?');
    await crew.agree('Start "do better"?');
    await crew.agree('Start "do more"?');
    await crew.host.settled(crew.id);
    const ended = ({ state, plans }: RunState) => ({
      state,
      tasks: Object.values(plans).flatMap(({ tasks }) => tasks.map(({ metadata: _when, ...rest }) => rest)),
    });
    const whole = ended(crew.state());
    for (let at = seen; at < crew.turns(); at++) {
      const again = newStage({ models: crew.models, db: cutAt(crew, crew.id, at) });
      again.host.recover();
      await again.host.settled(crew.id);
      expect(ended(again.store.state(crew.id)!)).toEqual(whole);
    }
  });

  test("an added task starts at once if its agent is free", async () => {
    const crew = begin("parallel", { tasks: [task("a", "analyst")] }, true);
    await expect.poll(() => crew.models.requests.length).toBe(1);
    expect(crew.edit({ kind: "add", task: { description: "do now", assigned_agent: "coder" } })).toBeNull();
    await expect.poll(() => crew.models.requests.length).toBe(2);
    expect(crew.edit({ kind: "change", task_id: "a", patch: { description: "do else" } })).toBe(
      'Task "a" is in progress and can no longer be edited.',
    );
    crew.release();
    await crew.host.settled(crew.id);
    expect(crew.tasks().map(([id, , status]) => [id, status])).toEqual([
      ["a", "completed"],
      ["task_002", "completed"],
    ]);
  });

  test("an invalid plan edit is refused with the reason, and the plan is unchanged", async () => {
    const crew = begin("parallel", {
      execution_mode: "step",
      tasks: [task("a", "analyst"), task("b", "coder", { dependencies: ["a"] })],
    });
    await crew.asked('Start "do a"?');
    const before = crew.tasks();
    const patch = (settings: Extract<PlanEdit, { kind: "change" }>["patch"]) =>
      crew.edit({ kind: "change", task_id: "b", patch: settings });
    expect(patch({ dependencies: ["b"] })).toContain("Circular dependency between tasks: b waits for b");
    expect(patch({ dependencies: ["z"] })).toContain('"z", which is not in the plan');
    expect(patch({ assigned_agent: "nobody" })).toBe('This crew has no agent or team "nobody".');
    expect(patch({ required_role: "poet" })).toBe('No member of this crew has the role "poet".');
    expect(crew.edit({ kind: "add", task: { description: "do it" } })).toContain("Assign the task");
    expect(crew.edit({ kind: "cancel", task_id: "z" })).toContain('There is no task "z"');
    expect(crew.edit({ kind: "cancel", task_id: "a" })).toContain("is waiting for a person's approval");
    expect(crew.tasks()).toEqual(before);
    crew.host.cancel(crew.id, { by: "ann", reason: "enough" });
    await crew.host.settled(crew.id);
    expect(crew.edit({ kind: "cancel", task_id: "b" })).toBe("This crew is no longer running.");
  });

  test("simultaneous plan edits apply in order, and a late one is refused with a warning", async () => {
    const crew = begin("sequential", {
      execution_mode: "step",
      tasks: [task("a", "analyst"), task("b", "coder")],
    });
    await crew.asked('Start "do a"?');
    const seen = crew.state().seq;
    // Both see the plan with b in it.
    expect([
      crew.edit({ kind: "cancel", task_id: "b" }),
      crew.edit({ kind: "change", task_id: "b", patch: { description: "do better" } }),
    ]).toEqual([null, null]);
    await expect.poll(() => crew.state().seq).toBe(seen + 2);
    const at = { node_id: "crew", activation_id: "crew#1" };
    expect(crew.store.events(crew.id, seen, 10).map(({ seq: _seq, ts: _ts, ...event }) => event)).toEqual([
      {
        type: "task_status_changed",
        ...at,
        command_id: "control#1",
        task_id: "b",
        payload: { from: "pending", to: "cancelled", by: "ann" },
      },
      {
        type: "warning",
        ...at,
        command_id: "control#2",
        payload: {
          code: "PLAN_EDIT_REFUSED",
          message: 'A plan edit came too late: Task "b" is cancelled and can no longer be edited.',
        },
      },
    ]);
    await crew.agree('Start "do a"?');
    await crew.host.settled(crew.id);
    expect(crew.tasks()).toEqual([
      ["a", "analyst", "completed"],
      ["b", "coder", "cancelled"],
    ]);
  });

  test("a plan edit after the crew has finished is refused", async () => {
    const crew = begin("parallel", { tasks: [task("a", "analyst")] });
    await crew.host.settled(crew.id);
    const edit = { kind: "add", task: { description: "do more", assigned_agent: "coder" } };
    const at = { activation_id: "crew#1", edit };
    expect(planEdited(crew.state(), at, { by: "ann" })).toEqual({
      event: {
        type: "warning",
        node_id: "crew",
        activation_id: "crew#1",
        payload: {
          code: "PLAN_EDIT_REFUSED",
          message: "A plan edit came too late: The crew has finished.",
        },
      },
      isChanged: false,
    });
    // Of what is no change, or is about no crew, nothing follows.
    expect(
      [{ ...at, edit: { kind: "burn" } }, { ...at, activation_id: "other#1" }, { edit }].map((command) =>
        planEdited(crew.state(), command, { by: "ann" }),
      ),
    ).toEqual([null, null, null]);
  });
});
