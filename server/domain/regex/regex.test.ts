import fc from "fast-check";
import { expect, test } from "vitest";
import { WorkError } from "@/server/domain/base/work-budget";
import { sized } from "@/server/testing/thorough";
import { compileRegex } from "./regex";
import { Work } from "./work";

const matches = (pattern: string, text: string) => compileRegex(pattern).test(text, new Work(1_000_000));

// Patterns of every construct that the engine takes, over few letters, so that matches are frequent.
const sign = fc.constantFrom("a", "b", "é", "1", "_", " ", "-", "😀", "\n");
const atom = fc.oneof(
  sign.map((one) => (one === "-" ? "\\-" : one)),
  fc.constantFrom(
    ".",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "\\p{L}",
    "\\P{L}",
    "\\p{Script=Latin}",
    "\\u0061",
    "\\u{1F600}",
    "\\uD83D\\uDE00",
    "\\x62",
    "\\n",
    "[ab]",
    "[^a]",
    "[a-z0-9_-]",
    "[\\w\\-]",
    "[^\\d\\s]",
    "[\\p{Lu}é]",
    "[]",
    "[^]",
  ),
);
const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
  piece: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    atom,
    fc.constantFrom("^", "$", "\\b", "\\B", ""),
    fc.tuple(tie("pattern"), fc.constantFrom("(", "(?:", "(?<x>")).map(([inner, open]) => `${open}${inner})`),
    fc
      .tuple(
        fc.oneof(
          atom,
          tie("pattern").map((inner) => `(?:${inner})`),
        ),
        fc.constantFrom("*", "+", "?", "*?", "{2}", "{0,2}", "{1,}", "{0}"),
      )
      .map(([of, times]) => `${of}${times}`),
  ),
  pattern: fc.oneof(
    { maxDepth: 3 },
    fc.array(tie("piece"), { maxLength: 4 }).map((parts) => parts.join("")),
    fc.tuple(tie("piece"), tie("pattern")).map((alternatives) => alternatives.join("|")),
  ),
}));

test("the linear engine agrees with the native RegExp engine on any pattern", () => {
  fc.assert(
    fc.property(
      fc.tuple(fc.constantFrom("", "", "^(?=.*a)", "^(?!b)(?=[^ ])"), pattern),
      fc.array(sign, { maxLength: 8 }).map((signs) => signs.join("")),
      ([ahead, rest], text) => {
        const source = ahead + rest;
        let native: RegExp;
        try {
          native = new RegExp(source, "u");
        } catch {
          return; // The same name twice, for example.
        }
        if (ahead !== "" && /\|/.test(rest)) return;
        // The language's own engine looks for it between the halves of one character, too.
        if (/\\B/.test(source) && /[\ud800-\udfff]/.test(text)) return;
        expect(matches(source, text), `${source} on ${JSON.stringify(text)}`).toBe(native.test(text));
      },
    ),
    { numRuns: sized(1000, 10_000) },
  );
});

test("patterns that make a backtracking engine hang run in linear time", () => {
  const text = `${"a".repeat(50_000)}!`;
  const verdicts = ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*a){12}$", "^(([a-z])+.)+[A-Z]([a-z])+$"].map(
    (source) => matches(source, text),
  );
  expect(verdicts).toEqual([false, false, false, false, false]);
});

test("a pattern too large for its text throws an error instead of running long", () => {
  const text = Array.from({ length: 20_000 }, (_, at) => ((at * at) % 7 < 3 ? "a" : "b")).join("");
  const distinct = Array.from({ length: 60_000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join("");
  expect(() => matches("[ab]*a[ab]{5000}c", text)).toThrow(WorkError);
  expect(() => matches(`^[${"\\p{L}".repeat(300)}]*$`, distinct)).toThrow(WorkError);
});

test("patterns written without the u flag match as intended", () => {
  expect(matches("^[\\w-.]+\\@x\\-y$", "a.b-c@x-y")).toBe(true);
  expect(matches("^\\/a\\_b{$", "/a_b{")).toBe(true);
  expect(matches("^(?=.*[A-Z])(?=.*\\d).{8,}$", "Passw0rdX")).toBe(true);
  expect(matches("^(?!\\s*$).+", "   ")).toBe(false);
});
