import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newRateLimiter } from "./rate-limit";
import { newTokenRatios } from "./token-ratio";

describe("rate limits per minute", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const { signal } = new AbortController();
  /** Asks to be let in and notes when that was, in milliseconds. */
  function line() {
    const start = Date.now();
    const came: number[] = [];
    const leaves: ((used?: number) => void)[] = [];
    return {
      came,
      leaves,
      enter: (gate: ReturnType<typeof newRateLimiter>, tokens?: number) =>
        void gate.enter(signal, tokens).then((leave) => {
          came.push(Date.now() - start);
          leaves.push(leave);
        }),
    };
  }

  test("a minute's worth of calls is sent at once, and the rest evenly spaced", async () => {
    const gate = newRateLimiter(10);
    gate.setLimit(10, { requests: 3 });
    const { came, enter } = line();
    for (let n = 0; n < 5; n++) enter(gate);
    await vi.advanceTimersByTimeAsync(0);
    expect(came).toEqual([0, 0, 0]);
    expect(gate.waiting).toBe(2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(came).toEqual([0, 0, 0, 20_000, 40_000]);
  });
  test("token limits count the estimate first, then the actual usage", async () => {
    const gate = newRateLimiter(10);
    gate.setLimit(10, { tokens: 6_000 });
    const { came, leaves, enter } = line();
    enter(gate, 6_000);
    enter(gate, 1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(came).toEqual([0]);
    // It used less than was thought, so the next need not wait any longer.
    leaves[0]!(2_000);
    await vi.advanceTimersByTimeAsync(0);
    expect(came).toEqual([0, 1_000]);
    // This one used more: what it overdrew is waited for.
    leaves[1]!(9_100);
    enter(gate, 1_000);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(came.slice(2)).toEqual([61_000]);
  });
  test("a call larger than the token limit is sent once the whole limit is available", async () => {
    const gate = newRateLimiter(10);
    gate.setLimit(10, { tokens: 1_000 });
    const { came, enter } = line();
    enter(gate, 50);
    enter(gate, 5_000);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(came).toEqual([0, 3_000]);
  });
  test("a waiting call that is cancelled makes room at once", async () => {
    const gate = newRateLimiter(10);
    gate.setLimit(10, { tokens: 1_000 });
    const abort = new AbortController();
    const { came, enter } = line();
    enter(gate, 500);
    const large = gate.enter(abort.signal, 1_000);
    enter(gate, 400);
    await vi.advanceTimersByTimeAsync(0);
    expect(came).toEqual([0]);
    abort.abort(new Error("stop"));
    await expect(large).rejects.toThrow("stop");
    await vi.advanceTimersByTimeAsync(0);
    expect(came).toEqual([0, 0]);
    expect(gate.waiting).toBe(0);
  });
  test("removing a limit admits all waiting calls", async () => {
    const gate = newRateLimiter(10);
    gate.setLimit(10, { requests: 1 });
    const { came, enter } = line();
    enter(gate);
    enter(gate);
    await vi.advanceTimersByTimeAsync(5);
    gate.setLimit(10, { requests: 1 });
    await vi.advanceTimersByTimeAsync(0);
    expect(came).toEqual([0]);
    gate.setLimit(10);
    await vi.advanceTimersByTimeAsync(0);
    expect(came).toEqual([0, 5]);
  });
});

describe("characters per token", () => {
  const text = "x".repeat(4_000);
  test("characters per token are learned for each model from the reported usage", () => {
    const ratios = newTokenRatios();
    expect(ratios.tokens("p", "m", text)).toBe(1_000);
    ratios.observe("p", "m", text, 1_500);
    expect(ratios.tokens("p", "m", text)).toBe(1_500);
    expect(ratios.tokens("p", "other", text)).toBe(1_000);
    ratios.observe("p", "m", text, 1_000);
    expect(ratios.tokens("p", "m", text)).toBe(1_400);
  });
  test("short texts and implausible counts barely change the token ratio", () => {
    const ratios = newTokenRatios();
    ratios.observe("p", "m", "Hi", 90);
    ratios.observe("p", "m", text, 0);
    ratios.observe("p", "m", text, Number.NaN);
    expect(ratios.tokens("p", "m", text)).toBe(1_000);
    ratios.observe("p", "m", text, 9_000_000);
    expect(ratios.tokens("p", "m", text)).toBe(4_000);
  });
});
