import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { heldBack, registerSecret, withoutHeld } from "@/server/secrets/redact";
import { Frames } from "./frames";

const SECRET = "key-7f3a9b2c4d5e6f70";
const SPELLINGS = [SECRET, Buffer.from(SECRET).toString("base64"), Buffer.from(SECRET).toString("hex")];
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What watchers are sent of a text that comes in these pieces, one after each flush. */
function shown(pieces: readonly string[]): string {
  let text = "";
  const frames = new Frames(
    (_run, sent) => {
      for (const frame of sent) {
        expect(frame.offset).toBe(text.length);
        text += frame.text;
      }
    },
    { hide: withoutHeld, heldBack },
  );
  let offset = 0;
  for (const piece of pieces) {
    frames.add("r", { type: "llm_delta", call_id: "c", channel: "content", offset, text: piece });
    offset += piece.length;
    vi.advanceTimersByTime(60);
    expect(frames.snapshot("r").map(({ text: kept }) => kept)).toEqual(text ? [text] : []);
  }
  frames.stop();
  return text;
}

test("a key is redacted in live text, however it is split or spelled", () => {
  registerSecret(SECRET);
  fc.assert(
    fc.property(fc.constantFrom(...SPELLINGS), fc.array(fc.nat(40), { maxLength: 6 }), (spelling, cuts) => {
      const whole = `Here it is: ${spelling}. That was it.`;
      const places = [0, ...cuts.sort((a, b) => a - b), whole.length];
      const pieces = places.slice(1).map((end, at) => whole.slice(places[at], end));
      // The padding behind a key in base64 tells nothing, and may come when the rest is hidden already.
      expect(shown(pieces).replace("[hidden]=", "[hidden]")).toBe("Here it is: [hidden]. That was it.");
    }),
  );
});

test("a text that only starts like a key is shown once it differs", () => {
  registerSecret(SECRET);
  expect(shown(["a key-7f3a", "bout it."])).toBe("a key-7f3about it.");
});

test("nothing is sent while the received text may be the start of a key", () => {
  registerSecret(SECRET);
  const send = vi.fn();
  const frames = new Frames(send, { hide: withoutHeld, heldBack });
  const add = (offset: number, text: string) => {
    frames.add("r", { type: "llm_delta", call_id: "c", channel: "content", offset, text });
    vi.advanceTimersByTime(60);
  };
  add(0, "key-7f3a");
  expect(send).not.toHaveBeenCalled();
  add(8, "bout it.");
  const frame = { type: "llm_delta", call_id: "c", channel: "content", offset: 0, text: "key-7f3about it." };
  expect(send.mock.calls).toEqual([["r", [frame]]]);
});
