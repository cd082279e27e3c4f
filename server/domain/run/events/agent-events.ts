import type { RunError, Usage } from "@/server/domain/agent/outcome";
import type { RoleRule } from "@/server/domain/agent/role";
import type { JsonObject } from "@/server/domain/base/values";
import type { ToolCall, ToolProtocol } from "@/server/domain/tool/tool";
import type { ChatMessage } from "./chat-message";

/** What a model is asked for. */
export type CallPurpose = "task" | "plan" | "route" | "manage" | "vote" | "judge" | "summary";

/** Agents at work. */
export interface AgentEvents {
  agent_started: {
    role_name: string;
    task_id?: string;
    output_keys: string[];
    limits: { max_iterations: number };
    /** What it may call: the grant. Absent in runs from before there were tools. */
    tools?: string[];
    /** Tools of its role that it was not given, and why. */
    withheld?: { tool_name: string; reason: string }[];
    /** 0 for an agent that nobody delegated to. */
    delegate_level?: number;
    /** Key of the agent that delegated to this one. */
    parent?: string;
    /** The kind of its role's rule, if that answers instead of a model. */
    by_rule?: RoleRule["kind"];
  };
  iteration_started: { global_iteration: number; local_iteration: number; delegate_level?: number };
  message_added: {
    message: ChatMessage;
    origin: "system" | "template" | "reask" | "nudge" | "tool" | "handoff" | "person" | "rule";
    /** The instruction of a person that it brings, by its number. */
    instruction?: number;
  };
  output_parsed: {
    ok: boolean;
    errors: string[];
    repair: "none" | "jsonrepair" | "coerced" | "extracted";
    attempt: number;
  };
  /** The agent read content that nobody here vouches for: from now on what carries data out needs a person. */
  agent_tainted: { tool_name: string };
  /** The view that the agent has of its transcript became shorter; the log keeps everything. */
  context_condensed: {
    kind: "pruned" | "summarised" | "reset";
    /** Positions in the agent's messages, from inclusive, to exclusive. */
    from: number;
    to: number;
    tokens_before: number;
    tokens_after: number;
    summary?: string;
  };
  stuck_detected: { pattern: string; message: string; action: "nudge" | "stop" | "escalate" };
  guardrail_checked: {
    name: string;
    target: "input" | "output" | "tool_input" | "tool_output";
    ok: boolean;
    reason?: string;
    action: "none" | "retry" | "fail" | "escalate" | "warn";
  };
  memory_stored: { scope: string; key: string; tainted: boolean };
  agent_finished: {
    /** handed_off: another agent goes on. rejected: it says that the task cannot be done. stopped: nobody waits for it any more. */
    status: "completed" | "failed" | "handed_off" | "rejected" | "stopped";
    output?: JsonObject;
    error?: RunError;
    usage: Usage;
    cost_usd: number | null;
  };
}

/** Their calls of models. */
export interface ModelCallEvents {
  llm_call_started: {
    purpose: CallPurpose;
    attempt: number;
    message_count: number;
    model?: string;
  };
  llm_call_completed: {
    content: string;
    reasoning?: string;
    refusal?: string;
    tool_calls?: ToolCall[];
    tool_protocol?: ToolProtocol;
    finish_reason: string;
    provider: string;
    model: string;
    simulated: boolean;
    usage: Usage;
    cost_usd: number | null;
    cost_source: string;
    latency_ms: number;
    ttft_ms: number | null;
    response_format: string;
    /** It was not asked for anew: that run had the same request answered, and paid this. */
    reused?: { run_id: string; usage: Usage; cost_usd: number | null };
    /** What people should know of it, a sentence each, such as settings that were left out. */
    notes?: string[];
  };
  llm_call_failed: {
    error: RunError;
    http_status?: number;
    attempt: number;
    will_retry: boolean;
    delay_ms?: number;
    /** What it cost all the same, and whose model it was; absent where the service did nothing for it. */
    usage?: Usage;
    cost_usd?: number | null;
    cost_source?: string;
    provider?: string;
    model?: string;
    simulated?: boolean;
  };
}
