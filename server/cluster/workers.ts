import type { WorkerState } from "@/server/domain/run/engine-state";
import type { LeaseBook } from "./leases";
import type { Heartbeat, HeartbeatAnswer } from "./worker-protocol";

/** Signs of life come every two seconds; whoever says nothing for longer is looked after. */
const SILENT_MS = 2_500;
/** Of one that stops: nobody is at its door any more although it still finishes what it began. */
const SILENT_STOPPING_MS = 10_000;
/** After that, people are told that it is gone. */
const GONE_MS = 10_000;
const LOOK_EVERY_MS = 500;
const REACH_AGAIN_MS = 5_000;
/** How many are remembered, so that a run can say who had it. */
const REMEMBERED = 500;

interface Known {
  said: Omit<Heartbeat, "beat" | "uses">;
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
  private looking: ReturnType<typeof setInterval> | null = null;

  constructor(private readonly options: WorkersOptions) {}

  start(): void {
    this.looking ??= setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.looking.unref();
  }

  stop(): void {
    if (this.looking) clearInterval(this.looking);
    this.looking = null;
  }

  /** A sign of life. Null where a newer one has been heard. */
  beat({ beat, uses, ...said }: Heartbeat): HeartbeatAnswer | null {
    const { leases, leaseMs } = this.options;
    const before = this.known.get(said.id);
    this.known.delete(said.id);
    const known: Known = {
      said,
      seenAt: this.now(),
      heardAt: this.clock(),
      isReached: before?.isReached ?? false,
      triedAt: before?.triedAt ?? Number.NEGATIVE_INFINITY,
    };
    this.known.set(said.id, known);
    void this.reach(known);
    this.forget();
    const providers = this.options.providersVersion();
    if (said.state === "gone") {
      leases.end(said.id);
      return { providers, shares: [], lease_ms: leaseMs };
    }
    const shares = leases.beat(said.id, beat, uses, said.state === "working");
    return shares && { providers, shares, lease_ms: leaseMs };
  }

  list(): WorkerState[] {
    const now = this.clock();
    return [...this.known.values()]
      .map(({ said, seenAt, heardAt }) => ({
        ...said,
        state: now - heardAt > GONE_MS ? ("gone" as const) : said.state,
        seen_at: seenAt,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : b.seen_at - a.seen_at));
  }

  /** Takes back the shares of those that are surely gone: nobody is there any more, or another has their place. */
  async look(): Promise<void> {
    const { leases, knock } = this.options;
    await Promise.all(
      leases.ids().map(async (id) => {
        const known = this.known.get(id);
        if (!known?.isReached || !this.isSilent(known)) return;
        const isReplaced = [...this.known.values()].some(
          (other) => other.said.address === known.said.address && other.heardAt > known.heardAt,
        );
        if (!isReplaced && (await knock(known.said.address)) !== "refused") return;
        // It may have said something meanwhile.
        if (this.isSilent(this.known.get(id) ?? known)) leases.end(id);
      }),
    );
  }

  private isSilent({ heardAt, said }: Known): boolean {
    const mostMs = said.state === "working" ? SILENT_MS : SILENT_STOPPING_MS;
    return this.clock() - heardAt > mostMs;
  }

  private async reach(known: Known): Promise<void> {
    if (known.isReached || this.clock() - known.triedAt < REACH_AGAIN_MS) return;
    known.triedAt = this.clock();
    const isOpen = (await this.options.knock(known.said.address)) === "open";
    const now = this.known.get(known.said.id);
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
