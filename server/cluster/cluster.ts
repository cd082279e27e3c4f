import type { Db } from "@/db/open";
import type { InstallationRules } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { WorkerState } from "@/server/domain/run/engine-state";
import type { Settings } from "@/server/settings";
import type { RunStore } from "@/server/store/runs/runs";
import { newSegmentStore } from "@/server/store/runs/segments";
import { capacityOf } from "./capacity";
import { Dispatcher } from "./dispatcher";
import { newEngineClient } from "./engine-client";
import { EngineStatus } from "./engine-status";
import type { SegmentReceiver } from "./internal-routes";
import type { LiveNews } from "./protocol";
import { segmentJournal } from "./segment-journal";

const USUAL_INGRESS = "http://127.0.0.1:8080";

/** The server's side of runs that workers carry out; does nothing where the server is told of no engine. */
export interface Cluster {
  dispatcher: Dispatcher;
  status: EngineStatus;
  /** How many runs may be at work at the same time by the workers that are there; null where they are not the ones who do, or none is there. */
  capacity(): number | null;
  /** What workers say of runs goes there. */
  receiver(host: {
    receive: SegmentReceiver["receive"];
    show(runId: string, frames: LiveNews["frames"]): void;
  }): SegmentReceiver;
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
      receive: (news) => host.receive(news),
      taken: ({ run_id, stretch, worker }) => segments.taken(run_id, stretch, worker),
      isHeld: ({ run_id, stretch, worker }) => segments.isHeldBy(run_id, stretch, worker),
      journal: (runId, segment) => segmentJournal(runs, segments, runId, segment),
      live({ run_id, frames }) {
        if (dispatcher.activeSegment(run_id) !== null) host.show(run_id, frames);
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
