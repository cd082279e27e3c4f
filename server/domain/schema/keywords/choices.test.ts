import { expect, test } from "vitest";
import { type Ruling, ruled } from "../testing/outcome";

test.each<Ruling>([
  [
    { allOf: [{ minimum: 1 }, { maximum: 3 }] },
    [2],
    [
      [0, "must be at least 1"],
      [4, "must be at most 3"],
    ],
  ],
  [
    { allOf: [{ minimum: 5 }, { multipleOf: 2 }] },
    [],
    [[1, "must be at least 5", "must be a multiple of 2"]],
  ],
  [{ anyOf: [{ type: "string" }, { minimum: 3 }] }, ["a", 3], [[1, "must be at least 3"]]],
  [{ anyOf: [{ const: 1 }, { const: 2 }, { enum: [2, 3] }] }, [3], [[4, "must be 1, 2 or 3"]]],
  [
    { anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] },
    [],
    [
      [1.5, "must be text, a whole number or null"],
      [{}, "must be text, a whole number or null"],
    ],
  ],
  [
    {
      anyOf: [
        { type: "object", required: ["a"] },
        { type: "object", required: ["b", "c"] },
      ],
    },
    [],
    [
      [{}, "fits none of the 2 allowed shapes (closest: a is missing)"],
      [{ b: 1 }, "fits none of the 2 allowed shapes (closest: a is missing)"],
    ],
  ],
  [{ anyOf: [{ required: ["a"] }, { type: "string" }] }, [1], [[{}, "a: is missing"]]],
  [
    { properties: { p: { anyOf: [{ required: ["a"] }, { required: ["b"] }] } } },
    [],
    [[{ p: {} }, "p: fits none of the 2 allowed shapes (closest: a is missing)"]],
  ],
  [
    { anyOf: [{ properties: { a: { type: "string" } } }, { properties: { a: { minimum: 5 } } }] },
    [],
    [[{ a: 1 }, "fits none of the 2 allowed shapes (closest: a must be text, not a number)"]],
  ],
  [
    {
      properties: {
        p: {
          anyOf: [
            { properties: { q: { properties: { r: { type: "string" } } } } },
            { properties: { q: { properties: { r: { minimum: 9 } } } } },
          ],
        },
      },
    },
    [],
    [
      [
        { p: { q: { r: 1 } } },
        "p: fits none of the 2 allowed shapes (closest: q.r must be text, not a number)",
      ],
    ],
  ],
  [
    { oneOf: [{ minimum: 1 }, { maximum: 3 }] },
    [0, 4],
    [[2, "fits more than one of the 2 shapes of which it may have only one (1 and 2)"]],
  ],
  [
    { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }, { multipleOf: 5 }] },
    [4],
    [
      [6, "fits more than one of the 3 shapes of which it may have only one (1 and 2)"],
      [30, "fits more than one of the 3 shapes of which it may have only one (1 and 2)"],
      [10, "fits more than one of the 3 shapes of which it may have only one (1 and 3)"],
      [7, "fits none of the 3 allowed shapes (closest: must be a multiple of 2)"],
    ],
  ],
  [{ oneOf: [{ type: "string" }, { type: "null" }] }, [null], [[1, "must be text or null"]]],
  [{ oneOf: [{ pattern: "(?<=a)b" }, { type: "string" }] }, ["x"], []],
  [{ anyOf: [{ pattern: "(?<=a)b" }, { type: "string" }] }, ["x"], []],
  [{ anyOf: [{ pattern: "(?<=a)b" }, { type: "number" }] }, ["x"], []],
  [{ not: { type: "string" } }, [1], [["a", "is what its schema excludes (not)"]]],
  [{ not: { const: 1 } }, [2], [[1, "must not be 1"]]],
  [{ not: { enum: [1, 2] } }, [3], [[1, "must not be 1 or 2"]]],
  [{ not: { required: ["a"] } }, [{}], [[{ a: 1 }, "must not have a"]]],
  [{ not: { required: ["a", "b"] } }, [{ a: 1 }], [[{ a: 1, b: 1 }, "must not have a and b together"]]],
  [{ not: { required: ["a"], type: "object" } }, [], [[{ a: 1 }, "is what its schema excludes (not)"]]],
  [
    { not: { enum: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13] } },
    [],
    [[1, "must not be 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 or 11"]],
  ],
  [{ not: true }, [], [[1, "is what its schema excludes (not)"]]],
  [{ not: false }, [1], []],
  [{ not: { pattern: "(?<=a)b" } }, ["x"], []],
  [
    { if: { type: "string" }, then: { minLength: 2 }, else: { minimum: 2 } },
    ["ab", 2],
    [
      ["a", "must have at least 2 characters"],
      [1, "must be at least 2"],
    ],
  ],
  [{ if: { type: "string" }, then: { minLength: 2 } }, [1], [["a", "must have at least 2 characters"]]],
  [{ if: { type: "string" }, else: { minimum: 2 } }, ["a"], [[1, "must be at least 2"]]],
  [{ if: { type: "string" } }, [1], []],
  [
    { if: { pattern: "(?<=a)b" }, then: { minLength: 2 }, else: { minLength: 3 } },
    ["ab", "abc"],
    [["a", "fits neither of two shapes of which it must have one (if, then, else)"]],
  ],
  [{ if: { pattern: "(?<=a)b" }, then: { minLength: 2 } }, ["a"], []],
  [{ if: { pattern: "(?<=a)b" }, else: { minLength: 2 } }, ["a"], []],
  [true, [1], []],
  [false, [], [[1, "is not allowed here"]]],
  [{}, [1], []],
])("all of several schemas, one of them, or none: by %j", (...row) => {
  expect(ruled(row)).toEqual(row);
});
