import { RunConfig } from "@/server/domain/agent/outcome";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import type { NewEvent, RunEvent } from "@/server/domain/run/events";

/** The approval workflow of the reference documents, small: for tests of what shows a run. */
export const approvalGraph: WorkflowGraph = WorkflowGraph.parse({
  graph_id: "simple_approval_workflow",
  start_node_id: "start",
  nodes: {
    start: { id: "start", name: "Request", node_type: "start", output_keys: ["user_request"] },
    get: {
      id: "get",
      name: "Get approval",
      node_type: "agent_task",
      input_keys: ["user_request"],
      output_keys: ["approval_status", "approver_comments"],
      config: { required_role: "ApprovalAgent", task_description_template: "Decide: {{ user_request }}" },
    },
    router: {
      id: "router",
      name: "Approved?",
      node_type: "conditional_router",
      config: { kind: "function", router_function_name: "approval_status_router" },
    },
    yes: { id: "yes", name: "Approved", node_type: "end", input_keys: ["approval_status"] },
    no: { id: "no", name: "Rejected", node_type: "end", input_keys: ["approval_status"] },
  },
  edges: [
    { id: "e0", source_node_id: "start", target_node_id: "get" },
    { id: "e1", source_node_id: "get", target_node_id: "router" },
    { id: "e2", source_node_id: "router", target_node_id: "yes", edge_label: "approved" },
    { id: "e3", source_node_id: "router", target_node_id: "no", edge_label: "rejected" },
  ],
});

const usage = {
  input_tokens: 120,
  output_tokens: 30,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  requests: 1,
  estimated: false,
};
const agent = { node_id: "get", activation_id: "get#1", agent_id: "approval_agent" };

const happened: NewEvent[] = [
  {
    type: "run_created",
    payload: {
      graph: approvalGraph,
      roles: [],
      workflow_id: "wf_1",
      workflow_name: "Approval",
      input: { user_request: "Please approve my vacation for next week." },
      config: RunConfig.parse({}),
      trigger: "editor",
      provider_summary: { name: "Offline demo", model: "offline-demo", simulated: true },
    },
  },
  { type: "run_started", payload: {} },
  {
    type: "state_initialized",
    payload: { state: { user_request: "Please approve my vacation for next week." }, defaults_applied: [] },
  },
  { type: "node_ready", node_id: "start", activation_id: "start#1", payload: { consumes: [] } },
  { type: "node_started", node_id: "start", activation_id: "start#1", payload: { attempt: 1, input: {} } },
  {
    type: "node_completed",
    node_id: "start",
    activation_id: "start#1",
    payload: { output: { user_request: "Please approve my vacation for next week." }, written_keys: [] },
  },
  { type: "edge_taken", node_id: "get", activation_id: "start#1", payload: { edge_id: "e0" } },
  { type: "node_ready", node_id: "get", activation_id: "get#1", payload: { consumes: ["e0"] } },
  {
    type: "node_started",
    node_id: "get",
    activation_id: "get#1",
    payload: { attempt: 1, input: { user_request: "Please approve my vacation for next week." } },
  },
  {
    type: "agent_started",
    ...agent,
    payload: {
      role_name: "ApprovalAgent",
      output_keys: ["approval_status", "approver_comments"],
      limits: { max_iterations: 10 },
    },
  },
  { type: "iteration_started", ...agent, payload: { global_iteration: 1, local_iteration: 1 } },
  {
    type: "message_added",
    ...agent,
    payload: { message: { role: "system", content: "You are ApprovalAgent." }, origin: "system" },
  },
  {
    type: "message_added",
    ...agent,
    payload: {
      message: { role: "user", content: "Decide: Please approve my vacation for next week." },
      origin: "template",
    },
  },
  {
    type: "llm_call_started",
    ...agent,
    call_id: "call_1",
    payload: { purpose: "task", attempt: 1, message_count: 2 },
  },
  {
    type: "llm_call_completed",
    ...agent,
    call_id: "call_1",
    payload: {
      content: '{"approval_status":"approved","approver_comments":"Enjoy."}',
      finish_reason: "stop",
      provider: "Offline demo",
      model: "offline-demo",
      simulated: true,
      usage,
      cost_usd: 0,
      cost_source: "simulated",
      latency_ms: 420,
      ttft_ms: 40,
      response_format: "json_schema",
    },
  },
  { type: "output_parsed", ...agent, payload: { ok: true, errors: [], repair: "none", attempt: 1 } },
  {
    type: "agent_finished",
    ...agent,
    payload: { status: "completed", output: { approval_status: "approved" }, usage, cost_usd: 0 },
  },
  {
    type: "state_patched",
    node_id: "get",
    activation_id: "get#1",
    payload: { set: { approval_status: "approved", approver_comments: "Enjoy." }, writer: "get#1" },
  },
  {
    type: "node_completed",
    node_id: "get",
    activation_id: "get#1",
    payload: {
      output: { approval_status: "approved", approver_comments: "Enjoy." },
      written_keys: ["approval_status", "approver_comments"],
    },
  },
  { type: "edge_taken", node_id: "router", activation_id: "get#1", payload: { edge_id: "e1" } },
  { type: "node_ready", node_id: "router", activation_id: "router#1", payload: { consumes: ["e1"] } },
  { type: "node_started", node_id: "router", activation_id: "router#1", payload: { attempt: 1, input: {} } },
  {
    type: "router_decided",
    node_id: "router",
    activation_id: "router#1",
    payload: { kind: "function", labels: ["approved"] },
  },
  {
    type: "node_completed",
    node_id: "router",
    activation_id: "router#1",
    payload: { output: {}, written_keys: [], labels: ["approved"] },
  },
  {
    type: "edge_taken",
    node_id: "yes",
    activation_id: "router#1",
    payload: { edge_id: "e2", label: "approved" },
  },
  { type: "edge_skipped", node_id: "no", activation_id: "router#1", payload: { edge_id: "e3" } },
  { type: "node_skipped", node_id: "no", payload: { reason: "unreachable" } },
  { type: "node_ready", node_id: "yes", activation_id: "yes#1", payload: { consumes: ["e2"] } },
  {
    type: "node_started",
    node_id: "yes",
    activation_id: "yes#1",
    payload: { attempt: 1, input: { approval_status: "approved" } },
  },
  {
    type: "node_completed",
    node_id: "yes",
    activation_id: "yes#1",
    payload: { output: { approval_status: "approved" }, written_keys: [] },
  },
  {
    type: "run_finished",
    payload: {
      final_status: "COMPLETED",
      reason_code: "END_REACHED",
      output: { approval_status: "approved" },
      warnings: [],
    },
  },
];

/** A whole run as events, one tenth of a second apart. */
export const approvalRun: readonly RunEvent[] = happened.map((event, at) => ({
  ...event,
  seq: at + 1,
  ts: 1_700_000_000_000 + at * 100,
}));
