import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endOfText, oneLine } from "./one-line";

describe("one line of a value", () => {
  test.each([
    [
      "the first line below a heading, without Markdown",
      "# Report\n\n- **Approved** at once\n\nLast.\n\n---\n",
      "Approved at once",
    ],
    ["a heading where nothing else is said", "# Report\n", "Report"],
    [
      "what was said, not what was handed in",
      "Received keys: topic (12 chars)\nDone: all is well.\nReceived keys: topic (12 chars)\n— offline demo text",
      "Done: all is well.",
    ],
    ["code without its fence", "```js\nconst a = 1;\n```", "const a = 1;"],
    ["what stands above a signature", "All is well.\n\n— offline demo text", "All is well."],
    ["what JSON in a text says, not its braces", '{"status":"approved","note":"Go on."}', "Go on."],
    ["what JSON in a code block says", '```json\n{"verdict": "reject"}\n```', "reject"],
    ["the value that was written last", { a: "first", b: { c: "second" } }, "second"],
    ["a list as words", ["one", "two"], "one, two"],
    ["yes and no", true, "Yes"],
    ["nothing", null, ""],
  ])("is %s", (_what, value, line) => {
    expect(oneLine(value)).toBe(line);
  });

  test("is one line, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(oneLine(text)).not.toMatch(/\n/);
      }),
    );
  });
});

describe("the end of a text on its way", () => {
  test("a structured answer shows the value that is being written", () => {
    expect(endOfText('{"status":"approved","comment":"All is in or', 60)).toBe("All is in or");
    expect(endOfText('{"status":"approved","comm', 60)).toBe("approved");
    expect(endOfText('{"status":"approved","comment":', 60)).toBe("approved");
  });

  test("begins with a whole word and is never longer than asked", () => {
    expect(endOfText("one two three four", 9)).toBe("… four");
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 4, max: 40 }), (text, most) => {
        expect(endOfText(text, most).length).toBeLessThanOrEqual(most);
      }),
    );
  });
});
