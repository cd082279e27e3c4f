import { expect, test } from "vitest";
import { agent, call, calls, crewGraph, newScriptedStage, role } from "@/server/conformance/stage";
import type { JsonObject } from "@/server/domain/base/values";
import type { PersonsAnswer } from "@/server/domain/run/questions/tool-question";
import { draw } from "@/server/domain/testing/drawing";
import { TEXT_ANSWER } from "@/server/domain/tool/person-question";
import type { ScriptedStep } from "@/server/llm/scripted";

const TOOLS = ["request_approval", "approval_gateway", "request_feedback", "escalate_to_human"];
const graph = draw("start > ask > end", {
  ask: {
    node_type: "agent_task",
    output_keys: ["answer"],
    config: { required_role: "Worker", task_description_template: "Ask somebody." },
  },
});

type Stage = ReturnType<typeof newScriptedStage>;
async function asked(stage: Stage, id: string) {
  const open = () =>
    Object.values(stage.store.state(id)?.interactions ?? {}).find(({ status }) => status === "open");
  await expect.poll(open).toBeDefined();
  return open()!;
}

/** One agent that calls such a tool, and a person who answers; what they were asked, and what the agent was told. */
async function turnsTo(tool: string, args: JsonObject, answer: PersonsAnswer) {
  const stage = newScriptedStage([calls(call(tool, args)), { text: "done" }]);
  const id = stage.start(graph, { roles: [role("Worker", TOOLS)] });
  const { id: question, requested } = await asked(stage, id);
  stage.host.steering.answer(id, question, requested.fingerprint, { ...answer, by: "ann" });
  await stage.host.settled(id);
  const [made] = Object.values(stage.store.state(id)!.tool_calls);
  return { requested, output: made!.output, state: stage.store.state(id)! };
}

test("request_approval shows the action, and its comment reaches the agent", async () => {
  const { requested, output } = await turnsTo(
    "request_approval",
    { action: "Delete the old letters", context: { count: 3 }, timeout: 60 },
    { answer: "chosen", option: "rejected", message: "keep them" },
  );
  expect(requested).toMatchObject({
    kind: "approval",
    title: "Worker asks for your approval",
    body: "Delete the old letters",
    args: { count: 3 },
    timeout_s: 60,
    on_timeout: "reject",
  });
  expect(output).toEqual({ approved: false, by: "ann", comment: "keep them" });
});

test("request_feedback returns an answer to each question", async () => {
  const { requested, output } = await turnsTo(
    "request_feedback",
    { artifact: "Dear Ann", questions: ["Is it kind?", "Is it short?"] },
    { answer: "given", value: { answer_1: "very", answer_2: "no" } },
  );
  expect([requested.kind, requested.body, requested.questions]).toEqual([
    "feedback",
    "Dear Ann",
    ["Is it kind?", "Is it short?"],
  ]);
  expect(output).toEqual({
    status: "answered",
    by: "ann",
    answers: [
      { question: "Is it kind?", answer: "very" },
      { question: "Is it short?", answer: "no" },
    ],
  });
});

test.each([
  ["low", "async"],
  ["normal", "async"],
  ["high", "sync"],
  ["critical", "sync"],
])("an escalation with %s urgency is %s", async (urgency, mode) => {
  const { requested, output } = await turnsTo(
    "escalate_to_human",
    { issue: "Two laws contradict each other", urgency, required_expertise: ["law"] },
    { answer: "approve", message: "take the newer one" },
  );
  expect(requested).toMatchObject({ kind: "escalation", urgency, mode, required_expertise: ["law"] });
  expect(output).toEqual({ go_on: true, by: "ann", answer: "take the newer one" });
});

test("an approval that times out is rejected, even after an escalation", async () => {
  const stage = newScriptedStage([
    calls(
      call("approval_gateway", {
        action: "Send it",
        timeout: 2,
        escalation_policy: [{ after_s: 1, to: "the lead" }],
      }),
    ),
    { text: "done" },
  ]);
  const { state, events } = await stage.run(graph, { roles: [role("Worker", TOOLS)] });
  expect(events.flatMap(({ type }) => (type.startsWith("interaction") ? type : []))).toEqual([
    "interaction_requested",
    "interaction_escalated",
    "interaction_answered",
  ]);
  const [made] = Object.values(state.tool_calls);
  expect(made!.output).toMatchObject({ approved: false, by: "nobody" });
});

const late = [calls(call("request_feedback", { artifact: "Draft", questions: ["Good?"], no_wait: true }))];
const wait = calls(call("escalate_to_human", { issue: "Wait for the answer" }));

/** A run whose first question nobody waits for; it is answered while the second one is open, which is answered then. */
async function answeredLate(
  steps: readonly ScriptedStep[],
  graphOf: Parameters<Stage["start"]>[0],
  names: string[],
) {
  const stage = newScriptedStage(steps);
  const id = stage.start(graphOf, { roles: names.map((name) => role(name, [...TOOLS, "read_board"])) });
  await expect.poll(() => Object.keys(stage.store.state(id)?.interactions ?? {}).length).toBe(2);
  const [first, second] = Object.values(stage.store.state(id)!.interactions);
  const give = (one: typeof first, value: PersonsAnswer) =>
    stage.host.steering.answer(id, one!.id, one!.requested.fingerprint, { ...value, by: "ann" });
  expect([first!.requested.mode, first!.status]).toEqual(["advisory", "open"]);
  expect(give(first, { answer: "given", value: { answer_1: "too long" } })).toBe(true);
  await expect.poll(() => stage.store.state(id)!.interactions[first!.id]!.status).toBe("answered");
  give(second, { answer: "approve" });
  await stage.host.settled(id);
  return { state: stage.store.state(id)!, question: first!.id };
}

test("an agent that does not wait continues at once and receives the answer later", async () => {
  const { state } = await answeredLate([...late, wait, { text: "done" }], graph, ["Worker"]);
  expect(Object.values(state.tool_calls)[0]!.output).toEqual({ status: "pending" });
  const { messages } = Object.values(state.agents)[0]!;
  expect(messages.filter(({ content }) => content.includes("too long")).map(({ role }) => role)).toEqual([
    "user",
  ]);
  expect(state.run.final_status).toBe("COMPLETED");
});

test("an answer that arrives after its agent finished is posted on the crew's board", async () => {
  const crew = crewGraph(
    { process: "sequential", agents: [agent("Asker"), agent("Worker")] },
    {
      tasks: [
        { task_id: "a", description: "Ask", assigned_agent: "Asker" },
        { task_id: "b", description: "Work", assigned_agent: "Worker" },
      ],
    },
  );
  const { state, question } = await answeredLate([...late, { text: "asked" }, wait, { text: "done" }], crew, [
    "Asker",
    "Worker",
  ]);
  expect(Object.values(state.crews)[0]!.board).toEqual({
    [`human:${question}`]: expect.stringContaining("too long"),
  });
});

test.each<[PersonsAnswer, JsonObject]>([
  [
    { answer: "chosen", option: "approved" },
    { approved: true, by: "ann", comment: "" },
  ],
  [
    { answer: "chosen", option: "rejected" },
    { approved: false, by: "ann", comment: "" },
  ],
])("an approval without a comment returns an empty comment: %j", async (answer, output) => {
  const turn = await turnsTo("request_approval", { action: "Do it" }, answer);
  expect(turn.output).toEqual(output);
  expect(turn.requested).not.toHaveProperty("args");
  expect(turn.requested).not.toHaveProperty("taint_sources");
});

test("declined feedback is reported to the agent as declined", async () => {
  const ask = { artifact: "Dear Ann", questions: ["Is it kind?"] };
  const declined = await turnsTo("request_feedback", ask, { answer: "reject", message: "no time" });
  expect(declined.output).toEqual({ status: "declined", by: "ann", comment: "no time" });
  expect(declined.requested).toMatchObject({
    why: "One question.",
    response_schema: {
      type: "object",
      properties: { answer_1: { type: "string", title: "Is it kind?", maxLength: 8000 } },
      required: ["answer_1"],
    },
  });
  expect((await turnsTo("request_feedback", ask, { answer: "reject" })).output).toEqual({
    status: "declined",
    by: "ann",
    comment: "",
  });
});

test.each<[PersonsAnswer, JsonObject]>([
  [{ answer: "approve" }, { go_on: true, by: "ann", answer: "" }],
  [
    { answer: "given", value: { message: "wait a day" } },
    { go_on: true, by: "ann", answer: "wait a day" },
  ],
  [
    { answer: "reject", message: "stop" },
    { go_on: false, by: "ann", answer: "stop" },
  ],
])("an escalation is answered in words, or with yes or no: %j", async (answer, output) => {
  const { output: actual, requested } = await turnsTo("escalate_to_human", { issue: "What now?" }, answer);
  expect(actual).toEqual(output);
  expect(requested).toMatchObject({
    urgency: "normal",
    mode: "async",
    body: "What now?",
    response_schema: TEXT_ANSWER,
  });
  expect(requested).not.toHaveProperty("required_expertise");
});
