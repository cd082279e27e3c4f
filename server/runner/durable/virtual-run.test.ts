import { describe, expect, it } from "vitest";
import type { Settlement } from "@/server/domain/base/durable";
import { BrokenOff, NothingLeft, VirtualRun as Virtual, type VirtualWorld } from "./virtual-run";

const BEGUN = Date.UTC(2026, 0, 1);
const step = (run: Virtual, key: string, work = () => `${key}, here`) => run.step(key, work);
const request = { kind: "model" as const, again: "reuse" as const, asked: () => null };

/** What comes, in its order, with the milliseconds since the beginning. */
async function collect(run: Virtual): Promise<[string, unknown, number][]> {
  const all: [string, unknown, number][] = [];
  for (;;) {
    let next: Settlement;
    try {
      next = await run.next();
    } catch (error) {
      if (error instanceof NothingLeft) return all;
      throw error;
    }
    all.push([
      next.key,
      next.result.ok ? next.result.value : next.result.error.message,
      run.now - run.begunAt,
    ]);
  }
}

const RECORDED: VirtualWorld["serve"] = ({ key }) =>
  ({
    slow: { result: { ok: true, value: "slow, recorded" } as const, took_ms: 900, order: 1 },
    quick: { result: { ok: true, value: "quick, recorded" } as const, took_ms: 20, order: 2 },
    lost: { result: null, order: 3 },
    own: { took_ms: 300, order: 4 },
  })[key];

const begun = (world: VirtualWorld) => {
  const run = new Virtual("run_a", BEGUN, world);
  for (const key of ["slow", "quick", "lost"]) run.step(key, () => "asked outside", { request });
  step(run, "own");
  run.timeout("wait", 500);
  return run;
};

describe("a run in virtual time", () => {
  it("a virtual run receives answers in recorded order, after everything due before them", async () => {
    expect(await collect(begun({ first: "by_place", serve: RECORDED }))).toEqual([
      ["wait", null, 500],
      ["slow", "slow, recorded", 900],
      ["quick", "quick, recorded", 900],
      ["own", "own, here", 900],
    ]);
  });

  it("a virtual run receives answers by their recorded durations if set to do so", async () => {
    expect(await collect(begun({ first: "by_time", serve: RECORDED }))).toEqual([
      ["quick", "quick, recorded", 20],
      ["own", "own, here", 300],
      ["wait", null, 500],
      ["slow", "slow, recorded", 900],
    ]);
  });

  it("a virtual run executes unrecorded steps at once and asks people before time passes", async () => {
    const asked: string[] = ["one"];
    const run = new Virtual("run_a", BEGUN, {
      first: "by_place",
      serve: () => undefined,
      idle: (deliver) => {
        const name = asked.pop();
        if (name) deliver("answer:i1", name);
        return name !== undefined;
      },
    });
    run.sleep("night", 60_000);
    run.signal("answer:i1");
    step(run, "first");
    step(run, "given up");
    run.abandon({ key: "given up" });
    step(run, "failing", () => {
      throw new Error("It broke.");
    });
    expect(await collect(run)).toEqual([
      ["first", "first, here", 0],
      ["failing", "It broke.", 0],
      ["answer:i1", "one", 0],
      ["night", null, 60_000],
    ]);
  });

  it("a virtual run ends where its recording can't continue, even within a step", async () => {
    const unknown = new BrokenOff("Nobody knows.");
    const run = new Virtual("run_a", BEGUN, { first: "by_time", serve: () => undefined });
    run.step("asks", () => Promise.reject(unknown));
    await expect(collect(run)).rejects.toBe(unknown);
  });
});
