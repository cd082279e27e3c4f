import { z } from "zod";
import { Json } from "@/server/domain/base/values";
import type { PastWork } from "@/server/domain/crew/past-work";
import { StartedBy } from "@/server/domain/run/started-by";

/** `chars`: of its JSON. */
export const CASSETTE_LIMITS = { answers: 5000, chars: 4 * 1024 * 1024 } as const;

/** The answer to one request to a model, a tool or another workflow. */
export const CassetteAnswer = z.strictObject({
  /** SHA-256 of the request in canonical JSON, hex. */
  request: z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 hash in hexadecimal"),
  kind: z.enum(["model", "tool", "run"]),
  /** The request without the parts that differ between runs. */
  asked: Json,
  /** Absent if the call failed or was never answered. */
  value: Json.exactOptional(),
  error: z
    .strictObject({ name: z.string(), message: z.string(), detail: Json.exactOptional() })
    .exactOptional(),
  took_ms: z.number().int().nonnegative().exactOptional(),
});
export type CassetteAnswer = z.infer<typeof CassetteAnswer>;

const Counts = z.object({ done: z.number(), failed: z.number(), sent_back: z.number() });
const Work = z.object({
  node_id: z.string(),
  agent_id: z.string(),
  role_name: z.string(),
  own: Counts.exactOptional(),
  role: Counts.exactOptional(),
}) satisfies z.ZodType<PastWork>;

/** Facts of the recorded run that its requests depend on. */
export const RecordedRun = z.looseObject({
  run_id: z.string().max(200).exactOptional(),
  workflow: z.string().max(200).exactOptional(),
  /** Unix time in milliseconds. */
  began_at: z.number().int().nonnegative().exactOptional(),
  /** Behavior of nodes and crews at that time; absent in cassettes older than edition 3. */
  edition: z.number().int().positive().exactOptional(),
  prompt_seed: z.string().max(200).exactOptional(),
  models: z.array(z.string().max(300)).max(200).exactOptional(),
  /** Context windows of the models at that time. */
  context_windows: z.record(z.string().max(300), z.number()).exactOptional(),
  /** Who started it, and so which input is untrusted. */
  origin: StartedBy.exactOptional(),
  variables: z.record(z.string(), Json).exactOptional(),
  /** Past work of the crew members. */
  past_work: z.array(Work).max(10_000).exactOptional(),
});
export type RecordedRun = z.infer<typeof RecordedRun>;

/**
 * Recorded answers of models and tools as a file, in the order in which they came. Whoever asks the same is given the same:
 * the k-th asking of a request gets its k-th answer.
 */
export const Cassette = z.strictObject({
  format: z.literal("troupe.cassette"),
  version: z.literal(1),
  recorded: RecordedRun.default({}),
  answers: z.array(CassetteAnswer).max(CASSETTE_LIMITS.answers),
});
export type Cassette = z.infer<typeof Cassette>;
