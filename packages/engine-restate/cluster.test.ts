import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sized } from "@/server/testing/thorough";
import { newCluster } from "./testing/cluster";
import { type Drawing, finish, outcome, start, twins } from "./testing/outcome";
import type { WorldCall } from "./testing/world";

let cluster: Awaited<ReturnType<typeof newCluster>>;
beforeAll(async () => {
  cluster = await newCluster(2);
});
afterAll(() => cluster.stop());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** What may be lost: answers that came in these times, as nobody had put them down yet when something ended. */
interface Loss {
  from: number;
  to: number;
}
const RECORDED_MS = 300;

/** Calls that began once more although they had ended, and not while something that ended took the answer with it. */
function repeated(calls: readonly WorldCall[], losses: readonly Loss[]): string[] {
  const ended = new Map<string, number>();
  return calls.flatMap(({ what, who, call, at }) => {
    const key = `${who} ${call}`;
    const before = ended.get(key);
    if (what === "ends") ended.set(key, at);
    else if (before !== undefined && !losses.some(({ from, to }) => before >= from && before <= to))
      return [key];
    return [];
  });
}

const MIX: Drawing[] = ["chain", "fan-out", "agent", "approval"];
const mixed = (count: number, from: number) =>
  Array.from({ length: count }, (_, k) => [MIX[k % MIX.length]!, `run ${from + k}`] as const);

describe("runs on workers", () => {
  test("runs on workers end as in one process and repeat no finished call", async () => {
    const runs = mixed(4, 100);
    const ids = runs.map(([drawing, who]) => start(cluster.stage, drawing, who));
    await finish(() => cluster.stage, ids);
    expect(ids.map((id) => outcome(cluster.stage, id))).toEqual(await twins(runs));
    expect(repeated(cluster.calls, [])).toEqual([]);
  });

  test("a stopped worker finishes its calls, and other workers continue its runs", async () => {
    const runs = mixed(6, 150);
    cluster.calls.length = 0;
    const ids = runs.map(([drawing, who]) => start(cluster.stage, drawing, who));
    await expect.poll(() => cluster.calls.length).toBeGreaterThan(4);
    const first = cluster.workers.find(({ name }) => name === cluster.calls.at(-1)!.worker)!;
    await first.stop();
    await finish(() => cluster.stage, ids);
    await first.start();
    expect(ids.map((id) => outcome(cluster.stage, id))).toEqual(await twins(runs));
    const begun = cluster.calls.filter(({ what }) => what === "begins");
    expect(begun.map(({ who, call }) => `${who} ${call}`).toSorted()).toEqual(
      cluster.calls.flatMap(({ what, who, call }) => (what === "ends" ? [`${who} ${call}`] : [])).toSorted(),
    );
    expect(repeated(cluster.calls, [])).toEqual([]);
  });

  test("runs continue after each worker, the engine and the server are killed in turn", async () => {
    const runs = mixed(16, 200);
    const { workers, restate } = cluster;
    cluster.calls.length = 0;
    const ids: string[] = [];
    const begin = (count: number) => {
      for (const [drawing, who] of runs.slice(ids.length, ids.length + count))
        ids.push(start(cluster.stage, drawing, who));
    };
    const losses: Loss[] = [];
    const lose = async (end: () => Promise<void>, back: () => Promise<void>, isLostMeanwhile = false) => {
      await pause(250);
      const from = Date.now() - RECORDED_MS;
      await end();
      const to = Date.now();
      await back();
      losses.push({ from, to: isLostMeanwhile ? Date.now() : to });
    };
    begin(5);
    await lose(workers[0]!.kill, workers[0]!.start);
    begin(5);
    await lose(restate.kill, restate.restart, true);
    begin(3);
    await lose(workers[1]!.kill, workers[1]!.start);
    begin(3);
    await pause(150);
    await cluster.killServer();
    await pause(200);
    await cluster.restartServer();
    await finish(() => cluster.stage, ids);
    expect(ids.map((id) => outcome(cluster.stage, id))).toEqual(await twins(runs));
    expect(repeated(cluster.calls, losses)).toEqual([]);
  });

  const KILLS = sized(2, 50);
  test("runs on workers execute outside effects once across restarts of the server", {
    timeout: 60_000 + KILLS * 8_000,
  }, async () => {
    cluster.calls.length = 0;
    const ids: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      for (let k = 0; k < 3; k++) ids.push(start(cluster.stage, "labeled", `run ${300 + ids.length}`));
      const before = cluster.calls.length;
      await expect.poll(() => cluster.calls.length, { interval: 5 }).toBeGreaterThan(before);
      await pause(Math.random() * 500);
      await cluster.killServer();
      await pause(Math.random() * 1_000);
      await cluster.restartServer();
    }
    await finish(() => cluster.stage, ids);
    const effects = new Map<string, number>();
    for (const { what, who, call } of cluster.calls)
      if (what === "begins") effects.set(`${who} ${call}`, (effects.get(`${who} ${call}`) ?? 0) + 1);
    expect([...effects].filter(([, times]) => times > 1)).toEqual([]);
    expect(effects.size).toBe(ids.length * 12);
    for (const id of ids)
      expect(outcome(cluster.stage, id)).toMatchObject({ status: "COMPLETED", seqs: true });
  });
});
