import { expect, test } from "vitest";
import { unitsOf } from "../testing/outcome";

/** 160 characters, which take ten units to read. */
const LONG = `'${"x".repeat(160)}'`;
const OTHER = `'${"x".repeat(159)}y'`;

test.each([
  ["state.n", 4],
  ["[1, 2, 3, 4]", 27],
  ["{'a': 1, 'bc': 2}", 43],
  ["state.none == 1 || state.yes", 108],
  ["LONG == OTHER", 16],
  ["LONG + LONG", 33],
  ["[1, 2, 3].map(x, x)", 42],
  ["{'a': 1, 'b': 2}.transformMap(k, v, v)", 70],
  ["LONG.upperAscii()", 40],
  ["LONG.split('', 3)", 41],
  ["('😀' + LONG).charAt(3)", 207],
  ["LONG.lastIndexOf('y')", 231],
  ["[LONG, LONG].join(LONG)", 57],
  ["'%s'.format([{'a': [1.5]}])", 109],
  ["bytes(LONG).hex()", 219],
  ["[1, 2, 3].sort()", 51],
  ["[[1], [1]].distinct()", 48],
  ["timestamp('2026-01-01').getHours('UTC')", 272],
])(
  "an expression costs the same in every replay: %s takes %i units in addition to parsing",
  (text, units) => {
    expect(unitsOf(text.replaceAll("LONG", LONG).replaceAll("OTHER", OTHER))).toBe(units);
  },
);
