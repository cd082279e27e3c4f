import { expect, test } from "vitest";
import type { EventType, NewEvent, Payloads, RunEvent } from "@/server/domain/events";
import { NO_USAGE, RunConfig, type RunError } from "@/server/domain/outcome";
import { ExecutionPlan } from "@/server/domain/plan";
import { approvalGraph, approvalRun } from "./run-example";
import { eventTypes, newNames, sentenceOf } from "./sentences";

const error: RunError = {
  code: "TIMEOUT",
  message: "It took too long",
  retryable: true,
  user_action: "retry",
};

/** One payload of every type, and the sentence for it; the compiler asks for each. */
const examples: { [T in EventType]: [payload: Payloads[T], sentence: string] } = {
  run_created: [
    {
      graph: approvalGraph,
      roles: [],
      workflow_id: "wf",
      workflow_name: "Approval",
      input: {},
      config: RunConfig.parse({}),
      trigger: "api",
      provider_summary: { name: "Offline demo", model: "demo", simulated: true },
    },
    "Run of Approval created through the API, answered by Offline demo (simulated)",
  ],
  run_started: [{}, "The run began"],
  run_cancel_requested: [{ by: "user", reason: "" }, "Cancelling was asked for"],
  run_recovered: [{ worker_id: "w", requeued: ["get#1"] }, "The server came back; 1 step under way went on"],
  run_limit_raised: [
    { limit: "max_active_ms", from: 60_000, to: 120_000, by: "user" },
    "The limit of running time was raised from 1 min 00 s to 2 min 00 s",
  ],
  run_resumed: [{ by: "user" }, "The run goes on"],
  run_finished: [
    { final_status: "ERROR", reason_code: "TIMEOUT", error, output: {}, warnings: [] },
    "The run failed: It took too long",
  ],
  state_initialized: [
    { state: { a: 1, b: 2 }, defaults_applied: ["b"] },
    "The state begins with “a” and “b”; “b” by default",
  ],
  state_patched: [{ set: { a: 1 }, writer: "get#1" }, "“a” written to the state"],
  state_conflict: [
    { key: "a", writers: ["get#1", "yes#1"], winner: "yes#1", policy: "topological_order" },
    "Get approval and Approved both wrote “a”; the value of Approved stays",
  ],
  state_invalid: [
    { key: "a", errors: ["not a number"], writer: "get#1" },
    "“a” does not fit the state's schema: not a number",
  ],
  node_ready: [{ consumes: [], iteration: 3 }, "Get approval is queued for its 3rd round"],
  node_started: [{ attempt: 2, input: {} }, "Get approval began its 2nd attempt"],
  node_waiting: [{ for: "timer" }, "Get approval waits for its time to come"],
  node_completed: [
    { output: {}, written_keys: ["a", "b", "c"] },
    "Get approval is done and wrote “a”, “b” and “c”",
  ],
  node_failed: [
    { attempt: 1, error, next: "retry" },
    "Get approval failed: It took too long. It will be tried again.",
  ],
  node_retry_scheduled: [{ attempt: 2, delay_ms: 1500 }, "Get approval will be tried a 2nd time in 1.5 s"],
  node_skipped: [{ reason: "unreachable" }, "Get approval is skipped: nothing leads there any more"],
  node_cancelled: [{ reason: "another branch won" }, "Get approval was cancelled: another branch won"],
  edge_taken: [{ edge_id: "e2", label: "approved" }, "Approved? → Approved was taken (approved)"],
  edge_skipped: [{ edge_id: "e3" }, "Approved? → Rejected was not taken"],
  token_absorbed: [{ consumes: [] }, "A late branch arrived at Get approval and was not needed"],
  join_rearmed: [{}, "Get approval is open for its branches again"],
  join_shortfall: [
    { got: 1, need: 2, action: "error", consumes: [] },
    "Only 1 of 2 branches reached Get approval; that is an error",
  ],
  loop_started: [{ max: 5 }, "A loop begins at Get approval, 5 rounds at most"],
  loop_iteration: [{ iteration: 2, max: 5 }, "Round 2 of at most 5 at Get approval"],
  loop_finished: [
    { iterations: 5, reason: "limit", consumes: [], exit_edge: "e2" },
    "The loop at Get approval reached its limit of 5 rounds and leaves by Approved? → Approved",
  ],
  router_decided: [
    { kind: "llm", labels: ["approved"], reason: "it is short" },
    "Get approval chose “approved”: it is short",
  ],
  timer_fired: [{}, "The timer rang"],
  agent_started: [
    { role_name: "Writer", task_id: "draft", output_keys: [], limits: { max_iterations: 3 } },
    "Writer takes up the task “Draft the text”",
  ],
  iteration_started: [{ global_iteration: 11, local_iteration: 2 }, "Turn 2 (the run's 11th)"],
  message_added: [
    { message: { role: "user", content: "Hi" }, origin: "reask" },
    "The model was asked again for an answer that fits",
  ],
  llm_call_started: [{ purpose: "plan", attempt: 1, message_count: 2 }, "The model is asked for a plan"],
  llm_call_completed: [
    {
      content: "",
      finish_reason: "stop",
      provider: "p",
      model: "m-1",
      simulated: false,
      usage: { ...NO_USAGE, input_tokens: 1200, output_tokens: 34 },
      cost_usd: null,
      cost_source: "unknown",
      latency_ms: 1500,
      ttft_ms: null,
      response_format: "text",
    },
    "m-1 answered in 1.5 s: 1,234 tokens, 1 call of unknown price",
  ],
  llm_call_failed: [
    { error, attempt: 1, will_retry: true, delay_ms: 2000 },
    "The model did not answer: It took too long. It will be asked again in 2.0 s.",
  ],
  output_parsed: [
    { ok: false, errors: ["no JSON"], repair: "none", attempt: 1 },
    "The answer does not fit: no JSON",
  ],
  agent_finished: [
    { status: "failed", error, usage: NO_USAGE, cost_usd: null },
    "The agent failed: It took too long",
  ],
  plan_created: [
    { plan: ExecutionPlan.parse({ tasks: [{ task_id: "a", description: "A" }] }), by: "Planner" },
    "Planner made a plan of 1 task",
  ],
  task_status_changed: [
    { from: "pending", to: "in_progress", assigned_agent: "writer" },
    "The task “Draft the text” began with writer",
  ],
  budget_warning: [{ metric: "cost_usd", used: 0.8, limit: 1 }, "$0.800 of $1.000 are used up"],
  budget_exceeded: [
    { metric: "total_tokens", used: 1200, limit: 1000 },
    "The budget is used up: 1,200 tokens of 1,000 tokens",
  ],
  warning: [{ code: "W", message: "Take care." }, "Take care."],
};

const plan = ExecutionPlan.parse({ tasks: [{ task_id: "draft", description: "Draft the text" }] });
const names = newNames(approvalGraph, () => ({ "get#1": plan }));

test.each(Object.keys(examples) as EventType[])("%s has its sentence", (type) => {
  const event = {
    type,
    payload: examples[type][0],
    node_id: "get",
    activation_id: "get#1",
    task_id: "draft",
  };
  expect(sentenceOf({ ...(event as NewEvent), seq: 1, ts: 0 }, names).text).toBe(examples[type][1]);
});

test("no type is without a sentence", () => {
  expect([...eventTypes].sort()).toEqual(Object.keys(examples).sort());
});

test("the story of a run reads as one", () => {
  const story = approvalRun.map((event) => sentenceOf(event, names)).filter(({ level }) => level === "story");
  expect(story.map(({ text }) => text)).toEqual([
    "Run of Approval created from the editor, answered by Offline demo (simulated)",
    "The run began",
    "ApprovalAgent takes up the work",
    "offline-demo answered in 420 ms: 150 tokens, simulated",
    "Get approval is done and wrote “approval_status” and “approver_comments”",
    "Approved? chose “approved”",
    "Rejected is skipped: nothing leads there any more",
    "The run is completed",
  ]);
});

test("an event of a newer server is shown by its name", () => {
  const event = { type: "tool_call_started", payload: {}, seq: 1, ts: 0 } as unknown as RunEvent;
  expect(sentenceOf(event, names).text).toBe("tool call started");
});
