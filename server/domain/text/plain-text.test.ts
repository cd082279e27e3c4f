import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainText } from "./plain-text";

describe("the plain text of a value", () => {
  test.each([
    [
      "Markdown loses its fences and marks",
      "# Report\n\n```js\n// Revision 2\n```\n- **Good** `code`",
      "Report // Revision 2 Good code",
    ],
    [
      "an object becomes keys and values",
      { chair: "approve", votes: 3, none: null },
      "chair: approve, votes: 3",
    ],
    ["fenced JSON becomes its content", '```json\n{"verdict": ["one", "two"]}\n```', "verdict: one, two"],
    ["text that only starts like JSON stays unchanged", "[draft] Hello", "[draft] Hello"],
    ["null becomes an empty text", null, ""],
  ])("plain text conversion: %s", (_what, value, text) => {
    expect(plainText(value)).toBe(text);
  });

  test("the plain text of any value is a single line", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(plainText(value as never)).not.toMatch(/[\r\n]/);
      }),
    );
  });

  test("the plain text of JSON that is nested too deeply is empty", () => {
    expect(plainText("[".repeat(40_000) + "]".repeat(40_000))).toBe("");
  });
});
