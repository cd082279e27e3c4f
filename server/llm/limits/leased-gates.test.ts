import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newModels } from "../models";
import {
  ask,
  endServersWithTests,
  memoryProviders,
  newIo,
  newServer,
  offlineProvider,
  remoteProvider,
} from "../testing";
import { type GivenShare, LeasedGates } from "./leased-gates";

endServersWithTests();
const provider = remoteProvider("http://127.0.0.1:9/v1");
const given = (calls: number, more: Partial<GivenShare> = {}): GivenShare => ({
  provider_id: provider.id,
  share: { calls },
  ...more,
});
const { signal } = new AbortController();

describe("gates with leased shares", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Gates, what they noticed, and who is inside. */
  function newStage() {
    const seen = { changes: 0, inside: 0 };
    const gates = new LeasedGates({ onChange: () => void seen.changes++, clock: Date.now });
    const leaves: (() => void)[] = [];
    const enter = () =>
      void gates
        .of(provider)
        .enter(signal)
        .then((leave) => {
          seen.inside++;
          leaves.push(() => {
            seen.inside--;
            leave();
          });
        });
    return { seen, gates, leaves, enter };
  }
  const settle = () => vi.advanceTimersByTimeAsync(0);

  test("a gate without a share blocks all calls and reports that calls are waiting", async () => {
    const { seen, gates, enter } = newStage();
    enter();
    await settle();
    expect(seen).toEqual({ changes: 1, inside: 0 });
    expect(gates.isStarving).toBe(true);
    expect(gates.uses()).toEqual([{ provider_id: "remote", share: null, in_use: 0, waiting: 1, begun: 0 }]);
    gates.apply([given(1)], 1_000, Date.now());
    await settle();
    expect(seen.inside).toBe(1);
    expect(gates.isStarving).toBe(false);
    expect(gates.uses()).toEqual([
      { provider_id: "remote", share: { calls: 1 }, in_use: 1, waiting: 0, begun: 1 },
    ]);
  });

  test("a smaller share lets running calls finish and blocks new calls until then", async () => {
    const { seen, gates, enter, leaves } = newStage();
    gates.apply([given(2)], 1_000, Date.now());
    for (let k = 0; k < 3; k++) enter();
    await settle();
    gates.apply([given(1)], 1_000, Date.now());
    leaves[0]?.();
    await settle();
    expect(seen.inside).toBe(1);
    leaves[1]?.();
    await settle();
    expect([seen.inside, gates.uses()[0]?.begun]).toEqual([1, 3]);
  });

  test("gates close when their lease expires, counted from when it was requested", async () => {
    const { seen, gates, enter } = newStage();
    const asked = Date.now();
    await vi.advanceTimersByTimeAsync(400);
    gates.apply([given(2)], 1_000, asked);
    const lost = gates.lost(provider);
    await vi.advanceTimersByTimeAsync(599);
    expect(lost?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    enter();
    await settle();
    expect([lost?.aborted, seen.inside, gates.uses()[0]?.share]).toEqual([true, 0, null]);
    gates.apply([given(2)], 1_000, Date.now());
    await settle();
    expect([gates.lost(provider)?.aborted, seen.inside]).toEqual([false, 1]);
  });

  test("a gate closes for a provider that no longer has a share", async () => {
    const { seen, gates, enter } = newStage();
    gates.apply([given(2)], 1_000, Date.now());
    gates.apply([], 1_000, Date.now());
    enter();
    await settle();
    expect(seen.inside).toBe(0);
  });

  test("a cool-down from the server applies, but only local cool-downs are reported", async () => {
    const { seen, gates, enter } = newStage();
    gates.apply([given(2, { cool_down_ms: 5_000 })], 60_000, Date.now());
    enter();
    await vi.advanceTimersByTimeAsync(4_999);
    expect([seen.inside, gates.uses()[0]?.cool_down_ms]).toEqual([0, undefined]);
    await vi.advanceTimersByTimeAsync(1);
    expect(seen.inside).toBe(1);
    gates.of(provider).coolDown(Date.now() + 3_000);
    expect(gates.uses()[0]?.cool_down_ms).toBe(3_000);
  });

  test("a new rate limit share fills up over time unless it is granted as full", async () => {
    const share = { calls: 10, requests_per_minute: 60 };
    const { seen, gates, enter } = newStage();
    gates.apply([given(0, { share })], 600_000, Date.now());
    for (let k = 0; k < 4; k++) enter();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(seen.inside).toBe(2);
    const other = newStage();
    other.gates.apply([given(0, { share, is_fresh: true })], 600_000, Date.now());
    for (let k = 0; k < 4; k++) other.enter();
    await settle();
    expect(other.seen.inside).toBe(4);
  });

  test("gates are always open for the offline demo", async () => {
    const { gates } = newStage();
    await gates.of(offlineProvider).enter(signal);
    expect([gates.uses(), gates.lost(offlineProvider)]).toEqual([[], undefined]);
  });
});

test("a running call ends with its lease and can be retried", async () => {
  const service = await newServer(() => {});
  const there = remoteProvider(service.url, { is_default: true });
  const gates = new LeasedGates({ onChange: () => {} });
  gates.apply([given(1)], 300, performance.now());
  const models = newModels({ providers: memoryProviders([there]), gates, fetch: globalThis.fetch });
  await expect(models.complete(ask("Hello"), newIo().io)).rejects.toMatchObject({
    error: {
      code: "RATE_LIMIT",
      retryable: true,
      message:
        "The call to Testing was aborted: this worker was disconnected from the server for too long to know about other calls.",
    },
  });
  expect(gates.uses()).toMatchObject([{ in_use: 0, share: null }]);
});
