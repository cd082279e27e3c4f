import { expect, test } from "vitest";
import { type Refusal, rejectionOf } from "./testing/outcome";

test.each<[string, Refusal]>([
  ["1 +", ["The expression ends too early.", ""]],
  ["(1", ["Expected RPAREN, got EOF.", ""]],
  ["1)", ["The character ) does not belong here.", ")"]],
  ["[1, 2", ["Expected RBRACKET, got EOF.", ""]],
  ["{1 2}", ["Expected COLON, got NUMBER.", "2"]],
  [
    "1 2",
    [
      'Something is missing before 2: write an operator such as == or &&, or call a function with brackets, as in state.key.contains("x").',
      "2",
    ],
  ],
  [
    '1 "a"',
    [
      'Something is missing before "a": write an operator such as == or &&, or call a function with brackets, as in state.key.contains("x").',
      '"a"',
    ],
  ],
  [
    "a b",
    [
      'Something is missing before b: write an operator such as == or &&, or call a function with brackets, as in state.key.contains("x").',
      "b",
    ],
  ],
  ["#", ["The character # does not belong here.", "#"]],
  ["1 # 2", ["The character # does not belong here.", "#"]],
  ["@", ["The character @ does not belong here.", "@"]],
  ["1 = 2", ["A single = is not available here; write == to compare.", "="]],
  ["1 =", ["A single = is not available here; write == to compare.", "="]],
  ["1 & 2", ["Write && for and, || for or.", "&"]],
  ["1 | 2", ["Write && for and, || for or.", "|"]],
  [
    "not true",
    [
      'Something is missing before true: write an operator such as == or &&, or call a function with brackets, as in state.key.contains("x").',
      "true",
    ],
  ],
  ["true not", ['"not" is not a word of this language; write !.', "not"]],
  [
    "is 1",
    [
      'Something is missing before 1: write an operator such as == or &&, or call a function with brackets, as in state.key.contains("x").',
      "1",
    ],
  ],
  ["1 is 1", ['"is" is not a word of this language; write ==.', "is"]],
  ["if true", ['"if" is not a word of this language; write condition ? this : that.', "if"]],
  ["1 or 2", ['"or" is not a word of this language; write ||.', "or"]],
  ["else", ['"else" is not a word of this language; write condition ? this : that.', "else"]],
  [
    "1 xor 2",
    [
      'Something is missing before xor 2: write an operator such as == or &&, or call a function with brackets, as in state.key.contains("x").',
      "xor",
    ],
  ],
  [
    "'a' 'b'",
    [
      "Something is missing before 'b': write an operator such as == or &&, or call a function with brackets, as in state.key.contains(\"x\").",
      "'b'",
    ],
  ],
  ['"\\q"', ["Invalid escape sequence: \\q.", "\\q"]],
  ["for", ["Reserved identifier: for.", "for"]],
  ["while", ["Reserved identifier: while.", "while"]],
  ["x => x", ["A single = is not available here; write == to compare.", "="]],
  ["1 === 1", ["A single = is not available here; write == to compare.", "="]],
  ["1 !== 1", ["A single = is not available here; write == to compare.", "="]],
  ["1 ** 2", ["Unexpected token: MULTIPLY.", "*"]],
  ["1++", ["Unexpected token: PLUS.", "+"]],
  ["nil", ['"nil" is not known here; write null.', "nil"]],
  ["None", ['"None" is not known here; write null.', "None"]],
  ["undefined", ['"undefined" is not known here; ask has(state.key) whether a key is there.', "undefined"]],
  ["Math.abs(1)", ["There is no function value.abs(); write math.abs(x).", "Math.abs(1)"]],
  ["today", ['"today" is not known here; write now.', "today"]],
  ["False", ['"False" is not known here; write false.', "False"]],
])("what cannot be read is said with its place, and what to write instead: %s", (text, expected) => {
  expect(rejectionOf(text)).toEqual(expected);
});

test.each<[string, Refusal]>([
  ["foo()", ["There is no function foo().", "foo()"]],
  ["foo(1)", ["There is no function foo().", "foo(1)"]],
  ["state.foo()", ["There is no function value.foo().", "state.foo()"]],
  ["state.s.foo(1, 'a')", ["There is no function value.foo().", "state.s.foo(1, 'a')"]],
  [
    "'a'.size(1)",
    [
      "There is no function value.size(); there is string.size(), list.size(), map.size(), bytes.size().",
      "'a'.size(1)",
    ],
  ],
  [
    "size()",
    ["There is no function size(); there is size(string), size(list), size(map), size(bytes).", "size()"],
  ],
  [
    "size(1)",
    ["There is no function size(int); there is size(string), size(list), size(map), size(bytes).", "size(1)"],
  ],
  [
    "size(1, 2)",
    ["There is no function size(); there is size(string), size(list), size(map), size(bytes).", "size(1, 2)"],
  ],
  ["len([1])", ["There is no function len(); write size(x).", "len([1])"]],
  ["[1].length()", ["There is no function value.length(); write x.size().", "[1].length()"]],
  ["[1].push(2)", ["There is no function value.push(); write x + [item].", "[1].push(2)"]],
  ["floor(1.5)", ["There is no function floor(); write math.floor(x).", "floor(1.5)"]],
  ["isNaN(1.0)", ["There is no function isNaN(); write math.isNaN(x).", "isNaN(1.0)"]],
  ["'a'.round()", ["There is no function value.round(); write math.round(x).", "'a'.round()"]],
  [
    "'a'.contains(1)",
    [
      "There is no function string.contains(int); there is string.contains(string), list.contains(value).",
      "'a'.contains(1)",
    ],
  ],
  [
    "contains('a', 'b')",
    [
      "There is no function contains(); there is string.contains(string), list.contains(value).",
      "contains('a', 'b')",
    ],
  ],
  ["math.foo(1)", ["There is no function math.foo().", "math.foo(1)"]],
  ["math.abs('a')", ["There is no function math.abs(string); there is math.abs(number).", "math.abs('a')"]],
  ["math.abs()", ["There is no function math.abs(); there is math.abs(number).", "math.abs()"]],
  [
    "math.max(1, 2, 3, 4, 5, 6, 7, 8, 9)",
    [
      "The expression is nested too deeply or has too many parts (maxCallArguments (8)). Split it over two nodes.",
      "",
    ],
  ],
  ["strings.foo()", ["There is no function strings.foo().", "strings.foo()"]],
  ["optional.foo()", ["There is no function optional.foo().", "optional.foo()"]],
  [
    "optional.ofNonZeroValue(1)",
    [
      "Troupe's expressions have no optional entries ({?k: x}, [?x]), ??, optMap or ofNonZeroValue; write has(x) ? ... : ... instead.",
      "optional.ofNonZeroValue(1)",
    ],
  ],
  [
    "'a'.matches('b')",
    ["Patterns (matches) are not available; use contains, startsWith or ==.", "'a'.matches('b')"],
  ],
  [
    "matches('a', 'b')",
    ["Patterns (matches) are not available; use contains, startsWith or ==.", "matches('a', 'b')"],
  ],
  [
    "state.s.optMap(x, x)",
    [
      "Troupe's expressions have no optional entries ({?k: x}, [?x]), ??, optMap or ofNonZeroValue; write has(x) ? ... : ... instead.",
      "state.s.optMap(x, x)",
    ],
  ],
  [
    "cel.bind(x, 1, x)",
    ["cel.bind is not available; use a Transform node for a value in between.", "cel.bind(x, 1, x)"],
  ],
  ["state.bind(x, 1, x)", ["There is no function value.bind().", "state.bind(x, 1, x)"]],
])(
  "a function that is not there, or takes something else, is said with those that are: %s",
  (text, expected) => {
    expect(rejectionOf(text)).toEqual(expected);
  },
);
