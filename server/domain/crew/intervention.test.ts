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

test("before_deployment matches the deploy task in any wording", () => {
  const tasks = [
    { task_id: "build", description: "Build the app" },
    { task_id: "t2", description: "Deploy the app to production" },
  ];
  expect(asked(plan(["before_deployment"], ...tasks), "before")).toEqual(["t2"]);
  expect(asked(plan(["Before_Deploying the app"], ...tasks), "before")).toEqual(["t2"]);
  expect(asked(plan(["after_deployment"], ...tasks), "before")).toEqual([]);
  expect(asked(plan(["after_deployment"], ...tasks), "after")).toEqual(["t2"]);
});

test("a matching tag takes precedence over a matching description", () => {
  const given = plan(
    ["before_Go Live"],
    { task_id: "t1", description: "Say what going live needs" },
    { task_id: "t2", description: "Publish it", tags: ["go_live"] },
  );
  expect(asked(given, "before")).toEqual(["t2"]);
});

test("unmatched and unknown intervention points are reported, but not on_error", () => {
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

test("word forms match, but words with the same beginning don't", () => {
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
