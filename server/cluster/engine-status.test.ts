import { expect, test } from "vitest";
import type { EngineState } from "@/server/domain/run/engine-state";
import { workerOf } from "@/server/domain/testing/engine";
import type { OutboxState } from "./dispatcher";
import type { Invocation } from "./engine-client";
import { EngineStatus } from "./engine-status";

/** A server beside an engine, whose outbox, runs and workers a test sets. */
function newStatus(kind: EngineState["kind"] = "restate") {
  const has = {
    now: 100_000,
    activeRuns: ["run_1"],
    outbox: { waiting: 0, oldest_at: null, error: null } as OutboxState,
    invocations: [] as Invocation[],
    /** What does not answer. */
    silent: new Set<"ingress" | "admin">(),
    workers: [workerOf("worker-1"), workerOf("worker-2")],
    place: {
      worker: "id-worker-1" as string | null,
      moved_from: null as string | null,
      moved_at: null as number | null,
    },
    isPosted: true,
  };
  const refuse = (port: "ingress" | "admin") => {
    if (has.silent.has(port)) throw new Error(`Restate isn't responding at its ${port}.`);
  };
  const status = new EngineStatus({
    kind,
    dispatcher: {
      isConfigured: true,
      runs: () => has.activeRuns,
      outbox: () => has.outbox,
      ping: async () => refuse("ingress"),
      reconcile: async () => (refuse("admin"), has.invocations),
    },
    segments: {
      place: () => ({ ...has.place, is_posted: has.isPosted, begun_at: 0 }),
    },
    workers: () => has.workers,
    now: () => has.now,
  });
  return { has, status };
}

test("an unresponsive engine is reported as unavailable after ten seconds, until it responds again", async () => {
  const { has, status } = newStatus();
  const seen = () => {
    const { ok, is_away, message, outbox } = status.state();
    return { ok, is_away, message, away_since: outbox.away_since };
  };
  await status.check();
  const fine = { ok: true, is_away: false, message: null, away_since: null };
  expect(seen()).toEqual(fine);
  has.silent = new Set(["ingress", "admin"]);
  await status.check();
  has.now += 10_000;
  await status.check();
  expect(seen()).toEqual({ ...fine, away_since: 100_000 });
  has.now += 1;
  expect(seen()).toEqual({
    ok: false,
    is_away: true,
    message:
      "Restate isn't responding at its ingress. Runs keep their position and continue when the engine is available again.",
    away_since: 100_000,
  });
  has.silent.clear();
  await status.check();
  expect(seen()).toEqual(fine);
});

test("an outage that the outbox noticed first counts from then", async () => {
  const { has, status } = newStatus();
  has.outbox = { waiting: 1, oldest_at: 90_000, error: { since: 90_000, message: "Restate answered 500." } };
  has.silent.add("ingress");
  await status.check();
  has.now += 1;
  expect(status.state()).toMatchObject({
    is_away: true,
    message:
      "Restate answered 500. Runs keep their position and continue when the engine is available again.",
    outbox: { waiting: 1, oldest_at: 90_000, away_since: 90_000 },
  });
});

test("an engine that accepts messages but can't list its runs is available", async () => {
  const { has, status } = newStatus();
  has.silent.add("admin");
  await status.check();
  has.now += 60_000;
  expect(status.state()).toMatchObject({
    ok: false,
    is_away: false,
    message: "Restate isn't responding at its admin. Stalled runs can't be listed.",
    outbox: { away_since: null },
  });
});

test("the status without workers says how to start one", () => {
  const { has, status } = newStatus();
  has.workers = [workerOf("worker-1", { state: "draining" })];
  expect(status.state()).toMatchObject({
    ok: false,
    is_away: false,
    message: "No worker is available. Start one with npm run worker.",
  });
});

test("a server without an engine reports no engine error, unless runs are still active there", async () => {
  const { has, status } = newStatus("embedded");
  has.silent.add("ingress");
  await status.check();
  has.now += 60_000;
  has.activeRuns = [];
  expect(status.state()).toMatchObject({ ok: true, is_away: false, message: null });
  has.activeRuns = ["run_1"];
  expect(status.state()).toMatchObject({ ok: false, is_away: true });
});

test("a stalled run is listed with a readable cause", async () => {
  const { has, status } = newStatus();
  const one = { stretch: 1, retries: 4, failure: null };
  has.invocations = [
    { ...one, run_id: "run_1", status: "running" },
    { ...one, run_id: "run_2", status: "backing-off", failure: "[RT0010] connection refused\n at x" },
    { ...one, run_id: "run_3", status: "paused", failure: "[RT0016] Journal mismatch" },
    { ...one, run_id: "run_4", status: "backing-off" },
  ];
  await status.check();
  expect(status.state().troubled).toEqual([
    { run_id: "run_2", state: "tried_again", tries: 4, cause: "No worker was reachable." },
    {
      run_id: "run_3",
      state: "paused",
      tries: 4,
      cause: "It needs a worker with the Troupe version it started with.",
    },
    { run_id: "run_4", state: "tried_again", tries: 4, cause: "The engine gave no reason." },
  ]);
});

test("a restarted worker is listed once, even by a restarted server", () => {
  const { has, status } = newStatus();
  has.workers = [
    workerOf("worker-1", { id: "worker-1.00000001", state: "gone", seen_at: 1 }),
    workerOf("worker-1", { id: "worker-1.00000002", seen_at: 2 }),
    workerOf("worker-2", { id: "worker-2.00000003", state: "gone", seen_at: 1 }),
  ];
  expect(status.state().workers.map(({ id }) => id)).toEqual(["worker-1.00000002", "worker-2.00000003"]);
  has.place = { worker: "worker-1.00000002", moved_from: "worker-1.00000001", moved_at: 5 };
  expect(status.place("run_1")).toMatchObject({ worker: "worker-1", moved_from: "worker-1" });
  has.workers = [];
  has.place = { worker: "worker-1.00000002", moved_from: "north.2.0000000f", moved_at: 5 };
  expect(status.place("run_1")).toMatchObject({ worker: "worker-1", moved_from: "north.2" });
});

test("a run shows its worker, even while the worker or the engine is unavailable", async () => {
  const { has, status } = newStatus();
  has.place = { worker: "id-worker-2", moved_from: "id-worker-1", moved_at: 5 };
  const place = { worker: "worker-2", moved_from: "worker-1", moved_at: 5 };
  expect(status.place("run_1")).toEqual({ state: "at_work", ...place });
  has.workers = [workerOf("worker-1"), workerOf("worker-2", { state: "gone" })];
  expect(status.place("run_1")).toEqual({ state: "waits_for_worker", ...place });
  has.silent.add("ingress");
  await status.check();
  expect(status.place("run_1")).toEqual({ state: "engine_away", ...place });
  has.silent.clear();
  await status.check();
  has.place = { worker: null, moved_from: null, moved_at: null };
  expect(status.place("run_1")).toEqual({ state: "waits_for_worker", ...has.place });
});
