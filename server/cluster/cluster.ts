import type { Db } from "@/db/open";
import type { InstallationRules } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { WorkerState } from "@/server/domain/run/engine-state";
import { answersBefore, requestsOf } from "@/server/runner/fork/fork";
import type { Host } from "@/server/runner/lifecycle/host";
import type { Settings } from "@/server/settings";
import type { RunStore } from "@/server/store/runs/runs";
import { newSegmentStore, type SegmentStore } from "@/server/store/runs/segments";
import { Dispatcher } from "./dispatcher";
import { newEngineClient } from "./engine-client";
import { EngineStatus } from "./engine-status";
import type { SegmentReceiver } from "./internal-routes";
import type { SegmentJournal } from "./protocol";

/**
 * The part of a run's log that a worker needs to run the segment: up to where it begins. Null if it is no longer the run's
 * current segment. Throws DamagedLog.
 */
export function segmentJournal(
  runs: Pick<RunStore, "journal" | "answers" | "ancestors">,
  segments: Pick<SegmentStore, "active">,
  runId: string,
  segment: number,
): SegmentJournal | null {
  const active = segments.active(runId);
  if (active?.stretch !== segment) return null;
  const { turns, timers, fork } = runs.journal(runId);
  const created = turns[0]?.events[0];
  const { from_run, replay } = (created?.type === "run_created" ? created.payload.forks?.at(-1) : null) ?? {};
  return {
    turns: turns.filter(({ turn }) => turn <= active.from_turn),
    timers: [...timers],
    ...defined({ fork }),
    ...(from_run === undefined
      ? {}
      : {
          recorded: {
            run_id: from_run,
            ...defined({ replay }),
            answers: answersBefore(runs, runId, replay),
            requests: replay ? requestsOf(runs, from_run) : [],
          },
        }),
  };
}

/**
 * How many runs may run at once, by the capacity of each worker: as many as still fit if any one of them dies, so that its
 * runs continue elsewhere at once. Never fewer than the largest takes alone, so that a small worker that joins doesn't
 * reduce the number.
 */
export function capacityOf(limits: readonly number[]): number {
  const all = limits.reduce((sum, limit) => sum + limit, 0);
  const largest = Math.max(0, ...limits);
  return Math.max(all - largest, largest);
}

const USUAL_INGRESS = "http://127.0.0.1:8080";

/** The server's side of runs on workers; does nothing if no engine is configured. */
export interface Cluster {
  dispatcher: Dispatcher;
  status: EngineStatus;
  /** How many runs the connected workers may run at once; null if workers don't execute runs, or none is connected. */
  capacity(): number | null;
  /** Receives what workers report about runs. */
  receiver(host: Pick<Host, "segments" | "frames">): SegmentReceiver;
  /** Sends the engine what it hasn't received, and monitors it from then on. */
  start(): void;
  stop(): void;
}

export function newCluster(options: {
  db: Db;
  settings: Settings;
  runs: RunStore;
  rules: InstallationRules;
  /** Encrypts what the engine keeps, for workers only; absent if no key is set. */
  seal: ((bytes: Uint8Array) => Uint8Array) | null;
  workers: () => WorkerState[];
  log: ConstructorParameters<typeof Dispatcher>[0]["log"];
}): Cluster {
  const { db, settings, runs, rules, seal, workers, log } = options;
  const segments = newSegmentStore(db);
  const isPreferred = settings.TROUPE_ENGINE === "restate";
  const ingress = settings.TROUPE_RESTATE_INGRESS ?? (isPreferred ? USUAL_INGRESS : null);
  const dispatcher = new Dispatcher({
    segments,
    runs,
    isPreferred,
    rules,
    ...defined({
      log,
      engine:
        ingress === null || seal === null
          ? undefined
          : newEngineClient({ ingress, admin: settings.TROUPE_RESTATE_ADMIN, seal }),
    }),
  });
  const status = new EngineStatus({ kind: settings.TROUPE_ENGINE, dispatcher, segments, workers });
  return {
    dispatcher,
    status,
    capacity() {
      const there = isPreferred ? workers().filter(({ state }) => state === "working") : [];
      return there.length === 0 ? null : capacityOf(there.map(({ limit }) => limit));
    },
    receiver: (host) => ({
      receive: async (news) => host.segments?.receive(news),
      taken: ({ run_id, stretch, worker }) => segments.taken(run_id, stretch, worker),
      isHeld: ({ run_id, stretch, worker }) => segments.isHeldBy(run_id, stretch, worker),
      journal: (runId, segment) => segmentJournal(runs, segments, runId, segment),
      live({ run_id, frames }) {
        if (dispatcher.activeSegment(run_id) !== null)
          for (const frame of frames) host.frames.add(run_id, frame);
      },
    }),
    start() {
      dispatcher.start();
      status.start();
    },
    stop() {
      dispatcher.stop();
      status.stop();
    },
  };
}
