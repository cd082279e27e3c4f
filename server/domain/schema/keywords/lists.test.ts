import { expect, test } from "vitest";
import { type Ruling, ruled } from "../testing/outcome";

test.each<Ruling>([
  [
    { items: { type: "integer" } },
    [[1, 2], "x"],
    [[[1, "2", "3"], "1: must be a whole number, not text", "2: must be a whole number, not text"]],
  ],
  [{ prefixItems: [{ type: "integer" }] }, [[1, "x"], []], [[["x"], "0: must be a whole number, not text"]]],
  [
    { prefixItems: [{ type: "integer" }], items: { type: "string" } },
    [[1, "x"]],
    [[[1, 2], "1: must be text, not a number"]],
  ],
  [{ prefixItems: [{}], items: false }, [[1]], [[[1, 2, 3], "must have at most 1 item"]]],
  [{ prefixItems: [{}, {}], items: false }, [], [[[1, 2, 3], "must have at most 2 items"]]],
  [{ items: [{ type: "integer" }], additionalItems: false }, [[1]], [[[1, 2], "must have at most 1 item"]]],
  [{ items: [{ type: "integer" }] }, [[1, "x"]], [[["x"], "0: must be a whole number, not text"]]],
  [{ items: false }, [[]], [[[1], "must have at most 0 items"]]],
  [{ items: true }, [[1]], []],
  [
    { contains: { type: "integer" } },
    [["a", 1], "x"],
    [
      [["a"], "must hold at least 1 item of the described kind"],
      [[], "must hold at least 1 item of the described kind"],
    ],
  ],
  [
    { contains: { type: "integer" }, minContains: 2 },
    [[1, 2]],
    [[[1, "a"], "must hold at least 2 items of the described kind"]],
  ],
  [
    { contains: { type: "integer" }, maxContains: 1 },
    [[1, "a"]],
    [[[1, 2], "must hold at most 1 item of the described kind"]],
  ],
  [{ contains: { type: "integer" }, minContains: 0 }, [["a"], []], []],
  [
    { contains: { type: "integer" }, minContains: 2, maxContains: 3 },
    [
      [1, 2],
      [1, 2, 3],
    ],
    [
      [[1], "must hold at least 2 items of the described kind"],
      [[1, 2, 3, 4], "must hold at most 3 items of the described kind"],
    ],
  ],
  [{ contains: { pattern: "(?<=a)b" } }, [["b"]], [[[], "must hold at least 1 item of the described kind"]]],
  [{ contains: { pattern: "(?<=a)b" }, maxContains: 1 }, [["b", "c"]], []],
  [
    { uniqueItems: true },
    [[1, 2], ["1", 1], "x"],
    [
      [[1, 1], "1: is there twice, but must be unique"],
      [
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
        "1: is there twice, but must be unique",
      ],
      [[1, 2, 1, 2], "2: is there twice, but must be unique"],
    ],
  ],
  [{ uniqueItems: false }, [[1, 1]], []],
  [{ prefixItems: [{}], unevaluatedItems: false }, [[1]], [[[1, 2], "1: is not expected here"]]],
  [
    { prefixItems: [{}], unevaluatedItems: { type: "string" } },
    [[1, "x"]],
    [[[1, 2], "1: must be text, not a number"]],
  ],
  [
    { contains: { type: "integer" }, unevaluatedItems: false },
    [[1, 2]],
    [[[1, "x"], "1: is not expected here"]],
  ],
  [{ allOf: [{ items: {} }], unevaluatedItems: false }, [[1, 2]], []],
  [
    {
      anyOf: [{ prefixItems: [{ const: 1 }] }, { prefixItems: [{}, { const: 2 }] }],
      unevaluatedItems: false,
    },
    [[1], [1, 2], [3, 2]],
    [
      [[1, 3], "1: is not expected here"],
      [[1, 2, 3], "2: is not expected here"],
    ],
  ],
])("what holds of the items of a list: by %j", (...row) => {
  expect(ruled(row)).toEqual(row);
});
