import { expect, test } from "vitest";
import { type Ruling, ruled } from "../testing/outcome";

test.each<Ruling>([
  [{ enum: [] }, [], [["b", "is not allowed here"]]],
  [{ type: "null" }, [null], [[0, "must be null, not a number"]]],
  [{ type: "boolean" }, [true], [["true", "must be true or false, not text"]]],
  [{ type: "number" }, [1.5, 1], [["1", "must be a number, not text"]]],
  [
    { type: "integer" },
    [1, 1],
    [
      [1.5, "must be a whole number, not one with a fraction"],
      ["1", "must be a whole number, not text"],
    ],
  ],
  [{ type: "string" }, [""], [[null, "must be text, not null"]]],
  [{ type: "array" }, [[]], [[{}, "must be a list, not an object"]]],
  [
    { type: "object" },
    [{}],
    [
      [[], "must be an object, not a list"],
      [null, "must be an object, not null"],
    ],
  ],
  [{ type: ["string", "null"] }, ["a", null], [[1, "must be text or null, not a number"]]],
  [
    { type: ["string", "integer", "null"] },
    [],
    [
      [1.5, "must be text, a whole number or null, not one with a fraction"],
      [true, "must be text, a whole number or null, not true or false"],
    ],
  ],
  [{ type: ["number", "integer"] }, [1.5], [["x", "must be a number or a whole number, not text"]]],
  [{ type: "string", nullable: true }, [null], [[1, "must be text or null, not a number"]]],
  [{ type: "string", nullable: "true" }, [], [[null, "must be text, not null"]]],
  [
    { const: { a: 1, b: [1] } },
    [{ b: [1], a: 1 }],
    [
      [{ a: 1 }, 'must be {"a":1,"b":[1]}'],
      [[1], 'must be {"a":1,"b":[1]}'],
    ],
  ],
  [{ const: null }, [null], [[0, "must be null"]]],
  [{ enum: ["a"] }, ["a"], [["b", 'must be "a"']]],
  [
    { enum: ["a", 1, null, {}] },
    [1, null, {}],
    [
      ["1", 'must be one of "a", 1, null, {}'],
      [false, 'must be one of "a", 1, null, {}'],
    ],
  ],
  [
    { enum: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20] },
    [20],
    [[21, "must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, …"]],
  ],
  [
    { enum: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19] },
    [],
    [[20, "must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19"]],
  ],
  [
    {
      const:
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    },
    [],
    [
      [
        "y",
        'must be "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…',
      ],
    ],
  ],
  [
    {
      const:
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    },
    [],
    [
      [
        "y",
        'must be "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
      ],
    ],
  ],
  [{ pattern: "^a" }, ["ab", 1], [["ba", "must match the pattern ^a"]]],
  [
    { format: "date" },
    ["2026-02-28", "2024-02-29", "2000-02-29", 5],
    [
      ["2026-02-29", 'must be text in the format "date"'],
      ["2100-02-29", 'must be text in the format "date"'],
      ["2026-04-31", 'must be text in the format "date"'],
      ["2026-13-01", 'must be text in the format "date"'],
      ["2026-00-01", 'must be text in the format "date"'],
      ["2026-01-00", 'must be text in the format "date"'],
      ["2026-1-1", 'must be text in the format "date"'],
    ],
  ],
  [
    { format: "time" },
    ["23:59:59Z", "23:59:60Z", "22:59:60-01:00", "00:59:60+01:00", "00:29:60+00:30"],
    [
      ["24:00:00Z", 'must be text in the format "time"'],
      ["23:60:00Z", 'must be text in the format "time"'],
      ["23:59:61Z", 'must be text in the format "time"'],
      ["22:59:60Z", 'must be text in the format "time"'],
      ["23:59:59+24:00", 'must be text in the format "time"'],
      ["23:59:59+00:60", 'must be text in the format "time"'],
      ["23:59:59", 'must be text in the format "time"'],
    ],
  ],
  [
    { format: "date-time" },
    ["2026-01-31T08:00:00Z", "2026-01-31t08:00:00z"],
    [
      ["2026-01-31 08:00:00Z", 'must be text in the format "date-time"'],
      ["2026-02-31T08:00:00Z", 'must be text in the format "date-time"'],
      ["2026-01-31T25:00:00Z", 'must be text in the format "date-time"'],
      ["2026-01-31", 'must be text in the format "date-time"'],
    ],
  ],
  [
    { format: "ipv4" },
    ["127.0.0.1", "255.255.255.255"],
    [
      ["256.1.1.1", 'must be text in the format "ipv4"'],
      ["1.2.3", 'must be text in the format "ipv4"'],
      ["1.2.3.4.5", 'must be text in the format "ipv4"'],
      ["01.2.3.4", 'must be text in the format "ipv4"'],
      ["1.2.3.4 ", 'must be text in the format "ipv4"'],
    ],
  ],
  [
    { format: "ipv6" },
    ["::", "::1", "1::", "1:2:3:4:5:6:7:8", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7::"],
    [
      ["1:2:3:4:5:6:7", 'must be text in the format "ipv6"'],
      ["1:2:3:4:5:6:7:8:9", 'must be text in the format "ipv6"'],
      ["1::2::3", 'must be text in the format "ipv6"'],
      ["12345::", 'must be text in the format "ipv6"'],
      ["::1.2.3.256", 'must be text in the format "ipv6"'],
      ["1:2:3:4:5:6:7:8::", 'must be text in the format "ipv6"'],
      ["1.2.3.4::", 'must be text in the format "ipv6"'],
      ["g::", 'must be text in the format "ipv6"'],
      [":1", 'must be text in the format "ipv6"'],
      ["", 'must be text in the format "ipv6"'],
    ],
  ],
  [
    { format: "regex" },
    ["a+", "(a)\\1"],
    [
      ["(a", 'must be text in the format "regex"'],
      ["*", 'must be text in the format "regex"'],
    ],
  ],
  [
    { format: "uuid" },
    ["123e4567-e89b-12d3-a456-426614174000"],
    [["123e4567", 'must be text in the format "uuid"']],
  ],
  [{ format: "email" }, ["a@b.c"], [["a", 'must be text in the format "email"']]],
  [{ format: "int32" }, [5, "x"], []],
])("what a value is by itself: by %j", (...row) => {
  expect(ruled(row)).toEqual(row);
});
