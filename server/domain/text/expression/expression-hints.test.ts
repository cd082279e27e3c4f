import { expect, test } from "vitest";
import { type Rejected, rejection, rejectionOf } from "../testing/outcome";

test.each<Rejected>([
  ["1 +", "The expression ends too early.", ""],
  ["(1", "Expected RPAREN, got EOF.", ""],
  ["1)", "The character ) does not belong here.", ")"],
  ["{1 2}", "Expected COLON, got NUMBER.", "2"],
  ['1 "a"', 'Something is missing before "a": write an', '"a"'],
  ["#", "The character # does not belong here."],
  ["1 # 2", "The character # does not belong here.", "#"],
  ["1 = 2", "A single = is not available here; write == to compare.", "="],
  ["1 & 2", "Write && for and, || for or.", "&"],
  ["1 | 2", "Write && for and, || for or.", "|"],
  ["true not", '"not" is not a word of this language; write !.', "not"],
  ["1 is 1", '"is" is not a word of this language; write ==.', "is"],
  ["1 or 2", '"or" is not a word of this language; write ||.', "or"],
  ["else", '"else" is not a word of this language; write condition ? this : that.'],
  ["'a' 'b'", "Something is missing before 'b': write an", "'b'"],
  ['"\\q"', "Invalid escape sequence: \\q.", "\\q"],
  ["for", "Reserved identifier: for."],
  ["x => x", "A single = is not available here; write == to compare.", "="],
  ["1 === 1", "A single = is not available here; write == to compare.", "="],
  ["1 ** 2", "Unexpected token: MULTIPLY.", "*"],
  ["nil", '"nil" is not known here; write null.'],
  ["undefined", '"undefined" is not known here; ask has(state.key) whether a key is there.'],
  ["Math.abs(1)", "There is no function value.abs(); write math.abs(x)."],
  ["today", '"today" is not known here; write now.'],
])("what cannot be read is said with its place, and what to write instead: %s", (text, ...expected) => {
  expect(rejectionOf(text)).toEqual(rejection(text, ...expected));
});

test.each<Rejected>([
  ["foo()", "There is no function foo()."],
  ["state.foo()", "There is no function value.foo()."],
  ["'a'.size(1)", "There is no function value.size(); there is"],
  ["size()", "There is no function size(); there is size(string), size(list), size(map), size(bytes)."],
  ["size(1)", "There is no function size(int); there is"],
  ["len([1])", "There is no function len(); write size(x)."],
  ["[1].length()", "There is no function value.length(); write x.size()."],
  ["[1].push(2)", "There is no function value.push(); write x + [item]."],
  ["'a'.round()", "There is no function value.round(); write math.round(x)."],
  ["'a'.contains(1)", "There is no function string.contains(int);"],
  ["contains('a', 'b')", "There is no function contains(); there is"],
  ["math.foo(1)", "There is no function math.foo()."],
  ["math.abs('a')", "There is no function math.abs(string); there is math.abs(number)."],
  ["math.max(1, 2, 3, 4, 5, 6, 7, 8, 9)", "The expression is nested too deeply or has", ""],
  ["optional.foo()", "There is no function optional.foo()."],
  ["optional.ofNonZeroValue(1)", "Troupe's expressions have no optional"],
  ["'a'.matches('b')", "Patterns (matches) are not available; use contains, startsWith or ==."],
  ["state.s.optMap(x, x)", "Troupe's expressions have no optional"],
  ["cel.bind(x, 1, x)", "cel.bind is not available; use a Transform node for a value in between."],
  ["state.bind(x, 1, x)", "There is no function value.bind()."],
])(
  "a function that is not there, or takes something else, is said with those that are: %s",
  (text, ...expected) => {
    expect(rejectionOf(text)).toEqual(rejection(text, ...expected));
  },
);
