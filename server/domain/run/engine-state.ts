import { z } from "zod";

// Who carries out runs, for people and programs that look after the server. Times in Unix milliseconds.

/** A process that carries out runs. */
export const WorkerState = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string().meta({ description: "Troupe version" }),
  labels: z.array(z.string()),
  address: z.string(),
  state: z.enum(["working", "draining", "gone"]).meta({
    description: "draining: shutting down, accepts no new runs. gone: no recent heartbeat",
  }),
  running: z.int().meta({ description: "Number of active runs on this worker" }),
  limit: z.int().meta({ description: "Maximum concurrent runs" }),
  memory_bytes: z.int(),
  seen_at: z.int().meta({ description: "Time of its last heartbeat, in Unix milliseconds" }),
});
export type WorkerState = z.infer<typeof WorkerState>;

/** A run that the engine cannot get on with. */
export const StalledRun = z.object({
  run_id: z.string(),
  state: z.enum(["tried_again", "paused"]).meta({
    description: "tried_again: retried automatically. paused: until someone resumes it in the engine",
  }),
  tries: z.int(),
  cause: z.string().meta({ description: "Cause, as a sentence" }),
});
export type StalledRun = z.infer<typeof StalledRun>;

export const EngineState = z.object({
  kind: z.enum(["embedded", "restate"]).meta({ description: "Where new runs execute" }),
  ok: z.boolean(),
  message: z
    .string()
    .nullable()
    .meta({ description: "What is wrong and what to do about it; null if nothing is wrong" }),
  is_away: z.boolean().meta({
    description: "Whether the engine hasn't responded for a while; every page shows a warning then",
  }),
  workers: z.array(WorkerState),
  at_work: z.int().meta({ description: "Number of active runs outside this server" }),
  outbox: z
    .object({
      waiting: z.int().meta({ description: "Number of messages waiting for the engine" }),
      oldest_at: z.int().nullable(),
      away_since: z.int().nullable().meta({
        description: "When the engine stopped responding, in Unix milliseconds; null if it is responding",
      }),
    })
    .meta({ description: "Messages to be sent to the engine" }),
  troubled: z.array(StalledRun),
});
export type EngineState = z.infer<typeof EngineState>;

/** Where a run is carried out, where that is not the server itself. */
export const RunPlace = z.object({
  state: z.enum(["at_work", "waits_for_worker", "engine_away"]).meta({
    description:
      "waits_for_worker: no worker has the run yet, or its worker is offline. engine_away: the engine is unreachable; the run keeps its position",
  }),
  worker: z
    .string()
    .nullable()
    .meta({ description: "Name of the run's worker, even if it is offline; null if it has had none" }),
  moved_from: z.string().nullable().meta({ description: "The run's previous worker" }),
  moved_at: z.int().nullable(),
});
export type RunPlace = z.infer<typeof RunPlace>;

/** How long the engine may be away before people are told on every page, in milliseconds. */
export const AWAY_ALERT_AFTER_MS = 10_000;

/** Of a server that carries out its runs itself. */
export const EMBEDDED: EngineState = {
  kind: "embedded",
  ok: true,
  message: null,
  is_away: false,
  workers: [],
  at_work: 0,
  outbox: { waiting: 0, oldest_at: null, away_since: null },
  troubled: [],
};
