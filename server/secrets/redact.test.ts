import { expect, test } from "vitest";
import { heldBack, redact, redactJson, registerSecret, withoutHeld } from "./redact";

test("while no secret is held, a value is the same object and nothing is held back", () => {
  const held = globalThis.__troupeSecrets;
  if (!held) return expect.fail("there is no list of secrets");
  const { values, pattern } = held;
  Object.assign(held, { values: new Set(), pattern: null });
  const value = { key: ["CANARY-hidden-1"] };
  expect(redactJson(value) === value).toBe(true);
  expect(withoutHeld("CANARY-hidden-1")).toBe("CANARY-hidden-1");
  expect(heldBack("CANARY")).toBe(0);
  Object.assign(held, { values, pattern });
});

test.each([
  ["eight characters are a secret", "8letters", "an [hidden] here"],
  ["seven are a word", "7letter", "an 7letter here"],
])("%s", (_what, secret, shown) => {
  registerSecret(secret);
  expect([redact(`an ${secret} here`), withoutHeld(secret)]).toEqual([shown, shown.slice(3, -5)]);
});

test("of two secrets, one the beginning of the other, the longer is hidden whole", () => {
  registerSecret("CANARY-long");
  registerSecret("CANARY-long-and-longer");
  expect(withoutHeld("CANARY-long-and-longer CANARY-long")).toBe("[hidden] [hidden]");
});

test("a secret with signs of patterns in it is itself and nothing else", () => {
  registerSecret("CANARY.(a|b)*[c]$^{1}\\");
  expect(withoutHeld("CANARY.(a|b)*[c]$^{1}\\ CANARYx(a|b)*[c]$^{1}\\")).toBe(
    "[hidden] CANARYx(a|b)*[c]$^{1}\\",
  );
});

test("secrets are taken out of every place of a value, and what holds none is kept as it is", () => {
  registerSecret("CANARY-in-values");
  const value = {
    untouched: { list: [1, null, true, "words"] },
    list: ["a", "CANARY-in-values", { deep: "so CANARY-in-values it is" }],
    "CANARY-in-values": { "key CANARY-in-values": 0 },
    none: null,
  };
  const before = structuredClone(value);
  const clean = redactJson(value);
  expect(clean).toEqual({
    untouched: { list: [1, null, true, "words"] },
    list: ["a", "[hidden]", { deep: "so [hidden] it is" }],
    "[hidden]": { "key [hidden]": 0 },
    none: null,
  });
  expect(clean.untouched).toBe(value.untouched);
  expect(value).toEqual(before);
});

test("the end of a text that may be the beginning of a secret is told by its length", () => {
  registerSecret("QQ-abcdefg~");
  registerSecret("QQ-abQQ-abcdefg~");
  expect(heldBack("words")).toBe(0);
  expect(heldBack("Q")).toBe(1);
  expect(heldBack("words QQ")).toBe(2);
  expect(heldBack("QQ-abcdefg~")).toBe(0);
  expect(heldBack("QQ-abcdefg")).toBe(10);
  expect(heldBack("QQ-abQQ-ab")).toBe(10);
  expect(heldBack("QQ-abQQ-abx")).toBe(0);
  expect(heldBack("")).toBe(0);
  expect(heldBack("the QQ-abcdefg~i")).toBe(0);
});
