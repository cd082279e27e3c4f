import type { Json, JsonObject } from "@/server/domain/base/values";
import type { OnCrash, RiskLevel, ToolProtocol, ToolStatus } from "@/server/domain/tool/tool";

/** Something that a call leads to, and where that came from. */
export interface UnvouchedPlace {
  argument: string;
  value: string;
  kind: "web" | "email" | "account" | "target" | "object" | "words" | "call";
  from: string | null;
}

/** Calls of tools, and what they leave behind. */
export interface ToolEvents {
  /** `call_id` of these events is the tool call's own, unique in the run. */
  tool_call_started: {
    tool_name: string;
    args: JsonObject;
    protocol: ToolProtocol;
    risk: RiskLevel;
    /** The model call that asked for it; absent for a node that calls a tool itself. */
    by_call?: string;
    /** Its id in the transcript. */
    tool_call_id?: string;
    repaired?: boolean;
    /** What becomes of it where it is in flight at a crash; absent where making it again does no harm. */
    on_crash?: OnCrash;
  };
  /** Not executed. 400 unreadable or wrong arguments, 403 not permitted or declined, 404 unknown, 409 in conflict. */
  tool_call_refused: {
    tool_name: string;
    args: JsonObject;
    status_code: ToolStatus;
    reason: string;
    by_call?: string;
    tool_call_id?: string;
  };
  /** It failed for a reason that passes, and will be made again; only where doing it twice does no harm. */
  tool_call_retried: {
    tool_name: string;
    /** The one that failed, from 1. */
    attempt: number;
    status_code: ToolStatus;
    error?: string;
    delay_ms: number;
  };
  tool_call_completed: {
    tool_name: string;
    status_code: ToolStatus;
    output?: Json;
    error?: string;
    /** The whole result, where `output` was cut. */
    artifact_id?: string;
    simulated?: boolean;
    latency_ms?: number;
    /** Not executed: the result of the same call in that run was reused. */
    reused?: string;
  };
  /** Its attempt ended while it was in flight: it may have happened anyway. */
  tool_call_abandoned: { tool_name: string; message: string };
  artifact_created: {
    artifact_id: string;
    path: string;
    version: number;
    size: number;
    kind: "file" | "result";
  };
}
