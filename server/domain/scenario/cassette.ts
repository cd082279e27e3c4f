import { z } from "zod";
import { Json } from "@/server/domain/base/values";
import type { PastWork } from "@/server/domain/crew/past-work";

/** How many answers a cassette may hold, and how long it may be as JSON, in characters. */
export const CASSETTE_LIMITS = { answers: 5000, chars: 4 * 1024 * 1024 } as const;

/** What was answered to one request of a model or a tool. */
export const CassetteAnswer = z.strictObject({
  /** SHA-256 of the request in canonical JSON, hex. */
  request: z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hexadecimal digits"),
  kind: z.enum(["model", "tool"]),
  /** The request itself, without what differs between runs that ask the same. */
  asked: Json,
  /** The answer; absent where it failed, and where none came while somebody waited for it. */
  value: Json.exactOptional(),
  /** How it failed. */
  error: z
    .strictObject({ name: z.string(), message: z.string(), detail: Json.exactOptional() })
    .exactOptional(),
  /** How long it took, in milliseconds. */
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

/** The run that a cassette is of, as far as it matters to what is asked. */
export const RecordedRun = z.looseObject({
  run_id: z.string().max(200).exactOptional(),
  workflow: z.string().max(200).exactOptional(),
  /** Unix time in milliseconds. */
  began_at: z.number().int().nonnegative().exactOptional(),
  /** What nodes and crews did then, and what ids of tasks were made of; absent in cassettes of before the third edition. */
  edition: z.number().int().positive().exactOptional(),
  prompt_seed: z.string().max(200).exactOptional(),
  models: z.array(z.string().max(300)).max(200).exactOptional(),
  /** How much each model reads, as it was known then. */
  context_windows: z.record(z.string().max(300), z.number()).exactOptional(),
  /** What members of its crews had done in runs before. */
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
