import { expect, test } from "vitest";
import { NO_USAGE, type RunError } from "@/server/domain/agent/outcome";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import type { EventType, NewEvent, Payloads, RunEvent } from "@/server/domain/run/events";
import { stories } from "../crew/testing/stories";
import { approvalGraph, approvalRun } from "../run-example";
import { newNames } from "./sentence-parts";
import { sentenceOf } from "./sentences";

const error: RunError = {
  code: "TIMEOUT",
  message: "It took too long",
  retryable: true,
  user_action: "retry",
};

const plan = ExecutionPlan.parse({ tasks: [{ task_id: "draft", description: "Draft the text" }] });
const names = newNames(approvalGraph, () => ({ "get#1": plan }));

const ended = {
  run_id: "r",
  usage: NO_USAGE,
  cost_usd: 0,
  unknown_cost_calls: 0,
  taint_sources: [],
  simulated: false,
};

/** Where a sentence decides something; that each type of event has one is the compiler's business. */
const sentence = <T extends EventType>(type: T, payload: Payloads[T], text: string) => ({
  type,
  payload,
  text,
});
test.each([
  sentence("run_recovered", { worker_id: "w", requeued: ["get#1"] }, "Server restarted; 1 step resumed"),
  sentence(
    "run_limit_raised",
    { limit: "max_active_ms", from: 60_000, to: 120_000, by: "user" },
    "Limit for running time raised from 1 min to 2 min",
  ),
  sentence(
    "state_conflict",
    { key: "a", writers: ["get#1", "yes#1"], winner: "yes#1", policy: "topological_order" },
    "Get approval and Approved both wrote “a”; kept the value from Approved",
  ),
  sentence("node_ready", { consumes: [], iteration: 3 }, "Get approval is queued for its 3rd iteration"),
  sentence(
    "node_completed",
    { output: {}, written_keys: ["a", "b", "c"] },
    "Get approval finished and wrote “a”, “b” and “c”",
  ),
  sentence(
    "node_failed",
    { attempt: 1, error, next: "retry" },
    "Get approval failed: It took too long. Will retry.",
  ),
  sentence("edge_taken", { edge_id: "e2", label: "approved" }, "Approved? → Approved was taken (approved)"),
  sentence(
    "loop_finished",
    { iterations: 5, reason: "limit", consumes: [], exit_edge: "e2" },
    "The loop at Get approval reached its limit of 5 iterations and exited through Approved? → Approved",
  ),
  sentence(
    "agent_started",
    { role_name: "Writer", task_id: "draft", output_keys: [], limits: { max_iterations: 3 } },
    "Support writer started the task “Draft the text”",
  ),
  sentence(
    "tool_call_completed",
    { tool_name: "web_search", status_code: 503, error: "not configured" },
    "web_search failed with status 503: not configured",
  ),
  sentence(
    "interaction_answered",
    { interaction_id: "i1", answer: "reject", message: "not today", by: "user" },
    "A person rejected it: not today",
  ),
  sentence(
    "llm_call_failed",
    {
      error,
      attempt: 1,
      will_retry: true,
      delay_ms: 2000,
      usage: { ...NO_USAGE, input_tokens: 1000, output_tokens: 234, estimated: true },
      cost_usd: 0.5,
    },
    "Model call failed: It took too long. Used 1,234 tokens (estimated), $0.500. Retrying in 2.0 s.",
  ),
  sentence(
    "crew_started",
    { process: "hierarchical", goal: "A report", members: [{ agent_id: "a", role_name: "A" }] },
    "A crew of 1 agent started, led by a manager",
  ),
  sentence(
    "vote_cast",
    { proposal_id: "p", round: 1, agent_id: "ada", vote: "reject", reasoning: "Too soon", confidence: 0.8 },
    "Ada voted against it: Too soon",
  ),
  sentence("node_waiting", { for: "run" }, "Get approval is waiting for another run"),
  sentence("map_started", { total: 10_000 }, "Get approval runs for 10,000 items"),
  sentence("map_progressed", { done: 488, failed: 12 }, "500 items computed, 12 failed"),
  sentence("child_started", { run_id: "r", workflow_name: "Summarize" }, "Started run of “Summarize”"),
  sentence(
    "child_started",
    { run_id: "r", workflow_name: "Summarize", item: 3 },
    "Started run of “Summarize” for item 4",
  ),
  sentence("child_finished", { ...ended, final_status: "COMPLETED" }, "The run completed"),
  sentence(
    "child_finished",
    { ...ended, item: 3, final_status: "COMPLETED", reused: "run_before" },
    "Item 4 completed, with the recorded result",
  ),
  sentence(
    "child_finished",
    { ...ended, item: 3, final_status: "ERROR", error },
    "Item 4 failed: It took too long",
  ),
  sentence("child_finished", { ...ended, final_status: "INCOMPLETE" }, "The run stopped at a limit"),
  sentence("budget_warning", { metric: "cost_usd", used: 0.8, limit: 1 }, "$0.800 of $1.000 used"),
])("the timeline describes a $type event by names and outcome", ({ type, payload, text }) => {
  const event = {
    type,
    payload,
    node_id: "get",
    activation_id: "get#1",
    agent_id: "support_writer",
    task_id: "draft",
  };
  expect(sentenceOf({ ...(event as NewEvent), seq: 1, ts: 0 }, names).text).toBe(text);
});

test.each(Object.entries(stories))(
  "every event of the %s crew story has a complete sentence",
  (_name, events) => {
    for (const event of events)
      expect(sentenceOf(event, names).text).toMatch(/^(?!.*(undefined|NaN|\[object)).+$/s);
  },
);

test("the sentences of a run form a readable story", () => {
  const story = approvalRun.map((event) => sentenceOf(event, names)).filter(({ level }) => level === "story");
  expect(story.map(({ text }) => text)).toEqual([
    "Run of Approval created from the editor, using Offline demo (simulated)",
    "Run started",
    "Approval agent started",
    "offline-demo answered in 420 ms: 150 tokens, simulated",
    "Get approval finished and wrote “approval_status” and “approver_comments”",
    "Approved? chose “approved”",
    "Rejected was skipped: another branch was taken",
    "Run completed",
  ]);
});

test("an event from a newer server is shown by its name", () => {
  const event = { type: "comet_passed_by", payload: {}, seq: 1, ts: 0 } as unknown as RunEvent;
  expect(sentenceOf(event, names).text).toBe("comet passed by");
});

test("the timeline explains why a member took an unassigned task", () => {
  const payload = {
    from: "pending" as const,
    to: "in_progress" as const,
    assigned_agent: "writer",
    chosen_because: "its role matches the task best",
  };
  const event = {
    type: "task_status_changed",
    task_id: "draft",
    activation_id: "get#1",
    payload,
  } as RunEvent;
  expect(sentenceOf(event, names)).toMatchObject({
    text: "Task “Draft the text” started, assigned to Writer: its role matches the task best",
    level: "story",
  });
});
