import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ModelError } from "../model";
import { newModels } from "../models";
import { ask, memoryProviders, newIo, remoteProvider, sse } from "../testing";
import type { TransportLimits } from "./transport";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval"] }));
afterEach(() => void vi.useRealTimers());

const half = sse(["Half of", " it"], { finish: null, done: false, usage: false });

/** So much time passes, and everything happens that waited for it. */
async function pass(ms: number) {
  await vi.advanceTimersByTimeAsync(ms);
  await new Promise((resolve) => setImmediate(resolve));
}

/** A call that is out, to a server that sends one text, and another every 20 ms; and how it ended, once it has. */
async function newCall(limits: Partial<TransportLimits>, first: string, again = "") {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const seen = { ended: null as string | null, isClosed: false };
  const body = new ReadableStream<Uint8Array>({
    start(out) {
      if (first !== "") out.enqueue(bytes(first));
      if (again !== "") setInterval(() => !seen.isClosed && out.enqueue(bytes(again)), 20);
    },
    cancel() {
      seen.isClosed = true;
    },
  });
  const send = vi.fn(async () => new Response(body, { headers: { "content-type": "text/event-stream" } }));
  const models = newModels({
    providers: memoryProviders([remoteProvider("http://127.0.0.1:9/v1")]),
    fetch: send,
    limits: { firstByteMs: 20_000, idleMs: 20_000, totalMs: 20_000, ...limits },
  });
  models.complete(ask("Hello"), newIo().io).catch((error: ModelError) => {
    seen.ended = `${error.error.code}: ${error.message}`;
  });
  while (send.mock.calls.length === 0) await pass(0);
  await pass(0);
  return seen;
}

test.each([
  [
    "a dripping answer ends at the total timeout",
    { totalMs: 400 },
    "",
    ": ping\n\n",
    /in the agent's model settings or the provider's limits/,
  ],
  [
    "a stalled answer ends at the idle timeout",
    { idleMs: 400 },
    half,
    "",
    /in the agent's model settings or the provider's limits/,
  ],
  [
    "an answer that doesn't start ends at the first-token timeout",
    { firstByteMs: 400 },
    "",
    "",
    /in the agent's model settings or the provider's limits/,
  ],
])("%s, not earlier, and its connection is closed", async (_name, limits, first, again, message) => {
  const call = await newCall(limits, first, again);
  await pass(399);
  expect(call).toEqual({ ended: null, isClosed: false });
  await pass(1);
  expect(call).toEqual({ ended: expect.stringMatching(message) as string, isClosed: true });
  expect(call.ended).toMatch(/^TIMEOUT: /);
});
