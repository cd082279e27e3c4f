import { describe, expect, test } from "vitest";
import { instanceOf } from "../offline/instance";
import { outputSchema, parseOutput, reaskMessage } from "./structured-output";
import { toolBlock } from "./text-protocol";

const decision = {
  type: "object",
  properties: {
    status: { type: "string", enum: ["approved", "rejected"] },
    score: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["status"],
  additionalProperties: false,
};

describe("output schema", () => {
  test("a single key without a schema is plain text", () => {
    expect(outputSchema(["draft"])).toEqual({ kind: "text", key: "draft" });
    expect(outputSchema([])).toEqual({ kind: "text", key: "result" });
  });
  test("types come from the node, then the role, then the state, and default to text", () => {
    const shape = outputSchema(["a", "b", "c", "d"], {
      nodeSchema: { type: "object", properties: { a: { type: "integer" } } },
      roleSchema: { type: "object", properties: { a: { type: "null" }, b: { enum: ["x", "y"] } } },
      stateProperties: { b: { type: "null" }, c: { type: "boolean" } },
    });
    expect(shape).toEqual({
      kind: "json",
      schema: {
        type: "object",
        properties: {
          a: { type: "integer" },
          b: { enum: ["x", "y"] },
          c: { type: "boolean" },
          d: { type: "string" },
        },
        required: ["a", "b", "c", "d"],
        additionalProperties: false,
      },
    });
  });
  test("a single key takes the whole answer if the role has its own schema", () => {
    const from = { roleSchema: decision };
    expect(outputSchema(["review"], from)).toEqual({ kind: "json", schema: decision, whole: "review" });
    // A key that the role knows is that part of its answer; two keys are two values.
    expect(outputSchema(["status"], from)).toMatchObject({
      schema: { properties: { status: decision.properties.status } },
    });
    expect(outputSchema(["review", "status"], from)).toMatchObject({
      schema: { properties: { review: { type: "string" }, status: { type: "string" } } },
    });
    // The node's word and the state's type go before.
    expect(outputSchema(["review"], { ...from, nodeSchema: { type: "string" } })).toEqual({
      kind: "text",
      key: "review",
    });
    expect(outputSchema(["review"], { ...from, stateProperties: { review: { type: "string" } } })).toEqual({
      kind: "text",
      key: "review",
    });
    expect(
      outputSchema(["review"], { ...from, stateProperties: { review: { type: "object" } } }),
    ).toMatchObject({ whole: "review" });
  });
  test("a node schema may describe the value of a single key directly", () => {
    expect(
      outputSchema(["list"], { nodeSchema: { type: "array", items: { type: "string" } } }),
    ).toMatchObject({
      schema: { properties: { list: { type: "array" } } },
    });
  });
});

describe("answer parsing", () => {
  const cases: [string, string, unknown, string][] = [
    ["whole text", '{"status":"approved"}', { status: "approved" }, "none"],
    ["a fence", 'Here:\n```json\n{"status":"approved"}\n```\nDone.', { status: "approved" }, "extracted"],
    [
      "an object in prose",
      'I say {"status":"rejected"} because {of} this',
      { status: "rejected" },
      "extracted",
    ],
    [
      "braces in strings",
      'x {"status":"approved","tags":["a } b"]}',
      { status: "approved", tags: ["a } b"] },
      "extracted",
    ],
    ["trailing comma", '{"status":"approved",}', { status: "approved" }, "jsonrepair"],
    ["single quotes", "{'status': 'approved'}", { status: "approved" }, "jsonrepair"],
    ["a missing brace", '{"status":"approved"', { status: "approved" }, "jsonrepair"],
    ["different case", '{"status":"Approved."}', { status: "approved" }, "coerced"],
    ["number in quotes", '{"status":"approved","score":"3"}', { status: "approved", score: 3 }, "coerced"],
    [
      "a single value for a list",
      '{"status":"approved","tags":"a"}',
      { status: "approved", tags: ["a"] },
      "coerced",
    ],
    ["null for an optional key", '{"status":"approved","score":null}', { status: "approved" }, "coerced"],
    ["unrequested keys", '{"status":"approved","why":"so"}', { status: "approved" }, "coerced"],
    ["a wrapping object", '{"answer":{"status":"approved"}}', { status: "approved" }, "coerced"],
    ["a list with a single item", '[{"status":"approved"}]', { status: "approved" }, "coerced"],
    ["a key with different spelling", '{"Status":"approved"}', { status: "approved" }, "coerced"],
  ];
  test.each(cases)("an answer is parsed: %s", (_name, content, value, repair) => {
    expect(parseOutput(content, decision)).toEqual({ ok: true, value, repair });
  });
  describe("ambiguous answers", () => {
    const text = (...keys: string[]) => ({
      type: "object",
      properties: Object.fromEntries(keys.map((key) => [key, { type: "string" }])),
      required: keys.slice(0, 1),
    });
    test.each([
      ["an example in front", 'The format is {"a":"..."}. Answer: {"a":"real"}'],
      ["an example in a fence", 'Format:\n```json\n{"a":"..."}\n```\nSo I say {"a":"real"}.'],
      ["an example behind it", 'I say {"a":"real"}, in the format {"a":"<your answer>"}'],
      ["many examples", `${'{"a":"..."} '.repeat(30)}and {"a":"real"}`],
      ["an object with another schema behind it", 'I say {"a":"real"}, and not {"b":1}'],
    ])("%s doesn't replace the real answer", (_name, content) => {
      expect(parseOutput(content, text("a"))).toMatchObject({ ok: true, value: { a: "real" } });
    });
    test("a bracket closed too early loses no keys", () => {
      expect(parseOutput('{"key":"v"}, "key2":"v2"}', text("key", "key2"))).toEqual({
        ok: true,
        value: { key: "v", key2: "v2" },
        repair: "jsonrepair",
      });
    });
    test("literals of other languages are converted even without a schema", () => {
      for (const content of [
        '{"a": TRUE, "b": False, "c": None, "d": NULL}',
        "{'a': True, 'b': FALSE, 'c': none, 'd': null,}",
      ])
        expect(parseOutput(content, { type: "object" })).toEqual({
          ok: true,
          value: { a: true, b: false, c: null, d: null },
          repair: "jsonrepair",
        });
      expect(parseOutput('{"a": "TRUE story"', { type: "object" })).toMatchObject({
        value: { a: "TRUE story" },
      });
    });
    test.each(['{"a":"the first half of', '{"a":"x", "b":', '{"a":"x",', 'Here: {"a":{"b":1},"c":"half'])(
      "%s is retried as truncated, whatever the finish reason",
      (content) => {
        expect(parseOutput(content, { type: "object" })).toEqual({
          ok: false,
          errors: ["The answer was cut off before its end"],
        });
      },
    );
    test("a complete object before a truncated object is used", () => {
      expect(parseOutput('{"a":"real"} as in {"a":"ha', text("a"))).toMatchObject({ value: { a: "real" } });
    });
  });
  test("a bare word is accepted for a schema with a single key", () => {
    const schema = {
      type: "object",
      properties: { label: { enum: ["yes", "no"] } },
      required: ["label"],
      additionalProperties: false,
    };
    expect(parseOutput("Yes", schema)).toEqual({ ok: true, value: { label: "yes" }, repair: "coerced" });
    expect(parseOutput("perhaps", schema)).toMatchObject({ ok: false });
  });
  test("schema errors name their location", () => {
    const result = parseOutput('{"score":1.5}', decision);
    expect(result).toMatchObject({ ok: false });
    if (!result.ok) {
      expect(result.errors[0]).toBe("status: is missing");
      expect(result.errors[1]).toContain("score: ");
      expect(reaskMessage(result.errors)).toMatch(
        /^Your answer did not match: status: is missing; score: .*Return only the corrected JSON\.$/,
      );
    }
  });
  test("missing JSON, empty answers, nesting bombs and __proto__ keys are handled safely", () => {
    expect(parseOutput("No idea.", decision)).toEqual({
      ok: false,
      errors: ["The answer contained no JSON object."],
    });
    expect(parseOutput("  ", decision)).toEqual({ ok: false, errors: ["The answer was empty."] });
    expect(parseOutput(`{"a":${"[".repeat(100_000)}`, decision)).toMatchObject({ ok: false });
    const parsed = parseOutput('{"status":"approved","__proto__":{"x":1},"constructor":1}', {
      ...decision,
      additionalProperties: true,
    });
    expect(parsed).toMatchObject({ ok: true });
    if (parsed.ok) expect(Object.keys(parsed.value as object)).toEqual(["status"]);
  });
  test("a schema with an unsupported keyword still checks the rest", () => {
    const schema = { ...decision, not: { required: ["x"] }, if: {}, then: {} };
    expect(parseOutput('{"status":"maybe"}', schema)).toMatchObject({ ok: false });
    expect(parseOutput('{"status":"approved"}', schema)).toMatchObject({ ok: true });
  });
  test("a catastrophic regex pattern is checked like any other", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string", pattern: "^(a+)+$" } },
      required: ["a"],
    };
    expect(parseOutput(JSON.stringify({ a: `${"a".repeat(40)}!` }), schema)).toEqual({
      ok: false,
      errors: ["a: must match the pattern ^(a+)+$"],
    });
    expect(parseOutput(JSON.stringify({ a: "a".repeat(40) }), schema)).toMatchObject({ ok: true });
  });
  test("oneOf, object enums and Unicode patterns are parsed without repair", () => {
    const schema = {
      type: "object",
      properties: { at: { enum: [{ a: 1 }, { a: 2 }] }, name: { pattern: "^\\p{L}+$" }, url: {}, path: {} },
      oneOf: [{ required: ["url"] }, { required: ["path"] }],
    };
    const value = { at: { a: 1 }, name: "Zoë", url: "http://x" };
    expect(parseOutput(JSON.stringify(value), schema)).toEqual({ ok: true, value, repair: "none" });
  });
  test("recursive and exponentially growing schemas don't block parsing", () => {
    const steps = Array.from({ length: 40 }, (_, n) => n);
    const doubling = (word: string) => ({
      type: "object",
      properties: { a: { $ref: "#/$defs/d0" } },
      required: ["a"],
      $defs: {
        ...Object.fromEntries(
          steps.map((n) => [
            `d${n}`,
            { [word]: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
          ]),
        ),
        d40: { type: "integer" },
      },
    });
    const circle = {
      type: "object",
      properties: { a: { $ref: "#/$defs/a" } },
      $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }] } },
    };
    for (const schema of [doubling("anyOf"), doubling("allOf"), doubling("oneOf"), circle]) {
      expect(parseOutput(`${'{"a":"x"} '.repeat(30)}`, schema).ok).toBe(schema === circle);
      expect(instanceOf(schema, () => undefined)).toBeDefined();
      expect(toolBlock([{ name: "t", description: "", parameters: schema }])).toContain("- t(a");
    }
  });
});
