import type { Db } from "@/db/open";
import { defined } from "@/server/domain/base/defined";
import { concurrencyOf, type Provider, type Providers } from "@/server/domain/model/provider";
import type { WorkerState } from "@/server/domain/run/engine-state";
import { knock } from "@/server/egress/control";
import type { Gates } from "@/server/llm/limits/gates";
import { LeasedGates } from "@/server/llm/limits/leased-gates";
import type { Sealer } from "@/server/secrets/sealer";
import type { Settings } from "@/server/settings";
import { newProviderSnapshots } from "@/server/store/provider-snapshot";
import type { ProviderStore } from "@/server/store/providers";
import { newSegmentStore } from "@/server/store/runs/segments";
import { newLeaseStore } from "@/server/store/worker-leases";
import { NO_WORKER_CHANNELS, type WorkerChannels } from "@/server/tools/at-workers";
import type { Limit } from "./allocate";
import { InternalApi } from "./internal-api";
import { type InternalParts, internalRoutes } from "./internal-routes";
import { LEASE_MS, LeaseBook } from "./leases";
import { WorkerConnections } from "./worker-connections";
import type { LearnBody } from "./worker-protocol";
import { Workers } from "./workers";

/** The server as a caller of providers, besides its workers. */
const SERVER = "server";
const REFRESH_INTERVAL_MS = 1_000;

/** Providers' limits, shared by the server and its workers. */
export class SharedLimits {
  readonly leases: LeaseBook;
  /** The server's own model calls go through these. */
  readonly gates = new LeasedGates({ onChange: () => this.refreshSoon() });
  private beat = 0;
  private isDue = false;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(db: Db, providers: Pick<Providers, "list">) {
    const store = newLeaseStore(db);
    this.leases = new LeaseBook({
      limits: () =>
        new Map(
          providers
            .list()
            .filter(({ kind }) => kind !== "offline")
            .map((provider) => [provider.id, limitOf(provider)]),
        ),
      now: () => performance.now(),
      keep: (kept) => store.save(kept),
    });
    // The calls of the previous server process ended with it.
    const { [SERVER]: _own, ...workers } = store.load();
    this.leases.load(workers);
  }

  start(): void {
    this.timer ??= setInterval(() => this.refresh(), REFRESH_INTERVAL_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Combines the changes of one turn of the event loop. */
  private refreshSoon(): void {
    if (this.isDue) return;
    this.isDue = true;
    queueMicrotask(() => this.refresh());
  }

  private refresh(): void {
    this.isDue = false;
    const given = this.leases.beat(SERVER, ++this.beat, this.gates.uses(), false);
    if (given) this.gates.apply(given, Number.POSITIVE_INFINITY, 0);
  }
}

function limitOf(provider: Provider): Limit {
  const { max_requests_per_minute: requests, max_tokens_per_minute: tokens } = provider.settings;
  return {
    calls: concurrencyOf(provider),
    ...defined({ requests_per_minute: requests, tokens_per_minute: tokens }),
  };
}

/** The server's services for its workers; all empty if there can be none. */
export interface WorkerPort {
  /** Limits the server's own model calls, because workers call the same providers; undefined if there are no workers. */
  gates: Gates | undefined;
  workers(): WorkerState[];
  /** Channels to workers by their labels. */
  lines: WorkerChannels;
  /** Opens the port. Rejects with a sentence if that fails. */
  open(parts: Pick<InternalParts, "runs" | "tools" | "keep" | "redact">): Promise<void>;
  close(): Promise<void>;
}

/** Whether workers execute runs of this server, or still have some to finish. */
const hasWorkers = (db: Db, settings: Settings): boolean =>
  settings.TROUPE_SECRET_KEY !== undefined &&
  (settings.TROUPE_ENGINE === "restate" ||
    (settings.TROUPE_RESTATE_INGRESS !== undefined && newSegmentStore(db).all().length > 0));

export function newWorkerPort(options: {
  db: Db;
  settings: Settings;
  sealer: Sealer;
  providers: ProviderStore;
  env: NodeJS.ProcessEnv;
  log: ConstructorParameters<typeof InternalApi>[0]["log"];
}): WorkerPort {
  const { db, settings, sealer, providers, env, log } = options;
  const { TROUPE_WORKER_TOKEN: token, TROUPE_INTERNAL_PORT: port, TROUPE_INTERNAL_HOST: host } = settings;
  if (token === undefined || !hasWorkers(db, settings)) return NO_WORKERS;
  const limits = new SharedLimits(db, providers);
  const snapshots = newProviderSnapshots(db, { store: providers, sealer, env });
  const workers = new Workers({
    leases: limits.leases,
    leaseMs: LEASE_MS,
    providersVersion: snapshots.version,
    knock,
  });
  const lines = new WorkerConnections();
  let close = async () => {};
  return {
    gates: limits.gates,
    workers: () => workers.list(),
    lines,
    async open(parts) {
      const shared = { ...snapshots, learn: (lesson: LearnBody) => learn(providers, lesson) };
      const api = new InternalApi({
        token,
        log,
        routes: internalRoutes({ ...parts, providers: shared, workers, lines }),
      });
      await api.listen(port, host);
      limits.start();
      workers.start();
      close = async () => {
        limits.stop();
        workers.stop();
        lines.stop();
        await api.close();
      };
    },
    close: () => close(),
  };
}

const NO_WORKERS: WorkerPort = {
  gates: undefined,
  workers: () => [],
  lines: NO_WORKER_CHANNELS,
  open: async () => {},
  close: async () => {},
};

/** Stores what a worker learned about a model. */
export function learn(providers: Pick<ProviderStore, "observe" | "keepReported">, lesson: LearnBody): void {
  if ("models" in lesson) providers.keepReported(lesson.provider_id, lesson.models);
  else providers.observe(lesson.provider_id, lesson.model, lesson.capability);
}
