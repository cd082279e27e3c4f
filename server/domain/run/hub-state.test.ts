import { describe, expect, test } from "vitest";
import { NO_USAGE, type RunError } from "@/server/domain/agent/outcome";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent, Payloads } from "./events";
import { hubHistory, hubState } from "./hub-state";
import { created, fold, of, over, paused, ready, started } from "./testing";

const graph = draw("start > a > end");
const by = { agent_id: "ann" };
const error = (code: RunError["code"]): RunError => ({
  code,
  message: `${code}.`,
  retryable: true,
  user_action: "none",
});
const agent = of(
  "a",
  "agent_started",
  { role_name: "Writer", output_keys: [], limits: { max_iterations: 3 } },
  by,
);
const turn = of("a", "iteration_started", { global_iteration: 4, local_iteration: 2 }, by);
const begun: NewEvent[] = [
  created(graph),
  { type: "run_started", payload: {} },
  ready("a"),
  started("a"),
  agent,
];
const asked = (call_id: string, more: object = {}) =>
  of("a", "llm_call_started", { purpose: "task", attempt: 1, message_count: 1 }, { ...by, call_id, ...more });
const answered = (call_id: string, cost_usd: number | null, more: object = {}) =>
  of(
    "a",
    "llm_call_completed",
    {
      content: "x",
      finish_reason: "stop",
      provider: "p",
      model: "m",
      simulated: false,
      usage: { ...NO_USAGE, input_tokens: 3, requests: 1 },
      cost_usd,
      cost_source: "table",
      latency_ms: 1,
      ttft_ms: 1,
      response_format: "text",
    },
    { ...by, call_id, ...more },
  );
const failed = (call_id: string, code: RunError["code"]) =>
  of("a", "llm_call_failed", { error: error(code), attempt: 1, will_retry: true }, { ...by, call_id });
const question = (kind: Payloads["interaction_requested"]["kind"], agent_id = "ann") =>
  of(
    "a",
    "interaction_requested",
    { interaction_id: "q", kind, title: "?", why: "", fingerprint: "f", expires_at: 900 },
    { agent_id },
  );
const answer = (word: Payloads["interaction_answered"]["answer"]) =>
  of("a", "interaction_answered", { interaction_id: "q", answer: word, by: "eve" }, by);
const tool = of(
  "a",
  "tool_call_started",
  { tool_name: "look", args: {}, protocol: "native", risk: "LOW" },
  { ...by, call_id: "t" },
);
const ends = (status: Payloads["agent_finished"]["status"], of_: RunError | null = null) =>
  of("a", "agent_finished", { status, usage: NO_USAGE, cost_usd: 0, ...(of_ ? { error: of_ } : {}) }, by);

const hubOf = (...events: NewEvent[]) => hubState(fold(...begun, ...events));
test.each<[string, NewEvent[], string]>([
  ["starts", [], "LOADING"],
  ["has a turn", [turn], "RUNNING"],
  ["completed", [turn, ends("completed")], "FINISHED"],
  ["handed off", [ends("handed_off")], "FINISHED"],
  ["rejected its task", [ends("rejected")], "REJECTED"],
  ["failed", [ends("failed")], "ERROR"],
  ["was stopped", [ends("stopped")], "STOPPED"],
  ["stopped with its run at a limit", [over({ final_status: "INCOMPLETE" })], "PAUSED"],
  ["ended with its run", [over()], "STOPPED"],
  ["asks to confirm a call", [turn, question("tool_confirmation")], "AWAITING_USER_CONFIRMATION"],
  ["asks a person a question", [turn, question("question")], "AWAITING_USER_INPUT"],
  ["works while another agent asks", [turn, question("question", "bob")], "RUNNING"],
  ["was just confirmed", [turn, question("review"), answer("approve")], "USER_CONFIRMED"],
  ["was just confirmed permanently", [turn, question("review"), answer("approve_always")], "USER_CONFIRMED"],
  ["was just rejected", [turn, question("review"), answer("reject")], "USER_REJECTED"],
  ["continued with a model call", [turn, question("review"), answer("reject"), asked("c")], "RUNNING"],
  ["continued with a tool call", [turn, question("review"), answer("approve"), tool], "RUNNING"],
  ["is paused with its run", [turn, paused], "PAUSED"],
  ["waits at a limit", [turn, of("a", "node_waiting", { for: "limit" })], "PAUSED"],
  ["is rate-limited by its provider", [turn, asked("c"), failed("c", "RATE_LIMIT")], "RATE_LIMITED"],
  ["has another kind of failure", [turn, asked("c"), failed("c", "TRANSIENT")], "RUNNING"],
  ["calls its provider again", [turn, asked("c"), failed("c", "RATE_LIMIT"), asked("d")], "RUNNING"],
])("the agent hub shows the state of an agent that %s", (_how, events, state) => {
  expect(hubOf(...events).subtasks.map(({ agent_state }) => agent_state)).toEqual([state]);
});

test.each<[string, NewEvent[], string]>([
  ["has an active agent", [turn], "RUNNING"],
  ["is paused", [turn, paused], "PAUSED"],
  ["stopped at a limit", [over({ final_status: "INCOMPLETE" })], "PAUSED"],
  ["completed", [over()], "FINISHED"],
  ["failed", [over({ final_status: "ERROR" })], "ERROR"],
  ["was cancelled", [over({ final_status: "CANCELLED" })], "STOPPED"],
])("the agent hub shows the state of a run that %s", (_how, events, state) => {
  expect(hubOf(...events).root_task.agent_state).toBe(state);
});

test("the agent hub shows whether a run is paused or rate-limited", () => {
  expect(hubOf(turn).traffic_control_state).toBe("normal");
  expect(hubOf(turn, paused).traffic_control_state).toBe("paused");
  expect(hubOf(turn, asked("c"), failed("c", "RATE_LIMIT")).traffic_control_state).toBe("throttling");
  expect(hubOf(turn, asked("c"), failed("c", "RATE_LIMIT"), asked("d")).traffic_control_state).toBe("normal");
});

test("the agent hub shows a run's goal, counters, costs, state and last error", () => {
  const s = fold(
    created(graph, {
      input: { n: 1, wish: "Write." },
      config: { confirmation: { kind: "never" }, max_global_iterations: 9 },
    }),
    { type: "state_initialized", payload: { state: { n: 1 }, defaults_applied: [] } },
    ready("a"),
    started("a"),
    agent,
    turn,
    of("a", "stuck_detected", { pattern: "x", message: "x", action: "nudge" }, by),
    asked("c1"),
    answered("c1", 0.5),
    asked("c2"),
    answered("c2", null),
    asked("c3", { task_id: "other" }),
    answered("c3", 2, { task_id: "other" }),
    asked("c4"),
    failed("c4", "CONFIG"),
  );
  const usage = { ...NO_USAGE, input_tokens: 6, requests: 2 };
  expect(hubState(s)).toEqual({
    root_task: { goal: "Write.", agent_state: "LOADING" },
    subtasks: [
      {
        id: "a#1/ann",
        agent: "ann",
        role: "Writer",
        agent_state: "RUNNING",
        delegate_level: 0,
        parent: null,
        local_iteration: 2,
        almost_stuck: 1,
        metrics: { usage, cost_usd: 0.5, unknown_cost_calls: 1 },
      },
    ],
    iteration: 5,
    max_iterations: 9,
    traffic_control_state: "normal",
    confirmation_mode: false,
    last_error: null,
    start_id: 1,
    end_id: 15,
    metrics: { usage: { ...NO_USAGE, input_tokens: 9, requests: 3 }, cost_usd: 2.5, unknown_cost_calls: 1 },
    extra_data: { n: 1 },
  });
  const empty = hubState(fold());
  expect(empty.root_task).toEqual({ goal: "", agent_state: "LOADING" });
  expect(empty.start_id).toBe(0);
  expect(empty.end_id).toBe(0);
  expect(empty.subtasks).toEqual([]);
});

test("the last error is the run's if it has one, otherwise the last agent's", () => {
  const failedAgent = ends("failed", error("CONFIG"));
  expect(hubOf().last_error).toBeNull();
  expect(hubOf(failedAgent).last_error).toBe("CONFIG.");
  const failedRun = over({ final_status: "ERROR", error: error("TIMEOUT") });
  expect(hubOf(failedAgent, failedRun).last_error).toBe("TIMEOUT.");
});

test("an agent counts as almost stuck only while it is active", () => {
  const stuck = of("a", "stuck_detected", { pattern: "x", message: "x", action: "nudge" }, by);
  expect(hubOf(stuck, stuck).subtasks[0]?.almost_stuck).toBe(2);
  expect(hubOf(stuck, ends("failed", error("CONFIG"))).subtasks[0]?.almost_stuck).toBe(0);
});

describe("agent history in the hub's format", () => {
  const view = (...messages: Payloads["message_added"]["message"][]) => {
    const events = messages.map((message) => of("a", "message_added", { message, origin: "template" }, by));
    return hubHistory(fold(...begun, ...events).agents["a#1/ann"]!);
  };
  const call = { id: "t1", tool_name: "look", args: { page: 1 } };
  test("the agent history omits system messages and results of unknown calls", () => {
    const history = view(
      { role: "system", content: "You are ann." },
      { role: "user", content: "Write." },
      { role: "assistant", content: "I look.", tool_calls: [call] },
      { role: "tool", content: "look (200): a page", tool_call_id: "t1" },
      { role: "tool", content: "look (200): lost", tool_call_id: "t9" },
      { role: "tool", content: "look (200): lost" },
      { role: "assistant", content: "Done." },
    );
    expect(history.map((one) => one.action ?? one.observation)).toHaveLength(4);
    expect(history).toMatchObject([
      { action: "message", args: { content: "Write.", wait_for_response: false } },
      { args: { thought: "I look." } },
      { content: "a page" },
      { action: "message", args: { content: "Done.", wait_for_response: true } },
    ]);
  });

  test("a tool result without a valid status is kept unchanged", () => {
    const result = (content: string) =>
      view(
        { role: "assistant", content: "", tool_calls: [call] },
        { role: "tool", content, tool_call_id: "t1" },
      )[1]?.content;
    expect(result("plain words")).toBe("plain words");
    expect(result("look (200): fine")).toBe("fine");
    expect(result("look (999): odd")).toBe("look (999): odd");
    expect(result("look (200): two\nlines")).toBe("two\nlines");
    expect(result("look (404): no such page")).toContain("no such page");
  });
});
