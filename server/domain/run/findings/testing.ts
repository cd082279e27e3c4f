// What tests of findings make runs of.
import { RunConfig } from "@/server/domain/agent/outcome";
import { RoleDefinition } from "@/server/domain/agent/role";
import type { JsonObject } from "@/server/domain/base/values";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { draw } from "@/server/domain/testing/drawing";
import type { ToolStatus } from "@/server/domain/tool/tool";
import type { EventType, NewEvent, Payloads, RunEvent } from "../events";
import { findingsOf } from ".";

export const usage = (tokens: number) => ({
  input_tokens: tokens,
  output_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  requests: 1,
  estimated: false,
});
const crewNode = { node_type: "crew_task", name: "Crew", config: {} };
export const CREATED: NewEvent = {
  type: "run_created",
  payload: {
    graph: draw("start > work > end", { work: crewNode }),
    roles: [
      RoleDefinition.parse({ name: "Writer", tools: ["write"] }),
      RoleDefinition.parse({ name: "Editor", tools: ["publish"] }),
    ],
    workflow_id: null,
    workflow_name: "Test",
    input: {},
    config: RunConfig.parse({}),
    trigger: "test",
    provider_summary: null,
  },
};
export const log = (...events: NewEvent[]): RunEvent[] =>
  [CREATED, ...events].map((event, at) => ({ ...event, seq: at + 1, ts: at * 10 }));

let calls = 0;
export const event = <T extends EventType>(
  type: T,
  payload: Payloads[T],
  more: Partial<NewEvent> = {},
): NewEvent => ({ type, node_id: "work", activation_id: "work#1", ...more, payload }) as NewEvent;
export const by = (agent_id: string) => ({ agent_id });
export const tool = (
  agent_id: string,
  tool_name: string,
  args: JsonObject = {},
  status_code: ToolStatus = 200,
) => {
  const call_id = `tool${calls++}`;
  return [
    event("tool_call_started", { tool_name, args, protocol: "native", risk: "LOW" }, { agent_id, call_id }),
    event("tool_call_completed", { tool_name, status_code, output: "page" }, { agent_id, call_id }),
  ];
};
export const modelReply = (agent_id: string, content: string, tokens = 10) =>
  event(
    "llm_call_completed",
    {
      content,
      finish_reason: "stop",
      provider: "p",
      model: "m",
      simulated: true,
      usage: usage(tokens),
      cost_usd: 0,
      cost_source: "simulated",
      latency_ms: 1,
      ttft_ms: 1,
      response_format: "text",
    },
    { agent_id, call_id: `call${calls++}` },
  );
export const post = (from: string, to: string, message: string, more: Partial<Payloads["post_sent"]> = {}) =>
  event("post_sent", { from, to, message, kind: "post", ...more }, by(from));
export const crew = event("crew_started", {
  process: "parallel",
  goal: "a text",
  members: [
    { agent_id: "writer", role_name: "Writer" },
    { agent_id: "editor", role_name: "Editor" },
  ],
});
export const planned = (more: JsonObject = {}) =>
  event("plan_created", {
    by: "writer",
    plan: ExecutionPlan.parse({
      tasks: [{ task_id: "draft", description: "Write it", required_role: "Writer", status: "completed" }],
      success_criteria: ["It is kind"],
      ...more,
    }),
  });
export const done = event("crew_finished", { status: "completed" });
export const checked = (met: boolean) =>
  event("criterion_checked", { criterion: "It is kind", met, evidence: "It says so." });
export const finished = (final_status: "COMPLETED" | "ERROR" = "COMPLETED") =>
  event("run_finished", { final_status, reason_code: "END_REACHED", output: {}, warnings: [] });
export const parsed = event(
  "output_parsed",
  { ok: false, errors: ["title is missing"], repair: "none", attempt: 1 },
  by("writer"),
);
export const failure = {
  code: "MAX_ITERATIONS" as const,
  message: "No answer in 3 turns.",
  retryable: false,
  user_action: "edit_graph" as const,
};

export const failed = event("crew_finished", { status: "failed" });
export const task = (
  to: Payloads["task_status_changed"]["to"],
  task_id = "draft",
  more: Partial<Payloads["task_status_changed"]> = {},
) => event("task_status_changed", { from: "pending", to, ...more }, { task_id });

/** The kind and the place of each finding in a run of these events. */
export const places = (...events: NewEvent[]) =>
  findingsOf(log(...events)).map(({ kind, seq }) => [kind, seq]);
