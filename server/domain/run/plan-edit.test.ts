import { expect, test } from "vitest";
import { PlanEdit } from "./plan-edit";

test("a change of a task touches only what it names: its priority and dependencies are not reset", () => {
  const change = { kind: "change", task_id: "write", patch: { description: "Write it again" } };
  expect(PlanEdit.parse(change)).toEqual(change);
});

test("a new task may leave out everything but what is to be done", () => {
  const add = { kind: "add", task: { description: "Check it" } };
  expect(PlanEdit.parse(add)).toEqual(add);
  expect(PlanEdit.safeParse({ kind: "add", task: {} }).success).toBe(false);
});
