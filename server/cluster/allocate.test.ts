import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Contender, callTargets, targetsOf } from "./allocate";

const worker = (id: string, demand: number, more: Partial<Contender> = {}): Contender => ({
  id,
  demand,
  isStanding: true,
  holds: 0,
  isInTurn: false,
  servedAt: 0,
  ...more,
});
const shares = (limit: number, ...contenders: Contender[]) =>
  Object.fromEntries(callTargets(limit, contenders));

describe("shares of a call limit", () => {
  test("calls are shared evenly by workers with equal demand", () => {
    expect(shares(4, worker("a", 9), worker("b", 9))).toEqual({ a: 2, b: 2 });
    expect(shares(5, worker("a", 9), worker("b", 9))).toEqual({ a: 3, b: 2 });
  });
  test("calls go to workers with more demand if others need fewer", () => {
    expect(shares(6, worker("a", 9), worker("b", 1))).toEqual({ a: 5, b: 1 });
  });
  test("at most half of the calls are reserved for idle workers", () => {
    expect(shares(4, worker("a", 9), worker("b", 0))).toEqual({ a: 3, b: 1 });
    expect(shares(4, worker("a", 9), worker("b", 0), worker("c", 0), worker("d", 0))).toEqual({
      a: 2,
      b: 1,
      c: 1,
      d: 0,
    });
    expect(shares(8, worker("a", 0), worker("b", 0))).toEqual({ a: 4, b: 4 });
  });
  test("no calls are reserved for an idle server", () => {
    const server = worker("server", 0, { isStanding: false });
    expect(shares(2, worker("a", 5), server)).toEqual({ a: 2, server: 0 });
    expect(shares(2, worker("a", 5), { ...server, demand: 1 })).toEqual({ a: 1, server: 1 });
  });
  test("calls are given in turn if there are fewer than workers", () => {
    expect(shares(1, worker("a", 1, { isInTurn: true, servedAt: 9 }), worker("b", 1))).toEqual({
      a: 1,
      b: 0,
    });
    expect(shares(1, worker("a", 1, { servedAt: 9 }), worker("b", 1, { servedAt: 3 }))).toEqual({
      a: 0,
      b: 1,
    });
  });
});

const contenders = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom(..."abcdefgh"),
    demand: fc.nat(20),
    isStanding: fc.boolean(),
    holds: fc.nat(5),
    isInTurn: fc.boolean(),
    servedAt: fc.nat(5),
  }),
  { selector: ({ id }) => id, minLength: 1 },
);
const sum = (values: Iterable<number>) => [...values].reduce((all, one) => all + one, 0);

test("all shares together never exceed the limit", () => {
  fc.assert(
    fc.property(
      contenders,
      fc.integer({ min: 1, max: 64 }),
      fc.option(fc.integer({ min: 1, max: 500 })),
      fc.option(fc.integer({ min: 1, max: 100_000 })),
      (all, calls, requests, tokens) => {
        const limit = {
          calls,
          ...(requests === null ? {} : { requests_per_minute: requests }),
          ...(tokens === null ? {} : { tokens_per_minute: tokens }),
        };
        const given = [...targetsOf(limit, all).values()];
        expect(sum(given.map((share) => share.calls))).toBeLessThanOrEqual(calls);
        expect(sum(given.map((share) => share.requests_per_minute ?? 0))).toBeLessThanOrEqual(requests ?? 0);
        expect(sum(given.map((share) => share.tokens_per_minute ?? 0))).toBeLessThanOrEqual(tokens ?? 0);
        // Whoever may call has a request for it.
        for (const share of given)
          if (share.calls > 0 && requests !== null) expect(share.requests_per_minute).toBeGreaterThan(0);
      },
    ),
  );
});

test("no wanted call stays unused, and every worker with demand gets a call if there are enough", () => {
  fc.assert(
    fc.property(contenders, fc.integer({ min: 1, max: 64 }), (all, limit) => {
      const targets = callTargets(limit, all);
      const wanting = all.filter(({ demand }) => demand > 0);
      const served = wanting.filter(({ id }) => (targets.get(id) ?? 0) > 0);
      expect(served.length).toBe(Math.min(wanting.length, limit));
      const idle = sum(all.filter(({ demand }) => demand === 0).map(({ id }) => targets.get(id) ?? 0));
      const isShort = wanting.some(({ id, demand }) => (targets.get(id) ?? 0) < demand);
      if (isShort) {
        expect(sum(targets.values())).toBe(limit);
        expect(idle).toBeLessThanOrEqual(limit / 2);
      }
    }),
  );
});
