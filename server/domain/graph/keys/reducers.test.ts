import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { reduceAll, reduceValue } from "./reducers";

type Case = [reducer: string, present: Json | undefined, value: Json, expected: Json];

test.each<Case>([
  ["last", 1, 2, 2],
  ["first", 1, 2, 1],
  ["first", null, 2, 2],
  ["first", undefined, 2, 2],
  ["first", 0, 2, 0],
  ["append", [1], 2, [1, 2]],
  ["append", [1], [2, 3], [1, 2, 3]],
  ["append", undefined, [1], [1]],
  ["append", null, 1, [1]],
  ["append", "a", "b", ["a", "b"]],
  ["append", [1], null, [1]],
  ["union", [1, 2], [2, 3], [1, 2, 3]],
  ["union", [1, 1], 1, [1]],
  ["union", [{ a: 1, b: 2 }], { b: 2, a: 1 }, [{ a: 1, b: 2 }]],
  ["union", undefined, ["a", "a"], ["a"]],
  ["union", ["1"], 1, ["1", 1]],
  ["concat_text", undefined, "a", "a"],
  ["concat_text", null, "a", "a"],
  ["concat_text", "a", "b", "ab"],
  ["concat_text", "", "b", "b"],
  ["concat_text", "a", { b: 1 }, 'a{"b":1}'],
  ["concat_text", 1, "b", "1b"],
  ["merge", { a: 1, b: { c: 1 } }, { b: { d: 2 } }, { a: 1, b: { d: 2 } }],
  ["merge", [1], { a: 1 }, { a: 1 }],
  ["merge", { a: 1 }, [1], [1]],
  ["merge", undefined, { a: 1 }, { a: 1 }],
  ["merge", null, { a: 1 }, { a: 1 }],
  ["merge", { a: 1 }, null, null],
  ["merge", { a: 1 }, "text", "text"],
  ["deep_merge", { a: 1, b: { c: 1 } }, { b: { d: 2 } }, { a: 1, b: { c: 1, d: 2 } }],
  ["deep_merge", { a: { b: 1 } }, { a: 2 }, { a: 2 }],
  ["deep_merge", { a: 1 }, { a: { b: 2 } }, { a: { b: 2 } }],
  ["deep_merge", { a: [1] }, { a: [2] }, { a: [2] }],
  ["deep_merge", undefined, { a: 1 }, { a: 1 }],
  ["deep_merge", { a: 1 }, "text", "text"],
  ["deep_merge", { a: 1 }, {}, { a: 1 }],
  // A key that every object has from its prototype is no value that was there.
  ["deep_merge", {}, { toString: { a: 1 } }, { toString: { a: 1 } }],
  ["deep_merge", { a: 1 }, JSON.parse('{"__proto__": {"b": 1}, "c": 2}') as Json, { a: 1, c: 2 }],
  ["add", 1, 2, 3],
  ["add", undefined, 2, 2],
  ["add", "1", 2, 2],
  ["add", 1, "2", "2"],
  ["max", 1, 2, 2],
  ["max", 2, 1, 2],
  ["max", undefined, 1, 1],
  ["max", 2, "1", "1"],
  ["max", "2", 1, 1],
  ["min", 1, 2, 1],
  ["min", 2, 1, 1],
  ["min", undefined, 1, 1],
  ["min", 2, "1", "1"],
  ["min", "0", 1, 1],
  ["unheard of", [1], [2], [2]],
])("%s of %j and %j is %4$j", (reducer, present, value, expected) => {
  expect(reduceValue(reducer, present, value)).toEqual(expected);
});

test("deep_merge merges objects only up to the maximum nesting depth", () => {
  const nested = (levels: number, core: Json): Json =>
    Array.from({ length: levels }).reduce<Json>((inner) => ({ in: inner }), core);
  const merged = (levels: number) =>
    reduceValue("deep_merge", nested(levels, { a: 1 }), nested(levels, { b: 2 }));
  expect(merged(32)).toEqual(nested(32, { a: 1, b: 2 }));
  expect(merged(33)).toEqual(nested(33, { b: 2 }));
});

test("merging two values mutates neither", () => {
  const [present, value] = [{ a: { b: 1 } }, { a: { c: 2 } }];
  for (const reducer of ["merge", "deep_merge"]) reduceValue(reducer, present, value);
  const list = [1];
  for (const reducer of ["append", "union"]) reduceValue(reducer, list, [2]);
  expect([present, value, list]).toEqual([{ a: { b: 1 } }, { a: { c: 2 } }, [1]]);
});

test.each<[string, Json | undefined, Json[], Json]>([
  ["append", [1], [2, [3, 4], null], [1, 2, 3, 4]],
  ["append", undefined, [[]], []],
  ["union", [1], [1, [2, 1], 3], [1, 2, 3]],
  ["add", 1, [2, 3], 6],
  ["concat_text", "a", ["b", "c"], "abc"],
  ["last", 1, [2, 3], 3],
  ["first", undefined, [2, 3], 2],
  ["deep_merge", { a: 1 }, [{ b: 2 }, { c: 3 }], { a: 1, b: 2, c: 3 }],
  ["add", 5, [], 5],
])("several values are reduced in order: %s of %j and %j is %4$j", (reducer, base, values, expected) => {
  expect(reduceAll(reducer, base, values)).toEqual(expected);
});
