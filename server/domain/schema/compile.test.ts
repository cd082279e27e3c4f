import { expect, test } from "vitest";
import type { JsonSchema } from "@/server/domain/base/values";
import { compile, SCHEMA_LIMITS } from "./compile";
import { type Ruling, ruled, unchecked } from "./testing/outcome";

test.each<Ruling>([
  [
    { $ref: "#/allOf/1", allOf: [{}, { type: "string" }] },
    ["x"],
    [[1, "must be text, not a number", "must be text, not a number"]],
  ],
  [
    { $id: "http://[", $ref: "#/$defs/a", $defs: { a: { type: "string" } } },
    ["x"],
    [[1, "must be text, not a number"]],
  ],
  [
    {
      $schema: "http://json-schema.org/draft-04/schema#",
      id: "http://x.org/r",
      $ref: "#a",
      definitions: { a: { id: "#a", type: "string" } },
    },
    ["x"],
    [[1, "must be text, not a number"]],
  ],
  [
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      $ref: "#a",
      definitions: { a: { $id: "#a", type: "string" } },
    },
    ["x"],
    [[1, "must be text, not a number"]],
  ],
  [
    {
      $schema: "http://json-schema.org/draft-06/schema",
      properties: { a: { $ref: "#/definitions/s", maxLength: 1 } },
      definitions: { s: { type: "string" } },
    },
    [{ a: "long" }],
    [[{ a: 1 }, "a: must be text, not a number"]],
  ],
  [
    {
      $schema: "https://json-schema.org/draft/2019-09/schema",
      $ref: "#/$defs/a",
      maxLength: 1,
      $defs: { a: { type: "string" } },
    },
    [],
    [
      ["long", "must have at most 1 character"],
      [1, "must be text, not a number"],
    ],
  ],
  [{ $schema: 5, type: "string" }, [], [[1, "must be text, not a number"]]],
  [
    { $schema: "http://json-schema.org/draft-03/schema#", type: "string" },
    [],
    [[1, "must be text, not a number"]],
  ],
  [
    { $dynamicRef: "#n", $defs: { a: { $dynamicAnchor: "n", type: "string" } } },
    ["x"],
    [[1, "must be text, not a number"]],
  ],
  [
    {
      $id: "https://x.org/strict",
      $ref: "tree",
      $dynamicAnchor: "node",
      unevaluatedProperties: false,
      $defs: {
        t: {
          $id: "tree",
          $dynamicAnchor: "node",
          properties: { kids: { items: { $dynamicRef: "#node" } }, data: {} },
        },
      },
    },
    [{ kids: [{ data: 1 }] }],
    [[{ kids: [{ dat: 1 }] }, "kids.0.dat: is not expected here", "kids: is not expected here"]],
  ],
  [{ $recursiveRef: "#", type: "object" }, [{}], []],
  [
    { $recursiveAnchor: true, properties: { a: { $recursiveRef: "#" } }, required: ["b"] },
    [{ b: 1, a: {} }],
    [],
  ],
  [
    { properties: { a: { $recursiveRef: "#" } }, required: ["b"] },
    [],
    [[{ b: 1, a: {} }, "a.b: is missing"]],
  ],
  [{ $ref: "#/x-own/a", "x-own": { a: { type: "string" } } }, [], [[1, "must be text, not a number"]]],
  [{ $ref: "#/$defs/a", $defs: { a: false } }, [], [[1, "is not allowed here"]]],
])("a reference resolves within its schema: %j", (...row) => {
  expect(ruled(row)).toEqual(row);
});

test.each<[schema: JsonSchema, places: string[], fits?: unknown]>([
  [{ $ref: "#/%E0%A4%A" }, ["$ref"], 1],
  [{ $ref: "#/$defs/none", $defs: {} }, ["$ref"], 1],
  [{ $ref: "#none" }, ["$ref"], 1],
  [{ $ref: 5 }, ["$ref"], 1],
  [{ $ref: "#/allOf/5", allOf: [{}] }, ["$ref"]],
  [{ $id: "https://x.org/root", $ref: "https://else.org/x" }, ["$ref"], 1],
  [{ $ref: "http://[" }, ["$ref"], 1],
  [
    {
      $schema: "http://json-schema.org/draft-06/schema",
      properties: { a: { $ref: "#/definitions/s", maxLength: 1 } },
      definitions: { s: { type: "string" } },
    },
    ["properties.a.maxLength"],
  ],
  [{ $schema: 5, type: "string" }, ["$schema"]],
  [{ $schema: "http://json-schema.org/draft-03/schema#", type: "string" }, ["$schema"]],
  [{ $recursiveRef: "#", type: "object" }, [""]],
  [
    { $recursiveAnchor: true, properties: { a: { $recursiveRef: "#" } }, required: ["b"] },
    ["properties.a.$recursiveRef"],
  ],
  [{ $ref: "#/$defs/a", $defs: { a: 5 } }, ["$ref"], 1],
  [{ $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" }, [""], 1],
  [{ required: "a" }, ["required"], {}],
  [{ properties: [] }, ["properties"], {}],
  [{ patternProperties: 5 }, ["patternProperties"], {}],
  [{ dependentRequired: [] }, ["dependentRequired"], {}],
  [{ enum: "a" }, ["enum"], "b"],
  [{ pattern: 5 }, ["pattern"], "b"],
  [{ format: 5 }, ["format"], "b"],
  [{ format: "cidr" }, ["format"], "b"],
  [{ minimum: "1" }, ["minimum"], 0],
  [{ exclusiveMinimum: "1" }, ["exclusiveMinimum"], 0],
  [{ minLength: -1 }, ["minLength"], ""],
  [{ maxItems: "x" }, ["maxItems"], [1]],
  [{ multipleOf: 0 }, ["multipleOf"], 1],
  [{ multipleOf: "x" }, ["multipleOf"], 1],
  [{ allOf: [] }, ["allOf"], 1],
  [{ anyOf: {} }, ["anyOf"], 1],
  [{ oneOf: 5 }, ["oneOf"], 1],
  [{ not: 5 }, ["not"], 1],
  [{ prefixItems: 5 }, ["prefixItems"], [1]],
  [{ type: "float" }, ["type"], 1],
  [{ type: ["string", 5] }, ["type"], 1],
  [{ type: [] }, ["type"], 1],
  [{ items: 5 }, ["items"], [1]],
  [
    { colour: 1, "x-a": 1, title: "t", then: {}, minContains: 2, $comment: "c" },
    ["colour", "then", "minContains"],
  ],
  [{ properties: { a: 5 } }, ["properties.a"], { a: 1 }],
  [{ propertyNames: { pattern: "(?<=a)b" } }, ["propertyNames.pattern"]],
  [{ oneOf: [{ pattern: "(?<=a)b" }, { type: "string" }] }, ["oneOf.0.pattern"]],
  [{ anyOf: [{ pattern: "(?<=a)b" }, { type: "string" }] }, ["anyOf.0.pattern"]],
  [{ anyOf: [{ pattern: "(?<=a)b" }, { type: "number" }] }, ["anyOf.0.pattern"]],
  [{ not: { pattern: "(?<=a)b" } }, ["not.pattern"]],
  [{ if: { pattern: "(?<=a)b" }, then: { minLength: 2 }, else: { minLength: 3 } }, ["if.pattern"]],
  [{ if: { pattern: "(?<=a)b" }, then: { minLength: 2 } }, ["if.pattern"]],
  [{ if: { pattern: "(?<=a)b" }, else: { minLength: 2 } }, ["if.pattern"]],
  [{ contains: { pattern: "(?<=a)b" } }, ["contains.pattern"]],
  [{ contains: { pattern: "(?<=a)b" }, maxContains: 1 }, ["contains.pattern"]],
])("an unchecked part is reported with its place and rejects no value: %j", (schema, places, fits) => {
  if (fits !== undefined) expect(ruled([schema, [fits], []])).toEqual([schema, [fits], []]);
  expect(unchecked(schema).map((line) => line.slice(0, line.indexOf(": ")))).toEqual(places);
});

test("a schema may reach the limits of size and depth, but not exceed them", () => {
  const large = "it is too large, so its contents are not checked";
  // The schema itself and its list are two more parts; "enum" and "const" are characters, too.
  const parts = (count: number) => ({ enum: Array.from({ length: count - 2 }, () => 1) });
  const chars = (count: number) => ({ const: "x".repeat(count - 5) });
  const depth = (levels: number) =>
    Array.from({ length: levels }).reduce<JsonSchema>((inner) => ({ not: inner }), {});
  expect(unchecked(parts(SCHEMA_LIMITS.parts))).toEqual([]);
  expect(unchecked(chars(SCHEMA_LIMITS.chars))).toEqual([]);
  expect(unchecked(depth(99))).toEqual([]);
  expect([parts(SCHEMA_LIMITS.parts + 1), chars(SCHEMA_LIMITS.chars + 1), depth(100)].map(unchecked)).toEqual(
    [[`: ${large}`], [`: ${large}`], [": it is nested too deeply, so its contents are not checked"]],
  );
  expect(compile(parts(SCHEMA_LIMITS.parts + 1)).root.checks).toHaveLength(1);
});

test("only the first hundred unchecked keywords are reported", () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`word${n}`, n]));
  expect(unchecked(many)).toEqual(
    Array.from({ length: 100 }, (_, n) => `word${n}: "word${n}" is not checked`),
  );
});

test("a long pattern is truncated in messages", () => {
  const pattern = (length: number) => `(?<=${"a".repeat(length - 5)})`;
  expect([60, 61].map((length) => unchecked({ pattern: pattern(length) }))).toEqual([
    [`pattern: the pattern ${pattern(60)} is not checked: it has a lookahead or lookbehind`],
    [`pattern: the pattern ${pattern(61).slice(0, 60)}… is not checked: it has a lookahead or lookbehind`],
  ]);
});

test("the sizes of distinct patterns add up, and repeated patterns count once", () => {
  const patterns = (count: number) => ({
    allOf: Array.from({ length: count }, (_, n) => ({ pattern: `^${n}$` })),
  });
  const fits = (count: number) => unchecked(patterns(count)).length;
  // Each counts for 50 beside the three to five places of its own.
  expect([fits(800), fits(1000)]).toEqual([0, 91]);
  expect(unchecked({ allOf: Array.from({ length: 1200 }, () => ({ pattern: "^a$" })) })).toEqual([]);
});
