import type { WorkerState } from "@/server/domain/run/engine-state";
import type { LeaseBook } from "./leases";
import type { Heartbeat, HeartbeatAnswer } from "./worker-protocol";

/** Signs of life come every two seconds; whoever says nothing for longer is looked after. */
const SILENT_MS = 2_500;
/** Of one that stops: nobody is at its door any more although it still finishes what it began. */
const SILENT_STOPPING_MS = 10_000;
/** After that, people are told that it is gone. */
const GONE_MS = 10_000;
const CHECK_INTERVAL_MS = 500;
const REACH_AGAIN_MS = 5_000;
/** How many are remembered, so that a run can say who had it. */
const REMEMBERED = 500;

interface Known {
  reported: Omit<Heartbeat, "beat" | "uses">;
  /** Unix time in milliseconds. */
  seenAt: number;
  /** By a clock that cannot be set. */
  heardAt: number;
  /** Whether the server reaches it where the engine does, so that it can see that nobody is there any more. */
  isReached: boolean;
  /** When that was tried last, by the same clock. */
  triedAt: number;
}

interface WorkersOptions {
  leases: LeaseBook;
  /** For how long shares hold, in milliseconds. */
  leaseMs: number;
  /** Of the providers as they are now. */
  providersVersion: () => string;
  knock: (address: string) => Promise<"open" | "refused" | "unknown">;
  clock?: () => number;
  now?: () => number;
}

/** The workers of which something was heard, and their shares of providers' limits. */
export class Workers {
  private readonly known = new Map<string, Known>();
  private checkTimer: ReturnType<typeof setInterval> | null = null;

  constructor(private readonly options: WorkersOptions) {}

  start(): void {
    this.checkTimer ??= setInterval(() => void this.check(), CHECK_INTERVAL_MS);
    this.checkTimer.unref();
  }

  stop(): void {
    if (this.checkTimer) clearInterval(this.checkTimer);
    this.checkTimer = null;
  }

  /** A sign of life. Null where a newer one has been heard. */
  beat({ beat, uses, ...reported }: Heartbeat): HeartbeatAnswer | null {
    const { leases, leaseMs } = this.options;
    const before = this.known.get(reported.id);
    this.known.delete(reported.id);
    const known: Known = {
      reported,
      seenAt: this.now(),
      heardAt: this.clock(),
      isReached: before?.isReached ?? false,
      triedAt: before?.triedAt ?? Number.NEGATIVE_INFINITY,
    };
    this.known.set(reported.id, known);
    void this.reach(known);
    this.forget();
    const providers = this.options.providersVersion();
    if (reported.state === "gone") {
      leases.end(reported.id);
      return { providers, shares: [], lease_ms: leaseMs };
    }
    const shares = leases.beat(reported.id, beat, uses, reported.state === "working");
    return shares && { providers, shares, lease_ms: leaseMs };
  }

  list(): WorkerState[] {
    const now = this.clock();
    return [...this.known.values()]
      .map(({ reported, seenAt, heardAt }) => ({
        ...reported,
        state: now - heardAt > GONE_MS ? ("gone" as const) : reported.state,
        seen_at: seenAt,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : b.seen_at - a.seen_at));
  }

  /** Takes back the shares of those that are surely gone: nobody is there any more, or another has their place. */
  async check(): Promise<void> {
    const { leases, knock } = this.options;
    await Promise.all(
      leases.ids().map(async (id) => {
        const known = this.known.get(id);
        if (!known?.isReached || !this.isSilent(known)) return;
        const isReplaced = [...this.known.values()].some(
          (other) => other.reported.address === known.reported.address && other.heardAt > known.heardAt,
        );
        if (!isReplaced && (await knock(known.reported.address)) !== "refused") return;
        // It may have said something meanwhile.
        if (this.isSilent(this.known.get(id) ?? known)) leases.end(id);
      }),
    );
  }

  private isSilent({ heardAt, reported }: Known): boolean {
    const mostMs = reported.state === "working" ? SILENT_MS : SILENT_STOPPING_MS;
    return this.clock() - heardAt > mostMs;
  }

  private async reach(known: Known): Promise<void> {
    if (known.isReached || this.clock() - known.triedAt < REACH_AGAIN_MS) return;
    known.triedAt = this.clock();
    const isOpen = (await this.options.knock(known.reported.address)) === "open";
    const now = this.known.get(known.reported.id);
    if (isOpen && now) now.isReached = true;
  }

  private forget(): void {
    for (const id of this.known.keys()) {
      if (this.known.size <= REMEMBERED) return;
      if (!this.options.leases.has(id)) this.known.delete(id);
    }
  }

  private now(): number {
    return (this.options.now ?? Date.now)();
  }
  private clock(): number {
    return (this.options.clock ?? (() => performance.now()))();
  }
}
