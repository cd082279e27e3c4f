import { expect, test } from "vitest";
import { type Ruling, ruled } from "../testing/outcome";

test.each<Ruling>([
  [{ minimum: 2 }, [2, 3, "1"], [[1, "must be at least 2"]]],
  [{ maximum: 2 }, [1, 2, "3"], [[3, "must be at most 2"]]],
  [{ exclusiveMinimum: 2 }, [3], [[2, "must be more than 2"]]],
  [{ exclusiveMaximum: 2 }, [1], [[2, "must be less than 2"]]],
  [
    { minimum: 2, exclusiveMinimum: true },
    [3],
    [
      [2, "must be more than 2"],
      [1, "must be more than 2"],
    ],
  ],
  [
    { maximum: 2, exclusiveMaximum: true },
    [1],
    [
      [2, "must be less than 2"],
      [3, "must be less than 2"],
    ],
  ],
  [{ minimum: 2, exclusiveMinimum: false }, [2], [[1, "must be at least 2"]]],
  [{ multipleOf: 3 }, [6, 0, -3, "7"], [[7, "must be a multiple of 3"]]],
  [
    { multipleOf: 0.01 },
    [0.07, 1e21],
    [
      [0.075, "must be a multiple of 0.01"],
      [1e-7, "must be a multiple of 0.01"],
    ],
  ],
  [{ multipleOf: 1e-7 }, [3e-7], [[1.5e-7, "must be a multiple of 1e-7"]]],
  [{ multipleOf: 2.5 }, [5, 500000000000000000000], [[6, "must be a multiple of 2.5"]]],
  [
    { minLength: 2 },
    ["ab", "😀😀", 1],
    [
      ["a", "must have at least 2 characters"],
      ["😀", "must have at least 2 characters"],
    ],
  ],
  [
    { maxLength: 2 },
    ["ab", "😀😀", 123],
    [
      ["abc", "must have at most 2 characters"],
      ["😀😀😀", "must have at most 2 characters"],
    ],
  ],
  [{ minLength: 1 }, ["a"], [["", "must have at least 1 character"]]],
  [{ maxLength: 1 }, ["", "\ud83d"], [["ab", "must have at most 1 character"]]],
  [{ minItems: 1 }, [[1], "x"], [[[], "must have at least 1 item"]]],
  [{ maxItems: 1 }, [[1], {}], [[[1, 2], "must have at most 1 item"]]],
  [{ minItems: 2 }, [], [[[1], "must have at least 2 items"]]],
  [{ maxItems: 0 }, [], [[[1], "must have at most 0 items"]]],
  [{ minProperties: 1 }, [{ a: 1 }, []], [[{}, "must have at least 1 key"]]],
  [{ maxProperties: 1 }, [{ a: 1 }, [1, 2]], [[{ a: 1, b: 2 }, "must have at most 1 key"]]],
])("how large a number is, and how long a text, a list or an object: by %j", (...row) => {
  expect(ruled(row)).toEqual(row);
});
