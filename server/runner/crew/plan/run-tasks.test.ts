import { describe, expect, test } from "vitest";
import { agent, as, call, calls, of, role, runCrew, tool } from "@/server/conformance/stage";
import { runAsked } from "../testing";

const agents = ["ann", "bob"].map((name) => agent(name));
const task = (task_id: string, more: object = {}) => ({
  task_id,
  description: `do ${task_id}`,
  assigned_agent: "ann",
  ...more,
});
const reply = (text: string, who = "ann") => as(who, { text });
type Ran = Awaited<ReturnType<typeof runAsked>>;
/** How each task stood from one moment to the next. */
const moves = ({ events }: Ran) =>
  events.flatMap((event) =>
    event.type === "task_status_changed"
      ? [`${event.task_id}: ${event.payload.from} > ${event.payload.to}`]
      : [],
  );
const statuses = ({ state }: Ran) => Object.values(state.plans)[0]!.tasks.map(({ status }) => status);
const sent = ({ models }: Ran) => models.calls.map(({ messages }) => messages.at(-1)!.content);

describe("task conditions", () => {
  test("a task whose condition is false is skipped, and its dependents still run", async () => {
    const run = await runAsked([reply("two"), reply("done a"), reply("end")], { agents }, [], {
      plan: {
        tasks: [
          task("count"),
          task("a", { condition: "state.count == 'two'", dependencies: ["count"] }),
          task("b", { condition: "state.count == 'three'", dependencies: ["count"] }),
          task("last", { dependencies: ["a", "b"] }),
        ],
      },
    });
    expect(statuses(run)).toEqual(["completed", "completed", "skipped", "completed"]);
    expect(moves(run)).toEqual([
      "count: pending > in_progress",
      "count: in_progress > completed",
      "a: pending > in_progress",
      "a: in_progress > completed",
      "b: pending > skipped",
      "last: pending > in_progress",
      "last: in_progress > completed",
    ]);
    expect(run.state.state.result).toBe("end");
  });
});

describe("tasks without an agent", () => {
  const plan = {
    tasks: [task("a", { assigned_agent: "cid" }), task("b"), task("c", { dependencies: ["a"] })],
  };
  const message = 'Task "a" needs cid, but the crew has no such agent. The crew has: ann, bob.';
  test("a task for an unknown agent stops the crew before any task starts", async () => {
    const run = await runAsked([], { agents }, [], { plan });
    expect([statuses(run), run.models.calls.length]).toEqual([["failed", "cancelled", "cancelled"], 0]);
    expect(run.state.run.error).toMatchObject({
      code: "CONFIG",
      message: `The crew stopped: ${message}`,
      user_action: "edit_graph",
    });
  });
  test("a task for an unknown agent blocks only its dependents if the crew continues", async () => {
    const run = await runAsked([reply("B")], { agents, on_task_failure: "continue_independent" }, [], {
      plan,
    });
    expect(statuses(run)).toEqual(["failed", "completed", "blocked"]);
    expect(run.state.run.warnings).toEqual([`Some of crew's tasks failed: ${message}`]);
    expect(run.state.state.result).toBe("B");
  });
});

describe("tasks that anyone may do", () => {
  const plan = {
    tasks: [
      task("a"),
      // Both have been given a task when it's decided who does the last one.
      task("b", { assigned_agent: "bob" }),
      { task_id: "c", description: "the test to be done" },
    ],
  };
  test.each([
    ["failed", as("ann", { refusal: "never" })],
    ["rejected its task", as("ann", calls(call("reject_task", { reason: "no data" })))],
  ])("an agent that %s comes after an agent that matches as well", async (_what, first) => {
    const { events } = await runCrew(
      [first, reply("B", "bob"), reply("C", "bob")],
      { agents, on_task_failure: "continue_independent" },
      { plan, tools: [tool("look")], roles: ["ann", "bob"].map((name) => role(name, ["look"])) },
    );
    expect(of(events, "task_status_changed").findLast(({ to }) => to === "in_progress")).toMatchObject({
      assigned_agent: "bob",
      chosen_because: "it matches as well as ann, and failed less often in this run",
    });
  });
});

describe("crews with only failed tasks", () => {
  test("a crew fails if all its tasks fail, even if it may continue", async () => {
    const run = await runAsked(
      [as("ann", { refusal: "never" })],
      { agents, on_task_failure: "continue_independent" },
      [],
      { plan: { tasks: [task("a"), task("b", { dependencies: ["a"] })] } },
    );
    expect(statuses(run)).toEqual(["failed", "blocked"]);
    expect(run.state.run.error).toMatchObject({
      code: "MODEL_REFUSAL",
      message: "The crew stopped: The model refused: never",
    });
  });
});

describe("approval before a task", () => {
  const plan = {
    human_intervention_points: ["before_b"],
    tasks: [task("a"), task("b", { dependencies: ["a"] })],
  };
  test("an approved task starts", async () => {
    const run = await runAsked([reply("A"), reply("B")], { agents }, [{ answer: "approve" }], { plan });
    expect(run.asked).toEqual([{ title: 'Start "do b"?', why: "The plan says before_b." }]);
    expect(moves(run)).toEqual([
      "a: pending > in_progress",
      "a: in_progress > completed",
      "b: pending > in_progress",
      "b: in_progress > awaiting_human",
      "b: awaiting_human > in_progress",
      "b: in_progress > completed",
    ]);
  });
  test.each([
    [{ answer: "reject" as const }, 'A person rejected "b".'],
    [{ answer: "reject" as const, message: "too early" }, 'A person rejected "b": too early'],
  ])("a rejected task stops the crew: %j", async (answer, message) => {
    const run = await runAsked([reply("A")], { agents }, [answer], { plan });
    expect(statuses(run)).toEqual(["completed", "failed"]);
    expect(run.state.run.error).toMatchObject({
      code: "HUMAN_REJECTED",
      message: `The crew stopped: ${message}`,
    });
  });
  test("a plan in step mode asks a person before every task", async () => {
    const run = await runAsked(
      [reply("A"), reply("B")],
      { agents },
      [{ answer: "approve" }, { answer: "approve_always" }],
      { plan: { execution_mode: "step", tasks: plan.tasks } },
    );
    expect(run.asked).toEqual([
      { title: 'Start "do a"?', why: "The plan runs step by step." },
      { title: 'Start "do b"?', why: "The plan runs step by step." },
    ]);
    expect(run.state.run.final_status).toBe("COMPLETED");
  });
});

describe("review of a result", () => {
  const reviewTitle = 'Review the result of "do a"';
  test("a reviewer can send a result back with a comment at most three times", async () => {
    const run = await runAsked(
      [reply("one"), reply("two"), reply("three"), reply("four")],
      { agents },
      [{ answer: "reject", message: "longer" }, { answer: "reject" }, { answer: "reject", message: "more" }],
      { plan: { tasks: [task("a", { human_review: true })] } },
    );
    expect(run.asked).toEqual(
      [1, 2, 3].map(() => ({ title: reviewTitle, why: "The plan requires a person's review of this task." })),
    );
    expect(run.state.state.result).toBe("four");
    const back = "A person sent the last result back: ";
    expect(sent(run).map((content) => content.split(back)[1]?.split("\n")[0] ?? null)).toEqual([
      null,
      "longer",
      "It is not good enough yet.",
      "more",
    ]);
  });
  test.each<[string, object, object, string]>([
    [
      "an intervention point after the task",
      { human_intervention_points: ["after_a"] },
      {},
      "The plan says after_a.",
    ],
    ["a human-in-the-loop plan", { execution_mode: "hitl" }, {}, "The plan runs in human-in-the-loop mode."],
    [
      "an intervention point over the task's own setting",
      { human_intervention_points: ["after_a"] },
      { human_review: true },
      "The plan says after_a.",
    ],
  ])("a review states its reason: %s", async (_what, settings, more, why) => {
    const run = await runAsked([reply("one")], { agents }, [{ answer: "approve" }], {
      plan: { ...settings, tasks: [task("a", more)] },
    });
    expect(run.asked).toEqual([{ title: reviewTitle, why }]);
    expect(run.state.state.result).toBe("one");
  });
});

describe("questions about a failure", () => {
  const plan = { tasks: [task("a"), task("b", { assigned_agent: "bob", dependencies: ["a"] })] };
  test("an approved failure skips the task with a warning, and the crew continues", async () => {
    const run = await runAsked(
      [as("ann", { refusal: "never" }), reply("B", "bob")],
      { agents, on_task_failure: "escalate" },
      [{ answer: "approve" }],
      { plan },
    );
    expect(run.asked).toEqual([
      { title: '"a" failed. Continue without it?', why: "The model refused: never" },
    ]);
    expect(statuses(run)).toEqual(["skipped", "completed"]);
    expect(run.state.run.warnings).toEqual(['Task "a" failed and was skipped: The model refused: never']);
  });
  test("a rejected failure fails the crew", async () => {
    const run = await runAsked(
      [as("ann", { refusal: "never" })],
      { agents, on_task_failure: "escalate" },
      [{ answer: "reject" }],
      { plan },
    );
    expect(statuses(run)).toEqual(["failed", "blocked"]);
    expect(run.state.run.error?.code).toBe("MODEL_REFUSAL");
  });
  test.each([["on_error"], ["On Error"]])("a failure asks a person if the plan says %s", async (point) => {
    const run = await runAsked(
      [as("ann", { refusal: "never" }), reply("B", "bob")],
      { agents },
      [{ answer: "approve" }],
      {
        plan: { ...plan, human_intervention_points: [point] },
      },
    );
    expect(statuses(run)).toEqual(["skipped", "completed"]);
  });
});

describe("results of earlier tasks", () => {
  const results = (run: Ran) =>
    sent(run).map((content) => [...content.matchAll(/<result task="(\w+)">/g)].map(([, id]) => id));
  const three = [reply("A"), reply("B", "bob"), reply("C")];
  test("a task sees its dependencies' results, or the previous result if it has none", async () => {
    const plan = {
      tasks: [task("a"), task("b", { assigned_agent: "bob" }), task("c", { dependencies: ["a"] })],
    };
    expect(results(await runAsked(three, { agents }, [], { plan }))).toEqual([[], ["a"], ["a"]]);
  });
  test("a parallel task sees only its dependencies' results, which are posted between agents", async () => {
    const plan = {
      tasks: [
        task("a"),
        task("b", { assigned_agent: "bob", dependencies: ["a"] }),
        task("c", { dependencies: ["a", "b"] }),
      ],
    };
    const run = await runAsked(
      [reply("x".repeat(400)), reply("B", "bob"), reply("C")],
      { agents, process: "parallel" },
      [],
      { plan },
    );
    expect(results(run)).toEqual([[], ["a"], ["a", "b"]]);
    expect(of(run.events, "post_sent")).toEqual([
      { from: "ann", to: "bob", message: "x".repeat(300), kind: "result" },
      { from: "bob", to: "ann", message: "B", kind: "result" },
    ]);
  });
});

describe("several crew outputs", () => {
  const keys = ["a", "report"];
  test("a single last task must return all named outputs", async () => {
    const run = await runAsked(
      [reply("first"), as("ann", { json: { a: "new", report: "R" } })],
      { agents },
      [],
      { keys, plan: { tasks: [task("a"), task("b", { dependencies: ["a"] })] } },
    );
    expect(run.state.state).toMatchObject({ a: "new", report: "R" });
  });
  test("several last tasks each fill the output of their name, and other outputs get all results", async () => {
    const run = await runAsked([reply("A"), reply("B")], { agents }, [], {
      keys,
      plan: { tasks: [task("a"), task("b")] },
    });
    expect(run.state.state).toMatchObject({ a: "A", report: { a: "A", b: "B" } });
  });
});
