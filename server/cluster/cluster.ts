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
 * What a worker needs of a run's log to carry the stretch out: up to where it begins, whatever came since. Null where that is
 * not the run's present stretch any more. Throws DamagedLog.
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
    ...(fork ? { fork } : {}),
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
 * How many runs may be at work by what each worker carries out at the same time: as many as find a place should any one of
 * them die, so that what it had goes on elsewhere at once. Never fewer than the largest takes by itself, so that a small
 * one that joins takes nothing away.
 */
export function capacityOf(limits: readonly number[]): number {
  const all = limits.reduce((sum, limit) => sum + limit, 0);
  const largest = Math.max(0, ...limits);
  return Math.max(all - largest, largest);
}

const USUAL_INGRESS = "http://127.0.0.1:8080";

/** The server's side of runs that workers carry out; does nothing where the server is told of no engine. */
export interface Cluster {
  dispatcher: Dispatcher;
  status: EngineStatus;
  /** How many runs may be at work at the same time by the workers that are there; null where they are not the ones who do, or none is there. */
  capacity(): number | null;
  /** What workers say of runs goes there. */
  receiver(host: Pick<Host, "segments" | "frames">): SegmentReceiver;
  /** Tells the engine what it has not been told, and looks after it from then on. */
  start(): void;
  stop(): void;
}

export function newCluster(options: {
  db: Db;
  settings: Settings;
  runs: RunStore;
  rules: InstallationRules;
  /** Makes what the engine keeps readable for workers only; absent where no key is set. */
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
