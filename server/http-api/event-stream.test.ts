import { afterEach, expect, test, vi } from "vitest";
import { LIMITS } from "@/server/limits";
import { eventStream } from "./event-stream";

afterEach(() => void vi.useRealTimers());

/** Sends nothing until it is stopped. */
async function* silent(signal: AbortSignal) {
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  yield [];
}

test("a stream ends at the next heartbeat once its token has expired or was revoked", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  let isValid = true;
  const onClose = vi.fn();
  const response = eventStream(silent, {
    ...{ signal: new AbortController().signal, onClose, isAllowed: () => Promise.resolve(isValid) },
  });
  const text = response.text();
  await vi.advanceTimersByTimeAsync(LIMITS.streams.heartbeatMs);
  expect(onClose).not.toHaveBeenCalled();
  isValid = false;
  await vi.advanceTimersByTimeAsync(LIMITS.streams.heartbeatMs);
  expect(await text).toContain(": still here");
  expect(onClose).toHaveBeenCalledOnce();
});
