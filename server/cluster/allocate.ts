import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import type { Share } from "@/server/domain/model/provider-lease";

// Divides the limits of one provider among its callers. Pure: `leases.ts` decides who is told what, and when a share counts
// as returned.

/** A provider's limits for all callers together; absent rates: none. */
export type Limit = Share;

export interface Contender {
  id: string;
  /** Running and waiting calls. */
  demand: number;
  /** Keeps a base share while idle, so that its first call needn't wait for others. */
  isStanding: boolean;
  /** Its current share. */
  holds: number;
  /** Whether it is its turn, if there isn't one call for each. */
  isInTurn: boolean;
  /** When it last had a share; the caller that has waited longest comes first. */
  servedAt: number;
}

/** The fraction of a provider's limits that is reserved for idle callers. */
const BASE_PART = 0.5;

/** How many concurrent calls each should have, together never more than the limit. */
export function callTargets(limit: number, contenders: readonly Contender[]): Map<string, number> {
  const order = [...contenders].sort(
    (a, b) => a.servedAt - b.servedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );
  const wanting = order.filter(({ demand }) => demand > 0);
  if (wanting.length > limit) return inTurn(limit, order, wanting);
  const targets = new Map(order.map(({ id, demand }) => [id, demand > 0 ? 1 : 0]));
  let left = limit - wanting.length;
  const give = (to: readonly Contender[], isFull: (one: Contender, has: number) => boolean, most = left) => {
    for (let given = 0; given < most; given++) {
      const next = lowest(to, targets, isFull);
      if (!next) return;
      targets.set(next.id, must(targets, next.id) + 1);
      left--;
    }
  };
  const idle = order
    .filter(({ demand, isStanding }) => demand === 0 && isStanding)
    .sort((a, b) => Number(b.holds > 0) - Number(a.holds > 0));
  give(idle, (_one, has) => has >= 1, Math.min(left, Math.floor(limit * BASE_PART)));
  give(wanting, ({ demand }, has) => has >= demand);
  // Unused calls are available to the next caller.
  give(
    order.filter(({ isStanding }) => isStanding),
    () => false,
  );
  return targets;
}

/** One call each for as many callers as possible; the others follow when a turn is over. */
function inTurn(
  limit: number,
  order: readonly Contender[],
  wanting: readonly Contender[],
): Map<string, number> {
  const first = [
    ...wanting.filter(({ isInTurn }) => isInTurn),
    ...wanting.filter(({ isInTurn }) => !isInTurn),
  ].slice(0, limit);
  const chosen = new Set(first.map(({ id }) => id));
  return new Map(order.map(({ id }) => [id, chosen.has(id) ? 1 : 0]));
}

function lowest(
  contenders: readonly Contender[],
  targets: ReadonlyMap<string, number>,
  isFull: (one: Contender, has: number) => boolean,
): Contender | null {
  let least: Contender | null = null;
  let has = Number.POSITIVE_INFINITY;
  for (const one of contenders) {
    const now = must(targets, one.id);
    if (now >= has || isFull(one, now)) continue;
    least = one;
    has = now;
  }
  return least;
}

/** Each caller's share of a provider's limits. Rates are proportional to calls. */
export function targetsOf(limit: Limit, contenders: readonly Contender[]): Map<string, Share> {
  const { requests_per_minute: requests, tokens_per_minute: tokens } = limit;
  // Every caller with calls has at least one request per minute.
  const calls = callTargets(Math.min(limit.calls, requests ?? limit.calls), contenders);
  const requestShares = requests === undefined ? null : shareOut(requests, calls);
  const tokenShares = tokens === undefined ? null : shareOut(tokens, calls);
  return new Map(
    [...calls].map(([id, many]) => [
      id,
      {
        calls: many,
        ...defined({
          requests_per_minute: requestShares ? (requestShares.get(id) ?? 0) : undefined,
          tokens_per_minute: tokenShares ? (tokenShares.get(id) ?? 0) : undefined,
        }),
      },
    ]),
  );
}

/** Divides a whole number into whole parts by weights; the remainder goes to the first. */
function shareOut(total: number, weights: ReadonlyMap<string, number>): Map<string, number> {
  const sum = [...weights.values()].reduce((all, weight) => all + weight, 0);
  const parts = new Map(
    [...weights].map(([id, weight]) => [id, sum === 0 ? 0 : Math.floor((total * weight) / sum)]),
  );
  let left = sum === 0 ? 0 : total - [...parts.values()].reduce((all, part) => all + part, 0);
  for (const [id, weight] of weights)
    if (left > 0 && weight > 0) {
      parts.set(id, must(parts, id) + 1);
      left--;
    }
  return parts;
}
