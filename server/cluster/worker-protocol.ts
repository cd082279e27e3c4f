import { z } from "zod";
import type { LiveFrame } from "@/server/domain/base/durable";
import { isObject } from "@/server/domain/base/guards";
import { Json, JsonObject } from "@/server/domain/base/values";
import { Capability, ModelFacts } from "@/server/domain/model/provider";
import { Share } from "@/server/domain/model/provider-lease";
import type { ProviderSnapshot } from "@/server/domain/model/provider-snapshot";
import { WorkerState } from "@/server/domain/run/engine-state";
import type { RunEvent } from "@/server/domain/run/events";
import { SecretUse } from "@/server/domain/tool/secret-schemas";
import { CallableTool, ToolOutput, ToolQuestion } from "@/server/domain/tool/tool";
import type { SegmentProgress } from "@/server/runner/lifecycle/segment-progress";
import type { SentTurn } from "@/server/runner/log/record-turns";
import type { SegmentHold, SegmentJournal } from "./protocol";

// The requests of workers to the server's own port. Workers authenticate with a shared token, so bodies are validated for
// their schema only.

const Id = z.string().min(1).max(300);
const Count = z.number().int().min(0);

const Event = z.custom<RunEvent>(
  (value) => isObject(value) && typeof value.type === "string" && typeof value.seq === "number",
);
const Frame = z.custom<LiveFrame>(
  (value) =>
    isObject(value) &&
    value.type === "llm_delta" &&
    typeof value.call_id === "string" &&
    typeof value.channel === "string" &&
    typeof value.offset === "number" &&
    typeof value.text === "string",
);
const Turn = z.custom<SentTurn>(
  (value) =>
    isObject(value) &&
    Number.isInteger(value.turn) &&
    Number.isInteger(value.lastSeq) &&
    typeof value.at === "number" &&
    Array.isArray(value.timers) &&
    z.array(Event).safeParse(value.events).success,
);
const End = z.custom<NonNullable<SegmentProgress["end"]>>(
  (value) =>
    isObject(value) && typeof value.kind === "string" && ["rested", "held", "broke"].includes(value.kind),
);

export const NewsBody: z.ZodType<SegmentProgress> = z.object({
  run_id: Id,
  stretch: z.number().int().min(1),
  worker: z.string().max(200),
  turns: z.array(Turn),
  end: End.exactOptional(),
});

export const HoldBody: z.ZodType<SegmentHold> = z.object({
  run_id: Id,
  stretch: z.number().int().min(1),
  worker: z.string().max(200),
});

export const LiveBody = z.object({ run_id: Id, frames: z.array(Frame).max(10_000) });

/** The caller of a tool: the serializable part of `ToolScope`. */
export const CallerBody = z.object({
  run: z.object({ id: Id, workflow_id: Id.nullable() }).nullable(),
  agent: z
    .object({
      agent_id: z.string(),
      role_name: z.string(),
      node_id: z.string(),
      task_id: z.string().exactOptional(),
      memory_scopes: z.array(z.string()).exactOptional(),
    })
    .nullable(),
});

const Answer = z.object({
  question: ToolQuestion,
  action: z.enum(["accept", "decline", "cancel"]),
  content: JsonObject.exactOptional(),
});

export const InvokeBody = z.object({
  name: z.string().max(200),
  args: JsonObject,
  scope: CallerBody.extend({
    idempotencyKey: z.string().min(1).max(4000),
    originalKey: z.string().min(1).max(4000).exactOptional(),
    again: Count.exactOptional(),
    secrets: z.array(SecretUse).exactOptional(),
    answers: z.array(Answer).exactOptional(),
    callable: z.array(CallableTool).exactOptional(),
    called: z.object({ nth: Count, output: ToolOutput }).exactOptional(),
    tainted: z.boolean().exactOptional(),
  }),
});
export type InvokeBody = z.infer<typeof InvokeBody>;

export const WithdrawnBody = z.object({ role: z.string(), tool: z.string() });

export const KeepBody = z.object({
  run_id: Id,
  key: z.string().min(1).max(4000),
  tool: z.string().max(200),
  tainted: z.boolean(),
  text: z.string(),
});

export const RunCodeBody = z.object({
  run_id: Id,
  program: z.object({
    code: z.string(),
    input: Json.exactOptional(),
    timeout_ms: z.number().exactOptional(),
    kept: JsonObject.exactOptional(),
    tools: z.array(z.string()),
    results: z.array(z.object({ tool: z.string(), args: Json, output: ToolOutput })),
    at: z.number(),
  }),
});

/** A frame to a worker: a channel is opened, a message comes over it, or it is closed. */
export const ToWorker = z.object({
  wire: Id,
  /** An entry of the operator's file: tool:NAME or mcp:NAME. */
  open: z.string().exactOptional(),
  message: Json.exactOptional(),
  closed: z.string().exactOptional(),
});
export type ToWorker = z.infer<typeof ToWorker>;

/** The poll of a worker with labels. */
export const LineBody = z.object({
  worker: Id,
  name: z.string().max(200),
  labels: z.array(z.string()).max(100),
  /** The entries of the operator's file that it executes. */
  offers: z.array(z.string()).max(1000),
  /** As the server named it; null: none yet. */
  line: z.string().nullable(),
  /** The number of the last frame that it received over it. */
  heard: Count,
  /** Calls that it executes or has the answers of, by `callId`; absent if reported over this connection before. */
  calls: z.array(z.string()).exactOptional(),
});
export type LineBody = z.infer<typeof LineBody>;

export const LineAnswer = z.object({
  /** If not the requested one, the server doesn't know the state of that one. */
  line: z.string(),
  /** The number of the first frame. */
  from: z.number().int(),
  frames: z.array(ToWorker),
});
export type LineAnswer = z.infer<typeof LineAnswer>;

/** Frames from a worker; `from`: the number of the first. */
export const FramesBody = z.object({
  line: z.string(),
  from: z.number().int().min(1),
  frames: z.array(ToWorker.omit({ open: true })).max(10_000),
});
export type FramesBody = z.infer<typeof FramesBody>;
export type FromWorker = FramesBody["frames"][number];

/** What a worker learned about a model of a provider. */
export const LearnBody = z.union([
  z.object({ provider_id: Id, model: z.string().max(200), capability: Capability }),
  z.object({ provider_id: Id, models: z.record(z.string(), ModelFacts) }),
]);
export type LearnBody = z.infer<typeof LearnBody>;

/** A caller's use of a provider. `share`: the one it uses; null: none yet. */
export const ProviderUse = z.object({
  provider_id: Id,
  share: Share.nullable(),
  /** Running calls, waiting calls, and calls started so far. */
  in_use: Count,
  waiting: Count,
  begun: Count,
  /** For how long the provider wants no calls, in milliseconds. */
  cool_down_ms: z.number().min(0).exactOptional(),
});
export type ProviderUse = z.infer<typeof ProviderUse>;

/** A worker's heartbeat. Its id is that of the process: a restarted worker has another id and the same name. */
export const Heartbeat = WorkerState.omit({ seen_at: true }).extend({
  /** Counts its heartbeats; answers to older ones are ignored. */
  beat: z.number().int().min(1),
  uses: z.array(ProviderUse).max(1000),
});
export type Heartbeat = z.infer<typeof Heartbeat>;

export const HeartbeatAnswer = z.object({
  /** The version of the current snapshot of providers. */
  providers: z.string(),
  shares: z.array(
    z.object({
      provider_id: z.string(),
      share: Share,
      cool_down_ms: z.number().exactOptional(),
      /** A minute's worth is available at once. Otherwise a raised rate fills up over time. */
      is_fresh: z.boolean().exactOptional(),
    }),
  ),
  /** How long the shares are valid after the heartbeat was sent, in milliseconds. */
  lease_ms: z.number(),
});
export type HeartbeatAnswer = z.infer<typeof HeartbeatAnswer>;

/** Only the required fields of providers are validated; newer versions may add others. */
export const SnapshotBody = z.custom<ProviderSnapshot>(
  (value) =>
    isObject(value) &&
    typeof value.version === "string" &&
    Array.isArray(value.providers) &&
    value.providers.every((provider) => isObject(provider) && typeof provider.id === "string") &&
    isObject(value.sealed) &&
    isObject(value.said) &&
    typeof value.proof === "string",
);

/** Turns may be many and large, so their events aren't validated. */
export const SegmentJournalBody = z.custom<SegmentJournal>(
  (value) =>
    isObject(value) &&
    Array.isArray(value.turns) &&
    value.turns.every(
      (turn) => isObject(turn) && Number.isInteger(turn.turn) && Array.isArray(turn.events),
    ) &&
    Array.isArray(value.timers),
);

/** A rejection or failure in the server's answer. */
export const ErrorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
