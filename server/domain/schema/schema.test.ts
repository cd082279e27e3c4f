import { expect, test } from "vitest";
import type { JsonSchema } from "@/server/domain/base/values";
import { errorTexts, readSchema } from "./schema";

const errorsOf = (schema: JsonSchema, value: unknown) => errorTexts(readSchema(schema).errors(value));
const unchecked = (schema: JsonSchema) =>
  readSchema(schema).unchecked.map(({ path, message }) => `${path.join(".")}: ${message}`);
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const nested = (depth: number, around: (inner: unknown) => unknown, core: unknown) =>
  numbers(depth).reduce<unknown>((inner) => around(inner), core);

test.each<[string, JsonSchema, unknown]>([
  ["a pattern with a lookbehind", { pattern: "(?<=a)b" }, "x"],
  ["a negated pattern with a backreference", { not: { pattern: "(a)\\1" } }, "x"],
  ["a reference to a remote schema", { $ref: "https://example.org/schema.json" }, 1],
  ["two unknown alternatives", { oneOf: [{ $ref: "#/nowhere" }, { pattern: "(?<=a)b" }] }, "x"],
  [
    "additional keys next to an unsupported pattern",
    { patternProperties: { "(?<=a)b": {} }, additionalProperties: false },
    { b: 1 },
  ],
  [
    "unevaluated keys next to an unknown reference",
    { $ref: "#/nowhere", unevaluatedProperties: false },
    { b: 1 },
  ],
  ["an unknown type", { type: "float" }, 1.5],
  ["an unknown format", { format: "cidr" }, "x"],
  ["a schema that refers to itself", { $ref: "#" }, 1],
  ["a schema that is nested too deeply", nested(300, (not) => ({ not }), {}) as JsonSchema, 1],
])("an uncheckable part is reported and rejects no value: %s", (_name, schema, value) => {
  expect(errorsOf(schema, value)).toEqual([]);
  expect(unchecked(schema)).toHaveLength(_name.includes("two") ? 2 : 1);
});

test("keywords next to a reference of an older draft are reported as unchecked", () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    properties: { a: { $ref: "#/definitions/a", maxLength: 1 } },
    definitions: { a: { type: "string" } },
  };
  expect(errorsOf(schema, { a: "long" })).toEqual([]);
  expect(unchecked(schema)).toEqual([
    'properties.a.maxLength: "maxLength" next to a reference is not checked in this draft',
  ]);
});

/** The letters a and b in an order without a pattern. */
const mixed = (length: number) => {
  let seed = 1;
  return numbers(length)
    .map(() => {
      seed = (seed * 48_271) % 0x7fffffff;
      return seed % 2 === 0 ? "a" : "b";
    })
    .join("");
};
const TOO_MUCH = ["takes too much work to check by its JSON Schema: make it smaller, or the schema simpler"];
const chain = (keywordsFor: (next: string) => Record<string, unknown>) => ({
  $ref: "#/$defs/d0",
  $defs: Object.fromEntries([
    ...numbers(30).map((n) => [`d${n}`, keywordsFor(`#/$defs/d${n + 1}`)]),
    ["d30", { type: "string" }],
  ]) as JsonSchema,
});

test.each<[string, JsonSchema, unknown]>([
  ["alternatives that double at each level", chain(($ref) => ({ anyOf: [{ $ref }, { $ref }] })), 1],
  ["the same schema in allOf twice", chain(($ref) => ({ allOf: [{ $ref }, { $ref }] })), "a"],
  ["a schema and its negation", chain(($ref) => ({ oneOf: [{ $ref }, { not: { $ref } }] })), 1],
  [
    "a tree that visits each level of a value twice",
    { allOf: [1, 2].map(() => ({ properties: { c: { $ref: "#" } } })) },
    nested(40, (c) => ({ c }), 1),
  ],
  [
    "many searches of a long list",
    { allOf: numbers(1000).map((n) => ({ contains: { const: -n - 1 } })) },
    numbers(2000),
  ],
  [
    "thousands of alternatives for each item",
    { items: { oneOf: numbers(4000).map((n) => ({ const: -n - 1 })) } },
    numbers(4000),
  ],
  [
    "many patterns on many keys",
    { patternProperties: Object.fromEntries(numbers(200).map((n) => [`^(a|b)*x${n}$`, {}])) },
    Object.fromEntries(numbers(2000).map((n) => ["ab".repeat(20) + n, 1])),
  ],
  ["multiples of a tiny number", { items: { multipleOf: 1e-300 } }, numbers(50_000).map((n) => n * 1e290)],
  [
    "many required keys on many items",
    { items: { required: numbers(2000).map(String) } },
    numbers(2000).map(() => ({})),
  ],
  ["a pattern that grows with its text", { pattern: "[ab]*a[ab]{3000}c" }, mixed(50_000)],
])("a check that takes too much work is aborted: %s", (_name, schema, value) => {
  expect(errorsOf(schema, value)).toEqual(TOO_MUCH);
});

test.each<[string, JsonSchema, unknown, string[]]>([
  [
    "a pattern that hangs backtracking engines",
    { pattern: "^(a+)+$" },
    `${"a".repeat(1_000_000)}!`,
    ["must match the pattern ^(a+)+$"],
  ],
  ["a long list of different numbers", { uniqueItems: true }, numbers(50_000), []],
  [
    "a long list with one duplicate",
    { uniqueItems: true },
    [...numbers(30_000), 7],
    ["30000: is there twice, but must be unique"],
  ],
  ["many dates", { items: { format: "date-time" } }, numbers(10_000).map(() => "2026-01-15T09:30:00Z"), []],
  [
    "a large list of objects",
    { items: { type: "object", properties: { a: { type: "integer" } }, required: ["a"] } },
    numbers(50_000).map((a) => ({ a })),
    [],
  ],
  [
    "a text of one megabyte",
    { type: "string", minLength: 1, maxLength: 2_000_000 },
    "é".repeat(1_000_000),
    [],
  ],
])("a large but simple value is checked completely: %s", (_name, schema, value, errors) => {
  expect(errorsOf(schema, value)).toEqual(errors);
});

test.each<[string, JsonSchema]>([
  [
    "too many schemas",
    { properties: Object.fromEntries(numbers(6000).map((n) => [`p${n}`, { type: "string" }])) },
  ],
  ["patterns that are too large together", { allOf: numbers(100).map((n) => ({ pattern: `a{900}${n}` })) }],
  [
    "an endless chain of references",
    {
      $ref: "#/$defs/d0",
      $defs: Object.fromEntries(numbers(3000).map((n) => [`d${n}`, { $ref: `#/$defs/d${(n + 1) % 3000}` }])),
    },
  ],
])("a schema over its limits is reported and rejects no value: %s", (_name, schema) => {
  expect(unchecked(schema).length).toBeGreaterThan(0);
  expect(errorsOf(schema, { p5999: 1 })).toEqual([]);
});

test("defaults fill missing values at every depth and through references", () => {
  const schema = {
    properties: {
      limit: { type: "integer", default: 10 },
      filter: { $ref: "#/$defs/filter" },
      list: { items: { $ref: "#/$defs/filter" } },
      kept: { default: "no" },
    },
    $defs: { filter: { properties: { deep: { default: { a: 1 } } } } },
  };
  const given = { filter: {}, list: [{}, { deep: 1 }], kept: null };
  expect(readSchema(schema).withDefaults(given)).toEqual({
    limit: 10,
    filter: { deep: { a: 1 } },
    list: [{ deep: { a: 1 } }, { deep: 1 }],
    kept: null,
  });
  expect(given).toEqual({ filter: {}, list: [{}, { deep: 1 }], kept: null });
});

test("a large default is not copied into a thousand places", () => {
  const schema = { items: { properties: { a: { default: "x".repeat(10_000) } } } };
  const many = numbers(1000).map(() => ({}));
  expect(readSchema(schema).withDefaults(many)).toBe(many);
  expect(readSchema(schema).withDefaults([{}])).toEqual([{ a: "x".repeat(10_000) }]);
});

test("long untrusted texts are truncated in messages", () => {
  const [error = ""] = errorsOf({ additionalProperties: false }, { ["k".repeat(10_000)]: 1 });
  expect(error).toBe(`${"k".repeat(80)}…: is not expected here`);
  expect(errorsOf({ pattern: "a".repeat(3000) }, "b")[0]).toHaveLength(
    "must match the pattern ".length + 201,
  );
});

test("keys that name prototype properties are treated like any other", () => {
  const value = JSON.parse('{"__proto__": 1, "constructor": 2}') as unknown;
  const schema = JSON.parse(
    '{"properties": {"__proto__": {"type": "string"}}, "required": ["toString"]}',
  ) as JsonSchema;
  expect(errorsOf(schema, value)).toEqual(["toString: is missing", "__proto__: must be text, not a number"]);
});
