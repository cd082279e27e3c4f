import { expect, test } from "vitest";
import { type Ruling, ruled } from "../testing/outcome";

test.each<Ruling>([
  [
    { required: ["a", "b"] },
    [{ a: 1, b: null }, []],
    [
      [{ a: 1 }, "b: is missing"],
      [{ b: 1 }, "a: is missing"],
    ],
  ],
  [{ required: ["a", 1] }, [{ a: 1 }], [[{}, "a: is missing"]]],
  [
    { properties: { a: { type: "string" }, b: {} } },
    [{ a: "x" }, { c: 1 }, { c: 1, d: 2, e: 3 }, "x", []],
    [
      [{ a: 1 }, "a: must be text, not a number"],
      [{ c: 1, d: 2, e: 3, a: 1 }, "a: must be text, not a number"],
    ],
  ],
  [
    { patternProperties: { "^a": { type: "string" }, z$: { minLength: 2 } } },
    [{ ab: "x" }, { b: 1 }],
    [
      [{ ab: 1 }, "ab: must be text, not a number"],
      [{ az: "x" }, "az: must have at least 2 characters"],
    ],
  ],
  [{ additionalProperties: { type: "string" } }, [{ a: "x" }], [[{ a: 1 }, "a: must be text, not a number"]]],
  [
    { properties: { a: {} }, additionalProperties: { type: "string" } },
    [{ a: 1, b: "x" }],
    [[{ b: 1 }, "b: must be text, not a number"]],
  ],
  [
    { properties: { a: {} }, patternProperties: { "^b": {} }, additionalProperties: false },
    [{ a: 1, b1: 2 }],
    [[{ c: 1, d: 2 }, "c: is not expected here (allowed: a)", "d: is not expected here (allowed: a)"]],
  ],
  [{ additionalProperties: false }, [{}], [[{ a: 1 }, "a: is not expected here"]]],
  [{ additionalProperties: true }, [{ a: 1 }], []],
  [
    {
      properties: { a: {}, b: {}, c: {}, d: {}, e: {}, f: {}, g: {}, h: {}, i: {}, j: {}, k: {}, l: {} },
      additionalProperties: false,
    },
    [],
    [[{ x: 1 }, "x: is not expected here (allowed: a, b, c, d, e, f, g, h, i, j, k, l)"]],
  ],
  [
    {
      properties: {
        a: {},
        b: {},
        c: {},
        d: {},
        e: {},
        f: {},
        g: {},
        h: {},
        i: {},
        j: {},
        k: {},
        l: {},
        m: {},
      },
      additionalProperties: false,
    },
    [],
    [[{ x: 1 }, "x: is not expected here (allowed: a, b, c, d, e, f, g, h, i, j, k, l, …)"]],
  ],
  [{ properties: { a: false, b: true } }, [{ b: 1 }], [[{ a: 1 }, "a: is not allowed here"]]],
  [
    { propertyNames: { maxLength: 2 } },
    [{ ab: 1 }, []],
    [
      [
        { abc: 1, d: 1, efg: 2 },
        "abc: is not a possible key: it must have at most 2 characters",
        "efg: is not a possible key: it must have at most 2 characters",
      ],
    ],
  ],
  [{ propertyNames: { pattern: "(?<=a)b" } }, [{ ab: 1 }], []],
  [
    { dependentRequired: { a: ["b", "c"] } },
    [{ a: 1, b: 1, c: 1 }, { b: 1 }, []],
    [[{ a: 1, b: 1 }, 'c: is missing, as "a" is given']],
  ],
  [{ dependentSchemas: { a: { required: ["b"] } } }, [{ a: 1, b: 1 }, {}], [[{ a: 1 }, "b: is missing"]]],
  [
    { dependencies: { a: ["b"], c: { required: ["d"] } } },
    [{ a: 1, b: 1, c: 1, d: 1 }],
    [
      [{ a: 1 }, 'b: is missing, as "a" is given'],
      [{ c: 1 }, "d: is missing"],
    ],
  ],
  [
    { properties: { a: {} }, unevaluatedProperties: false },
    [{ a: 1 }],
    [[{ b: 1 }, "b: is not expected here"]],
  ],
  [
    { properties: { a: {} }, unevaluatedProperties: { type: "string" } },
    [{ a: 1, b: "x" }],
    [[{ b: 1 }, "b: must be text, not a number"]],
  ],
  [
    {
      anyOf: [
        { properties: { a: { type: "string" } }, required: ["a"] },
        { properties: { b: {} }, required: ["b"] },
      ],
      unevaluatedProperties: false,
    },
    [{ a: "x" }, { a: "x", b: 1 }],
    [
      [{ a: 1, b: 1 }, "a: is not expected here"],
      [{ a: "x", c: 1 }, "c: is not expected here"],
    ],
  ],
  [
    {
      if: { properties: { k: { const: 1 } }, required: ["k"] },
      then: { properties: { a: {} } },
      else: { properties: { b: {} } },
      unevaluatedProperties: false,
    },
    [{ k: 1, a: 1 }, { b: 1 }],
    [
      [{ k: 1, b: 1 }, "b: is not expected here"],
      [{ a: 1 }, "a: is not expected here"],
      [{ k: 2, b: 1 }, "k: is not expected here"],
    ],
  ],
  [
    {
      dependentSchemas: { a: { properties: { b: {} } } },
      properties: { a: {} },
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 1 }],
    [[{ b: 1 }, "b: is not expected here"]],
  ],
  [{ allOf: [{ additionalProperties: true }], unevaluatedProperties: false }, [{ a: 1 }], []],
  [
    { not: { properties: { a: {} } }, unevaluatedProperties: false },
    [],
    [[{}, "is what its schema excludes (not)"]],
  ],
])("what holds of the keys of an object: by %j", (...row) => {
  expect(ruled(row)).toEqual(row);
});
