import { expect, test } from "vitest";
import { NO_USAGE, RunConfig, type RunError } from "@/server/domain/agent/outcome";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import type { EventType, NewEvent, Payloads, RunEvent } from "@/server/domain/run/events";
import { approvalGraph, approvalRun } from "../run-example";
import { newNames } from "./sentence-parts";
import { eventTypes, sentenceOf } from "./sentences";

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
  clock_jumped: [
    { ms: 120_000 },
    "The machine slept, or its clock was set forward: 2 min do not count as running time",
  ],
  run_limit_raised: [
    { limit: "max_active_ms", from: 60_000, to: 120_000, by: "user" },
    "The limit of running time was raised from 1 min to 2 min",
  ],
  run_resumed: [{ by: "user" }, "The run goes on"],
  run_paused: [
    { by: "run", reason: "breakpoint", at: { point: "loop_iteration", node_id: "write", iteration: 2 } },
    "The run was paused at round 2 of write at a breakpoint",
  ],
  run_continued: [{ by: "user", as: "step", granularity: "turn" }, "The run goes on by one turn"],
  state_edited: [{ set: { n: 2 }, remove: [], words: [], by: "user" }, "user set “n” in the state"],
  next_overridden: [{ to: "yes", by: "user" }, "user sent the run from Get approval to Approved"],
  member_changed: [
    { agent_id: "worker", action: "removed", by: "user" },
    "user took worker out of the crew of Get approval",
  ],
  next_agent_taken: [{ agent_id: "worker" }, "worker goes on, as a person chose"],
  signal_received: [{ name: "paid", data: null, by: "user" }, "user sent the signal “paid”"],
  signal_taken: [{ name: "paid" }, "Get approval took the signal “paid”, which had been sent before"],
  node_retried: [{ by: "user" }, "user has Get approval tried again"],
  instruction_injected: [
    { target: { node_id: "get" }, text: "Be brief.", by: "user" },
    "user told Get approval: Be brief.",
  ],
  node_skipped_by: [{ output: {}, by: "user" }, "user gave Get approval its output; it is not carried out"],
  breakpoints_set: [{ breakpoints: [{ on: "error" }], by: "user" }, "The run has 1 breakpoint now"],
  run_forked: [
    {
      from_run: "run_1",
      from_seq: 12,
      patches: { state: { set: { a: 1 }, remove: ["b"] } },
      graph: "latest",
      by: "user",
    },
    "From here on it goes its own way, with another “a” and “b” and the present drawing; what came before is its original's",
  ],
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
  node_skipped: [{ reason: "unreachable" }, "Get approval was skipped: another branch was taken"],
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
    "Support writer takes up the task “Draft the text”",
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
    "m-1 answered in 1.5 s: 1,234 tokens, Price unknown",
  ],
  llm_call_failed: [
    {
      error,
      attempt: 1,
      will_retry: true,
      delay_ms: 2000,
      usage: { ...NO_USAGE, input_tokens: 1000, output_tokens: 234, reasoning_tokens: 200, estimated: true },
      cost_usd: 0.5,
    },
    "The model did not answer: It took too long. It took 1,234 tokens (200 for thoughts, estimated), $0.500. It will be asked again in 2.0 s.",
  ],
  output_parsed: [
    { ok: false, errors: ["no JSON"], repair: "none", attempt: 1 },
    "The answer does not fit: no JSON",
  ],
  agent_finished: [
    { status: "failed", error, usage: NO_USAGE, cost_usd: null },
    "Support writer failed: It took too long",
  ],
  agent_tainted: [
    { tool_name: "browse_url" },
    "Support writer read what browse_url brought from outside; from now on a person confirms what leaves",
  ],
  context_condensed: [
    { kind: "summarised", from: 1, to: 8, tokens_before: 9000, tokens_after: 1200 },
    "The older part was summed up in what Support writer reads: 9,000 tokens became 1,200",
  ],
  stuck_detected: [
    { pattern: "repeated_action", message: "the same search four times", action: "nudge" },
    "Support writer goes round in circles: the same search four times. It was asked to try another way.",
  ],
  guardrail_checked: [
    { name: "no_secrets", target: "output", ok: false, reason: "it holds a password", action: "retry" },
    "The check “no_secrets” did not pass: it holds a password. It will be tried again.",
  ],
  tool_call_started: [
    { tool_name: "web_search", args: {}, protocol: "native", risk: "LOW" },
    "Support writer uses web_search",
  ],
  tool_call_refused: [
    { tool_name: "file_write", args: {}, status_code: 403, reason: "the role may not use it" },
    "file_write was not carried out: the role may not use it",
  ],
  tool_call_retried: [
    { tool_name: "web_search", attempt: 1, status_code: 503, error: "It is asleep", delay_ms: 1000 },
    "web_search failed with 503: It is asleep. It will be called again in 1.0 s.",
  ],
  tool_call_completed: [
    { tool_name: "web_search", status_code: 503, error: "not configured" },
    "web_search failed with 503: not configured",
  ],
  tool_call_abandoned: [
    { tool_name: "mail", message: "mail was abandoned in flight: it may have happened." },
    "mail was abandoned in flight: it may have happened.",
  ],
  interaction_requested: [
    {
      interaction_id: "i1",
      kind: "tool_confirmation",
      title: "May Writer send this?",
      why: "It leaves this installation",
      fingerprint: "f",
      expires_at: 0,
    },
    "A person is asked: May Writer send this?",
  ],
  interaction_reminded: [
    { interaction_id: "i1" },
    "Half of the time to answer is over, and nobody has answered",
  ],
  interaction_escalated: [
    { interaction_id: "i1", level: 1, to: "the lead" },
    "Nobody answered in time, so the lead is asked",
  ],
  interaction_extended: [{ interaction_id: "i1", expires_at: 5 }, "The question stays open a little longer"],
  interaction_answered: [
    { interaction_id: "i1", answer: "reject", message: "not today", by: "user" },
    "A person said no: not today",
  ],
  artifact_created: [
    { artifact_id: "a1", path: "report.md", version: 2, size: 10, kind: "file" },
    "The file report.md was changed (version 2)",
  ],
  memory_stored: [
    { scope: "crew", key: "tone", tainted: true },
    "Support writer remembers “tone” for crew, from content of strangers",
  ],
  crew_started: [
    { process: "hierarchical", goal: "A report", members: [{ agent_id: "a", role_name: "A" }] },
    "A crew of 1 agent begins, led by a manager",
  ],
  crew_finished: [{ status: "completed", rounds: 3 }, "The crew is done after 3 rounds"],
  round_started: [{ round: 2 }, "Round 2 of the crew begins"],
  post_sent: [
    { from: "manager", to: "code_writer", message: "Please\nbegin.", kind: "question" },
    "Manager asks Code writer: Please begin.",
  ],
  ledger_updated: [
    { ledger: {}, current_step: "Find sources", stalls: 1, replans: 0 },
    "The manager took stock: Find sources (1 round without progress)",
  ],
  board_written: [{ alias: "researcher", bulletin: "Found it." }, "Researcher wrote on the board: Found it."],
  handed_off: [
    { from: "triage", to: "billing", reason: "it is about an invoice", count: 1 },
    "Triage hands over to Billing: it is about an invoice",
  ],
  delegation_started: [
    { from: "lead", to: "tester", task: "Test it", kind: "delegate", level: 1, child: "k" },
    "Lead gives a task to Tester: Test it",
  ],
  delegation_finished: [
    { from: "lead", to: "tester", child: "k", status: "failed" },
    "Tester could not do it for Lead",
  ],
  team_changed: [
    { team: "core", action: "created", agents: ["ada", "ben"], by: "lead" },
    "Lead made the team “core” of Ada and Ben",
  ],
  proposal_created: [
    { proposal_id: "p", decision: "Ship on Friday", rationale: "", by: "chair", stakeholders: [] },
    "Chair proposes: Ship on Friday",
  ],
  vote_cast: [
    { proposal_id: "p", round: 1, agent_id: "ada", vote: "reject", reasoning: "Too soon", confidence: 0.8 },
    "Ada votes against it: Too soon",
  ],
  consensus_finalized: [
    {
      proposal_id: "p",
      outcome: "approved",
      rule: "majority",
      approve: 2,
      reject: 1,
      abstain: 0,
      turnout: 1,
      decided_by: "votes",
    },
    "The proposal is accepted (2 for, 1 against, 0 abstained)",
  ],
  plan_created: [
    { plan: ExecutionPlan.parse({ tasks: [{ task_id: "a", description: "A" }] }), by: "Planner" },
    "Planner made a plan of 1 task",
  ],
  plan_changed: [
    { version: 2, by: "planner", changed: { a: {} }, reason: "a source is gone" },
    "Planner changed the plan (1 task changed): a source is gone",
  ],
  criterion_checked: [
    { criterion: "Three sources", met: false, evidence: "only two" },
    "“Three sources” is not met: only two",
  ],
  task_status_changed: [
    { from: "pending", to: "in_progress", assigned_agent: "writer" },
    "The task “Draft the text” began with Writer",
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
    agent_id: "support_writer",
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
    "Approval agent takes up the work",
    "offline-demo answered in 420 ms: 150 tokens, simulated",
    "Get approval is done and wrote “approval_status” and “approver_comments”",
    "Approved? chose “approved”",
    "Rejected was skipped: another branch was taken",
    "The run is completed",
  ]);
});

test("an event of a newer server is shown by its name", () => {
  const event = { type: "comet_passed_by", payload: {}, seq: 1, ts: 0 } as unknown as RunEvent;
  expect(sentenceOf(event, names).text).toBe("comet passed by");
});

test("why a member does a task that names nobody stands in the story of the run", () => {
  const payload = {
    from: "pending" as const,
    to: "in_progress" as const,
    assigned_agent: "writer",
    chosen_because: "the words of its role fit the task best",
  };
  const event = {
    type: "task_status_changed",
    task_id: "draft",
    activation_id: "get#1",
    payload,
  } as RunEvent;
  expect(sentenceOf(event, names)).toMatchObject({
    text: "The task “Draft the text” began with Writer: the words of its role fit the task best",
    level: "story",
  });
});
