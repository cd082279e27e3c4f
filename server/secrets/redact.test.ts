import { expect, test } from "vitest";
import { heldBack, redact, redactJson, registerSecret, withoutHeld } from "./redact";

test("without registered secrets, redaction returns the same object and holds back no text", () => {
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
  ["a secret of eight characters is redacted", "8letters", "an [hidden] here"],
  ["a secret of seven characters isn't redacted", "7letter", "an 7letter here"],
])("%s", (_what, secret, shown) => {
  registerSecret(secret);
  expect([redact(`an ${secret} here`), withoutHeld(secret)]).toEqual([shown, shown.slice(3, -5)]);
});

test("the longer of two secrets with a common prefix is redacted in full", () => {
  registerSecret("CANARY-long");
  registerSecret("CANARY-long-and-longer");
  expect(withoutHeld("CANARY-long-and-longer CANARY-long")).toBe("[hidden] [hidden]");
});

test("a secret with regex metacharacters is matched literally", () => {
  registerSecret("CANARY.(a|b)*[c]$^{1}\\");
  expect(withoutHeld("CANARY.(a|b)*[c]$^{1}\\ CANARYx(a|b)*[c]$^{1}\\")).toBe(
    "[hidden] CANARYx(a|b)*[c]$^{1}\\",
  );
});

const SPECIAL = `CANARY/a+b=c&d<e>f"g'h é`;
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const lowerPercent = (text: string) => text.replace(/%../g, (byte) => byte.toLowerCase());
const base64 = Buffer.from(SPECIAL).toString("base64");
const html = SPECIAL.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
test.each([
  ["JSON", json(SPECIAL)],
  ["JSON with escaped slashes", json(SPECIAL).replaceAll("/", "\\/")],
  ["JSON for HTML", json(SPECIAL).replace(/[<>&'/]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`)],
  ["percent-encoding", encodeURIComponent(SPECIAL)],
  ["lower-case percent-encoding", lowerPercent(encodeURIComponent(SPECIAL))],
  ["a form", lowerPercent(new URLSearchParams([["", SPECIAL]]).toString().slice(1))],
  ["HTML", html.replace(/"/g, "&quot;").replace(/'/g, "&#39;")],
  ["upper-case hex", Buffer.from(SPECIAL).toString("hex").toUpperCase()],
  ["Base64 in a URL", encodeURIComponent(base64)],
])("a secret is redacted in %s", (_what, spelling) => {
  registerSecret(SPECIAL);
  expect(withoutHeld(`key=${spelling}, next`)).toBe("key=[hidden], next");
});

test("a secret in lower-case percent-encoding, HTML or with an escaped slash is held back from its first character", () => {
  registerSecret(SPECIAL);
  for (const start of ["CANARY%2f", "CANARY\\/a", "CANARY/a+b=c&amp;d", "CANARY\\u002fa"])
    expect(heldBack(`key=${start}`)).toBe(start.length);
});

test("secrets are redacted in every part of a value, and other parts are kept", () => {
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

test("the end of a text that may begin a secret is held back", () => {
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

test("a long secret with many special characters is redacted", () => {
  const pem = Array.from({ length: 40 }, (_, k) => `CANARY${k}/+aB=`.repeat(6)).join("\n");
  registerSecret(JSON.stringify({ keys: [pem] }));
  expect(withoutHeld(`${JSON.stringify({ keys: [pem] })} next`)).toBe("[hidden] next");
});
