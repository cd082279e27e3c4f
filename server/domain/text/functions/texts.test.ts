import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { given, type Rejected, rejection, rejectionOf } from "../testing/outcome";

test.each<[string, Json]>([
  ["'Äb'.lowerAscii()", "äb"],
  ["'äb'.upperAscii()", "ÄB"],
  ["'straße'.upperAscii()", "STRASSE"],
  ["'  a b '.trim()", "a b"],
  ["'abc'.contains('')", true],
  ["'abc'.contains('bc')", true],
  ["'abc'.startsWith('ab')", true],
  ["'abc'.startsWith('bc')", false],
  ["'abc'.endsWith('bc')", true],
  ["'abc'.endsWith('ab')", false],
  ["'aXbXc'.replace('X', '-')", "a-b-c"],
  ["'aXbXc'.replace('X', '-', 1)", "a-bXc"],
  ["'aXbXc'.replace('X', '-', 0)", "aXbXc"],
  ["'a😀'.replace('', '-')", "-a-😀-"],
  ["'a,b,c'.split(',')", ["a", "b", "c"]],
  ["'a,b,c'.split(',', 0)", []],
  ["'a,b,c'.split(',', 2)", ["a", "b,c"]],
  ["'a--b--c'.split('--')", ["a", "b", "c"]],
  ["'abc'.split(',')", ["abc"]],
  ["'abc'.charAt(2)", "c"],
  ["'abc'.charAt(3)", ""],
  ["'abc'.substring(1)", "bc"],
  ["'abc'.substring(3)", ""],
  ["'abc'.substring(1, 1)", ""],
  ["'a😀b'.substring(1, 2)", "😀"],
  ["'abcabc'.indexOf('c')", 2],
  ["'abcabc'.indexOf('x')", -1],
  ["'abcabc'.indexOf('c', 3)", 5],
  ["'abcabc'.indexOf('a', 4)", -1],
  ["'abcabc'.indexOf('', 6)", 6],
  ["'a😀b'.indexOf('b')", 2],
  ["'abcabc'.lastIndexOf('c')", 5],
  ["'abcabc'.lastIndexOf('x')", -1],
  ["'abcabc'.lastIndexOf('c', 4)", 2],
  ["'abcabc'.lastIndexOf('bc', 4)", 4],
  ["'abcabc'.lastIndexOf('')", 6],
  ["'a😀b'.lastIndexOf('b')", 2],
  ["'a😀b'.reverse()", "b😀a"],
  ["strings.quote('a\"b')", '"a\\"b"'],
  ["['a', 'b'].join(', ')", "a, b"],
  ["[].join(', ')", ""],
  ["'%d'.format([5])", "5"],
  ["'%d'.format([5.0])", "5"],
  [
    "'%x %b'.format([9007199254740993, 9007199254740993])",
    "20000000000001 100000000000000000000000000000000000000000000000000001",
  ],
  ["'%f'.format([double('inf')])", "Infinity"],
  ["'%x %X %o %b'.format([255, 255, 8, 5])", "ff FF 10 101"],
  ["'%x %X %o %b'.format([255u, 255.0, 8u, 5u])", "ff FF 10 101"],
  ["'100%%'.format([])", "100%"],
])("places in a text are counted in characters: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test.each<Rejected>([
  ["'aXbXc'.replace('X', '-', 1.5)", "Expected a whole number, not 1.5."],
  ["'abc'.charAt(4)", "The position"],
  ["'abc'.substring(4)", "The position"],
  ["'abc'.substring(2, 1)", "The end 1 is before the start 2."],
  ["'abcabc'.indexOf('a', 7)", "The position"],
  ["'abcabc'.lastIndexOf('a', 7)", "The position"],
  ["['a', 1].join()", "join needs strings, but one item is int. Add .map(x, string(x)) before i"],
  ["'%d'.format([5.5])", "Expected a whole number, not 5.5."],
  ["'%.21f'.format([0.5])", "Use at most 20 decimals."],
  ["'%x'.format(['a'])", "%x needs a number, but this is string. Use %s."],
  ["'%s'.format([1, 2])", "format has 1 placeholders, but 2 values."],
  ["'%s'.format([])", "format has more placeholders than values (0)."],
])(
  "a place outside of a text, or a format that does not fit its values, is refused: %s",
  (text, ...expected) => {
    expect(rejectionOf(text)).toEqual(rejection(text, ...expected));
  },
);
