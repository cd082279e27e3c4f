import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endOfText, oneLine } from "./one-line";

describe("one-line summary", () => {
  test.each([
    [
      "the first line below a heading, without Markdown",
      "# Report\n\n- **Approved** at once\n\nLast.\n\n---\n",
      "Approved at once",
    ],
    ["a heading if there is no other text", "# Report\n", "Report"],
    [
      "the answer, not the received keys",
      "Received keys: topic (12 chars)\nDone: all is well.\nReceived keys: topic (12 chars)\n— offline demo text",
      "Done: all is well.",
    ],
    ["code without its fence", "```js\nconst a = 1;\n```", "const a = 1;"],
    ["the text above a signature", "All is well.\n\n— offline demo text", "All is well."],
    ["the value of JSON in a text, without braces", '{"status":"approved","note":"Go on."}', "Go on."],
    ["the value of JSON in a code block", '```json\n{"verdict": "reject"}\n```', "reject"],
    ["the value written last", { a: "first", b: { c: "second" } }, "second"],
    ["a list as comma-separated text", ["one", "two"], "one, two"],
    ["Yes for true", true, "Yes"],
    ["an empty text for null", null, ""],
  ])("a one-line summary uses %s", (_what, value, line) => {
    expect(oneLine(value)).toBe(line);
  });

  test("a one-line summary has no line breaks, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(oneLine(text)).not.toMatch(/\n/);
      }),
    );
  });
});

describe("tail of a streaming text", () => {
  test("a partial structured answer shows the value being written", () => {
    expect(endOfText('{"status":"approved","comment":"All is in or', 60)).toBe("All is in or");
    expect(endOfText('{"status":"approved","comm', 60)).toBe("approved");
    expect(endOfText('{"status":"approved","comment":', 60)).toBe("approved");
  });

  test("the tail of a streaming text begins with a whole word and respects the maximum length", () => {
    expect(endOfText("one two three four", 9)).toBe("… four");
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 4, max: 40 }), (text, most) => {
        expect(endOfText(text, most).length).toBeLessThanOrEqual(most);
      }),
    );
  });
});
