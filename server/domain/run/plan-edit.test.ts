import { expect, test } from "vitest";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { editPlan, PlanEdit } from "./plan-edit";

test("a change of a task touches only what it names: its priority and dependencies are not reset", () => {
  const change = { kind: "change", task_id: "write", patch: { description: "Write it again" } };
  expect(PlanEdit.parse(change)).toEqual(change);
});

test("a new task may leave out everything but what is to be done", () => {
  const add = { kind: "add", task: { description: "Check it" } };
  expect(PlanEdit.parse(add)).toEqual(add);
  expect(PlanEdit.safeParse({ kind: "add", task: {} }).success).toBe(false);
});

test("tags, the expected output and the duration of a task are changed, and taken away by an empty text", () => {
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
