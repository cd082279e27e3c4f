import type { Work } from "@/server/domain/base/work-budget";
import {
  compare,
  EvaluationError,
  int,
  isNumeric,
  isUint,
  toDouble,
  typeOf,
} from "../expression/expression-values";
import { type CelFunction, define } from "./define";

const onNumber = (compute: (value: number) => number) => (_: Work, value: unknown) =>
  typeof value === "number" ? compute(value) : value;

/** How many numbers may stand side by side; more of them make up a list. */
const MOST_NUMBERS = 8;

/** What expressions do with numbers. */
export const numberFunctions = [
  // Rounds half away from zero, as taught in school.
  define(
    "math.round(number): dyn",
    "to the nearest whole number",
    onNumber((x) => Math.sign(x) * Math.round(Math.abs(x))),
  ),
  define("math.floor(number): dyn", "rounded down", onNumber(Math.floor)),
  define("math.ceil(number): dyn", "rounded up", onNumber(Math.ceil)),
  define("math.trunc(number): dyn", "without decimals", onNumber(Math.trunc)),
  define("math.sqrt(number): double", "square root", (_, x: unknown) => Math.sqrt(toDouble(x))),
  define("math.abs(number): dyn", "absolute value", (_, x: unknown) =>
    typeof x === "bigint" ? int(x < 0n ? -x : x) : isUint(x) ? x : Math.abs(toDouble(x)),
  ),
  define("math.sign(number): dyn", "-1, 0 or 1", (_, x: unknown) =>
    typeof x === "bigint" ? (x > 0n ? 1n : x < 0n ? -1n : 0n) : Math.sign(toDouble(x)),
  ),
  define("math.isNaN(number): bool", "", (_, x: unknown) => Number.isNaN(toDouble(x))),
  define(
    "math.isInf(number): bool",
    "",
    (_, x: unknown) => Math.abs(toDouble(x)) === Number.POSITIVE_INFINITY,
  ),
  define("math.isFinite(number): bool", "", (_, x: unknown) => Number.isFinite(toDouble(x))),
  ...extremes(["greatest", "max"], 1, "maximum of numbers or a list"),
  ...extremes(["least", "min"], -1, "minimum of numbers or a list"),
];

function extremes(names: readonly string[], wanted: 1 | -1, hint: string): CelFunction[] {
  return names.flatMap((name) => [
    define(`math.${name}(list): dyn`, hint, (w, list: unknown[]) => extreme(w, list, wanted)),
    ...Array.from({ length: MOST_NUMBERS }, (_, more) =>
      define(
        `math.${name}(${Array(more + 1)
          .fill("number")
          .join(", ")}): dyn`,
        "",
        (w, ...values: unknown[]) => extreme(w, values, wanted),
      ),
    ),
  ]);
}

function extreme(w: Work, values: readonly unknown[], wanted: 1 | -1): unknown {
  if (values.length === 0) throw new EvaluationError("An empty list has no maximum or minimum.");
  return values.reduce((best, value, at) => {
    if (at > 0) w.spend(2);
    if (!isNumeric(typeOf(value)))
      throw new EvaluationError(`Maximum and minimum need numbers, but one value is ${typeOf(value)}.`);
    const order = compare(w, value, best);
    return order !== null && order * wanted > 0 ? value : best;
  }, values[0]);
}
