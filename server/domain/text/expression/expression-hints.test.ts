import { expect, test } from "vitest";
import { type Rejected, rejection, rejectionOf } from "../testing/outcome";

test.each<Rejected>([
  ["1 +", "The expression is incomplete.", ""],
  ["(1", "Expected RPAREN, got EOF.", ""],
  ["1)", "Unexpected character ).", ")"],
  ["{1 2}", "Expected COLON, got NUMBER.", "2"],
  ['1 "a"', 'Something is missing before "a": an operator', '"a"'],
  ["#", "Unexpected character #."],
  ["1 # 2", "Unexpected character #.", "#"],
  ["1 = 2", "Use == to compare, not =.", "="],
  ["1 & 2", "Write && for and, || for or.", "&"],
  ["1 | 2", "Write && for and, || for or.", "|"],
  ["true not", '"not" is not an operator. Write !.', "not"],
  ["1 is 1", '"is" is not an operator. Write ==.', "is"],
  ["1 or 2", '"or" is not an operator. Write ||.', "or"],
  ["else", '"else" is not an operator. Write condition ? this : that.'],
  ["'a' 'b'", "Something is missing before 'b': an operator", "'b'"],
  ['"\\q"', "Invalid escape sequence: \\q.", "\\q"],
  ["for", "Reserved identifier: for."],
  ["x => x", "Use == to compare, not =.", "="],
  ["1 === 1", "Use == to compare, not =.", "="],
  ["1 ** 2", "Unexpected token: MULTIPLY.", "*"],
  ["nil", 'Unknown name "nil"; write null.'],
  ["undefined", 'Unknown name "undefined"; use has(state.key) to check if a key exists.'],
  ["Math.abs(1)", "There is no function value.abs(). Write math.abs(x)."],
  ["today", 'Unknown name "today"; write now.'],
])("a syntax error is reported with its place and a suggestion: %s", (text, ...expected) => {
  expect(rejectionOf(text)).toEqual(rejection(text, ...expected));
});

test.each<Rejected>([
  ["foo()", "There is no function foo()."],
  ["state.foo()", "There is no function value.foo()."],
  ["'a'.size(1)", "There is no function value.size(). Available: "],
  ["size()", "There is no function size(). Available: size(string), size(list), size(map), size(bytes)."],
  ["size(1)", "There is no function size(int). Available: "],
  ["len([1])", "There is no function len(). Write size(x)."],
  ["[1].length()", "There is no function value.length(). Write x.size()."],
  ["[1].push(2)", "There is no function value.push(). Write x + [item]."],
  ["'a'.round()", "There is no function value.round(). Write math.round(x)."],
  ["'a'.contains(1)", "There is no function string.contains(int). Available: "],
  ["contains('a', 'b')", "There is no function contains(). Available: "],
  ["math.foo(1)", "There is no function math.foo()."],
  ["math.abs('a')", "There is no function math.abs(string). Available: math.abs(number)."],
  ["math.max(1, 2, 3, 4, 5, 6, 7, 8, 9)", "The expression is nested too deeply or has", ""],
  ["optional.foo()", "There is no function optional.foo()."],
  ["optional.ofNonZeroValue(1)", "Optional entries ({?k: x}, [?x]), ??, optMap"],
  ["'a'.matches('b')", "matches is not supported. Use contains, startsWith or ==."],
  ["state.s.optMap(x, x)", "Optional entries ({?k: x}, [?x]), ??, optMap"],
  ["cel.bind(x, 1, x)", "cel.bind is not supported. Use a Transform node for intermediate values."],
  ["state.bind(x, 1, x)", "There is no function value.bind()."],
])(
  "an unknown function or wrong argument is reported with the available functions: %s",
  (text, ...expected) => {
    expect(rejectionOf(text)).toEqual(rejection(text, ...expected));
  },
);
