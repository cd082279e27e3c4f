import type { EngineState, WorkerState } from "@/server/domain/run/engine-state";

/** A worker of an example. */
export const workerOf = (name: string, about: Partial<WorkerState> = {}): WorkerState => ({
  id: `id-${name}`,
  name,
  version: "1.0.0",
  labels: [],
  address: "http://127.0.0.1:9081",
  state: "working",
  running: 3,
  limit: 16,
  memory_bytes: 210_000_000,
  seen_at: Date.now(),
  ...about,
});

/** Two workers over Restate, with nothing amiss. */
export const engineOf = (about: Partial<EngineState> = {}): EngineState => ({
  kind: "restate",
  ok: true,
  message: null,
  is_away: false,
  workers: [workerOf("worker-1"), workerOf("worker-2")],
  at_work: 6,
  outbox: { waiting: 0, oldest_at: null, away_since: null },
  troubled: [],
  ...about,
});
