import { describe, expect, test } from "vitest";
import { agent, as, of } from "@/server/conformance/stage";
import type { JsonObject } from "@/server/domain/base/values";
import { runAsked } from "../testing";

const agents = ["boss", "ann", "bob"].map((name) => agent(name));
const one = (task_id: string, more: object = {}) => ({
  task_id,
  description: `do ${task_id}`,
  required_role: "ann",
  dependencies: [],
  expected_output: "text",
  ...more,
});
const writes = (tasks: JsonObject[], more: object = {}) =>
  as("boss", { json: { parsed_intent: { goal: "g", complexity: "complex" }, tasks, ...more } });
const reply = (text: string, who = "ann") => as(who, { text });
type Ran = Awaited<ReturnType<typeof runAsked>>;
const planOf = ({ state }: Ran) => Object.values(state.plans)[0]!;
/** What the planner was told to mend, before each of its further answers. */
const mended = ({ models }: Ran) =>
  models.calls.flatMap(({ messages, response }) => {
    const last = messages.at(-1)!.content;
    return response && last.startsWith("Your answer did not match: ") ? [last] : [];
  });
const planning = { planning: true, agents, manager: { agent_id: "boss", llm_config: { model: "large" } } };

describe("planning", () => {
  test("a planner writes tasks for the other roles of its crew, with its own model", async () => {
    const run = await runAsked(
      [
        writes([
          one("a", { tags: ["x"], priority: null }),
          one("b", { required_role: "bob", dependencies: ["a"] }),
        ]),
        reply("A"),
        reply("B", "bob"),
      ],
      planning,
      [],
    );
    expect(planOf(run)).toMatchObject({
      user_instruction: "the goal",
      parsed_intent: { goal: "g", complexity: "complex" },
      tasks: [
        { task_id: "a", status: "completed", priority: "medium", metadata: { tags: ["x"] } },
        { task_id: "b", status: "completed", dependencies: ["a"] },
      ],
    });
    expect(of(run.events, "plan_created").map(({ by }) => by)).toEqual(["boss"]);
    const [request] = run.models.calls;
    expect(request!.llm_config.model).toBe("large");
    expect(request!.messages.at(-1)!.content).toContain("exactly one of these roles: ann, bob.");
    expect(request!.messages.at(-1)!.content).not.toContain("A person is asked at these points");
    expect(request!.messages.at(-1)!.content).not.toContain("Tag each task");
  });

  test("a planner without other members writes tasks for its own role", async () => {
    const run = await runAsked(
      [writes([one("a", { required_role: "boss" })]), reply("A", "boss")],
      { planning: true, agents: [agent("boss")] },
      [],
    );
    expect(run.models.calls[0]!.messages.at(-1)!.content).toContain("exactly one of these roles: boss.");
    expect(run.state.run.final_status).toBe("COMPLETED");
  });

  test.each<[string, JsonObject[], JsonObject | undefined, string]>([
    ["duplicate task names", [one("a"), one("a")], undefined, 'Two tasks are called "a"'],
    [
      "an unknown dependency",
      [one("a", { dependencies: ["z"] })],
      undefined,
      'Task "a" waits for "z", which is not in the plan',
    ],
    [
      "too many tasks for a simple goal",
      [one("a"), one("b"), one("c")],
      { complexity: "simple" },
      "A simple goal allows at most 2 tasks, and these are 3. Combine some of them, or rate the goal as more complex",
    ],
  ])("a planner corrects its plan after an error about %s", async (_what, tasks, intent, error) => {
    const run = await runAsked(
      [
        writes(tasks, intent ? { parsed_intent: { goal: "g", ...intent } } : {}),
        writes([one("a")]),
        reply("A"),
      ],
      planning,
      [],
    );
    expect(mended(run)).toEqual([expect.stringContaining(error)]);
    expect(run.state.state.result).toBe("A");
  });

  test("a planner may write as many tasks as the complexity of its goal allows", async () => {
    const run = await runAsked(
      [
        writes([one("a"), one("b")], { parsed_intent: { goal: "g", complexity: "simple" } }),
        reply("A"),
        reply("B"),
      ],
      planning,
      [],
    );
    expect(mended(run)).toEqual([]);
    expect(planOf(run).tasks).toHaveLength(2);
  });

  test("a planner is told the intervention points, and configured criteria override its own", async () => {
    const criteria = ["cel: output.result == 'A'"];
    const run = await runAsked(
      [writes([one("deploy", { tags: ["deploy"] })], { success_criteria: ["it shines"] }), reply("A")],
      planning,
      [{ answer: "approve" }],
      {
        plan: {
          tasks: [],
          human_intervention_points: ["before_deploy", "on_error"],
          success_criteria: criteria,
          execution_mode: "breakpoint",
        },
      },
    );
    expect(run.models.calls[0]!.messages.at(-1)!.content).toContain(
      "\nA person is asked at these points: before_deploy. Tag the task that each refers to with its name.",
    );
    expect(run.asked).toEqual([{ title: 'Start "do deploy"?', why: "The plan says before_deploy." }]);
    expect(planOf(run)).toMatchObject({
      success_criteria: criteria,
      execution_mode: "breakpoint",
      human_intervention_points: ["before_deploy", "on_error"],
    });
    expect(of(run.events, "criterion_checked")).toEqual([
      { criterion: criteria[0], met: true, evidence: "It is true." },
    ]);
  });

  test("a plan that misses a requested intervention point needs a person's approval", async () => {
    const plan = { tasks: [], human_intervention_points: ["before_deployment"] };
    const title = "Skip the requested reviews?";
    const yes = await runAsked([writes([one("write")]), reply("A")], planning, [{ answer: "approve" }], {
      plan,
    });
    expect(yes.asked.map((question) => question.title)).toEqual([title]);
    expect(yes.state.state.result).toBe("A");
    const no = await runAsked(
      [writes([one("write")])],
      planning,
      [{ answer: "reject", message: "ask me first" }],
      { plan },
    );
    expect(no.state.run.error).toMatchObject({
      code: "HUMAN_REJECTED",
      message: "crew's plan was rejected: ask me first",
    });
  });
});

describe("replanning after a failed task", () => {
  const plan = {
    tasks: [
      { task_id: "ready", description: "be ready", assigned_agent: "bob" },
      { task_id: "hard", description: "do the impossible", assigned_agent: "ann", dependencies: ["ready"] },
      { task_id: "after", description: "go on", assigned_agent: "ann", dependencies: ["hard"] },
    ],
  };
  const failing = [reply("R", "bob"), as("ann", { refusal: "never" })];
  const replans = (...tasks: JsonObject[]) => as("boss", { json: { tasks } });
  const crew = { agents, on_task_failure: "replan" as const, manager: { agent_id: "boss" } };

  test("a new plan replaces the remaining tasks and can build on completed ones", async () => {
    const run = await runAsked(
      [...failing, replans(one("easy", { dependencies: ["ready"], tags: ["new"] })), reply("E")],
      crew,
      [],
      { plan },
    );
    expect(planOf(run).tasks.map(({ task_id, status }) => [task_id, status])).toEqual([
      ["ready", "completed"],
      ["hard", "failed"],
      ["after", "cancelled"],
      ["easy", "completed"],
    ]);
    expect(of(run.events, "plan_changed")).toMatchObject([
      {
        version: 2,
        by: "boss",
        added: [{ task_id: "easy", metadata: { tags: ["new"] } }],
        changed: { after: { status: "cancelled" } },
        reason: "The model refused: never",
      },
    ]);
    expect(run.state.state.result).toBe("E");
    const asked = run.models.calls[2]!.messages.at(-1)!.content;
    expect(asked).toContain('The task "hard" failed:\n<failure>The model refused: never</failure>');
    expect(asked).toContain("ready");
  });

  test.each<[string, JsonObject, string]>([
    ["reuses a name", one("ready"), '"ready" is taken; use a new task_id'],
    [
      "depends on the failed task",
      one("easy", { dependencies: ["hard"] }),
      'No new task may depend on "hard", which failed',
    ],
    [
      "depends on an unknown task",
      one("easy", { dependencies: ["gone"] }),
      'Task "easy" waits for "gone", which is not in the plan',
    ],
    [
      "depends on a cancelled task",
      one("easy", { dependencies: ["after"] }),
      'Task "easy" waits for "after", which is not in the plan',
    ],
  ])("a planner corrects a new plan with a task that %s", async (_what, task, error) => {
    const run = await runAsked([...failing, replans(task), replans(one("easy")), reply("E")], crew, [], {
      plan,
    });
    expect(mended(run)).toEqual([expect.stringContaining(error)]);
    expect(run.state.state.result).toBe("E");
  });

  test("a crew fails once its replans are used up", async () => {
    const run = await runAsked(
      [...failing, replans(one("easy")), as("ann", { refusal: "again" })],
      { ...crew, max_replans: 1 },
      [],
      { plan },
    );
    expect(of(run.events, "plan_changed")).toHaveLength(1);
    expect(run.state.run.error).toMatchObject({
      code: "MODEL_REFUSAL",
      message: "The crew stopped: The model refused: again",
    });
  });
});
