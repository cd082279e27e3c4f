import { defined } from "@/server/domain/base/defined";
import { concurrencyOf, type Provider } from "@/server/domain/model/provider";
import type { Gates } from "./gates";
import { newRateLimiter, type Rate, type RateLimiter } from "./rate-limit";

/** How much of a provider's limits this process may use. */
export interface LeasedShare {
  calls: number;
  requests_per_minute?: number;
  tokens_per_minute?: number;
}

/** How this process stands with a provider: by which share it goes, and what it does. */
export interface LeasedUse {
  provider_id: string;
  share: LeasedShare | null;
  in_use: number;
  waiting: number;
  begun: number;
  cool_down_ms?: number;
}

export interface GivenShare {
  provider_id: string;
  share: LeasedShare;
  cool_down_ms?: number;
  is_fresh?: boolean;
}

interface Gate {
  limiter: RateLimiter;
  /** The limiter that callers use: it tracks who enters and leaves. */
  noticed: RateLimiter;
  share: LeasedShare | null;
  /** Until when this process itself was told to leave the provider alone, Unix milliseconds. */
  closedUntil: number;
}

/**
 * Gates of one process among several that call the same providers: each lets through what this process was given, and
 * nothing before it was given anything or after what it was given has ended.
 */
export class LeasedGates implements Gates {
  private readonly gates = new Map<string, Gate>();
  /** The offline demo isn't shared between processes. */
  private readonly own = new Map<string, RateLimiter>();
  private ending: ReturnType<typeof setTimeout> | undefined;
  private leaseOver = new AbortController();

  constructor(
    private readonly options: {
      /** Whoever gives out shares had better hear of it soon. */
      onChange: () => void;
      /** By which leases are measured, in milliseconds; no clock that can be set. */
      clock?: () => number;
    },
  ) {}

  of(provider: Provider): RateLimiter {
    if (provider.kind === "offline") {
      const gate = this.own.get(provider.id) ?? newRateLimiter(concurrencyOf(provider));
      this.own.set(provider.id, gate);
      return gate;
    }
    return this.gateOf(provider.id).noticed;
  }

  lost(provider: Provider): AbortSignal | undefined {
    return provider.kind === "offline" ? undefined : this.leaseOver.signal;
  }

  /** Of every provider that this process has a share of, or wants one of. */
  uses(): LeasedUse[] {
    return [...this.gates].map(([provider_id, { limiter, share, closedUntil }]) => {
      const { inside: in_use, waiting, begun } = limiter;
      const cool_down_ms = closedUntil - Date.now();
      return {
        provider_id,
        share,
        in_use,
        waiting,
        begun,
        ...defined({ cool_down_ms: cool_down_ms > 0 ? cool_down_ms : undefined }),
      };
    });
  }

  /** Whether calls wait here although none is being served here. */
  get isStarving(): boolean {
    return [...this.gates.values()].some(({ limiter }) => limiter.waiting > 0 && limiter.inside === 0);
  }

  /** Goes by these from now on. `since`: from when they count, by the clock; `leaseMs`: for how long. */
  apply(given: readonly GivenShare[], leaseMs: number, since: number): void {
    for (const { provider_id, share, cool_down_ms = 0, is_fresh = false } of given) {
      const gate = this.gateOf(provider_id);
      gate.share = share;
      if (cool_down_ms > 0) gate.limiter.coolDown(Date.now() + cool_down_ms);
      gate.limiter.setLimit(share.calls, rateOfShare(share), is_fresh);
    }
    const named = new Set(given.map(({ provider_id }) => provider_id));
    for (const [provider_id, gate] of this.gates) if (!named.has(provider_id)) this.close(gate);
    clearTimeout(this.ending);
    if (!Number.isFinite(leaseMs)) return;
    const left = since + leaseMs - this.clock();
    this.ending = setTimeout(() => this.end(), Math.max(0, left));
    this.ending.unref?.();
  }

  stop(): void {
    clearTimeout(this.ending);
  }

  private get clock(): () => number {
    return this.options.clock ?? (() => performance.now());
  }

  /** Nobody gave anything for too long: others may have it by now. */
  private end(): void {
    for (const gate of this.gates.values()) this.close(gate);
    const over = this.leaseOver;
    this.leaseOver = new AbortController();
    over.abort();
  }

  private close(gate: Gate): void {
    gate.share = null;
    gate.limiter.setLimit(0, {}, false);
  }

  private gateOf(provider_id: string): Gate {
    const known = this.gates.get(provider_id);
    if (known) return known;
    const limiter = newRateLimiter(0);
    const gate: Gate = { limiter, noticed: limiter, share: null, closedUntil: 0 };
    gate.noticed = this.noticing(gate);
    this.gates.set(provider_id, gate);
    return gate;
  }

  private noticing(gate: Gate): RateLimiter {
    const { limiter } = gate;
    const notice = () => this.options.onChange();
    return {
      async enter(...asked) {
        const entered = limiter.enter(...asked);
        if (limiter.waiting > 0) notice();
        const leave = await entered;
        return (usedTokens) => {
          const wasFull = limiter.inside >= (gate.share?.calls ?? 0);
          leave(usedTokens);
          // Somebody else may have what was in use here.
          if (wasFull) notice();
        };
      },
      coolDown(untilMs) {
        limiter.coolDown(untilMs);
        gate.closedUntil = Math.max(gate.closedUntil, untilMs);
        notice();
      },
      setLimit: (...limit) => limiter.setLimit(...limit),
      get waiting() {
        return limiter.waiting;
      },
      get inside() {
        return limiter.inside;
      },
      get begun() {
        return limiter.begun;
      },
      get closedForMs() {
        return limiter.closedForMs;
      },
    };
  }
}

const rateOfShare = ({ requests_per_minute: requests, tokens_per_minute: tokens }: LeasedShare): Rate => ({
  requests,
  tokens,
});
