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

describe("a planner", () => {
  test("writes for the other roles of the crew, with the model that leads it, what the crew then does", async () => {
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

  test("that is alone writes for its own role", async () => {
    const run = await runAsked(
      [writes([one("a", { required_role: "boss" })]), reply("A", "boss")],
      { planning: true, agents: [agent("boss")] },
      [],
    );
    expect(run.models.calls[0]!.messages.at(-1)!.content).toContain("exactly one of these roles: boss.");
    expect(run.state.run.final_status).toBe("COMPLETED");
  });

  test.each<[string, JsonObject[], JsonObject | undefined, string]>([
    ["tasks of one name", [one("a"), one("a")], undefined, 'Two tasks are called "a"'],
    [
      "a task that waits for nothing that there is",
      [one("a", { dependencies: ["z"] })],
      undefined,
      'Task "a" waits for "z", which is not in the plan',
    ],
    [
      "more tasks than so simple a goal needs",
      [one("a"), one("b"), one("c")],
      { complexity: "simple" },
      "A simple goal allows at most 2 tasks, and these are 3. Combine some of them, or rate the goal as more complex",
    ],
  ])("is told of %s, and writes again", async (_what, tasks, intent, error) => {
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

  test("may write just as many tasks as a goal of its size needs", async () => {
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

  test("is told at which points people want to be asked, and their criteria win over its own", async () => {
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

  test("whose plan misses a point that people want is agreed to by a person, or is not carried out", async () => {
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

describe("after a task that failed, a planner", () => {
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

  test("replaces what is left by other tasks, which may rest on what is done", async () => {
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
    ["takes a name that is taken", one("ready"), '"ready" is taken; use a new task_id'],
    [
      "rests on what failed",
      one("easy", { dependencies: ["hard"] }),
      'No new task may depend on "hard", which failed',
    ],
    [
      "rests on what is not there",
      one("easy", { dependencies: ["gone"] }),
      'Task "easy" waits for "gone", which is not in the plan',
    ],
    [
      "rests on what it takes out",
      one("easy", { dependencies: ["after"] }),
      'Task "easy" waits for "after", which is not in the plan',
    ],
  ])("that %s is told so, and plans again", async (_what, task, error) => {
    const run = await runAsked([...failing, replans(task), replans(one("easy")), reply("E")], crew, [], {
      plan,
    });
    expect(mended(run)).toEqual([expect.stringContaining(error)]);
    expect(run.state.state.result).toBe("E");
  });

  test("plans anew as often as the crew may, and then the failure stands", async () => {
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
