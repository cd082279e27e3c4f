import { describe, expect, test } from "vitest";
import { agent, as, of } from "@/server/conformance/stage";
import type { JsonObject } from "@/server/domain/base/values";
import { ModelError } from "@/server/llm/model";
import type { ScriptedStep } from "@/server/llm/scripted";
import { runAsked } from "../testing";

const agents = ["boss", "bob", "cid"].map((name) => agent(name));
const crew = (more: object = {}) => ({
  process: "hierarchical" as const,
  agents,
  manager: { agent_id: "boss" },
  ...more,
});

/** What the manager decides in a round. Unless said, it goes well and bob is sent to. */
function decides({
  to = "bob",
  stop = null,
  loop = false,
  progress = true,
  satisfied = false,
  plan = ["ask bob"],
  ...more
}: {
  to?: string;
  stop?: string | null;
  loop?: boolean;
  progress?: boolean;
  satisfied?: boolean;
  plan?: string[];
  message?: string;
  outputs?: JsonObject;
  forward?: string | null;
} = {}) {
  return as("boss", {
    json: {
      plan,
      current_plan_step: "the step",
      send_to: to,
      message: "do it",
      ledger: {
        is_request_satisfied: { answer: satisfied, reason: "s" },
        is_in_loop: { answer: loop, reason: "l" },
        is_progress_being_made: { answer: progress, reason: "nothing moves" },
      },
      stop,
      ...more,
    },
  } satisfies ScriptedStep);
}
const done = (more: object = {}) =>
  decides({ to: "User", stop: "Completed", satisfied: true, message: "all of it", ...more });
const replies = (text: string, who = "bob") => as(who, { text });
const stuck = (more: object = {}) => decides({ progress: false, ...more });

const counts = (events: Parameters<typeof of>[0]) =>
  of(events, "ledger_updated").map(({ stalls, replans }) => [stalls, replans]);
/** What the manager was told in each round. */
const managerPrompts = ({ models }: Awaited<ReturnType<typeof runAsked>>) =>
  models.calls.flatMap(({ messages, response }) => (response ? [messages.at(-1)!.content] : []));

test("a manager sends one message per round, and the log records its board and ledger", async () => {
  const run = await runAsked(
    [
      decides(),
      replies("bob's part"),
      decides({ to: "cid", plan: ["ask bob", "ask cid"], message: "and you?" }),
      replies("cid's part", "cid"),
      done({ plan: ["ask bob", "ask cid"] }),
    ],
    crew({ max_rounds: 5 }),
    [],
  );
  expect(run.state.state.result).toBe("all of it");
  expect(of(run.events, "post_sent")).toEqual([
    { from: "boss", to: "bob", message: "do it", kind: "post" },
    { from: "bob", to: "boss", message: "bob's part", kind: "reply" },
    { from: "boss", to: "cid", message: "and you?", kind: "post" },
    { from: "cid", to: "boss", message: "cid's part", kind: "reply" },
    { from: "boss", to: "User", message: "all of it", kind: "reply" },
  ]);
  expect(of(run.events, "board_written")).toEqual([
    { alias: "boss", bulletin: "Request: the goal" },
    { alias: "boss", bulletin: "Request: the goal\nPlan:\n- ask bob" },
    { alias: "boss", bulletin: "Request: the goal\nPlan:\n- ask bob\n- ask cid" },
  ]);
  expect(of(run.events, "ledger_updated")[0]).toEqual({
    ledger: {
      is_request_satisfied: { answer: false, reason: "s" },
      is_in_loop: { answer: false, reason: "l" },
      is_progress_being_made: { answer: true, reason: "nothing moves" },
    },
    current_step: "the step",
    stalls: 0,
    replans: 0,
  });
  const prompts = managerPrompts(run);
  expect(prompts[0]).toContain("Lead your team to the goal. This is round 1 of at most 5.");
  expect(prompts[1]).toContain('<reply from="bob">bob\'s part</reply>\nContinue with round 2 of at most 5.');
  expect(prompts[2]).toContain('<reply from="cid">cid\'s part</reply>\nContinue with round 3 of at most 5.');
});

test("a manager can forward a member's last reply as its answer", async () => {
  const run = await runAsked(
    [
      decides(),
      replies("bob's part"),
      done({ forward: "cid" }),
      done({ forward: "bob", message: "Here it is." }),
    ],
    crew(),
    [],
  );
  expect(run.state.state.result).toBe("bob's part");
  expect(of(run.events, "post_sent").at(-1)).toMatchObject({ to: "User", message: "bob's part" });
  expect(managerPrompts(run)[2]).toContain("cid has not replied yet, so there is nothing to forward.");
});

test("a worker remembers only its own conversation with the manager", async () => {
  const { models } = await runAsked(
    [
      decides({ message: "first" }),
      replies("one"),
      decides({ message: "second" }),
      replies("two"),
      decides({ to: "cid", message: "third" }),
      replies("three", "cid"),
      done(),
    ],
    crew(),
    [],
  );
  const talks = models.calls.flatMap(({ messages, response }) =>
    response ? [] : [messages.slice(1).map(({ role: from, content }) => [from, content])],
  );
  expect(talks.map((talk) => talk.map(([from]) => from))).toEqual([
    ["user"],
    ["user", "assistant", "user"],
    ["user"],
  ]);
  expect(talks[1]!.slice(0, 2)).toEqual([talks[0]![0], ["assistant", "one"]]);
});

describe("rounds without progress", () => {
  test("stalled rounds count from the second on, and a round with progress subtracts one", async () => {
    const { events } = await runAsked(
      [
        stuck(),
        replies("1"),
        stuck(),
        replies("2"),
        decides({ loop: true }),
        replies("3"),
        decides(),
        replies("4"),
        decides(),
        replies("5"),
        decides(),
        replies("6"),
        done(),
      ],
      crew({ max_stalls: 3 }),
      [],
    );
    expect(counts(events)).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
      [1, 0],
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
  });

  test("too many stalled rounds cause a new plan, and too many new plans end the crew", async () => {
    const run = await runAsked(
      [stuck(), replies("1"), stuck(), replies("2"), stuck(), stuck(), replies("4"), stuck()],
      crew({ max_stalls: 2, max_replans: 1 }),
      [],
    );
    expect(counts(run.events)).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
      [1, 1],
      [2, 1],
    ]);
    expect(run.state.run.error).toMatchObject({
      code: "STUCK",
      message: "crew made no progress, even after 1 new plans: nothing moves",
      user_action: "edit_graph",
    });
    expect(of(run.events, "post_sent").filter(({ kind }) => kind === "feedback")).toEqual([
      {
        from: "boss",
        to: "boss",
        message: "No progress; replanning.",
        kind: "feedback",
      },
    ]);
    expect(managerPrompts(run)[3]).toContain(
      "There was no progress. Restate what is known and what is not, and make a new plan that avoids what did not work.",
    );
  });

  test("a final answer counts even in a stalled round", async () => {
    const { state } = await runAsked(
      [stuck(), replies("1"), done({ progress: false })],
      crew({ max_stalls: 1, max_replans: 0 }),
      [],
    );
    expect(state.state.result).toBe("all of it");
  });
});

describe("a manager's final decision", () => {
  test.each([["TaskFailure"], ["SecurityRisks"]])(
    "a manager that stops with %s fails the crew with its message",
    async (stop) => {
      const { state } = await runAsked(
        [decides({ to: "User", stop, message: "It would burn." })],
        crew(),
        [],
      );
      expect(state.run.error).toMatchObject({
        code: "REJECTED",
        message: "boss gave up: It would burn.",
        user_action: "edit_graph",
      });
    },
  );

  test("a manager can't stop in a message to a member", async () => {
    const { models, state } = await runAsked([decides({ stop: "Completed" }), done()], crew(), []);
    expect(models.calls[1]!.messages.at(-1)!.content).toContain('stop "Completed" goes with send_to "User"');
    expect(state.state.result).toBe("all of it");
  });

  test("a manager fails at the crew's round limit", async () => {
    const { state } = await runAsked(
      [decides(), replies("1"), decides(), replies("2")],
      crew({ max_rounds: 2 }),
      [],
    );
    expect([state.run.final_status, state.run.output]).toEqual(["ERROR", { result: "2" }]);
    expect(state.run.error).toMatchObject({
      code: "MAX_ITERATIONS",
      message: "crew reached its limit of 2 rounds.",
      user_action: "edit_graph",
    });
  });
});

test("a final answer must contain every requested value", async () => {
  const { state, models } = await runAsked(
    [done(), done({ outputs: { a: "A" } }), done({ outputs: { a: "A", b: "B" } })],
    crew(),
    [],
    { keys: ["a", "b"] },
  );
  expect(state.state).toMatchObject({ a: "A", b: "B" });
  expect(models.calls.slice(1).map(({ messages }) => messages.at(-1)!.content)).toEqual([
    expect.stringContaining("outputs lacks a, b"),
    expect.stringContaining("outputs lacks b"),
  ]);
  expect(models.calls[0]!.response!.schema.properties).toMatchObject({
    send_to: { enum: ["bob", "cid", "User"] },
    outputs: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
    },
  });
  expect(models.calls[0]!.messages.map(({ content }) => content).join("\n")).toContain(
    '- outputs: with "Completed", one value for each of a, b.',
  );
});

test("a single requested value needs no outputs field, and the manager's own model answers", async () => {
  const { models } = await runAsked(
    [done()],
    crew({ manager: { agent_id: "boss", llm_config: { model: "large" } } }),
    [],
  );
  const [request] = models.calls;
  expect(request!.response!.schema.properties).not.toHaveProperty("outputs");
  expect(request!.messages.map(({ content }) => content).join("\n")).not.toContain("- outputs:");
  expect(request!.llm_config.model).toBe("large");
});

describe("failing workers", () => {
  test("a worker's failure is reported to the manager, which can continue", async () => {
    const run = await runAsked([decides(), as("bob", { refusal: "never" }), done()], crew(), []);
    expect(managerPrompts(run)[1]).toContain(
      '<reply from="bob">I could not do it: The model refused: never</reply>',
    );
    expect(run.state.state.result).toBe("all of it");
  });
  test("a worker's authentication error ends the crew", async () => {
    const error = new ModelError({
      code: "AUTH",
      message: "The key is refused.",
      retryable: false,
      user_action: "settings",
    });
    const { state } = await runAsked([decides(), as("bob", { error })], crew(), []);
    expect(state.run.error?.code).toBe("AUTH");
  });
});

describe("questions to the person", () => {
  const asks = decides({ to: "bob", stop: "AdditionalInformation", message: "Which town?" });
  test("a manager's question goes to the person, who can answer without text", async () => {
    const run = await runAsked([asks, done()], crew(), [{ answer: "approve" }]);
    expect(run.asked).toEqual([{ title: "boss has a question", why: "Which town?" }]);
    expect(of(run.events, "post_sent").slice(0, 2)).toEqual([
      { from: "boss", to: "User", message: "Which town?", kind: "question" },
      { from: "User", to: "boss", message: "Continue as you think best.", kind: "answer" },
    ]);
    expect(managerPrompts(run)[1]).toContain("User answers:\n<answer>Continue as you think best.</answer>");
  });
  test.each([
    { answer: "given", value: { message: "Ghent" } },
    { answer: "approve", message: "Ghent" },
  ] as const)("a manager reads an answer in words: %j", async (answer) => {
    const run = await runAsked([asks, done()], crew(), [answer]);
    expect(managerPrompts(run)[1]).toContain("User answers:\n<answer>Ghent</answer>");
  });
  test("a question that a person rejects ends the crew", async () => {
    const { state } = await runAsked([asks], crew(), [{ answer: "reject" }]);
    expect(state.run.error).toMatchObject({
      code: "HUMAN_REJECTED",
      message: "crew had an unanswered question: Which town?",
    });
  });
});
