import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import type { KeptLeases, Share } from "@/server/domain/model/provider-lease";
import { type Contender, type Limit, targetsOf } from "./allocate";
import type { HeartbeatAnswer, ProviderUse } from "./worker-protocol";

/** How long a worker may use its shares without hearing from the server. */
export const LEASE_MS = 120_000;
/** How far two clocks may drift apart in that time. */
const MARGIN_MS = 5_000;
/** If there isn't one call for each, a caller keeps its call at least this long. */
const TURN_MS = 5_000;
const MINUTE_MS = 60_000;

/** The share of one provider that a caller may believe it has, and its use. */
interface Hold {
  share: Share;
  use: ProviderUse;
  /** When its turn began, and how many calls it had begun by then. */
  turn: { since: number; begun: number } | null;
  servedAt: number;
}

interface Member {
  isStanding: boolean;
  beat: number;
  /** Until then it may still use what it was granted. */
  until: number;
  holds: Map<string, Hold>;
}

/**
 * Who may use how much of each provider's limits. A returned share goes to another caller only once its owner has confirmed
 * the smaller share and runs no more calls, or is certainly gone; so all together never exceed the limit, whatever messages
 * get lost. Times are milliseconds of a monotonic clock.
 */
export class LeaseBook {
  private readonly members = new Map<string, Member>();
  /** Until when a provider wants no calls. */
  private readonly coolDowns = new Map<string, number>();
  /** When a provider that limits calls or tokens per minute was last shared. */
  private readonly ratedAt = new Map<string, number>();
  private kept = "";

  constructor(
    private readonly options: {
      /** Current limits by provider. */
      limits: () => ReadonlyMap<string, Limit>;
      now: () => number;
      /** Stores a grant before it is announced. */
      keep?: (leases: KeptLeases) => void;
      leaseMs?: number;
    },
  ) {}

  /** Restores what an earlier process granted. */
  load(leases: KeptLeases): void {
    const now = this.options.now();
    for (const [id, shares] of Object.entries(leases)) {
      const member = this.memberOf(id, true);
      member.until = this.endOf(now);
      for (const [provider_id, share] of Object.entries(shares))
        member.holds.set(provider_id, { ...newHold(provider_id), share });
      for (const provider_id of Object.keys(shares)) this.ratedAt.set(provider_id, now);
    }
  }

  /** Whether it may still use a share that it was granted. */
  has(id: string): boolean {
    this.expire();
    return this.members.has(id);
  }

  /** All callers whose shares aren't certainly returned. */
  ids(): string[] {
    this.expire();
    return [...this.members.keys()];
  }

  /**
   * Takes a caller's report; returns what it may use from now on. Null if a newer report has come. `isStanding`: it keeps a
   * share while idle.
   */
  beat(
    id: string,
    beat: number,
    uses: readonly ProviderUse[],
    isStanding: boolean,
  ): HeartbeatAnswer["shares"] | null {
    this.expire();
    const now = this.options.now();
    const member = this.memberOf(id, isStanding);
    if (beat <= member.beat) return null;
    member.beat = beat;
    member.isStanding = isStanding;
    member.until = this.endOf(now);
    this.confirm(member, uses, now);
    const answer = [...this.options.limits()].map(([provider_id, limit]) => {
      const share = this.grant(id, provider_id, limit, now);
      const cool_down_ms = (this.coolDowns.get(provider_id) ?? now) - now;
      const is_fresh = this.isFresh(provider_id, share, now);
      return {
        provider_id,
        share,
        ...defined({
          cool_down_ms: cool_down_ms > 0 ? cool_down_ms : undefined,
          is_fresh: is_fresh || undefined,
        }),
      };
    });
    this.keep();
    return answer;
  }

  /** Notes that a caller is certainly gone, and its calls with it. */
  end(id: string): void {
    if (this.members.delete(id)) this.keep();
  }

  /** Whether a minute's worth is available at once: no one has used it for a minute. */
  private isFresh(provider_id: string, share: Share, now: number): boolean {
    if (share.requests_per_minute === undefined && share.tokens_per_minute === undefined) return false;
    const last = this.ratedAt.get(provider_id) ?? Number.NEGATIVE_INFINITY;
    if (share.calls > 0) this.ratedAt.set(provider_id, now);
    return share.calls > 0 && now - last > MINUTE_MS;
  }

  private get leaseMs(): number {
    return this.options.leaseMs ?? LEASE_MS;
  }

  private endOf(now: number): number {
    return now + this.leaseMs + MARGIN_MS;
  }

  private expire(): void {
    const now = this.options.now();
    for (const [id, { until }] of this.members) if (until < now) this.members.delete(id);
  }

  private memberOf(id: string, isStanding: boolean): Member {
    const known = this.members.get(id);
    if (known) return known;
    const member: Member = { isStanding, beat: 0, until: 0, holds: new Map() };
    this.members.set(id, member);
    return member;
  }

  /** The share that a caller reports is all that it may believe it has: earlier grants have arrived or never will. */
  private confirm(member: Member, uses: readonly ProviderUse[], now: number): void {
    const reported = new Map(uses.map((use) => [use.provider_id, use]));
    for (const provider_id of member.holds.keys())
      if (!reported.has(provider_id)) member.holds.delete(provider_id);
    for (const [provider_id, use] of reported) {
      const hold = member.holds.get(provider_id) ?? newHold(provider_id);
      member.holds.set(provider_id, hold);
      hold.use = use;
      hold.share = { ...use.share, calls: Math.max(use.share?.calls ?? 0, use.in_use) };
      if (use.cool_down_ms)
        this.coolDowns.set(
          provider_id,
          Math.max(this.coolDowns.get(provider_id) ?? 0, now + use.cool_down_ms),
        );
    }
  }

  private grant(id: string, provider_id: string, limit: Limit, now: number): Share {
    const member = must(this.members, id);
    const hold = member.holds.get(provider_id) ?? newHold(provider_id);
    member.holds.set(provider_id, hold);
    const target = must(targetsOf(limit, this.contenders(provider_id, now)), id);
    const share = this.within(limit, target, hold, provider_id);
    hold.share = largest(hold.share, share);
    if (share.calls === 0) hold.turn = null;
    else {
      hold.turn ??= { since: now, begun: hold.use.begun };
      hold.servedAt = now;
    }
    return share;
  }

  /** As much of the target as no one else may believe it has. */
  private within(limit: Limit, target: Share, { share: has }: Hold, provider_id: string): Share {
    const others = { calls: 0, requests_per_minute: 0, tokens_per_minute: 0 };
    for (const { holds } of this.members.values()) {
      const held = holds.get(provider_id);
      if (!held || held.share === has) continue;
      others.calls += held.share.calls;
      others.requests_per_minute += held.share.requests_per_minute ?? 0;
      others.tokens_per_minute += held.share.tokens_per_minute ?? 0;
    }
    const part = (name: keyof Share) =>
      Math.max(0, Math.min(target[name] ?? 0, (limit[name] ?? 0) - others[name]));
    const requests =
      limit.requests_per_minute === undefined ? {} : { requests_per_minute: part("requests_per_minute") };
    const tokens =
      limit.tokens_per_minute === undefined ? {} : { tokens_per_minute: part("tokens_per_minute") };
    // Without a rate no call is possible.
    const isStuck = requests.requests_per_minute === 0 || tokens.tokens_per_minute === 0;
    return { calls: isStuck ? 0 : part("calls"), ...requests, ...tokens };
  }

  private contenders(provider_id: string, now: number): Contender[] {
    return [...this.members].map(([id, { isStanding, holds }]) => {
      const { use, share, turn, servedAt } = holds.get(provider_id) ?? newHold(provider_id);
      const isInTurn = turn !== null && (now - turn.since < TURN_MS || use.begun === turn.begun);
      return { id, demand: use.in_use + use.waiting, isStanding, holds: share.calls, isInTurn, servedAt };
    });
  }

  private keep(): void {
    const leases: KeptLeases = {};
    for (const [id, { holds }] of this.members)
      leases[id] = Object.fromEntries([...holds].map(([provider_id, { share }]) => [provider_id, share]));
    const text = JSON.stringify(leases);
    if (text === this.kept) return;
    this.options.keep?.(leases);
    this.kept = text;
  }
}

const newHold = (provider_id: string): Hold => ({
  share: { calls: 0 },
  use: { provider_id, share: null, in_use: 0, waiting: 0, begun: 0 },
  turn: null,
  servedAt: 0,
});

/** Whichever of the two it uses. */
function largest(a: Share, b: Share): Share {
  const rate = (name: "requests_per_minute" | "tokens_per_minute") =>
    a[name] === undefined && b[name] === undefined ? {} : { [name]: Math.max(a[name] ?? 0, b[name] ?? 0) };
  return {
    calls: Math.max(a.calls, b.calls),
    ...rate("requests_per_minute"),
    ...rate("tokens_per_minute"),
  };
}
