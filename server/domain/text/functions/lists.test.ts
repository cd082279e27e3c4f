import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { given, type Rejected, rejection, rejectionOf } from "../testing/outcome";

test.each<[string, Json]>([
  ["[1, 2].contains(2)", true],
  ["[1, 2].contains('2')", false],
  ["[1, 2, 3].sum()", 6],
  ["[1.5, 2].sum()", 3.5],
  ["[1, 2u].sum()", 3],
  ["[duration('1s'), duration('2s')].sum()", "3s"],
  ["[3, 1, 2].sort()", [1, 2, 3]],
  ["[3, 1.5, 2u].sort()", [1.5, 2, 3]],
  ["['b', 'a'].sort()", ["a", "b"]],
  ["[true, false].sort()", [false, true]],
  ["[now, timestamp('2026-01-01')].sort()", ["2026-01-01T00:00:00.000Z", "2026-11-22T11:30:00.000Z"]],
  ["[duration('2s'), duration('1s')].sort()", ["1s", "2s"]],
  ["[double('nan'), 1].sort().size()", 2],
  ["[1, 2, 3].reverse()", [3, 2, 1]],
  ["[1, 2, 3].slice(0, 3)", [1, 2, 3]],
  ["[1, 2, 3].slice(1, 1)", []],
  ["[1, 2, 3].first()", 1],
  ["[1, 2, 3].last()", 3],
  ["[1, 1u, 1.0, '1', true].distinct()", [1, "1", true]],
  ["['a', 'b', 'a'].distinct()", ["a", "b"]],
  [
    "[9007199254740993, 9007199254740993, 9007199254740994].distinct()",
    ["9007199254740993", "9007199254740994"],
  ],
  [
    "[18446744073709551615u, 18446744073709551615u, 18446744073709551614u].distinct()",
    ["18446744073709551615", "18446744073709551614"],
  ],
  ["[[1], [1], [2], {'a': 1}, {'a': 1}, null, null].distinct()", [[1], [2], { a: 1 }, null]],
  ["[[1], [[2]], 3].flatten()", [1, [2], 3]],
  ["[[1], [[2]], 3].flatten(0)", [[1], [[2]], 3]],
  ["[[1], [[2]], 3].flatten(2)", [1, 2, 3]],
  ["[[1]].flatten(64)", [1]],
])("list functions compare numbers by value and leave the list unchanged: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test.each<Rejected>([
  ["[duration('1s'), 1].sum()", "Type mismatch: duration + int."],
  ["[1, duration('1s')].sum()", "sum adds numbers, but one item is duration."],
  ["['a'].sum()", "sum adds numbers, but one item is string."],
  ["[1, 'a'].sort()", "sort needs numbers or strings, but got string and int."],
  ["[1, 2, 3].slice(2, 1)", "The end 1 is before the start 2."],
  ["[1, 2, 3].slice(0, 4)", "The position"],
  ["[[1]].flatten(65)", "The depth 65 is not between 0 and 64."],
  ["[[1]].flatten(0.5)", "Expected a whole number, not 0.5."],
])("a list that can't be summed, sorted, sliced or flattened is rejected: %s", (text, ...expected) => {
  expect(rejectionOf(text)).toEqual(rejection(text, ...expected));
});
