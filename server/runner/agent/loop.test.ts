import { describe, expect, test } from "vitest";
import { as, call, calls, newScriptedStage, of, role, runCrew, tool } from "@/server/conformance/stage";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { ModelError } from "@/server/llm/model";
import type { ScriptedStep } from "@/server/llm/scripted";

const graph = (config: JsonObject = {}, more: JsonObject = {}) =>
  draw("start > ask > end", {
    ask: {
      node_type: "agent_task",
      output_keys: ["answer"],
      config: { required_role: "Worker", task_description_template: "find it", ...config },
      ...more,
    },
  });
const tools = [tool("look")];

/** One agent at work: what it came to, and what its model was told last before each of its turns. */
async function work(
  steps: readonly ScriptedStep[],
  {
    worker = {},
    task = {},
    node = {},
    ...more
  }: {
    worker?: JsonObject;
    task?: JsonObject;
    node?: JsonObject;
    config?: object;
    input?: JsonObject;
  } = {},
) {
  const stage = newScriptedStage(steps, tools);
  const run = await stage.run(graph(task, node), { roles: [role("Worker", ["look"], worker)], ...more });
  stage.models.assertComplete();
  return {
    ...run,
    requests: stage.models.calls,
    feedback: stage.models.calls.slice(1).map(({ messages }) => messages.at(-1)!.content),
    ended: of(run.events, "agent_finished").map(({ status, output, error }) => [
      status,
      output ?? error?.message ?? null,
    ]),
  };
}
const again = (error: string) => `Your answer did not match: ${error}. Return only the corrected JSON.`;
const finish = (message: string, outputs?: JsonObject) =>
  calls(call("finish", { message, ...(outputs ? { outputs } : {}) }));

describe("the finish tool", () => {
  test.each<[string, ScriptedStep, string]>([
    ["its message", finish("  all done "), "all done"],
    ["the value of the output key", finish("see outputs", { answer: "all done" }), "all done"],
    ["its message if the value of the output key is not text", finish("all done", { answer: 7 }), "all done"],
    ["its message if only other keys are given", finish("all done", { other: "x" }), "all done"],
  ])("finish answers with %s", async (_what, step, answer) => {
    const { state, ended } = await work([step]);
    expect(state.state.answer).toBe(answer);
    expect(ended).toEqual([["completed", { answer }]]);
  });

  test("an empty finish call is followed by one request for the answer, without tools", async () => {
    const { state, feedback, requests } = await work([finish(" "), { text: "all done" }]);
    expect(state.state.answer).toBe("all done");
    expect(feedback).toEqual([again("The answer was empty")]);
    expect(requests.map((request) => [request.tools?.length ?? 0, request.response ?? null])).toEqual([
      [3, null],
      [0, null],
    ]);
  });

  test("a finish call that does not match the schema is corrected by a structured request", async () => {
    const output_schema: JsonObject = {
      type: "object",
      properties: { verdict: { enum: ["yes", "no"] } },
      required: ["verdict"],
    };
    const { state, feedback, requests } = await work(
      [finish("fine", { other: 1 }), { json: { verdict: "yes" } }],
      { worker: { output_schema } },
    );
    expect(state.state.answer).toEqual({ verdict: "yes" });
    expect(feedback).toEqual([again("verdict: is missing")]);
    expect(requests.map(({ response }) => response?.schema.required ?? null)).toEqual([null, ["verdict"]]);
  });

  test("an answer given by finish must pass the output guardrails", async () => {
    const { state, feedback, events } = await work([finish("cat"), { text: "dog" }], {
      worker: { guardrails: [{ name: "no_cats", kind: "expression", spec: "output.answer != 'cat'" }] },
    });
    expect(state.state.answer).toBe("dog");
    expect(feedback).toEqual([again("output.answer != 'cat' is not true")]);
    expect(of(events, "guardrail_checked").map(({ ok, action }) => [ok, action])).toEqual([
      [false, "retry"],
      [true, "none"],
    ]);
  });
});

describe("answers that do not match the schema", () => {
  test("an invalid answer is retried at most twice, each time with the error", async () => {
    const { state, feedback, events, ended } = await work([{ text: " " }, { text: "" }, { text: "\n" }]);
    const message = "The output didn't match the schema after 2 retries: The answer was empty.";
    expect(feedback).toEqual([again("The answer was empty"), again("The answer was empty")]);
    expect(of(events, "output_parsed")).toEqual(
      [1, 2, 3].map((attempt) => ({
        ok: false,
        errors: ["The answer was empty."],
        repair: "none",
        attempt,
      })),
    );
    expect(state.run.error).toMatchObject({
      code: "OUTPUT_INVALID",
      message,
      retryable: true,
      user_action: "retry",
    });
    expect(ended).toEqual([["failed", message]]);
  });

  test("answers rejected by a guardrail do not count as schema retries", async () => {
    const { state } = await work(
      [{ text: "" }, { text: "cat" }, { text: "" }, { text: "cat" }, { text: "dog" }],
      {
        worker: {
          guardrails: [
            { name: "no_cats", kind: "expression", spec: "output.answer != 'cat'", max_retries: 9 },
          ],
        },
      },
    );
    expect(state.state.answer).toBe("dog");
  });
});

test("a model refusal ends the task with its reason", async () => {
  const { state, ended } = await work([{ refusal: "I would rather not." }]);
  expect(state.run.error).toMatchObject({
    code: "MODEL_REFUSAL",
    message: "The model refused: I would rather not.",
    user_action: "edit_graph",
  });
  expect(ended).toEqual([["failed", "The model refused: I would rather not."]]);
});

test("an agent that calls tools up to its last turn fails without an answer", async () => {
  const look = (text: string) => calls(call("look", { text }));
  const { state, events, requests } = await work([look("a"), look("b")], { task: { max_iterations: 2 } });
  expect(state.run.error).toMatchObject({
    code: "MAX_ITERATIONS",
    message: "Worker used all 2 turns without an answer.",
    user_action: "edit_graph",
  });
  expect(of(events, "iteration_started")).toEqual([
    { global_iteration: 0, local_iteration: 0 },
    { global_iteration: 1, local_iteration: 1 },
  ]);
  expect(requests.map((request) => request.tools?.length ?? 0)).toEqual([3, 0]);
});

test("an agent with a single turn keeps its tools and gets no final-turn notice", async () => {
  const { state, requests } = await work([{ text: "known" }], { task: { max_iterations: 1 } });
  expect(state.state.answer).toBe("known");
  expect(requests[0]!.tools).toHaveLength(3);
  expect(requests[0]!.messages.at(-1)!.content).not.toContain("final answer now");
});

test("reasoning goes back to its own model, but not to the next agent after a handoff", async () => {
  const handoff = call("handoff", { destination_agent: "bob", reason: "yours" });
  const { models } = await runCrew(
    [
      { ...as("ann", calls(call("look", { text: "x" }))), text: "", reasoning: "I think" },
      as("ann", calls(handoff)),
      as("bob", { text: "done" }),
    ],
    { process: "swarm", agents: ["ann", "bob"].map((name) => ({ agent_id: name, role_name: name })) },
    { roles: [role("ann", ["look"]), role("bob")], tools },
  );
  const thoughts = models.calls.map(({ messages }) => messages.flatMap(({ reasoning }) => reasoning ?? []));
  expect(thoughts).toEqual([[], ["I think"], []]);
});

describe("input guardrails", () => {
  const rule = { name: "bees", kind: "expression", spec: "input.topic == 'bees'", target: "input" };
  const given = (topic: string) => ({
    worker: { tools: [], guardrails: [rule] },
    node: { input_keys: ["topic"] },
    input: { topic },
  });
  test("an input guardrail passes valid input and rejects other input before any model call", async () => {
    const good = await work([{ text: "hum" }], given("bees"));
    expect([good.state.state.answer, of(good.events, "guardrail_checked").length]).toEqual(["hum", 1]);
    const bad = await work([], given("wasps"));
    expect(bad.state.run.error).toMatchObject({
      code: "GUARDRAIL",
      message: "The input for Worker failed a guardrail: input.topic == 'bees' is not true.",
    });
  });
});

describe("stuck detection", () => {
  const same = calls(call("look", { txt: "x" }));
  const circles = [same, same, same, same];
  const stage = (more: readonly ScriptedStep[] = []) => newScriptedStage([...circles, ...more], tools);
  const start = (here: ReturnType<typeof stage>, on_stuck: "nudge_then_escalate" | "fail") =>
    here.start(graph(), { roles: [role("Worker", ["look"])], config: { on_stuck } });
  const asked = async (here: ReturnType<typeof stage>, id: string) => {
    await expect.poll(() => here.store.find(id)?.status).toBe("waiting");
    return Object.values(here.store.state(id)!.interactions)[0]!;
  };

  test.each([
    [
      "with their advice",
      { answer: "approve" as const, message: "Look under the bed." },
      "Look under the bed.",
    ],
    ["without advice", { answer: "approve_always" as const }, "Continue, but try a different approach."],
  ])("a stuck agent continues if a person allows it, %s", async (_how, answer, feedback) => {
    const here = stage([{ text: "found" }]);
    const id = start(here, "nudge_then_escalate");
    const question = await asked(here, id);
    expect(question.requested).toMatchObject({
      kind: "escalation",
      title: "Worker is stuck in a loop",
      why: expect.any(String) as string,
    });
    here.host.steering.answer(id, question.id, question.requested.fingerprint, { ...answer, by: "ann" });
    await here.host.settled(id);
    const state = here.store.state(id)!;
    expect([state.state.answer, here.models.calls.at(-1)!.messages.at(-1)]).toEqual([
      "found",
      { role: "user", content: feedback },
    ]);
    expect(
      of(here.store.events(id, 0, 1e6), "stuck_detected").map(({ pattern, action }) => [pattern, action]),
    ).toEqual([
      ["same_failure", "nudge"],
      ["same_failure", "escalate"],
    ]);
  });

  test("a stuck agent is stopped if a person rejects", async () => {
    const here = stage();
    const id = start(here, "nudge_then_escalate");
    const question = await asked(here, id);
    here.host.steering.answer(id, question.id, question.requested.fingerprint, {
      answer: "reject",
      by: "ann",
    });
    await here.host.settled(id);
    expect(here.store.state(id)!.run.error).toMatchObject({ code: "STUCK", user_action: "edit_graph" });
  });

  test("a stuck agent is stopped at once if the run is set to fail", async () => {
    const here = newScriptedStage([same, same, same, same], tools);
    const id = start(here, "fail");
    await here.host.settled(id);
    const { error } = here.store.state(id)!.run;
    const stuck = of(here.store.events(id, 0, 1e6), "stuck_detected");
    expect(stuck.map(({ action }) => action)).toEqual(["stop"]);
    expect(error?.message).toBe(`Worker is stuck in a loop: ${stuck[0]!.message}`);
  });
});

describe("prompts that exceed the context window", () => {
  const tooLong = (detail?: JsonObject) =>
    new ModelError({
      code: "CONTEXT_OVERFLOW",
      message: "The prompt is too long.",
      retryable: false,
      user_action: "edit_graph",
      ...(detail ? { detail } : {}),
    });
  test.each([[undefined], [{ context_window: 0 }], [{ context_window: "8000" }]])(
    "a prompt that can't be shortened ends the task: %j",
    async (detail) => {
      const { state, requests, ended } = await work([{ error: tooLong(detail) }]);
      expect(state.run.error).toMatchObject({ code: "CONTEXT_OVERFLOW" });
      expect([requests.length, ended.map(([status]) => status)]).toEqual([1, ["failed"]]);
    },
  );
  test("an error other than an overflow does not condense the context", async () => {
    const broke = new ModelError({
      code: "AUTH",
      message: "No.",
      retryable: false,
      user_action: "settings",
      detail: { context_window: 6_000 },
    });
    const { state, events } = await work([{ error: broke }]);
    expect(state.run.error?.code).toBe("AUTH");
    expect(of(events, "context_condensed")).toEqual([]);
  });
});

test("the log records what an agent starts with and how it ends", async () => {
  const { events } = await work([calls(call("look", { text: "x" })), { text: "done" }], {
    worker: { tools: ["look", "hammer"] },
    task: { max_iterations: 5 },
  });
  expect(of(events, "agent_started")).toEqual([
    {
      role_name: "Worker",
      output_keys: ["answer"],
      limits: { max_iterations: 5 },
      tools: ["look", "finish", "reject_task"],
      withheld: [{ tool_name: "hammer", reason: "There is no such tool here." }],
    },
  ]);
  const paid = of(events, "llm_call_completed");
  expect(of(events, "agent_finished")).toEqual([
    {
      status: "completed",
      output: { answer: "done" },
      usage: {
        ...paid[0]!.usage,
        input_tokens: paid[0]!.usage.input_tokens + paid[1]!.usage.input_tokens,
        output_tokens: paid[0]!.usage.output_tokens + paid[1]!.usage.output_tokens,
        requests: 2,
      },
      cost_usd: 0,
    },
  ]);
});
