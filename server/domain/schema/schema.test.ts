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
  ["a pattern that looks behind", { pattern: "(?<=a)b" }, "x"],
  ["not such a pattern", { not: { pattern: "(a)\\1" } }, "x"],
  ["a schema of elsewhere", { $ref: "https://example.org/schema.json" }, 1],
  ["one of two unknown ones", { oneOf: [{ $ref: "#/nowhere" }, { pattern: "(?<=a)b" }] }, "x"],
  [
    "keys that an unknown pattern may name",
    { patternProperties: { "(?<=a)b": {} }, additionalProperties: false },
    { b: 1 },
  ],
  [
    "what is left over beside an unknown schema",
    { $ref: "#/nowhere", unevaluatedProperties: false },
    { b: 1 },
  ],
  ["a type that there is not", { type: "float" }, 1.5],
  ["a format that nobody here knows", { format: "cidr" }, "x"],
  ["a schema that leads to itself", { $ref: "#" }, 1],
  ["a schema nested too deep", nested(300, (not) => ({ not }), {}) as JsonSchema, 1],
])("what cannot be checked refuses nobody and is told: %s", (_name, schema, value) => {
  expect(errorsOf(schema, value)).toEqual([]);
  expect(unchecked(schema)).toHaveLength(_name.includes("two") ? 2 : 1);
});

test("beside a reference of an older draft nothing is checked, and that is told", () => {
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
  ["alternatives that double with each step", chain(($ref) => ({ anyOf: [{ $ref }, { $ref }] })), 1],
  ["all of them, twice", chain(($ref) => ({ allOf: [{ $ref }, { $ref }] })), "a"],
  ["not, twice", chain(($ref) => ({ oneOf: [{ $ref }, { not: { $ref } }] })), 1],
  [
    "a tree that goes twice into each level of a value",
    { allOf: [1, 2].map(() => ({ properties: { c: { $ref: "#" } } })) },
    nested(40, (c) => ({ c }), 1),
  ],
  [
    "many searches of a long list",
    { allOf: numbers(1000).map((n) => ({ contains: { const: -n - 1 } })) },
    numbers(2000),
  ],
  [
    "one of thousands, for each item",
    { items: { oneOf: numbers(4000).map((n) => ({ const: -n - 1 })) } },
    numbers(4000),
  ],
  [
    "many patterns on many keys",
    { patternProperties: Object.fromEntries(numbers(200).map((n) => [`^(a|b)*x${n}$`, {}])) },
    Object.fromEntries(numbers(2000).map((n) => ["ab".repeat(20) + n, 1])),
  ],
  ["multiples of next to nothing", { items: { multipleOf: 1e-300 } }, numbers(50_000).map((n) => n * 1e290)],
  [
    "required keys without end",
    { items: { required: numbers(2000).map(String) } },
    numbers(2000).map(() => ({})),
  ],
  ["a pattern that grows with its text", { pattern: "[ab]*a[ab]{3000}c" }, mixed(50_000)],
])("a check ends before it takes too much work: %s", (_name, schema, value) => {
  expect(errorsOf(schema, value)).toEqual(TOO_MUCH);
});

test.each<[string, JsonSchema, unknown, string[]]>([
  [
    "a pattern that freezes others",
    { pattern: "^(a+)+$" },
    `${"a".repeat(1_000_000)}!`,
    ["must match the pattern ^(a+)+$"],
  ],
  ["a long list of different numbers", { uniqueItems: true }, numbers(50_000), []],
  [
    "a long list of one twice",
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
  ["a text of a megabyte", { type: "string", minLength: 1, maxLength: 2_000_000 }, "é".repeat(1_000_000), []],
])("what is large but plain is checked: %s", (_name, schema, value, errors) => {
  expect(errorsOf(schema, value)).toEqual(errors);
});

test.each<[string, JsonSchema]>([
  [
    "too many schemas",
    { properties: Object.fromEntries(numbers(6000).map((n) => [`p${n}`, { type: "string" }])) },
  ],
  ["patterns too large together", { allOf: numbers(100).map((n) => ({ pattern: `a{900}${n}` })) }],
  [
    "references one behind the other without end",
    {
      $ref: "#/$defs/d0",
      $defs: Object.fromEntries(numbers(3000).map((n) => [`d${n}`, { $ref: `#/$defs/d${(n + 1) % 3000}` }])),
    },
  ],
])("a schema beyond its limits is told, and refuses nobody: %s", (_name, schema) => {
  expect(unchecked(schema).length).toBeGreaterThan(0);
  expect(errorsOf(schema, { p5999: 1 })).toEqual([]);
});

test("defaults fill what is missing, at every depth and through references", () => {
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

test("a large default is not written into a thousand places", () => {
  const schema = { items: { properties: { a: { default: "x".repeat(10_000) } } } };
  const many = numbers(1000).map(() => ({}));
  expect(readSchema(schema).withDefaults(many)).toBe(many);
  expect(readSchema(schema).withDefaults([{}])).toEqual([{ a: "x".repeat(10_000) }]);
});

test("words of strangers are cut where they are long", () => {
  const [error = ""] = errorsOf({ additionalProperties: false }, { ["k".repeat(10_000)]: 1 });
  expect(error).toBe(`${"k".repeat(80)}…: is not expected here`);
  expect(errorsOf({ pattern: "a".repeat(3000) }, "b")[0]).toHaveLength(
    "must match the pattern ".length + 201,
  );
});

test("keys that reach prototypes are keys like any other", () => {
  const value = JSON.parse('{"__proto__": 1, "constructor": 2}') as unknown;
  const schema = JSON.parse(
    '{"properties": {"__proto__": {"type": "string"}}, "required": ["toString"]}',
  ) as JsonSchema;
  expect(errorsOf(schema, value)).toEqual(["toString: is missing", "__proto__: must be text, not a number"]);
});
