import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { given, type Rejected, rejection, rejectionOf } from "../testing/outcome";

test.each<[string, Json]>([
  ["[1, 2, 3].exists_one(x, x > 2)", true],
  ["[1, 2, 3].exists_one(x, x > 1)", false],
  ["[1, 2, 3].existsOne(x, x == 1)", true],
  ["[1, 2, 3].existsOne(i, x, i == 0 || x == 2)", false],
  ["[3, 4].exists(i, x, i == 1 && x == 4)", true],
  ["[3, 4].all(i, x, x == i + 3)", true],
  ["{'a': 1, 'b': 2}.all(k, k < 'c')", true],
  ["{'a': 1, 'b': 2}.all(k, v, v < 2)", false],
  ["{'a': 1, 'b': 2}.exists(k, v, k == 'b' && v == 2)", true],
  ["{'a': 1, 'b': 2}.map(k, k + k)", ["aa", "bb"]],
  ["{'a': 1, 'b': 2}.map(k, k != 'a', k + '!')", ["b!"]],
  ["{'a': 1, 'b': 2}.transformList(k, v, k)", ["a", "b"]],
  ["{'a': 1, 'b': 2}.transformList(k, v, v > 1, v)", [2]],
  ["{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 10)", { b: 20 }],
  ["[5, 6].transformMap(i, x, x > 5, x)", { "1": 6 }],
  ["[5, 6].transformList(i, x, i)", [0, 1]],
  ["[1, 2, 3].map(x, x > 1, x * 2)", [4, 6]],
  ["[0, 2].all(x, 1 / x == 1)", false],
  ["[1, 0].exists(x, 1 / x == 1)", true],
  ["[].exists(x, x)", false],
  ["[].exists_one(x, x)", false],
  ["[].map(x, x)", []],
  ["[[1, 2], [3]].map(x, x.map(y, y + x.size()))", [[3, 4], [4]]],
  ["[1, 2].map(state, state)", [1, 2]],
])("a macro iterates over a list or the keys of an object: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test.each<Rejected>([
  ["1.map(x, x)", "map iterates over a list or an object's keys, not a number."],
  ["state.s.map(x, x)", "map iterates over a list or an object's keys, not text."],
  ["state.s.transformMap(k, v, v)", "transformMap iterates over a list or an object's keys, not text."],
  ["[1].map(1, 2)", "Map(var, transform) invalid predicate iteration variable.", "1"],
  ["[1].all(1, true)", "All(var, predicate) invalid predicate iteration variable.", "1"],
  ["[1].transformList(1, x, x)", "transformList needs a name for the item first, as in", "1"],
  ["[1].transformMap(x, x)", "There is no function value.transformMap()."],
  ["[1].filter(x, x)", "The condition of filter must be true or false, but this is a number."],
  ["[1].all(x, 'a')", "The condition of all must be true or false, but this is text.", "'a'"],
  ["[1].exists_one(x, 1)", "The condition of exists_one must be true or false, but this is a number.", "1"],
  ["[1].map(x, x, 2)", "The condition of map must be true or false, but this is a number."],
  [
    "[1].transformList(i, x, i, x)",
    "The condition of transformList must be true or false, but this is a number.",
  ],
  ["[1].all(x)", "There is no function value.all()."],
  ["[0, 0].all(x, 1 / x == 1)", "Division by zero.", "1 / x"],
  ["[0].exists(x, 1 / x == 1)", "Division by zero.", "1 / x"],
  ["{'__proto__': 1}.transformMap(k, v, v)", '"__proto__" is a reserved word and can\'t be', "'__proto__'"],
  ["[1].all(x, x.y == 1)", 'There is no "y".', "x.y", "y"],
  ["[1].map(x, y)", 'Unknown name "y". Read values of the run', "y"],
])("an invalid macro call is rejected with its place: %s", (text, ...expected) => {
  expect(rejectionOf(text)).toEqual(rejection(text, ...expected));
});
