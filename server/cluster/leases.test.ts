import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KeptLeases, Share } from "@/server/domain/model/provider-lease";
import type { Limit } from "./allocate";
import { LeaseBook } from "./leases";
import type { ProviderUse } from "./worker-protocol";

const P = "prov";

/** A book and a clock; `kept` is what would be on the disk. */
function newBook(limit: Limit) {
  let now = 1_000_000;
  let kept: KeptLeases = {};
  const limits = new Map([[P, limit]]);
  const open = () =>
    new LeaseBook({
      limits: () => limits,
      now: () => now,
      keep: (leases) => void (kept = structuredClone(leases)),
    });
  let book = open();
  const beats = new Map<string, number>();
  return {
    limits,
    get book() {
      return book;
    },
    pass: (ms: number) => void (now += ms),
    restart() {
      book = open();
      book.load(kept);
    },
    /** Answers what it may use. */
    beat(id: string, use: Partial<ProviderUse> = {}, isStanding = true): Share {
      const beat = (beats.get(id) ?? 0) + 1;
      beats.set(id, beat);
      const given = book.beat(
        id,
        beat,
        [{ provider_id: P, share: null, in_use: 0, waiting: 0, begun: 0, ...use }],
        isStanding,
      );
      return given![0]!.share;
    },
  };
}

describe("a limit of two calls", () => {
  test("two workers share two calls and never use three while a call is returned", () => {
    const { beat } = newBook({ calls: 2 });
    expect(beat("a", { waiting: 5 })).toEqual({ calls: 2 });
    // The first has both, as far as the server knows.
    expect(beat("b", { waiting: 1 })).toEqual({ calls: 0 });
    expect(beat("a", { share: { calls: 2 }, in_use: 2, waiting: 3 })).toEqual({ calls: 1 });
    expect(beat("b", { share: { calls: 0 }, waiting: 1 })).toEqual({ calls: 0 });
    // It goes by one, but its second call is still under way.
    expect(beat("a", { share: { calls: 1 }, in_use: 2, waiting: 3 })).toEqual({ calls: 1 });
    expect(beat("b", { share: { calls: 0 }, waiting: 1 })).toEqual({ calls: 0 });
    expect(beat("a", { share: { calls: 1 }, in_use: 1, waiting: 3 })).toEqual({ calls: 1 });
    expect(beat("b", { share: { calls: 0 }, waiting: 1 })).toEqual({ calls: 1 });
  });

  test("an ended worker's calls are freed at once, a silent worker's when its lease expires", () => {
    const { beat, book, pass } = newBook({ calls: 2 });
    beat("a", { waiting: 5 });
    book.end("a");
    expect(beat("b", { waiting: 5 })).toEqual({ calls: 2 });
    pass(120_000);
    expect(beat("c", { waiting: 5 })).toEqual({ calls: 0 });
    pass(10_000);
    // Nothing was heard of b for as long as its shares hold and two clocks may differ.
    expect(beat("c", { share: { calls: 0 }, waiting: 5 })).toEqual({ calls: 2 });
  });

  test("leases survive a restart of the server", () => {
    const troupe = newBook({ calls: 2 });
    troupe.beat("a", { waiting: 5 });
    troupe.restart();
    expect(troupe.beat("b", { waiting: 5 })).toEqual({ calls: 0 });
    expect(troupe.beat("a", { share: { calls: 2 }, in_use: 2 })).toEqual({ calls: 1 });
  });

  test("the server itself also gets a share of the calls", () => {
    const { beat } = newBook({ calls: 2 });
    expect(beat("server", {}, false)).toEqual({ calls: 0 });
    expect(beat("a", { waiting: 5 })).toEqual({ calls: 2 });
    expect(beat("server", { waiting: 1 }, false)).toEqual({ calls: 0 });
    beat("a", { share: { calls: 2 }, waiting: 5 });
    beat("a", { share: { calls: 1 }, waiting: 5 });
    expect(beat("server", { share: { calls: 0 }, waiting: 1 }, false)).toEqual({ calls: 1 });
  });

  test("a lowered limit takes effect before another worker gets calls", () => {
    const { beat, limits } = newBook({ calls: 4 });
    beat("a", { waiting: 5 });
    limits.set(P, { calls: 1 });
    expect(beat("b", { waiting: 5 })).toEqual({ calls: 0 });
    expect(beat("a", { share: { calls: 4 }, in_use: 4 })).toEqual({ calls: 1 });
  });
});

test("a limit of one call rotates, and each worker makes at least one call", () => {
  const { beat, pass } = newBook({ calls: 1 });
  expect(beat("a", { waiting: 9 })).toEqual({ calls: 1 });
  expect(beat("b", { waiting: 9 })).toEqual({ calls: 0 });
  pass(60_000);
  // It has not got to call yet: its turn is not over.
  expect(beat("a", { share: { calls: 1 }, waiting: 9 })).toEqual({ calls: 1 });
  expect(beat("a", { share: { calls: 1 }, in_use: 1, waiting: 8, begun: 1 })).toEqual({ calls: 0 });
  expect(beat("b", { share: { calls: 0 }, waiting: 9 })).toEqual({ calls: 0 });
  expect(beat("a", { share: { calls: 0 }, in_use: 0, waiting: 8, begun: 1 })).toEqual({ calls: 0 });
  expect(beat("b", { share: { calls: 0 }, waiting: 9 })).toEqual({ calls: 1 });
});

test("a lost response doesn't increase a worker's share", () => {
  const { beat } = newBook({ calls: 2 });
  beat("a", { waiting: 5 });
  // It never heard of its two.
  expect(beat("a", { share: null, waiting: 5 })).toEqual({ calls: 2 });
  expect(beat("b", { waiting: 5 })).toEqual({ calls: 0 });
});

test("an outdated heartbeat is ignored", () => {
  const { book } = newBook({ calls: 2 });
  expect(book.beat("a", 2, [], true)).not.toBeNull();
  expect(book.beat("a", 1, [], true)).toBeNull();
});

test("rate limits are shared like calls, and only the first worker starts with a full budget", () => {
  const { beat, book } = newBook({ calls: 4, requests_per_minute: 60, tokens_per_minute: 1_000 });
  expect(book.beat("a", 1, [], true)).toEqual([
    {
      provider_id: P,
      share: { calls: 4, requests_per_minute: 60, tokens_per_minute: 1_000 },
      is_fresh: true,
    },
  ]);
  const all = { calls: 4, requests_per_minute: 60, tokens_per_minute: 1_000 };
  beat("b", { waiting: 9 });
  const half = { calls: 2, requests_per_minute: 30, tokens_per_minute: 500 };
  expect(book.beat("a", 2, [{ provider_id: P, share: all, in_use: 1, waiting: 9, begun: 3 }], true)).toEqual([
    { provider_id: P, share: half },
  ]);
  book.beat("a", 3, [{ provider_id: P, share: half, in_use: 1, waiting: 9, begun: 3 }], true);
  expect(book.beat("b", 2, [{ provider_id: P, share: null, in_use: 0, waiting: 9, begun: 0 }], true)).toEqual(
    [{ provider_id: P, share: half }],
  );
});

test("a provider's cool-down applies to all workers", () => {
  const { beat, book, pass } = newBook({ calls: 2 });
  beat("a", { cool_down_ms: 5_000 });
  pass(2_000);
  expect(book.beat("b", 1, [], true)).toEqual([
    { provider_id: P, share: { calls: expect.any(Number) }, cool_down_ms: 3_000 },
  ]);
});

describe("leases under random failures", () => {
  /** A worker as it is: what it goes by, and what it does. */
  interface Sim {
    share: Share | null;
    in_use: number;
    waiting: number;
    begun: number;
    /** An answer that is on its way to it. */
    coming: Share | null;
  }
  const newSim = (): Sim => ({ share: null, in_use: 0, waiting: 0, begun: 0, coming: null });
  const who = fc.constantFrom("a", "b", "c");
  const doing = fc.oneof(
    fc.record({ what: fc.constantFrom("ask", "hear", "lose", "call", "done", "die"), who }),
    fc.record({ what: fc.constant("want"), who, many: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ what: fc.constant("pass"), who, many: fc.integer({ min: 1, max: 20_000 }) }),
    fc.record({ what: fc.constant("restart"), who }),
  );

  test("workers that start, stop, lose responses and call never exceed the limit together", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(doing, { maxLength: 200 }), (limit, all) => {
        const troupe = newBook({ calls: limit });
        const sims = new Map<string, Sim>();
        let generation = 0;
        const ids = new Map<string, string>();
        for (const one of all) {
          const id = ids.get(one.who) ?? one.who;
          ids.set(one.who, id);
          const sim = sims.get(id) ?? newSim();
          sims.set(id, sim);
          if (one.what === "want") sim.waiting += "many" in one ? one.many : 0;
          if (one.what === "pass") troupe.pass("many" in one ? one.many : 0);
          if (one.what === "restart") troupe.restart();
          if (one.what === "ask") {
            const { share, in_use, waiting, begun } = sim;
            sim.coming = troupe.beat(id, { share, in_use, waiting, begun });
          }
          if (one.what === "lose") sim.coming = null;
          if (one.what === "hear" && sim.coming) {
            sim.share = sim.coming;
            sim.coming = null;
          }
          if (one.what === "call" && sim.waiting > 0 && sim.in_use < (sim.share?.calls ?? 0)) {
            sim.waiting--;
            sim.in_use++;
            sim.begun++;
          }
          if (one.what === "done" && sim.in_use > 0) sim.in_use--;
          if (one.what === "die") {
            sims.delete(id);
            troupe.book.end(id);
            ids.set(one.who, `${one.who}${++generation}`);
          }
          // Whoever is silent for as long as a lease holds has ended by itself.
          for (const [other, silent] of sims)
            if (!troupe.book.has(other)) Object.assign(silent, { share: null, in_use: 0, coming: null });
          expect([...sims.values()].reduce((sum, { in_use }) => sum + in_use, 0)).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("no worker starves while all send heartbeats", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 2, max: 6 }), (limit, many) => {
        const troupe = newBook({ calls: limit });
        const sims = Array.from({ length: many }, (_, at) => ({ ...newSim(), id: `w${at}`, waiting: 1e6 }));
        // Each call takes one round of signs of life, two seconds apart.
        for (let round = 0; round < 20 * many; round++) {
          for (const sim of sims) {
            sim.in_use = 0;
            const { share, in_use, waiting, begun } = sim;
            sim.share = troupe.beat(sim.id, { share, in_use, waiting, begun });
            const { calls } = sim.share;
            sim.in_use = calls;
            sim.begun += calls;
          }
          troupe.pass(2_000);
        }
        for (const { begun } of sims) expect(begun).toBeGreaterThanOrEqual(2);
      }),
    );
  });
});
