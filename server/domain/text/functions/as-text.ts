import { isList } from "@/server/domain/base/guards";
import { WORK_LIMITS, type Work } from "@/server/domain/base/work-budget";
import { formatTime } from "../dates";
import {
  CelType,
  Duration,
  EvaluationError,
  isMap,
  isUint,
  keysOf,
  Optional,
} from "../expression/expression-values";

/** Reading or writing a time or a length of time. */
export const TIME_UNITS = 300;

/** How a value reads as text. */
export function asText(w: Work, value: unknown): string {
  w.spend(1);
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "null";
  if (typeof value === "number") {
    w.spend(8);
    if (value === Number.POSITIVE_INFINITY) return "+Inf";
    return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
  }
  if (value instanceof Date) {
    w.spend(TIME_UNITS);
    return formatTime(value);
  }
  if (value instanceof Uint8Array) {
    w.makeText(value.length);
    return new TextDecoder("utf-8", { fatal: false }).decode(value);
  }
  if (value instanceof CelType) return value.name;
  if (value instanceof Optional) return value.held === undefined ? "" : asText(w, value.held);
  return isList(value) || isMap(value) ? inner(w, value, 0) : plain(value);
}

/** Values with a text form of their own: integers, booleans, durations. */
const plain = (value: unknown): string =>
  typeof value === "bigint" || typeof value === "boolean" || isUint(value) || value instanceof Duration
    ? String(value)
    : "";

/** A list or an object as text, its texts in quotes. */
function inner(w: Work, value: unknown, depth: number): string {
  w.spend(8);
  if (depth > WORK_LIMITS.depth) throw new EvaluationError("The value is nested too deeply.");
  if (typeof value === "string") {
    w.makeText(value.length * 2);
    return JSON.stringify(value);
  }
  if (isList(value))
    return bracketed(
      w,
      "[]",
      value.map((item) => inner(w, item, depth + 1)),
    );
  if (!isMap(value)) return asText(w, value);
  const pieces = keysOf(w, value)
    .sort()
    .map((key) => `${JSON.stringify(key)}: ${inner(w, value[key], depth + 1)}`);
  return bracketed(w, "{}", pieces);
}

function bracketed(w: Work, brackets: "[]" | "{}", pieces: readonly string[]): string {
  w.makeText(pieces.reduce((sum, piece) => sum + piece.length + 2, 2));
  return `${brackets[0]}${pieces.join(", ")}${brackets[1]}`;
}
