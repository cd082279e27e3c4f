import { expect, test } from "vitest";
import { compileRegex, PatternError, regexSize } from "./regex";
import { belongs, MAX_PATTERN_CHARS, type SignSet, weightOf } from "./syntax";
import { Work } from "./work";

const rejection = (source: string) => {
  try {
    compileRegex(source);
  } catch (error) {
    if (error instanceof PatternError) return [error.message, error.isValid];
    throw error;
  }
  return null;
};
const which = (source: string, texts: readonly string[]) => {
  const regex = compileRegex(source);
  return texts.filter((text) => regex.test(text, new Work(1_000_000)));
};

test.each<[string, string[], string[]]>([
  ["^a{2}$", ["aa"], ["a", "aaa", ""]],
  ["^a{2,}$", ["aa", "aaa"], ["a", ""]],
  ["^a{2,3}$", ["aa", "aaa"], ["a", "aaaa"]],
  ["^a{2,2}?$", ["aa"], ["a", "aaa"]],
  ["^a{0}$", [""], ["a"]],
  ["^a?$", ["", "a"], ["aa"]],
  ["^a+$", ["a", "aa"], [""]],
  ["^a*$", ["", "aa"], ["b"]],
  ["^a{$", ["a{"], ["a"]],
  ["^a{,2}$", ["a{,2}"], ["aa"]],
  ["^(^)*a$", ["a"], ["b"]],
  ["^(?:a|b|)$", ["a", "b", ""], ["ab"]],
  ["^a|b$", ["ax", "xb", "a", "b"], ["xa", "bx", "x"]],
  ["^(?<year>\\d+)$", ["2026"], ["x"]],
  // Letters behind a backslash.
  ["^\\t\\n\\v\\f\\r$", ["\t\n\v\f\r"], ["tnvfr"]],
  ["^\\0$", ["\0"], ["0"]],
  ["^\\cA\\ca\\cZ$", ["\x01\x01\x1a"], ["AaZ"]],
  ["^\\x41\\u0042\\u{43}\\u{1F600}$", ["ABC😀"], ["ABC"]],
  ["^\\uD83D\\uDE00$", ["😀"], ["x"]],
  ["^\\.\\/\\-\\😀$", ["./-😀"], ["x/-😀"]],
  ["^\\d\\D\\w\\W\\s\\S$", ["1a_- x"], ["aa_- x", "11_- x", "1a-- x", "1a__ x", "1a_-xx", "1a_-  "]],
  ["^\\p{Lu}\\P{Lu}$", ["Aa"], ["aa", "AA"]],
  ["^\\p{Script=Greek}$", ["α"], ["a"]],
  ["^.$", ["a", "😀"], ["\n", "\r", "\u2028", "\u2029", ""]],
  [
    "^\\s$",
    ["\t", "\r", " ", "\u00a0", "\u1680", "\u2000", "\u200a", "\u2028", "\u2029", "\ufeff"],
    ["\b", "\u200b", "a"],
  ],
  // Sets of characters.
  ["^[a-c]$", ["a", "b", "c"], ["`", "d", "-"]],
  ["^[^a-c]$", ["d", "-", "\n"], ["a", "c"]],
  ["^[-a]$", ["-", "a"], ["b"]],
  ["^[a-]$", ["-", "a"], ["b"]],
  ["^[a-\\d]$", ["-", "a", "5"], ["b"]],
  ["^[\\d-z]$", ["-", "z", "5"], ["a", "y"]],
  ["^[\\w-]$", ["-", "_"], ["+"]],
  ["^[a-c-e]$", ["a", "b", "-", "e"], ["d"]],
  ["^[\\b]$", ["\b"], ["b"]],
  ["^[\\]\\\\]$", ["]", "\\"], ["["]],
  ["^[😀-😂]$", ["😀", "😁", "😂"], ["😃", "x"]],
  ["^[(|)]$", ["(", "|", ")"], ["x"]],
  ["^[]$", [], ["", "a"]],
  ["^[^]$", ["a", "\n"], [""]],
  ["^[\\x41-\\x43]$", ["A", "C"], ["D"]],
  // Places.
  ["\\bowl\\b", ["owl", "an owl!"], ["howl", "owls"]],
  ["\\Bwl\\B", ["howls"], ["wl", "owl", "wls"]],
  // What must follow, or must not, at the start.
  ["^(?=.*a)(?!.*b).{2}$", ["ac", "ca"], ["ab", "cc", "a", "acc"]],
  ["^(?=a)(b|a)$", ["a"], ["b"]],
  ["^(?=[|(])\\W$", ["|", "("], ["-"]],
  ["^(?=\\|)\\W$", ["|"], ["-"]],
  ["^(?=[\\]|])\\W$", ["|", "]"], ["-"]],
])("%s matches %j and none of %j", (source, yes, no) => {
  expect(which(source, [...yes, ...no])).toEqual(yes);
});

test.each<[string, string, boolean]>([
  ["a)", "it has an unmatched closing parenthesis", false],
  ["^(?=a)b)", "it has an unmatched closing parenthesis", false],
  ["(a", "a group is not closed", false],
  ["[a", "a character class is not closed", false],
  ["[a-", "a character class is not closed", false],
  ["[z-a]", "a character range is reversed", false],
  ["a{3,2}", "the bounds of a repetition are reversed", false],
  ["^*", "it repeats an anchor", false],
  ["a\\b+", "it repeats an anchor", false],
  ["*a", "there is nothing to repeat", false],
  ["(|+)", "there is nothing to repeat", false],
  ["{2}", "there is nothing to repeat", false],
  ["a{2}{3}", "there is nothing to repeat", false],
  ["a\\", "it ends with a backslash", false],
  ["[\\", "it ends with a backslash", false],
  ["\\c1", "\\c needs a letter", false],
  ["\\01", "it has an octal escape", false],
  ["[\\1]", "it has an octal escape", false],
  ["\\x4", "hexadecimal digits are missing after \\x or \\u", false],
  ["\\u004", "hexadecimal digits are missing after \\x or \\u", false],
  ["\\u{110000}", "a code point is too large", false],
  ["\\p", "\\p needs a property name, such as \\p{L}", false],
  ["\\p{Foo}", "\\p{Foo} is not a known property", false],
  ["\\q", "\\q has no meaning in a JSON Schema pattern", false],
  ["\\8x", "it has a backreference", true],
  ["\\k<x>", "it has a backreference", true],
  ["(?<1>a)", "a group starts with ? and an unknown character", false],
  ["(?i-s:a)", "it has inline flags", true],
  ["a(?=b)", "it has a lookahead or lookbehind", true],
  ["(?<!a)b", "it has a lookahead or lookbehind", true],
  ["(?=a)b", "it has a lookahead or lookbehind", true],
  ["^(?=a)b|c", "it has a lookahead or lookbehind", true],
  ["^(?=a)[|]|c", "it has a lookahead or lookbehind", true],
  ["^(?=a)*b", "it repeats a lookahead", true],
  ["^(?=a){2}b", "it repeats a lookahead", true],
])("%s is rejected: %s", (source, why, isValid) => {
  expect(rejection(source)).toEqual([why, isValid]);
});

test("a pattern may reach the limits of length, depth and size, but not exceed them", () => {
  const deep = (levels: number) => `${"(".repeat(levels)}a${")".repeat(levels)}`;
  expect(rejection("a".repeat(MAX_PATTERN_CHARS))).toBeNull();
  expect(rejection(deep(100))).toBeNull();
  expect(rejection("a{9999}")).toBeNull();
  expect(rejection("(?:a{100}){100}")).toBeNull();
  expect(rejection("a".repeat(MAX_PATTERN_CHARS + 1))).toEqual(["it is longer than 5000 characters", true]);
  expect(rejection(deep(101))).toEqual(["its groups are nested too deeply", true]);
  expect(rejection("a{10001}")).toEqual(["its repetitions are too large", true]);
  expect(rejection("(?:a{100}){101}")).toEqual(["its repetitions are too large", true]);
  // Brackets beside each other are not inside of each other.
  expect(rejection("(a)".repeat(150))).toBeNull();
});

test.each([
  ["", 0],
  ["a", 1],
  ["^ab$", 4],
  ["a|b", 6],
  ["a|bc|", 9],
  ["a*", 3],
  ["a+", 4],
  ["a{3,}", 6],
  ["a{3}", 3],
  ["a{2,5}", 8],
  ["(?:ab){2,3}", 7],
  ["(){3}", 3],
  ["^(?=ab)c", 4],
])("the size of a pattern counts its unrolled states: %s has %i", (source, size) => {
  expect([regexSize(source), compileRegex(source).size]).toEqual([size, size]);
});

test("a character set contains its parts, or everything else if it is negated", () => {
  const digits: SignSet = { isNegated: false, ranges: [[48, 57]], inner: [] };
  const notDigits: SignSet = { ...digits, isNegated: true };
  const letters: SignSet = { isNegated: false, ranges: [], inner: [], property: /^\p{L}$/u };
  const both: SignSet = { isNegated: false, ranges: [[95, 95]], inner: [digits, letters] };
  const neither: SignSet = { ...both, isNegated: true };
  const signs = [..."0_a-/:9"];
  const has = (set: SignSet) => signs.filter((sign) => belongs(set, sign.codePointAt(0) ?? 0)).join("");
  expect([digits, notDigits, letters, both, neither].map(has)).toEqual(["09", "_a-/:", "a", "0_a9", "-/:"]);
  expect([digits, notDigits, letters, both].map(weightOf)).toEqual([2, 2, 9, 13]);
});
