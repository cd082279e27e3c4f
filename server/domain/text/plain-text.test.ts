import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainText } from "./plain-text";

describe("a value in plain words", () => {
  test.each([
    [
      "a text without fences and marks",
      "# Report\n\n```js\n// Revision 2\n```\n- **Good** `code`",
      "Report // Revision 2 Good code",
    ],
    ["an object as keys and values", { chair: "approve", votes: 3, none: null }, "chair: approve, votes: 3"],
    ["JSON in a fence as what it says", '```json\n{"verdict": ["one", "two"]}\n```', "verdict: one, two"],
    ["a text that only begins like JSON as it is", "[draft] Hello", "[draft] Hello"],
    ["nothing", null, ""],
  ])("says %s", (_what, value, text) => {
    expect(plainText(value)).toBe(text);
  });

  test("takes one line, whatever it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(plainText(value as never)).not.toMatch(/[\r\n]/);
      }),
    );
  });

  test("does not go deeper than anybody reads", () => {
    expect(plainText("[".repeat(40_000) + "]".repeat(40_000))).toBe("");
  });
});
