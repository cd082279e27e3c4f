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

describe("an agent that ends its work by a call", () => {
  test.each<[string, ScriptedStep, string]>([
    ["its message", finish("  all done "), "all done"],
    ["what it gives by the key's name", finish("see outputs", { answer: "all done" }), "all done"],
    ["its message, where what has the key's name is no text", finish("all done", { answer: 7 }), "all done"],
    ["its message, where it gives other keys", finish("all done", { other: "x" }), "all done"],
  ])("answers with %s", async (_what, step, answer) => {
    const { state, ended } = await work([step]);
    expect(state.state.answer).toBe(answer);
    expect(ended).toEqual([["completed", { answer }]]);
  });

  test("with nothing is asked once more, for its answer alone and without tools", async () => {
    const { state, feedback, requests } = await work([finish(" "), { text: "all done" }]);
    expect(state.state.answer).toBe("all done");
    expect(feedback).toEqual([again("The answer was empty")]);
    expect(requests.map((request) => [request.tools?.length ?? 0, request.response ?? null])).toEqual([
      [3, null],
      [0, null],
    ]);
  });

  test("without the asked shape is told what is wrong, and asked by the shape", async () => {
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

  test("is held to what must hold of an answer", async () => {
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

describe("an answer of the wrong shape", () => {
  test("is corrected twice at most, each with what was wrong", async () => {
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

  test("counts as often as it comes, and not the good answers that a rule sent back between", async () => {
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

test("a model that refuses ends the task with its reason", async () => {
  const { state, ended } = await work([{ refusal: "I would rather not." }]);
  expect(state.run.error).toMatchObject({
    code: "MODEL_REFUSAL",
    message: "The model refused: I would rather not.",
    user_action: "edit_graph",
  });
  expect(ended).toEqual([["failed", "The model refused: I would rather not."]]);
});

test("an agent that calls tools to its last turn, where it has none, has come to no answer", async () => {
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

test("an agent with one turn is not told that it is the last: it has its tools", async () => {
  const { state, requests } = await work([{ text: "known" }], { task: { max_iterations: 1 } });
  expect(state.state.answer).toBe("known");
  expect(requests[0]!.tools).toHaveLength(3);
  expect(requests[0]!.messages.at(-1)!.content).not.toContain("final answer now");
});

test("what a model thought goes back to it, and not to whoever takes over", async () => {
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

describe("what an agent is given", () => {
  const rule = { name: "bees", kind: "expression", spec: "input.topic == 'bees'", target: "input" };
  const given = (topic: string) => ({
    worker: { tools: [], guardrails: [rule] },
    node: { input_keys: ["topic"] },
    input: { topic },
  });
  test("is taken where its rules hold, and else ends the task before a model sees it", async () => {
    const good = await work([{ text: "hum" }], given("bees"));
    expect([good.state.state.answer, of(good.events, "guardrail_checked").length]).toEqual(["hum", 1]);
    const bad = await work([], given("wasps"));
    expect(bad.state.run.error).toMatchObject({
      code: "GUARDRAIL",
      message: "The input for Worker failed a guardrail: input.topic == 'bees' is not true.",
    });
  });
});

describe("an agent that goes round in circles", () => {
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
      "with what they say",
      { answer: "approve" as const, message: "Look under the bed." },
      "Look under the bed.",
    ],
    ["without a word", { answer: "approve_always" as const }, "Continue, but try a different approach."],
  ])("goes on where a person lets it, %s", async (_how, answer, feedback) => {
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

  test("is stopped where a person says no", async () => {
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

  test("is stopped at once where nobody is to tell it", async () => {
    const here = newScriptedStage([same, same, same, same], tools);
    const id = start(here, "fail");
    await here.host.settled(id);
    const { error } = here.store.state(id)!.run;
    const stuck = of(here.store.events(id, 0, 1e6), "stuck_detected");
    expect(stuck.map(({ action }) => action)).toEqual(["stop"]);
    expect(error?.message).toBe(`Worker is stuck in a loop: ${stuck[0]!.message}`);
  });
});

describe("a prompt that its model cannot read", () => {
  const tooLong = (detail?: JsonObject) =>
    new ModelError({
      code: "CONTEXT_OVERFLOW",
      message: "The prompt is too long.",
      retryable: false,
      user_action: "edit_graph",
      ...(detail ? { detail } : {}),
    });
  test.each([[undefined], [{ context_window: 0 }], [{ context_window: "8000" }]])(
    "ends the task where nothing of it can go: %j",
    async (detail) => {
      const { state, requests, ended } = await work([{ error: tooLong(detail) }]);
      expect(state.run.error).toMatchObject({ code: "CONTEXT_OVERFLOW" });
      expect([requests.length, ended.map(([status]) => status)]).toEqual([1, ["failed"]]);
    },
  );
  test("is no other failure", async () => {
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

test("what an agent begins with and how it ends stand in the log", async () => {
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
