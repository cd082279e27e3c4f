import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { given, type Rejected, rejection, rejectionOf } from "../testing/outcome";

test.each<[string, Json]>([
  ["state.yes ? 1 : 2", 1],
  ["!state.yes ? 1 : 2", 2],
])("a conditional follows its condition: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test.each<[string, Json]>([
  ["state.yes && !state.yes", false],
  ["!state.yes && state.yes", false],
  ["!state.yes || state.yes", true],
  ["state.none == 1 || state.yes", true],
  ["state.none == 1 && !state.yes", false],
  ["state.yes || state.none == 1", true],
  ["!state.yes && state.none == 1", false],
  ["state.n && false", false],
  ["false && state.n", false],
])("one side of && or || may decide even if the other has an error: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test.each<[string, Json]>([
  ["{1: 'a', true: 'b', 2u: 'c', 3.0: 'd'}", { "1": "a", "2": "c", "3": "d", true: "b" }],
  ["{'b': 1, 'a': 2}", { b: 1, a: 2 }],
  ["{state.s: 1}", { a: 1 }],
  ["{'a': 1}['a']", 1],
  ["{'a': 1}.?b", null],
  ["{'a': 1}[?'b']", null],
  ["[1, 2][1]", 2],
  ["[1, 2][1u]", 2],
  ["[1, 2][?5]", null],
  ["state.?o.deep.x", "y"],
  ["state.?none.deep.x", null],
  ["state.?o.deep.?x.orValue('else')", "y"],
  ["state.?n.x.orValue('else')", "else"],
  ["state.?o.a.orValue('else')", null],
  ["state.?list[1].orValue(0)", 2],
  ["state.?none.or(state.?n)", 1.5],
  ["state.?none.or(state.?none)", null],
  ["state.?none.or(state.?none).orValue(7)", 7],
  ["optional.of(5).or(optional.of(6)).orValue(7)", 5],
  ["optional.none().hasValue()", false],
  ["optional.of(5).value()", 5],
  ["optional.of(null).hasValue()", true],
  ["optional.of(null).orValue(3)", null],
  ["optional.none().orValue('x')", "x"],
  ["has(state.n)", true],
  ["has(state.o.deep.x)", true],
  ["has(state.o.deep.y)", false],
  ["has(state.?o.deep)", true],
  ["has(state.?none.deep)", false],
  ["has(state.?nothing)", false],
])("keys and items are read, and with ? they may be missing: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test.each<[string, Json]>([
  ["state.?n", 1.5],
  ["optional.of({'a': optional.of(1)})", { a: 1 }],
  ["[optional.none()]", [null]],
  ["[1u, 2u]", [1, 2]],
  ["duration('90s')", "90s"],
  ["timestamp('2026-01-01')", "2026-01-01T00:00:00.000Z"],
  ["[timestamp('2026-01-01T00:00:00.5Z')]", ["2026-01-01T00:00:00.500Z"]],
  ["9223372036854775807", "9223372036854775807"],
  ["-9007199254740991", -9007199254740991],
  ["-9007199254740992", "-9007199254740992"],
  ["18446744073709551615u", "18446744073709551615"],
  ["{'a': {'b': [1, 1.5, true, null, 'x']}}", { a: { b: [1, 1.5, true, null, "x"] } }],
  ["output", null],
  ["item", null],
])("a result is converted to JSON without loss: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test.each<Rejected>([
  ["!1", "The part after ! must be true or false, but this is a number."],
  ["!state.n", "The part after ! must be true or false, but this is a number."],
  ["1 ? 2 : 3", "The part before ? must be true or false, but this is a number.", "1"],
  ["1 && true", "Type mismatch: int && bool."],
  ["true && state.n", "Type mismatch: bool && double."],
  ["state.n || false", "Type mismatch: double || bool."],
  ["state.none == 1 || !state.yes", 'There is no "none".', "state.none", "none"],
  ["state.none == 1 && state.yes", 'There is no "none".', "state.none", "none"],
  ["state.yes && state.none == 1", 'There is no "none".', "state.none", "none"],
  ["state.none == 1 || state.no == 2", 'There is no "no".', "state.no", "no"],
  ["int", "The result can't be stored. Convert it with string(...)."],
  ["type(1)", "The result can't be stored. Convert it with string(...)."],
  ["math", 'Unknown name "math"; call one of its functions, as in math.round(x).'],
  ["nothing", 'Unknown name "nothing". Read values of the run'],
  ["state.s.x", 'There is no "x".', "state.s.x", "x"],
  ["state.s[0]", 'There is no "0".', "state.s[0]", "0"],
  ["1.x", 'A number has no "x".'],
  ["now.x", 'A time has no "x".'],
  ["[1].a", "List indexes are whole numbers; the first is [0]."],
  ["[1]['a']", "List indexes are whole numbers; the first is [0]."],
  ["[1][1]", 'There is no "[1][1]".', "[1][1]", "[1][1]"],
  ["[1][0.5]", "List indexes are whole numbers; the first is [0]."],
  ["[1][dyn('a')]", "There is no \"[1][dyn('a')]\".", "[1][dyn('a')]", "[1][dyn('a')]"],
  ["state.list['a']", "There is no \"state.list['a']\".", "state.list['a']", "state.list['a']"],
  [
    "state.list[dyn('a')]",
    "There is no \"state.list[dyn('a')]\".",
    "state.list[dyn('a')]",
    "state.list[dyn('a')]",
  ],
  ["state.list[3]", 'There is no "state.list[3]".', "state.list[3]", "state.list[3]"],
  ["state.o[null]", "A key must be text or a whole number, not null."],
  ["state.o[1.5]", "A key must be text or a whole number, not double."],
  ["state.o[1]", 'There is no "1".', "state.o[1]", "1"],
  ["{null: 1}", "A key must be text or a whole number, not null."],
  ["{1.5: 1}", "A key must be text or a whole number, not double."],
  ["{state.n: 1}", "A key must be text or a whole number, not double.", "state.n"],
  ["{'__proto__': 1}", '"__proto__" is a reserved word and can\'t be a key.', "'__proto__'"],
  ["{'__pro' + 'to__': 1}", '"__proto__" is a reserved word and can\'t be a key.', "'__pro' + 'to__'"],
  ["{'a': 1}.b", 'There is no "b".', "{'a': 1}.b", "b"],
  ["state.?none.value()", "The optional value is missing.", "state.?none.value()", "value"],
  ["state.n.orValue(1)", "orValue can only follow a value that may be"],
  [
    "'a'.orValue(2)",
    'orValue can only follow a value that may be missing, as in state.?key.orValue("none").',
  ],
  [
    "[1].or(optional.of(1))",
    "or can only follow a value that may be missing, as in state.?key.or(state.?other).",
  ],
  ["state.?n.or(1)", "or can only follow a value that may be missing, as in state.?key.or(state.?other)."],
  ["state.?none.or(state.n)", "or can only follow a value that may be missing, as"],
  ["has(state)", "has(...) needs a field after a dot, such as has(state.key)."],
  ["has(state['n'])", "has(...) needs a field after a dot, such as has(state.key)."],
  ["has(state.n, state.s)", "There is no function has()."],
  ["output.a", 'There is no "a".', "output.a", "a"],
  ["run.id", 'There is no "id".', "run.id", "id"],
])("a part that cannot be evaluated is rejected with its place: %s", (text, ...expected) => {
  expect(rejectionOf(text)).toEqual(rejection(text, ...expected));
});
