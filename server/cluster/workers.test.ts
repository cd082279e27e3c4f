import { beforeEach, describe, expect, test } from "vitest";
import { LeaseBook } from "./leases";
import type { Heartbeat } from "./worker-protocol";
import { Workers } from "./workers";

/** What a knock at each address brings. */
let doors: Record<string, "open" | "refused" | "unknown">;
let now: number;
let leases: LeaseBook;
let workers: Workers;
const beats = new Map<string, number>();

beforeEach(() => {
  doors = { "10.0.0.1:9081": "open", "10.0.0.2:9081": "open" };
  now = 1_000_000;
  beats.clear();
  leases = new LeaseBook({ limits: () => new Map([["prov", { calls: 2 }]]), now: () => now });
  workers = new Workers({
    leases,
    leaseMs: 120_000,
    providersVersion: () => "v1",
    knock: async (address) => doors[address] ?? "unknown",
    clock: () => now,
    now: () => now,
  });
});

async function beat(id: string, address: string, more: Partial<Heartbeat> = {}) {
  const count = (beats.get(id) ?? 0) + 1;
  beats.set(id, count);
  const answer = workers.beat({
    id,
    name: id.split(".")[0] ?? id,
    version: "1",
    address,
    labels: [],
    running: 0,
    limit: 16,
    memory_bytes: 1,
    state: "working",
    beat: count,
    uses: [],
    ...more,
  });
  await new Promise((resolve) => setImmediate(resolve));
  return answer?.shares[0]?.share.calls;
}
const states = () => workers.list().map(({ id, state }) => `${id} ${state}`);

test("a heartbeat is answered with the version of the providers and a share of each", async () => {
  await beat("one.a", "10.0.0.1:9081");
  expect(
    workers.beat({
      ...{ id: "two.b", name: "two", version: "1", address: "10.0.0.2:9081", labels: ["gpu"] },
      ...{ running: 1, limit: 16, memory_bytes: 1, state: "working", beat: 1, uses: [] },
    }),
  ).toEqual({
    providers: "v1",
    shares: [{ provider_id: "prov", share: { calls: 0 } }],
    lease_ms: 120_000,
  });
  expect(workers.list()).toMatchObject([
    { id: "one.a" },
    { id: "two.b", labels: ["gpu"], seen_at: 1_000_000 },
  ]);
});

describe("a silent worker", () => {
  test("a silent worker is listed as offline after a while, and as online with its next heartbeat", async () => {
    await beat("one.a", "10.0.0.1:9081");
    now += 10_001;
    expect(states()).toEqual(["one.a gone"]);
    await beat("one.a", "10.0.0.1:9081");
    expect(states()).toEqual(["one.a working"]);
  });

  test("a silent worker loses its share once its address refuses connections", async () => {
    await beat("one.a", "10.0.0.1:9081");
    doors["10.0.0.1:9081"] = "refused";
    await workers.check();
    expect(leases.has("one.a"), "it was heard a moment ago").toBe(true);
    now += 2_501;
    await workers.check();
    expect(leases.has("one.a")).toBe(false);
    expect(await beat("two.b", "10.0.0.2:9081")).toBe(2);
  });

  test("a draining worker that closed its port keeps its share for longer", async () => {
    await beat("one.a", "10.0.0.1:9081", { state: "draining" });
    doors["10.0.0.1:9081"] = "refused";
    now += 9_999;
    await workers.check();
    expect(leases.has("one.a")).toBe(true);
    now += 2;
    await workers.check();
    expect(leases.has("one.a")).toBe(false);
  });

  test("a silent worker keeps its share while it may still be running", async () => {
    await beat("one.a", "10.0.0.1:9081");
    doors["10.0.0.1:9081"] = "unknown";
    now += 60_000;
    await workers.check();
    expect(await beat("two.b", "10.0.0.2:9081")).toBe(0);
  });

  test("a silent worker keeps its share if the server could never reach it", async () => {
    doors["10.0.0.1:9081"] = "refused";
    await beat("one.a", "10.0.0.1:9081");
    now += 60_000;
    await workers.check();
    expect(leases.has("one.a")).toBe(true);
  });

  test("a silent worker loses its share once another has its address", async () => {
    await beat("one.a", "10.0.0.1:9081");
    now += 2_501;
    await beat("one.b", "10.0.0.1:9081");
    await workers.check();
    expect(leases.ids()).toEqual(["one.b"]);
  });
});

test("a leaving worker frees its share at once, and a draining worker keeps the used part", async () => {
  const use = { provider_id: "prov", share: { calls: 2 }, in_use: 1, waiting: 0, begun: 1 };
  await beat("one.a", "10.0.0.1:9081");
  expect(await beat("one.a", "10.0.0.1:9081", { state: "draining", uses: [use] })).toBe(1);
  expect(states()).toEqual(["one.a draining"]);
  await beat("one.a", "10.0.0.1:9081", { state: "gone" });
  expect(await beat("two.b", "10.0.0.2:9081")).toBe(2);
  expect(states()).toEqual(["one.a gone", "two.b working"]);
});
