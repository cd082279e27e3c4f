import { describe, expect, test } from "vitest";
import { parseJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import { renderTemplate } from "@/server/domain/text/template/template";
import { renderBody, renderWritten, writtenValue } from "./secret-texts";

const with_ = (state: Record<string, Json>) => ({
  render: (text: string) => renderTemplate(text, { state, input: {} }),
});
const parse = (text: string): Json => {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
};
const body = (text: string, state: Record<string, Json> = {}) => renderBody(text, with_(state), parse);

describe("texts", () => {
  test("a reference becomes a stand-in, and its text is named as a place of the secret", () => {
    expect(renderWritten('Bearer {"$secret": "KEY"}', with_({}))).toEqual({
      value: 'Bearer {"$secret":"KEY"}',
      uses: [{ at: [], names: ["KEY"] }],
    });
  });

  test("a value that contains a reference stays plain text", () => {
    expect(renderWritten("{{said}}", with_({ said: '{"$secret": "KEY"}' }))).toEqual({
      value: '{"$secret": "KEY"}',
      uses: [],
    });
    expect(renderWritten('{"$secret": "{{name}}"}', with_({ name: "KEY" })).uses).toEqual([]);
  });

  test("a value that contains the stand-in of a used secret fails the attempt", () => {
    const said = '{"$secret":"KEY"}';
    expect(() => renderWritten('{{said}} {"$secret": "KEY"}', with_({ said }))).toThrow(
      /names the secret KEY/,
    );
  });
});

describe("bodies", () => {
  test("references in JSON are found as values and within strings", () => {
    expect(
      body('{"key": {"$secret": "A"}, "list": ["Bearer {\\"$secret\\": \\"B\\"}", {{n}}]}', { n: 2 }),
    ).toEqual({
      value: { key: '{"$secret":"A"}', list: ['Bearer {"$secret":"B"}', 2] },
      uses: [
        { at: ["key"], names: ["A"] },
        { at: ["list", "0"], names: ["B"] },
      ],
    });
  });

  test("in other texts they are found where they stand", () => {
    expect(body('id=1&secret={"$secret": "A"}')).toEqual({
      value: 'id=1&secret={"$secret":"A"}',
      uses: [{ at: [], names: ["A"] }],
    });
  });

  test.each([
    ["an object", '{"$secret": "A"}'],
    ["a string", '"{\\"$secret\\":\\"A\\"}"'],
    ["a string in other spelling", '"{\\u0022$secret\\u0022:\\u0022A\\u0022}"'],
    ["an object in other spelling", '{"\\u0024secret": "\\u0041"}'],
  ])("a value that brings in %s beside a real reference ends the attempt", (_what, said) => {
    expect(() => body('{"key": {"$secret": "A"}, "comment": {{said}}}', { said })).toThrow(
      /names the secret A/,
    );
  });

  test("a value that contains a reference to another secret stays unchanged", () => {
    expect(body('{"key": {"$secret": "A"}, "said": {{said}}}', { said: '{"$secret": "B"}' })).toEqual({
      value: { key: '{"$secret":"A"}', said: { $secret: "B" } },
      uses: [{ at: ["key"], names: ["A"] }],
    });
  });
});

test("values of the settings change only at references", () => {
  expect(writtenValue({ a: { $secret: "A" }, b: [1, 'Basic {"$secret": "B"}'], c: null })).toEqual({
    value: { a: '{"$secret":"A"}', b: [1, 'Basic {"$secret":"B"}'], c: null },
    uses: [
      { at: ["a"], names: ["A"] },
      { at: ["b", "1"], names: ["B"] },
    ],
  });
});
