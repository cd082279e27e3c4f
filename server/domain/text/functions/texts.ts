import { must } from "@/server/domain/base/must";
import { WORK_LIMITS, type Work } from "@/server/domain/base/work-budget";
import {
  EvaluationError,
  intFromNumber,
  isNumeric,
  isUint,
  toDouble,
  typeOf,
} from "../expression/expression-values";
import { find, findAll, replaceText } from "../text-search";
import { asText } from "./as-text";
import { define, wholeNumber, within } from "./define";

/** What expressions do with texts, place by place in characters. */
export const textFunctions = [
  define(
    "string.contains(string): bool",
    "whether it contains a string",
    (w, s: string, part: string) => find(w, s, part) >= 0,
  ),
  define(
    "string.startsWith(string): bool",
    "whether it starts with a string",
    (w, s: string, part: string) => {
      w.read(Math.min(s.length, part.length));
      return s.startsWith(part);
    },
  ),
  define("string.endsWith(string): bool", "whether it ends with a string", (w, s: string, part: string) => {
    w.read(Math.min(s.length, part.length));
    return s.endsWith(part);
  }),
  define("string.lowerAscii(): string", "lowercase", (w, s: string) =>
    changeCase(w, s, (text) => text.toLowerCase()),
  ),
  define("string.upperAscii(): string", "uppercase", (w, s: string) =>
    changeCase(w, s, (text) => text.toUpperCase()),
  ),
  define("string.trim(): string", "without leading and trailing spaces", (w, s: string) => {
    w.makeText(s.length);
    return s.trim();
  }),
  define("string.replace(string, string): string", "with a string replaced", replace),
  define("string.replace(string, string, whole): string", "", replace),
  define("string.split(string): list", "split into a list", split),
  define("string.split(string, whole): list", "", split),
  define("string.charAt(whole): string", "the nth character, from 0", (w, s: string, at: unknown) => {
    const all = characters(w, s);
    const index = within(at, all.length, "The position");
    return all.slice(index, index + 1);
  }),
  define("string.substring(whole): string", "from the nth character", substring),
  define("string.substring(whole, whole): string", "", substring),
  define("string.indexOf(string): int", "index of a string, -1 if not found", (w, s: string, part: string) =>
    place(w, s, find(w, s, part)),
  ),
  define("string.indexOf(string, whole): int", "", (w, s: string, part: string, from: unknown) => {
    const start = within(from, sizeOfText(w, s), "The position");
    return place(w, s, find(w, s, part, unitOf(w, s, start)));
  }),
  define("string.lastIndexOf(string): int", "", (w, s: string, part: string) => {
    const size = sizeOfText(w, s);
    return lastIndexOf(w, s, part, size);
  }),
  define("string.lastIndexOf(string, whole): int", "", (w, s: string, part: string, from: unknown) =>
    lastIndexOf(w, s, part, within(from, sizeOfText(w, s), "The position")),
  ),
  define("string.reverse(): string", "reversed", (w, s: string) => {
    w.makeText(s.length);
    w.makeList(s.length);
    return [...s].reverse().join("");
  }),
  define("string.format(list): string", "%s %d %.2f replaced by a list's values", format),
  define("strings.quote(string): string", "", (w, s: string) => {
    w.makeText(s.length * 2);
    return JSON.stringify(s);
  }),
  define("list.join(): string", "", (w, list: unknown[]) => join(w, list, "")),
  define("list.join(string): string", "its strings joined", join),
];

const hasPairs = (text: string) => /[\uD800-\uDFFF]/.test(text);

/** A text by its characters: the language counts these, JavaScript counts halves of some. */
function characters(work: Work, text: string): { length: number; slice(from: number, to?: number): string } {
  work.read(text.length);
  if (!hasPairs(text)) return text;
  work.makeList(text.length);
  const all = [...text];
  return { length: all.length, slice: (from, to) => all.slice(from, to).join("") };
}

export const sizeOfText = (work: Work, text: string) => characters(work, text).length;

/** Where a text begins, in characters instead of JavaScript's units. */
const place = (work: Work, text: string, at: number) =>
  BigInt(at < 0 ? -1 : sizeOfText(work, text.slice(0, at)));

/** The unit at which the n-th character begins. */
const unitOf = (work: Work, text: string, character: number) =>
  characters(work, text).slice(0, character).length;

function changeCase(work: Work, text: string, change: (text: string) => string): string {
  // At worst three characters come from one, and looking each up costs more than copying it.
  work.makeText(text.length);
  work.read(text.length);
  const changed = change(text);
  if (changed.length > text.length) work.makeText(changed.length);
  return changed;
}

function replace(w: Work, s: string, from: string, to: string, most?: unknown): string {
  const limit = most === undefined ? -1 : wholeNumber(most);
  return replaceText(w, s, from, to, limit < 0 ? Number.POSITIVE_INFINITY : limit);
}

function split(w: Work, s: string, separator: string, most?: unknown): string[] {
  const limit = most === undefined ? -1 : wholeNumber(most);
  if (limit === 0) return [];
  const pieceLimit = limit < 0 ? Number.POSITIVE_INFINITY : limit;
  if (separator === "") {
    w.read(s.length);
    w.makeList(Math.min(s.length, pieceLimit));
    const all = [...s];
    const cuts = pieceLimit - 1;
    return all.length <= pieceLimit ? all : [...all.slice(0, cuts), all.slice(cuts).join("")];
  }
  const places = findAll(w, s, separator, pieceLimit - 1);
  w.read(s.length);
  w.makeList(places.length + 1);
  const pieces = places.map((at, i) => s.slice(i === 0 ? 0 : must(places, i - 1) + separator.length, at));
  const last = places.at(-1);
  pieces.push(last === undefined ? s : s.slice(last + separator.length));
  return pieces;
}

function substring(w: Work, s: string, from: unknown, to?: unknown): string {
  const all = characters(w, s);
  const start = within(from, all.length, "The position");
  const end = to === undefined ? all.length : within(to, all.length, "The position");
  if (end < start) throw new EvaluationError(`The end ${end} is before the start ${start}.`);
  return all.slice(start, end);
}

function lastIndexOf(w: Work, s: string, part: string, from: number): bigint {
  // Turned round, the last is the first.
  const end = Math.min(s.length, unitOf(w, s, from) + part.length);
  const turn = (text: string) => {
    w.makeText(text.length);
    w.makeList(text.length);
    return text.split("").reverse().join("");
  };
  if (part === "") return BigInt(from);
  const at = find(w, turn(s.slice(0, end)), turn(part));
  return place(w, s, at < 0 ? -1 : end - at - part.length);
}

function join(w: Work, list: unknown[], separator: string): string {
  w.spend(list.length);
  let length = Math.max(0, list.length - 1) * separator.length;
  for (const item of list) {
    if (typeof item !== "string")
      throw new EvaluationError(
        `join needs strings, but one item is ${typeOf(item)}. Add .map(x, string(x)) before it.`,
      );
    length += item.length;
  }
  w.makeText(length);
  return list.join(separator);
}

function format(w: Work, pattern: string, values: unknown[]): string {
  w.makeText(pattern.length);
  let used = 0;
  let length = pattern.length;
  const text = pattern.replace(
    /%(?:\.(\d{1,3}))?([a-zA-Z%]?)/g,
    (whole, digits: string | undefined, kind: string) => {
      w.spend(8);
      if (kind === "%") return "%";
      if (!"sdfexXob".includes(kind) || kind === "")
        throw new EvaluationError(`format supports %s, %d, %f, %.2f, %e, %x, %o, %b and %%, not "${whole}".`);
      if (used >= values.length)
        throw new EvaluationError(`format has more placeholders than values (${used}).`);
      const piece = formatOne(w, values[used++], kind, digits);
      length += piece.length;
      w.makeText(piece.length);
      if (length > WORK_LIMITS.textLength) w.makeText(length);
      return piece;
    },
  );
  if (used < values.length)
    throw new EvaluationError(`format has ${used} placeholders, but ${values.length} values.`);
  return text;
}

function formatOne(w: Work, value: unknown, kind: string, digits: string | undefined): string {
  if (kind === "s") return asText(w, value);
  const type = typeOf(value);
  if (!isNumeric(type)) throw new EvaluationError(`%${kind} needs a number, but this is ${type}. Use %s.`);
  if (kind === "f" || kind === "e") {
    const places = Number(digits ?? 6);
    if (places > 20) throw new EvaluationError("Use at most 20 decimals.");
    return kind === "f" ? fixed(toDouble(value), places) : toDouble(value).toExponential(places);
  }
  const whole = wholeOf(value);
  if (kind === "d") return String(whole);
  const base = kind === "b" ? 2 : kind === "o" ? 8 : 16;
  const shown = whole.toString(base);
  return kind === "X" ? shown.toUpperCase() : shown;
}

/** A whole number with all of its digits, also those that a double would lose. */
function wholeOf(value: unknown): bigint {
  if (typeof value === "bigint") return value;
  return isUint(value) ? value.valueOf() : intFromNumber(wholeNumber(value));
}

// Beyond that toFixed gives an exponent, which %f never does.
const fixed = (value: number, places: number) =>
  Math.abs(value) < 1e21 || !Number.isFinite(value)
    ? value.toFixed(places)
    : `${BigInt(value)}${places > 0 ? `.${"0".repeat(places)}` : ""}`;
