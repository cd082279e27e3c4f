import { expect, test } from "vitest";
import { type Ruling, ruled } from "../testing/outcome";

// Verdicts are the official suite's business (suite.test.ts); here is what a person reads of a value that does not fit.

const keys = (count: number) =>
  Object.fromEntries([..."abcdefghijklm"].slice(0, count).map((key) => [key, {}]));
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const FORMATS = ["date", "time", "date-time", "ipv4", "ipv6", "regex", "uuid", "email"];

test.each<Ruling>([
  [
    { type: ["string", "integer", "null"] },
    ["a", 1],
    [[1.5, "must be text, a whole number or null, not one with a fraction"]],
  ],
  [{ type: "string", nullable: true }, [null], [[1, "must be text or null, not a number"]]],
  [{ type: "string", nullable: "true" }, [], [[null, "must be text, not null"]]],
  [{ enum: ["a"] }, ["a"], [["b", 'must be "a"']]],
  [{ enum: numbers(20) }, [19], [[20, `must be one of ${numbers(20).join(", ")}`]]],
  [{ enum: numbers(21) }, [20], [[21, `must be one of ${numbers(20).join(", ")}, …`]]],
  [{ const: "x".repeat(118) }, [], [["y", `must be "${"x".repeat(118)}"`]]],
  [{ const: "x".repeat(119) }, [], [["y", `must be "${"x".repeat(119)}…`]]],
  [{ minimum: 2, exclusiveMinimum: true }, [3], [[2, "must be more than 2"]]],
  [{ maximum: 2, exclusiveMaximum: true }, [1], [[2, "must be less than 2"]]],
  [{ multipleOf: 0.01 }, [0.07, 1e21], [[0.075, "must be a multiple of 0.01"]]],
  [{ minLength: 1 }, ["a"], [["", "must have at least 1 character"]]],
  [{ maxLength: 2 }, ["😀😀"], [["abc", "must have at most 2 characters"]]],
  [{ maxItems: 1 }, [[1]], [[[1, 2], "must have at most 1 item"]]],
  [{ minProperties: 2 }, [[]], [[{}, "must have at least 2 keys"]]],
  [{ items: [{}], additionalItems: false }, [[1]], [[[1, 2], "must have at most 1 item"]]],
  [
    { contains: { type: "integer" }, minContains: 2 },
    [[1, 2]],
    [[[1], "must contain at least 2 matching items"]],
  ],
  [
    { contains: { type: "integer" }, maxContains: 1 },
    [[1, "a"]],
    [[[1, 2], "must contain at most 1 matching item"]],
  ],
  [{ uniqueItems: true }, [[1, "1"]], [[[1, 2, 1, 2], "2: is there twice, but must be unique"]]],
  [
    { properties: keys(12), additionalProperties: false },
    [],
    [[{ x: 1 }, "x: is not expected here (allowed: a, b, c, d, e, f, g, h, i, j, k, l)"]],
  ],
  [
    { properties: keys(13), additionalProperties: false },
    [],
    [[{ x: 1 }, "x: is not expected here (allowed: a, b, c, d, e, f, g, h, i, j, k, l, …)"]],
  ],
  [
    { propertyNames: { maxLength: 2 } },
    [{ ab: 1 }],
    [[{ abc: 1 }, "abc: is not a valid key: it must have at most 2 characters"]],
  ],
  [
    { dependencies: { a: ["b"], c: { required: ["d"] } } },
    [{}],
    [
      [{ a: 1 }, 'b: is missing, as "a" is given'],
      [{ c: 1 }, "d: is missing"],
    ],
  ],
  [{ anyOf: [{ const: 1 }, { const: 2 }, { enum: [2, 3] }] }, [3], [[4, "must be 1, 2 or 3"]]],
  [{ anyOf: [{ type: "string" }, { minimum: 3 }] }, ["a"], [[1, "must be at least 3"]]],
  [
    { properties: { p: { anyOf: [{ required: ["a"] }, { required: ["b", "c"] }] } } },
    [],
    [[{ p: {} }, "p: fits none of the 2 allowed shapes (closest: a is missing)"]],
  ],
  [
    { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }, { multipleOf: 5 }] },
    [4],
    [
      [10, "matches more than one of the 3 schemas of which exactly one must match (1 and 3)"],
      [7, "fits none of the 3 allowed shapes (closest: must be a multiple of 2)"],
    ],
  ],
  [{ not: { enum: numbers(14) } }, [], [[1, "must not be 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 or 11"]]],
  [{ not: { required: ["a"] } }, [{}], [[{ a: 1 }, "must not have a"]]],
  [{ not: { required: ["a", "b"] } }, [{ a: 1 }], [[{ a: 1, b: 1 }, "must not have a and b together"]]],
  [{ not: { required: ["a"], type: "object" } }, [], [[{ a: 1 }, "is what its schema excludes (not)"]]],
  [
    { if: { pattern: "(?<=a)b" }, then: { minLength: 2 }, else: { minLength: 3 } },
    ["ab"],
    [["a", "matches neither branch of if, then and else"]],
  ],
  [{ properties: { a: false } }, [{}], [[{ a: 1 }, "a: is not allowed here"]]],
])("an invalid value is rejected with the reason: %j", (...row) => {
  expect(ruled(row)).toEqual(row);
});

test.each(FORMATS)("text that violates the format %s is rejected with the format's name", (format) => {
  expect(ruled([{ format }, [5], [["(", ""]]])).toEqual([
    { format },
    [5],
    [["(", `must be text in the format "${format}"`]],
  ]);
});

test.each<[string, string[], string[]]>([
  [
    "date",
    ["2024-02-29", "2000-02-29"],
    ["2100-02-29", "2026-04-31", "2026-13-01", "2026-01-00", "2026-1-1"],
  ],
  ["time", ["22:59:60-01:00", "00:29:60+00:30"], ["24:00:00Z", "22:59:60Z", "23:59:59+24:00", "23:59:59"]],
  ["ipv6", ["::", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7::"], ["1::2::3", "12345::", "1.2.3.4::", ":1"]],
])("the format %s follows its calendar or standard in edge cases", (format, fits, refused) => {
  const [, taken] = ruled([{ format }, [...fits, ...refused], []]);
  expect(taken).toEqual(fits);
});
