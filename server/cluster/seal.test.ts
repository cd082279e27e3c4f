import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { newJournalSealer } from "./seal";

const key = () => randomBytes(32).toString("base64");
const [mine, other] = [newJournalSealer(key()), newJournalSealer(key())];
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  // What packs well.
  fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 8 }), fc.nat(200)).map(([part, times]) => {
    return Buffer.concat(Array.from({ length: times }, () => part));
  }),
);

test("encrypted data can be decrypted with the same key only", () => {
  fc.assert(
    fc.property(anyBytes, (plain) => {
      const sealed = mine.seal(plain);
      expect(Buffer.from(mine.open(sealed))).toEqual(Buffer.from(plain));
      expect(() => other.open(sealed)).toThrow(/was(n't)? encrypted/);
    }),
  );
});

test("data with a changed bit or a missing byte can't be decrypted", () => {
  fc.assert(
    fc.property(anyBytes, fc.nat(), fc.nat(7), (plain, where, bit) => {
      const sealed = Buffer.from(mine.seal(plain));
      const changed = Buffer.from(sealed);
      const at = where % sealed.length;
      changed[at] = (changed[at] ?? 0) ^ (1 << bit);
      expect(() => mine.open(changed)).toThrow(/was(n't)? encrypted/);
      expect(() => mine.open(sealed.subarray(0, at))).toThrow(/was(n't)? encrypted/);
    }),
  );
});

test("data that was never encrypted is rejected", () => {
  const plain = new TextEncoder().encode(JSON.stringify({ run_id: "run_1", stretch: 1 }));
  expect(() => mine.open(plain)).toThrow(/was(n't)? encrypted/);
});

test("encryption never gives the same output twice, is unreadable, and compresses", () => {
  const text = "the customer's question, ".repeat(400);
  const [one, two] = [mine.seal(Buffer.from(text)), mine.seal(Buffer.from(text))];
  expect(Buffer.from(one)).not.toEqual(Buffer.from(two));
  expect(Buffer.from(one).toString("latin1")).not.toContain("customer");
  expect(one.length).toBeLessThan(text.length / 4);
});

test("two processes with the same TROUPE_SECRET_KEY can decrypt each other's data", () => {
  const shared = key();
  const sealed = newJournalSealer(shared).seal(Buffer.from("hello"));
  expect(Buffer.from(newJournalSealer(shared).open(sealed)).toString()).toBe("hello");
});

test("a key of the wrong length is rejected with the required length", () => {
  expect(() => newJournalSealer("c2hvcnQ=")).toThrow("32 bytes in base64");
});
