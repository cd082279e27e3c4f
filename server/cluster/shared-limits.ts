import type { Db } from "@/db/open";
import { defined } from "@/server/domain/base/defined";
import { concurrencyOf, type Provider, type Providers } from "@/server/domain/model/provider";
import { LeasedGates } from "@/server/llm/limits/leased-gates";
import { newLeaseStore } from "@/server/store/worker-leases";
import type { Limit } from "./allocate";
import { LeaseBook } from "./leases";

/** The server itself among those who call providers. */
const SERVER = "server";
const REFRESH_INTERVAL_MS = 1_000;

export interface SharedLimits {
  leases: LeaseBook;
  /** The server's own model calls go through these. */
  gates: LeasedGates;
  start(): void;
  stop(): void;
}

/** What providers allow, shared by the server and its workers. */
export function newSharedLimits(db: Db, providers: Pick<Providers, "list">): SharedLimits {
  const store = newLeaseStore(db);
  const leases = new LeaseBook({
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
  // What this process' forerunner called itself has ended with it.
  const { [SERVER]: _own, ...workers } = store.load();
  leases.load(workers);
  let beat = 0;
  let isDue = false;
  let timer: ReturnType<typeof setInterval> | undefined;
  const refresh = () => {
    isDue = false;
    const given = leases.beat(SERVER, ++beat, gates.uses(), false);
    if (given) gates.apply(given, Number.POSITIVE_INFINITY, 0);
  };
  const gates = new LeasedGates({
    onChange() {
      if (isDue) return;
      isDue = true;
      queueMicrotask(refresh);
    },
  });
  return {
    leases,
    gates,
    start() {
      timer ??= setInterval(refresh, REFRESH_INTERVAL_MS);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}

function limitOf(provider: Provider): Limit {
  const { max_requests_per_minute: requests, max_tokens_per_minute: tokens } = provider.settings;
  return {
    calls: concurrencyOf(provider),
    ...defined({ requests_per_minute: requests, tokens_per_minute: tokens }),
  };
}
