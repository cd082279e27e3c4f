import { afterAll, beforeAll, expect, test } from "vitest";
import { newCluster } from "./testing/cluster";
import { finish, outcome, start, twins } from "./testing/outcome";

let cluster: Awaited<ReturnType<typeof newCluster>>;
beforeAll(async () => {
  // Long enough that the kill comes before the end, even on a busy machine.
  cluster = await newCluster(2, { callMs: 200 });
});
afterAll(() => cluster.stop());

test("a run whose worker is killed continues on another one and ends as in one process", async () => {
  const id = start(cluster.stage, "chain", "run 1");
  await expect.poll(() => cluster.calls.length).toBeGreaterThan(2);
  const name = cluster.calls.at(-1)?.worker;
  await cluster.workers.find((worker) => worker.name === name)?.kill();
  await finish(() => cluster.stage, [id]);
  expect(cluster.calls.at(-1)?.worker).not.toBe(name);
  expect([outcome(cluster.stage, id)]).toEqual(await twins([["chain", "run 1"]]));
});
