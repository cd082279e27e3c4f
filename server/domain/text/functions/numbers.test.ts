import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { given, type Rejected, rejection, rejectionOf } from "../testing/outcome";

test.each<[string, Json]>([
  [
    "[math.round(1.4), math.round(1.5), math.round(-1.5), math.round(-1.4), math.round(0.0)]",
    [1, 2, -2, -1, 0],
  ],
  ["[math.round(3), math.round(3u)]", [3, 3]],
  ["[math.floor(-1.5), math.ceil(-1.5), math.trunc(-1.5), math.floor(2), math.ceil(2u)]", [-2, -1, -1, 2, 2]],
  ["[math.sqrt(16), math.sqrt(2.25), math.sqrt(9u)]", [4, 1.5, 3]],
  [
    "[math.abs(5), math.abs(-5), math.abs(0), math.abs(5u), math.abs(-2.5), math.abs(2.5)]",
    [5, 5, 0, 5, 2.5, 2.5],
  ],
  [
    "[math.sign(5), math.sign(-5), math.sign(0), math.sign(2.5), math.sign(-2.5), math.sign(0.0), math.sign(3u), math.sign(0u)]",
    [1, -1, 0, 1, -1, 0, 1, 0],
  ],
  ["[math.isNaN(double('nan')), math.isNaN(1.0), math.isNaN(1)]", [true, false, false]],
  [
    "[math.isInf(1.0 / 0.0), math.isInf(-1.0 / 0.0), math.isInf(1.0), math.isInf(double('nan'))]",
    [true, true, false, false],
  ],
  [
    "[math.isFinite(1.0 / 0.0), math.isFinite(1.0), math.isFinite(double('nan')), math.isFinite(1)]",
    [false, true, false, true],
  ],
  [
    "[math.greatest(1), math.greatest(2, 1), math.greatest(1, 2), math.greatest(1, 2.5), math.greatest(3u, 2)]",
    [1, 2, 2, 2.5, 3],
  ],
  [
    "[math.least(1), math.least(2, 1), math.least(1, 2), math.least(1, 0.5), math.least(3u, 2)]",
    [1, 1, 1, 0.5, 2],
  ],
  ["[math.max([1, 3, 2]), math.min([2, 1, 3]), math.max([1.5]), math.min(1, 2, 3, 0)]", [3, 1, 1.5, 0]],
  ["math.greatest(1, 1.0)", 1],
  ["math.greatest(1.0, 1)", 1],
  ["math.max([1, double('nan')])", 1],
  ["optional.of(1).value()", 1],
  ["optional.none().hasValue()", false],
])("math functions keep the type of a number if possible: %s gives %j", (text, expected) => {
  expect(given(text)).toEqual(expected);
});

test.each<Rejected>([
  ["math.sqrt(-1)", "The result is not a number (division by zero?)."],
  ["math.abs(-9223372036854775807 - 1)", "Whole number out of range (64 bits)."],
  ["math.greatest(['a', 1])", "Maximum and minimum need numbers, but one value is string."],
  ["math.greatest(['a'])", "Maximum and minimum need numbers, but one value is string."],
  ["math.greatest([1, 'a'])", "Maximum and minimum need numbers, but one value is string."],
  ["math.least([1, null])", "Maximum and minimum need numbers, but one value is null."],
  ["math.least([])", "An empty list has no maximum or minimum."],
  ["math.max([double('nan'), 1])", "The result is not a number (division by zero?)."],
])("an argument that is not a number or is out of range is rejected: %s", (text, ...expected) => {
  expect(rejectionOf(text)).toEqual(rejection(text, ...expected));
});
