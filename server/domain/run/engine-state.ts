import { z } from "zod";

// Who carries out runs, for people and programs that look after the server. Times in Unix milliseconds.

/** A process that carries out runs. */
export const WorkerState = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string().meta({ description: "Of Troupe" }),
  labels: z.array(z.string()),
  address: z.string(),
  state: z.enum(["working", "draining", "gone"]).meta({
    description: "draining: it stops and takes nothing new. gone: nothing was heard of it for a while",
  }),
  running: z.int().meta({ description: "Runs at work there" }),
  limit: z.int().meta({ description: "Runs that it carries out at the same time" }),
  memory_bytes: z.int(),
  seen_at: z.int().meta({ description: "Its last sign of life" }),
});
export type WorkerState = z.infer<typeof WorkerState>;

/** A run that the engine cannot get on with. */
export const StalledRun = z.object({
  run_id: z.string(),
  state: z.enum(["tried_again", "paused"]).meta({
    description: "tried_again: again and again, by itself. paused: until somebody resumes it in the engine",
  }),
  tries: z.int(),
  cause: z.string().meta({ description: "In words" }),
});
export type StalledRun = z.infer<typeof StalledRun>;

export const EngineState = z.object({
  kind: z.enum(["embedded", "restate"]).meta({ description: "Who carries out runs that begin now" }),
  ok: z.boolean(),
  message: z.string().nullable().meta({ description: "What is amiss and what to do; null where nothing is" }),
  is_away: z
    .boolean()
    .meta({ description: "The engine does not answer, for so long that people are told on every page" }),
  workers: z.array(WorkerState),
  at_work: z.int().meta({ description: "Runs at work elsewhere" }),
  outbox: z
    .object({
      waiting: z.int().meta({ description: "What the engine has yet to be told" }),
      oldest_at: z.int().nullable(),
      away_since: z.int().nullable().meta({ description: "Since when the engine does not answer" }),
    })
    .meta({ description: "On its way to the engine" }),
  troubled: z.array(StalledRun),
});
export type EngineState = z.infer<typeof EngineState>;

/** Where a run is carried out, where that is not the server itself. */
export const RunPlace = z.object({
  state: z.enum(["at_work", "waits_for_worker", "engine_away"]).meta({
    description:
      "waits_for_worker: no worker has it yet, or the one that had it is gone. engine_away: the engine cannot be reached; the run keeps its place",
  }),
  worker: z
    .string()
    .nullable()
    .meta({ description: "The worker's name, also of one that is gone; null where none had it" }),
  moved_from: z.string().nullable().meta({ description: "The worker that had it before" }),
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
