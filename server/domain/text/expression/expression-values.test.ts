import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { given, type Rejected, rejection, rejectionOf } from "../testing/outcome";

test.each<[string, Json]>([
  ["null == null", true],
  ["null == 1", false],
  ["[] == []", true],
  ["[1, 2] == [1, 2]", true],
  ["[1, 2] == [1]", false],
  ["[1] == [1, 2]", false],
  ["[1] == state.n", false],
  ["state.list == [1.0, 2u, 3]", true],
  ["{'a': 1} == {'a': 1.0}", true],
  ["{'a': 1} == {'b': 1}", false],
  ["{'a': 1} == {'a': 1, 'b': 2}", false],
  ["{'a': 1, 'b': 2} == {'a': 1}", false],
  ["{'a': null} == {'b': null}", false],
  ["state.o == state.o", true],
  ["state.o == state.list", false],
  ["state.s == state.n", false],
  ["state.s == 'a'", true],
  ["state.s == 'b'", false],
  ["state.yes == true", true],
  ["1 != 1", false],
  ["1u == 1", true],
  ["1u == 1.0", true],
  ["1u == 2u", false],
  ["optional.of(1) == optional.of(1)", true],
  ["optional.of(1) == optional.of(2)", false],
  ["optional.of(1) == optional.none()", false],
  ["optional.none() == optional.none()", true],
  ["optional.of(1) == dyn(1)", false],
  ["optional.of([1]) == optional.of([1])", true],
  ["b'ab' == b'ab'", true],
  ["b'ab' == b'ac'", false],
  ["b'ab' == b'abc'", false],
  ["dyn(b'ab') == dyn('ab')", false],
  ["now == now", true],
  ["timestamp('2026-01-01') == timestamp('2026-01-02')", false],
  ["duration('1s') == duration('1000ms')", true],
  ["duration('1s') == duration('2s')", false],
  ["dyn(now) == dyn(1)", false],
  ["dyn(duration('1s')) == dyn(1)", false],
])("values are equal if their types and contents match: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test.each<[string, Json]>([
  ["1 < 2", true],
  ["2 < 2", false],
  ["2 <= 2", true],
  ["3 <= 2", false],
  ["3 > 2", true],
  ["2 > 2", false],
  ["'a' < 'b'", true],
  ["'a' < 'a'", false],
  ["false < true", true],
  ["true < false", false],
  ["now < now + duration('1ms')", true],
  ["duration('1s') < duration('2s')", true],
  ["duration('1s') >= duration('1s')", true],
  ["double('NaN') == double('NaN')", false],
  ["double('NaN') < 1.0", false],
  ["double('NaN') != 1.0", true],
])("values with an order are compared by it: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test.each<[string, Json]>([
  ["2 in [1, 2]", true],
  ["4 in state.list", false],
  ["'a' in state.o", true],
  ["'constructor' in state.o", false],
  ["1 in {1: 'x'}", true],
  ["1u in {1: 'x'}", true],
  ["1.5 in {'1.5': 'x'}", false],
  ["true in {'true': 'x'}", true],
  ["null in {'null': 'x'}", false],
  ["'x' in []", false],
  ["[1] in [[1], [2]]", true],
])("the in operator finds a value in a list or a key in an object: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test.each<[string, Json]>([
  ["1 + 2", 3],
  ["7 / 2", 3],
  ["-7 / 2", -3],
  ["7 % 4", 3],
  ["-7 % 4", -3],
  ["7u + 1u", 8],
  ["7u - 1u", 6],
  ["7u % 4u", 3],
  ["7.0 + 1u", 8],
  ["1u * 2.5", 2.5],
  ["7 / 2.0", 3.5],
  ["7.0 - 2.5", 4.5],
  ["'a' + 'b'", "ab"],
  ["[1] + [2, 3]", [1, 2, 3]],
  ["state.list + [4]", [1, 2, 3, 4]],
  ["(b'ab' + b'cd').string()", "abcd"],
  ["string(timestamp('2026-01-01') + duration('1h'))", "2026-01-01T01:00:00Z"],
  ["string(duration('1h') + timestamp('2026-01-01'))", "2026-01-01T01:00:00Z"],
  ["string(timestamp('2026-01-01') - duration('1h'))", "2025-12-31T23:00:00Z"],
  ["string(timestamp('2026-01-02') - timestamp('2026-01-01'))", "86400s"],
  ["string(duration('1h') + duration('1m'))", "3660s"],
  ["string(duration('1m') - duration('1h'))", "-3540s"],
  ["timestamp('2026-01-01T00:00:00.002Z') - duration('1500us')", "2026-01-01T00:00:00.000Z"],
  ["timestamp('2026-01-01T00:00:00.002Z') + duration('1500us')", "2026-01-01T00:00:00.003Z"],
  ["-state.n", -1.5],
  ["-(-3)", 3],
  ["!state.yes", false],
  ["!(1 == 2)", true],
  ["-(9223372036854775807)", "-9223372036854775807"],
])("arithmetic works on numbers, texts, lists and times: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test.each<Rejected>([
  ["state.s - state.s", "Type mismatch: string - string."],
  ["7 % 0", "Division by zero."],
  ["7 / 0", "Division by zero."],
  ["0u - 1u", "Out of range: unsigned whole numbers go from 0 to 2^64 - 1."],
  ["18446744073709551616u", "Invalid integer: 18446744073709551616."],
  ["9223372036854775807 * 2", "Whole number out of range (64 bits)."],
  ["-9223372036854775807 - 2", "Whole number out of range (64 bits)."],
  ["7.5 % 2.0", "isn't one. Use math.round, math.floor or int"],
  ["state.n % 1", "isn't one. Use math.round, math.floor or int"],
  ["duration('315576000001s')", "Duration out of range (about"],
  ["-duration('1s')", "duration can't be negated."],
  ["-'a'", "string can't be negated."],
  ["-dyn(1u)", "uint can't be negated."],
])("mismatched or out-of-range operands are rejected with their place: %s", (text, ...expected) => {
  expect(rejectionOf(text)).toEqual(rejection(text, ...expected));
});

test("type() returns the type of a value, and the type is a value itself", () => {
  const types: Record<string, string> = {
    int: "1",
    uint: "1u",
    double: "state.n",
    string: "'a'",
    bytes: "b'a'",
    list: "[]",
    map: "{}",
    null_type: "null",
    bool: "true",
    "google.protobuf.Timestamp": "now",
    "google.protobuf.Duration": "duration('1s')",
    optional_type: "optional.none()",
    type: "int",
  };
  for (const [type, value] of Object.entries(types)) expect(given(`type(${value}) == ${type}`)).toBe(true);
  expect(given("type(1) == uint || type(1) == dyn('int')")).toBe(false);
});
