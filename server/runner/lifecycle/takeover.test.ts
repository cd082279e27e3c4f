import { describe, expect, test } from "vitest";
import type { DurableContext } from "@/server/domain/base/durable";
import type { Json } from "@/server/domain/base/values";
import { WorkTime } from "../durable/clock";
import { EmbeddedRun } from "../durable/embedded";
import type { EmbeddedHost, Journal, Turn, TurnRecord } from "../durable/embedded-contract";
import type { ForkTurn } from "../fork/fork-turn";

// A run whose log is elsewhere: recording takes a while, and it comes from another worker.

/** A host that keeps turns only when it is told to. */
function newHost(more: Partial<EmbeddedHost> = {}) {
  const waiting: { turn: TurnRecord; keep: () => void }[] = [];
  const host: EmbeddedHost = {
    record: (turn) => new Promise((keep) => waiting.push({ turn, keep })),
    live: () => {},
    workerId: "w2",
    time: new WorkTime(),
    stopwatch: () => 0,
    recordsTogether: true,
    takesOver: true,
    ...more,
  };
  return {
    host,
    keys: () => waiting.map(({ turn }) => turn.key),
    keepAll: async () => {
      for (const { keep } of waiting.splice(0)) keep();
      await settle();
    },
  };
}
const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
const first = (events: Turn["events"] = []): Turn => ({
  turn: 0,
  key: null,
  result: null,
  at: 1,
  lastSeq: 1,
  inlined: 0,
  events,
});
const journal = (...turns: Partial<Turn>[]): Journal => ({
  turns: turns.map((turn, at) => ({ ...first(), turn: at, ...turn })),
  timers: new Map(),
  signals: new Map(),
});

/** Begins steps that end when they are told to, and notes which began. */
function newSteps(ctx: DurableContext) {
  const begun: string[] = [];
  const ends = new Map<string, (value: Json) => void>();
  return {
    begun,
    end: (key: string) => ends.get(key)?.(key),
    step: (key: string) =>
      ctx.step(key, () => {
        begun.push(key);
        return new Promise((resolve) => ends.set(key, resolve));
      }),
  };
}

describe("turns that are slow to record", () => {
  test("available answers are recorded concurrently, and the steps they start wait for all of them", async () => {
    const { host, keys, keepAll } = newHost();
    const run = new EmbeddedRun("r", host, journal({}));
    const steps = newSteps(run);
    const names = ["a", "b", "c"];
    const flow = (async () => {
      const open = names.map((name) => steps.step(name));
      for (const _ of names) {
        const { key } = await run.next(open);
        open.push(steps.step(`after ${key}`));
      }
      await run.next(open);
    })();
    await settle();
    await keepAll();
    expect(steps.begun).toEqual(names);
    for (const name of names) steps.end(name);
    await settle();
    expect(keys()).toEqual(names);
    expect(steps.begun).toEqual(names);
    await keepAll();
    expect(steps.begun).toEqual([...names, "after a", "after b", "after c"]);
    steps.end("after b");
    await flow;
    await Promise.all([run.close(), settle().then(keepAll)]);
  });

  test("turns wait for each other unless the host allows concurrent recording", async () => {
    const { host, keys, keepAll } = newHost({ recordsTogether: false });
    const run = new EmbeddedRun("r", host, journal({}));
    const steps = newSteps(run);
    void (async () => {
      const open = [steps.step("a"), steps.step("b")];
      for (const _ of open) await run.next(open);
      await run.next([run.signal("never")]);
    })();
    await settle();
    await keepAll();
    steps.end("a");
    steps.end("b");
    await settle();
    expect(keys()).toEqual(["a"]);
    await keepAll();
    expect(keys()).toEqual(["b"]);
    run.stop();
  });

  test("all turns are stored before the run closes, and a turn that can't be stored ends it", async () => {
    const { host } = newHost({
      record: ({ key }) => (key === "a" ? Promise.reject(new Error("full")) : settle().then(() => {})),
    });
    const run = new EmbeddedRun("r", host, journal({}));
    const steps = newSteps(run);
    const flow = (async () => {
      const open = [steps.step("a"), steps.step("b")];
      for (const _ of open) await run.next(open);
      await run.close();
    })();
    await settle();
    await settle();
    steps.end("a");
    steps.end("b");
    await expect(flow).rejects.toThrow("full");
    run.stop();
  });
});

describe("a run taken over from another worker", () => {
  const rules = { delegate_tools: "shared" } as EmbeddedHost["rules"];
  const kept: Partial<Turn>[] = [{}, {}, { key: "a", result: { ok: true, value: "a" } }];
  const note: Partial<Turn> = {
    key: "recovered#3",
    result: { ok: true, value: { worker_id: "w1", rules: rules as Json } },
  };
  const createdUnder = (installation: EmbeddedHost["rules"]) =>
    ({
      events: [{ type: "run_created", seq: 1, ts: 1, payload: { installation } }],
    }) as unknown as Partial<Turn>;

  /** The keys of what it is told after its log. */
  async function keysAfterLog(turns: readonly Partial<Turn>[], more: Partial<EmbeddedHost>) {
    const { host } = newHost({ record: async () => {}, ...more });
    const run = new EmbeddedRun("r", host, journal(...turns));
    const keys: string[] = [];
    const signal = [run.step("a", () => "a"), run.signal("go")];
    run.deliver("go", null);
    while (keys.at(-1) !== "go") keys.push((await run.next(signal)).key);
    run.stop();
    return keys;
  }

  test("a run taken over under the same rules resumes without a note", async () => {
    const before = { ...kept[0], ...createdUnder(rules) };
    expect(await keysAfterLog([before, ...kept.slice(1)], { rules: rules! })).toEqual(["a", "go"]);
    const noted = { ...kept[0], ...createdUnder({}) };
    expect(await keysAfterLog([noted, ...kept.slice(1), note], { rules: rules! })).toEqual([
      "a",
      "recovered#3",
      "go",
    ]);
    expect(await keysAfterLog(kept, { takesOver: false })).toEqual(["a", "recovered#3", "go"]);
  });

  test("a run taken over reports when each step was first requested, even in another process", async () => {
    const askedFor = async (...turns: Partial<Turn>[]) => {
      const { host, keepAll } = newHost();
      const began = Date.now();
      const run = new EmbeddedRun("r", host, journal({}, ...turns));
      const seen: [string, number | string][] = [];
      const step = (key: string) =>
        run.step(key, ({ begunAt = 0 }) => (seen.push([key, begunAt < began ? begunAt : "now"]), key));
      const flow = (async () => {
        const open = [step("one"), step("two")];
        await run.next(open);
        open.push(step("three"));
        await run.next(open);
        await run.next(open);
      })();
      for (let k = 0; k < 5; k++) await settle().then(keepAll);
      await flow;
      run.stop();
      return seen;
    };
    const one: Partial<Turn> = { at: 30, key: "one", result: { ok: true, value: "one" } };
    expect(await askedFor()).toEqual([
      ["one", "now"],
      ["two", "now"],
      ["three", "now"],
    ]);
    expect(await askedFor({ at: 20 }, one)).toEqual([
      ["two", 20],
      ["three", 30],
    ]);
    expect(await askedFor({ at: 20 })).toEqual([
      ["one", 20],
      ["two", 20],
      ["three", "now"],
    ]);
  });

  test("a fork counts the age of its requests from the fork, not from its original", async () => {
    const { host, keepAll } = newHost();
    const fork: ForkTurn = { turn: 1, key: null, result: null, at: 20, seq: 0, forkedAt: 500, shifts: [] };
    const run = new EmbeddedRun("r", host, { ...journal({}), fork });
    const seen: number[] = [];
    const flow = run.next([run.step("one", ({ begunAt = 0 }) => (seen.push(begunAt), "one"))]);
    for (let k = 0; k < 3; k++) await settle().then(keepAll);
    await flow;
    run.stop();
    expect(seen).toEqual([500]);
  });

  test("a run taken over gets a note if the rules have changed", async () => {
    const before = { ...kept[0], ...createdUnder({}) };
    expect(await keysAfterLog([before, ...kept.slice(1)], { rules: rules! })).toEqual([
      "a",
      "recovered#3",
      "go",
    ]);
  });

  test("a run taken over gets no note if the workers' clocks differ", async () => {
    const ahead = Date.now() + 60_000;
    expect(await keysAfterLog([{}, {}, { ...kept[2], at: ahead }], {})).toEqual(["a", "go"]);
    expect(await keysAfterLog([{}, {}, { ...kept[2], at: 5 }], {})).toEqual(["a", "go"]);
  });
});

test("the host decides how large a result can be", async () => {
  const { host } = newHost({ record: async () => {}, longestResult: 100 });
  const run = new EmbeddedRun("r", host, journal({}));
  const small = await run.next([run.step("small", () => "x".repeat(50))]);
  const large = await run.next([run.step("large", () => "x".repeat(150))]);
  expect([small.result.ok, large.result]).toMatchObject([
    true,
    { ok: false, error: { name: "ResultTooLarge" } },
  ]);
  run.stop();
});
