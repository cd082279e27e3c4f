import { expect, test } from "vitest";
import { interventionPoint, pointDiagnostics } from "./intervention";
import { ExecutionPlan } from "./plan";
import { isSameWord } from "./terms";

const plan = (points: string[], ...tasks: { task_id: string; description: string; tags?: string[] }[]) =>
  ExecutionPlan.parse({
    human_intervention_points: points,
    tasks: tasks.map(({ tags = [], ...task }) => ({ ...task, metadata: { tags } })),
  });
const asked = (given: ExecutionPlan, when: "before" | "after") =>
  given.tasks.flatMap((task) => (interventionPoint(task, when, given) ? [task.task_id] : []));

test("before_deployment means the task that deploys, in whatever words", () => {
  const tasks = [
    { task_id: "build", description: "Build the app" },
    { task_id: "t2", description: "Deploy the app to production" },
  ];
  expect(asked(plan(["before_deployment"], ...tasks), "before")).toEqual(["t2"]);
  expect(asked(plan(["Before_Deploying the app"], ...tasks), "before")).toEqual(["t2"]);
  expect(asked(plan(["after_deployment"], ...tasks), "before")).toEqual([]);
  expect(asked(plan(["after_deployment"], ...tasks), "after")).toEqual(["t2"]);
});

test("a task that is called so, or tagged so, is meant before those that only have the word", () => {
  const given = plan(
    ["before_Go Live"],
    { task_id: "t1", description: "Say what going live needs" },
    { task_id: "t2", description: "Publish it", tags: ["go_live"] },
  );
  expect(asked(given, "before")).toEqual(["t2"]);
});

test("points that no task is meant by, and words that are no point, are faults; on_error is not", () => {
  expect(
    pointDiagnostics(
      plan(["before_launch", "whenever", "on_error"], { task_id: "t1", description: "Write it" }),
    ),
  ).toEqual([
    { point: "before_launch", isUnknown: false },
    { point: "whenever", isUnknown: true },
  ]);
  // A planner writes the tasks later.
  expect(pointDiagnostics(plan(["before_launch"]))).toEqual([]);
});

test("words are the same in their forms, and not by their beginning", () => {
  for (const [a, b] of [
    ["deploy", "deployment"],
    ["test", "testing"],
    ["coding", "code"],
    ["integrate", "integration"],
    ["analyse", "analysis"],
  ] as const)
    expect([a, b, isSameWord(a, b)]).toEqual([a, b, true]);
  for (const [a, b] of [
    ["test", "testimony"],
    ["plan", "planet"],
    ["car", "card"],
  ] as const)
    expect([a, b, isSameWord(a, b)]).toEqual([a, b, false]);
});
