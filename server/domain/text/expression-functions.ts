import type { UnsignedInt } from "@marcbachmann/cel-js/evaluator";
import { isList } from "@/server/domain/base/guards";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import { present } from "@/server/domain/base/must";
import { WORK_LIMITS, type Work } from "@/server/domain/base/work-budget";
import { formatTime, parseTime, partOfTime, type TimePart } from "./dates";
import {
  CelType,
  compare,
  Duration,
  equals,
  Fault,
  int,
  intFromNumber,
  isMap,
  isNumeric,
  isUint,
  keysOf,
  MILLISECOND,
  Optional,
  operate,
  SECOND,
  TYPES,
  type Type,
  time,
  toDouble,
  typeOf,
  uint,
} from "./expression-values";
import { find, findAll, replaceText } from "./text-search";

/**
 * Every function of expressions, in one table: what it takes and gives (read by the checks before it runs), what it
 * does, and how it is offered in the editor. Each counts its work before it does it.
 */

/** What an argument may be. "whole" is a whole number of either kind, as numbers of JSON are doubles. */
type Kind = Type | "whole" | "number";

export interface CelFunction {
  name: string;
  /** What stands before the dot; null for a function that is called by its name alone. */
  on: Kind | null;
  args: readonly Kind[];
  gives: Type;
  /** How it is written, as in "string.replace(string, string)". */
  signature: string;
  hint: string;
  run(work: Work, ...values: unknown[]): unknown;
}

const table = new Map<string, CelFunction[]>();

// `never` takes an implementation with whatever parameters its signature promises.
type Implementation = (work: Work, ...values: never[]) => unknown;

/** Adds a function: its signature, what it does in few words (empty: not offered in the editor), and the doing. */
function define(signature: string, hint: string, run: Implementation): void {
  const [, on = null, name, args, gives] =
    /^(?:([a-z]+)\.(?!.*\.))?([\w.]+)\((.*)\): (\w+)$/.exec(signature) ?? [];
  const isNamespace = on !== null && NAMESPACES.has(on) && !(on === "optional" && args === "");
  const full = isNamespace ? `${on}.${name}` : present(name, "name");
  const entry: CelFunction = {
    name: full,
    on: isNamespace || on === null ? null : kindNamed(on),
    args: args ? args.split(", ").map(kindNamed) : [],
    gives: typeNamed(gives),
    signature: signature.replace(/: \w+$/, ""),
    hint,
    run: run,
  };
  table.set(full, [...(table.get(full) ?? []), entry]);
}

/** The type of that name. Throws where a signature above is misspelt. */
function typeNamed(name: string | undefined): Type {
  const type = TYPES.find((type) => type === name);
  if (type === undefined) throw new Error(`There is no type "${name}".`);
  return type;
}

const kindNamed = (name: string): Kind => (name === "whole" || name === "number" ? name : typeNamed(name));

/** What looks like a value before a dot but only groups functions. */
export const NAMESPACES: ReadonlySet<string> = new Set(["math", "strings", "optional"]);

/** All functions of that name that are called in that way. */
export function functionsNamed(name: string, isMethod: boolean): readonly CelFunction[] {
  return (table.get(name) ?? []).filter(({ on }) => (on !== null) === isMethod);
}

/** What the editor offers. */
export function offeredFunctions(): CelFunction[] {
  return [...table.values()].flat().filter(({ hint }) => hint !== "");
}

/** Whether a value of that type can stand where that kind is asked for; what is known only when it runs, can. */
export function fits(kind: Kind, type: Type): boolean {
  if (kind === "dyn" || type === "dyn" || kind === type) return true;
  return (kind === "number" || kind === "whole") && isNumeric(type);
}

// ---- texts

const hasPairs = (text: string) => /[\uD800-\uDFFF]/.test(text);

/** A text by its characters: the language counts these, JavaScript counts halves of some. */
function characters(work: Work, text: string): { length: number; slice(from: number, to?: number): string } {
  work.read(text.length);
  if (!hasPairs(text)) return text;
  work.makeList(text.length);
  const all = [...text];
  return { length: all.length, slice: (from, to) => all.slice(from, to).join("") };
}

const sizeOfText = (work: Work, text: string) => characters(work, text).length;

function wholeNumber(value: unknown): number {
  const number = toDouble(value);
  if (!Number.isInteger(number)) throw new Fault(`A whole number is needed here, not ${number}.`);
  return number;
}

function within(value: unknown, most: number, what: string): number {
  const number = wholeNumber(value);
  if (number < 0 || number > most) throw new Fault(`${what} ${number} is outside of 0 to ${most}.`);
  return number;
}

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

define(
  "string.contains(string): bool",
  "whether a text stands in it",
  (w, s: string, part: string) => find(w, s, part) >= 0,
);
define("string.startsWith(string): bool", "whether it begins so", (w, s: string, part: string) => {
  w.read(Math.min(s.length, part.length));
  return s.startsWith(part);
});
define("string.endsWith(string): bool", "whether it ends so", (w, s: string, part: string) => {
  w.read(Math.min(s.length, part.length));
  return s.endsWith(part);
});
define("string.lowerAscii(): string", "in small letters", (w, s: string) =>
  changeCase(w, s, (text) => text.toLowerCase()),
);
define("string.upperAscii(): string", "in capitals", (w, s: string) =>
  changeCase(w, s, (text) => text.toUpperCase()),
);
define("string.trim(): string", "without spaces around it", (w, s: string) => {
  w.makeText(s.length);
  return s.trim();
});
define("string.replace(string, string): string", "with one text in place of another", replace);
define("string.replace(string, string, whole): string", "", replace);
define("string.split(string): list", "cut into a list", split);
define("string.split(string, whole): list", "", split);
define("string.charAt(whole): string", "the n-th character, from 0", (w, s: string, at: unknown) => {
  const all = characters(w, s);
  const index = within(at, all.length, "The place");
  return all.slice(index, index + 1);
});
define("string.substring(whole): string", "from the n-th character on", substring);
define("string.substring(whole, whole): string", "", substring);
define(
  "string.indexOf(string): int",
  "where a text stands in it, -1 if nowhere",
  (w, s: string, part: string) => place(w, s, find(w, s, part)),
);
define("string.indexOf(string, whole): int", "", (w, s: string, part: string, from: unknown) => {
  const start = within(from, sizeOfText(w, s), "The place");
  return place(w, s, find(w, s, part, unitOf(w, s, start)));
});
define("string.lastIndexOf(string): int", "", (w, s: string, part: string) => {
  const size = sizeOfText(w, s);
  return lastIndexOf(w, s, part, size);
});
define("string.lastIndexOf(string, whole): int", "", (w, s: string, part: string, from: unknown) =>
  lastIndexOf(w, s, part, within(from, sizeOfText(w, s), "The place")),
);
define("string.reverse(): string", "from back to front", (w, s: string) => {
  w.makeText(s.length);
  w.makeList(s.length);
  return [...s].reverse().join("");
});
define("string.format(list): string", "%s %d %.2f filled with a list's values", format);
define("strings.quote(string): string", "", (w, s: string) => {
  w.makeText(s.length * 2);
  return JSON.stringify(s);
});
define("list.join(): string", "", (w, list: unknown[]) => join(w, list, ""));
define("list.join(string): string", "one text of its texts", join);

function replace(w: Work, s: string, from: string, to: string, most?: unknown): string {
  const limit = most === undefined ? -1 : wholeNumber(most);
  return replaceText(w, s, from, to, limit < 0 ? Number.POSITIVE_INFINITY : limit);
}

function split(w: Work, s: string, separator: string, most?: unknown): string[] {
  const limit = most === undefined ? -1 : wholeNumber(most);
  if (limit === 0) return [];
  const count = limit < 0 ? Number.POSITIVE_INFINITY : limit - 1;
  if (separator === "") {
    w.read(s.length);
    w.makeList(Math.min(s.length, count + 1));
    const all = [...s];
    return all.length <= count + 1 ? all : [...all.slice(0, count), all.slice(count).join("")];
  }
  const places = findAll(w, s, separator, count);
  w.read(s.length);
  w.makeList(places.length + 1);
  const pieces = places.map((at, i) =>
    s.slice(i === 0 ? 0 : present(places[i - 1], "places[i - 1]") + separator.length, at),
  );
  const last = places.at(-1);
  pieces.push(last === undefined ? s : s.slice(last + separator.length));
  return pieces;
}

function substring(w: Work, s: string, from: unknown, to?: unknown): string {
  const all = characters(w, s);
  const start = within(from, all.length, "The place");
  const end = to === undefined ? all.length : within(to, all.length, "The place");
  if (end < start) throw new Fault(`The end ${end} lies before the start ${start}.`);
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
      throw new Fault(
        `join puts texts together, and one item is ${typeOf(item)}; write .map(x, string(x)) before it.`,
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
        throw new Fault(`format knows %s, %d, %f, %.2f, %e, %x, %o, %b and %%, not "${whole}".`);
      if (used >= values.length)
        throw new Fault(`format has more places than its list has values (${used}).`);
      const piece = formatOne(w, values[used++], kind, digits);
      length += piece.length;
      w.makeText(piece.length);
      if (length > WORK_LIMITS.textLength) w.makeText(length);
      return piece;
    },
  );
  if (used < values.length)
    throw new Fault(`format has ${used} places, but its list has ${values.length} values.`);
  return text;
}

function formatOne(w: Work, value: unknown, kind: string, digits: string | undefined): string {
  if (kind === "s") return text(w, value);
  const type = typeOf(value);
  if (!isNumeric(type)) throw new Fault(`%${kind} is for numbers, and this is ${type}; use %s.`);
  if (kind === "f" || kind === "e") {
    const places = Number(digits ?? 6);
    if (places > 20) throw new Fault("At most 20 digits can follow the point.");
    return kind === "f" ? fixed(toDouble(value), places) : toDouble(value).toExponential(places);
  }
  const whole = isUint(value) ? value.valueOf() : intFromNumber(wholeNumber(value));
  if (kind === "d") return String(typeof value === "bigint" ? value : whole);
  const base = kind === "b" ? 2 : kind === "o" ? 8 : 16;
  const shown = whole.toString(base);
  return kind === "X" ? shown.toUpperCase() : shown;
}

// Beyond that toFixed gives an exponent, which %f never does.
const fixed = (value: number, places: number) =>
  Math.abs(value) < 1e21 || !Number.isFinite(value)
    ? value.toFixed(places)
    : `${BigInt(value)}${places > 0 ? `.${"0".repeat(places)}` : ""}`;

/** How a value reads as text. */
function text(w: Work, value: unknown): string {
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
  if (value instanceof Optional) return value.held === undefined ? "" : text(w, value.held);
  return isList(value) || isMap(value) ? inner(w, value, 0) : plain(value);
}

/** What has a form of its own: whole numbers, true and false, lengths of time. */
const plain = (value: unknown): string =>
  typeof value === "bigint" || typeof value === "boolean" || isUint(value) || value instanceof Duration
    ? String(value)
    : "";

/** A list or an object as text, its texts in quotes. */
function inner(w: Work, value: unknown, depth: number): string {
  w.spend(8);
  if (depth > WORK_LIMITS.depth) throw new Fault("The value is nested too deeply.");
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
  if (!isMap(value)) return text(w, value);
  const pieces = keysOf(w, value)
    .sort()
    .map((key) => `${JSON.stringify(key)}: ${inner(w, value[key], depth + 1)}`);
  return bracketed(w, "{}", pieces);
}

function bracketed(w: Work, brackets: "[]" | "{}", pieces: readonly string[]): string {
  w.makeText(pieces.reduce((sum, piece) => sum + piece.length + 2, 2));
  return `${brackets[0]}${pieces.join(", ")}${brackets[1]}`;
}

// ---- sizes, types and conversions

define("size(string): int", "how many characters", (w, s: string) => BigInt(sizeOfText(w, s)));
define("size(list): int", "how many items", (_, list: unknown[]) => BigInt(list.length));
define("size(map): int", "how many keys", (w, map: Record<string, unknown>) => BigInt(keysOf(w, map).length));
define("size(bytes): int", "", (_, bytes: Uint8Array) => BigInt(bytes.length));
for (const kind of ["string", "list", "map", "bytes"] as const) {
  const { run } = present(
    functionsNamed("size", false).find(({ args }) => args[0] === kind),
    "functionsNamed",
  );
  define(`${kind}.size(): int`, "", run);
}

define("dyn(dyn): dyn", "", (_, value: unknown) => value);
define("type(dyn): type", "", (_, value: unknown) => typeValue(typeOf(value)));
define("bool(bool): bool", "", (_, value: boolean) => value);
define("bool(string): bool", "", (_, s: string) => {
  if (["1", "t", "true", "TRUE", "True"].includes(s)) return true;
  if (["0", "f", "false", "FALSE", "False"].includes(s)) return false;
  throw new Fault(`bool() reads "true" and "false", not ${shown(s)}.`);
});
define("int(number): int", "without what follows the point", (_, value: number | bigint | UnsignedInt) =>
  typeof value === "number" ? intFromNumber(value) : int(isUint(value) ? value.valueOf() : value),
);
define("int(string): int", "", (_, s: string) => {
  if (!/^[+-]?\d{1,19}$/.test(s)) throw new Fault(`int() reads whole numbers, not ${shown(s)}.`);
  return int(BigInt(s.replace(/^\+/, "")));
});
define("int(timestamp): int", "seconds since 1970", (_, at: Date) => BigInt(Math.floor(at.getTime() / 1000)));
define("uint(number): uint", "", (_, value: number | bigint | UnsignedInt) =>
  isUint(value) ? value : uint(typeof value === "number" ? intFromNumber(value) : value),
);
define("uint(string): uint", "", (_, s: string) => {
  if (!/^\d{1,20}$/.test(s)) throw new Fault(`uint() reads whole numbers from 0 on, not ${shown(s)}.`);
  return uint(BigInt(s));
});
define("double(number): double", "", (_, value: unknown) => toDouble(value));
define("double(string): double", "a number from text", (_, s: string) => {
  const special = /^([+-]?)(?:inf|infinity)$/i.exec(s);
  if (special) return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(s)) return Number.NaN;
  if (!/^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?$/.test(s))
    throw new Fault(`double() reads numbers, not ${shown(s)}.`);
  return Number(s);
});
for (const kind of ["string", "bool", "number", "bytes", "duration"] as const)
  define(`string(${kind}): string`, kind === "number" ? "as text" : "", text);
define("string(timestamp): string", "as text, like 2026-01-31T08:00:00Z", text);
define("bytes(string): bytes", "", (w, s: string) => {
  w.makeText(s.length * 3);
  return new TextEncoder().encode(s);
});
define("bytes(bytes): bytes", "", (_, bytes: Uint8Array) => bytes);
define("bytes.string(): string", "", text);
define("bytes.hex(): string", "", (w, bytes: Uint8Array) => {
  w.makeList(bytes.length);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
});
define("bytes.base64(): string", "", (w, bytes: Uint8Array) => {
  w.makeList(bytes.length);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
});
define("bytes.at(whole): int", "", (_, bytes: Uint8Array, at: unknown) =>
  BigInt(present(bytes[within(at, bytes.length - 1, "The place")], "length")),
);
define("bytes.json(): dyn", "", (w, bytes: Uint8Array) => {
  const json = text(w, bytes);
  // Reading JSON makes a value of every few characters.
  w.read(json.length, 8);
  const problem = jsonTextProblem(json);
  if (problem) throw new Fault(problem);
  try {
    return JSON.parse(json);
  } catch {
    throw new Fault("This text is not JSON.");
  }
});

const shown = (s: string) => JSON.stringify(s.length > 40 ? `${s.slice(0, 40)}…` : s);

const TYPE_NAMES: Partial<Record<Type, string>> = {
  null: "null_type",
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  optional: "optional_type",
};
const typeValue = (type: Type) => new CelType(TYPE_NAMES[type] ?? type);

/** Names that stand for a value everywhere: the types. */
export const constants: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ...(["bool", "int", "uint", "double", "string", "bytes", "list", "map", "type"] as const).map(
    (type) => [type, typeValue(type)] as const,
  ),
  ["null_type", typeValue("null")],
  ["optional_type", typeValue("optional")],
  ["google", { protobuf: { Timestamp: typeValue("timestamp"), Duration: typeValue("duration") } }],
]);

// ---- numbers

const onNumber = (compute: (value: number) => number) => (_: Work, value: unknown) =>
  typeof value === "number" ? compute(value) : value;

// Away from zero where it stands in the middle, as people are taught.
define(
  "math.round(number): dyn",
  "to the nearest whole number",
  onNumber((x) => Math.sign(x) * Math.round(Math.abs(x))),
);
define("math.floor(number): dyn", "down to a whole number", onNumber(Math.floor));
define("math.ceil(number): dyn", "up to a whole number", onNumber(Math.ceil));
define("math.trunc(number): dyn", "without what follows the point", onNumber(Math.trunc));
define("math.sqrt(number): double", "the square root", (_, x: unknown) => Math.sqrt(toDouble(x)));
define("math.abs(number): dyn", "without its sign", (_, x: unknown) =>
  typeof x === "bigint" ? int(x < 0n ? -x : x) : isUint(x) ? x : Math.abs(toDouble(x)),
);
define("math.sign(number): dyn", "-1, 0 or 1", (_, x: unknown) =>
  typeof x === "bigint" ? (x > 0n ? 1n : x < 0n ? -1n : 0n) : Math.sign(toDouble(x)),
);
define("math.isNaN(number): bool", "", (_, x: unknown) => Number.isNaN(toDouble(x)));
define("math.isInf(number): bool", "", (_, x: unknown) => Math.abs(toDouble(x)) === Number.POSITIVE_INFINITY);
define("math.isFinite(number): bool", "", (_, x: unknown) => Number.isFinite(toDouble(x)));
for (const [names, wanted, hint] of [
  [["greatest", "max"], 1, "the greatest of numbers or of a list"],
  [["least", "min"], -1, "the least of numbers or of a list"],
] as const)
  for (const name of names) {
    define(`math.${name}(list): dyn`, hint, (w, list: unknown[]) => extreme(w, list, wanted));
    for (let count = 1; count <= 8; count++)
      define(`math.${name}(${Array(count).fill("number").join(", ")}): dyn`, "", (w, ...values: unknown[]) =>
        extreme(w, values, wanted),
      );
  }

function extreme(w: Work, values: readonly unknown[], wanted: 1 | -1): unknown {
  if (values.length === 0) throw new Fault("An empty list has no greatest and no least value.");
  return values.reduce((best, value) => {
    w.spend(2);
    if (!isNumeric(typeOf(value)) || !isNumeric(typeOf(best)))
      throw new Fault(
        `The greatest and the least are found among numbers, and one of these is ${typeOf(isNumeric(typeOf(value)) ? best : value)}.`,
      );
    const order = compare(w, value, best);
    return order !== null && order * wanted > 0 ? value : best;
  });
}

// ---- lists

define("list.contains(dyn): bool", "whether a value is in it", (w, list: unknown[], value: unknown) =>
  list.some((item) => equals(w, item, value)),
);
define("list.sum(): dyn", "its numbers added up", (w, list: unknown[]) => {
  w.spend(list.length * 6);
  return list.reduce<unknown>((sum, item, i) => {
    if (!isNumeric(typeOf(item)) && !(i === 0 && typeOf(item) === "duration") && typeOf(sum) !== "duration")
      throw new Fault(`sum adds up numbers, and one item is ${typeOf(item)}.`);
    return i === 0 ? item : operate(w, "+", ...mixed(sum, item));
  }, 0n);
});
define("list.sort(): list", "in order", (w, list: unknown[]) => {
  w.makeList(list.length);
  return [...list].sort((a, b) => {
    w.spend(8);
    const order = compare(w, a, b);
    if (order === null)
      throw new Fault(`sort puts numbers or texts in order, and here are ${typeOf(a)} and ${typeOf(b)}.`);
    return order || 0;
  });
});
define("list.reverse(): list", "from back to front", (w, list: unknown[]) => {
  w.makeList(list.length);
  return [...list].reverse();
});
define(
  "list.slice(whole, whole): list",
  "from place n up to before m",
  (w, list: unknown[], from: unknown, to: unknown) => {
    const start = within(from, list.length, "The place");
    const end = within(to, list.length, "The place");
    if (end < start) throw new Fault(`The end ${end} lies before the start ${start}.`);
    w.makeList(end - start);
    return list.slice(start, end);
  },
);
define("list.first(): dyn", "its first item; there is none in an empty list", (_, list: unknown[]) =>
  atEnd(list, 0),
);
define("list.last(): dyn", "its last item; there is none in an empty list", (_, list: unknown[]) =>
  atEnd(list, list.length - 1),
);
define("list.distinct(): list", "each value once", distinct);
define("list.flatten(): list", "lists in it dissolved", (w, list: unknown[]) => flatten(w, list, 1));
define("list.flatten(whole): list", "", (w, list: unknown[], depth: unknown) =>
  flatten(w, list, within(depth, WORK_LIMITS.depth, "The depth")),
);

function atEnd(list: unknown[], index: number): unknown {
  if (list.length === 0) throw new Fault("The list is empty.", index === 0 ? "first item" : "last item");
  return list[index];
}

/** Numbers of two kinds as doubles. */
const mixed = (a: unknown, b: unknown): [unknown, unknown] =>
  isNumeric(typeOf(a)) && isNumeric(typeOf(b)) && typeOf(a) !== typeOf(b)
    ? [toDouble(a), toDouble(b)]
    : [a, b];

function distinct(w: Work, list: unknown[]): unknown[] {
  w.makeList(list.length);
  const plain = new Set<unknown>();
  const others: unknown[] = [];
  return list.filter((item) => {
    w.spend(2);
    const isPlain = typeof item === "string" || typeof item === "boolean" || isNumeric(typeOf(item));
    if (!isPlain) {
      if (others.some((other) => equals(w, other, item))) return false;
      others.push(item);
      return true;
    }
    if (typeof item === "string") w.read(item.length);
    const whole = toDouble(item);
    const key =
      isNumeric(typeOf(item)) && Number.isSafeInteger(whole) ? whole : isUint(item) ? item.valueOf() : item;
    if (plain.has(key)) return false;
    plain.add(key);
    return true;
  });
}

function flatten(w: Work, list: unknown[], depth: number, into: unknown[] = []): unknown[] {
  for (const item of list) {
    if (depth > 0 && Array.isArray(item)) {
      w.spend(16);
      flatten(w, item, depth - 1, into);
    } else {
      w.makeListItem(into.length);
      into.push(item);
    }
  }
  return into;
}

// ---- values that may be missing

define("optional.of(dyn): optional", "", (_, value: unknown) => Optional.of(value));
table.set("optional.none", [
  {
    name: "optional.none",
    on: null,
    args: [],
    gives: "optional",
    signature: "optional.none()",
    hint: "",
    run: () => Optional.none,
  },
]);
define("optional.hasValue(): bool", "", (_, value: Optional) => value.held !== undefined);
define("optional.value(): dyn", "", (_, { held }: Optional) => {
  if (held === undefined) throw new Fault("The optional value is not there.", "value");
  return held;
});

// ---- times

/** Reading or writing a time or a length of time. */
const TIME_UNITS = 300;

define("timestamp(string): timestamp", "a time like 2026-01-31 or 2026-01-31T08:00:00Z", (_, s: string) => {
  const at = parseTime(s);
  if (at === null)
    throw new Fault(`timestamp() reads times like 2026-01-31 or 2026-01-31T08:00:00Z, not ${shown(s)}.`);
  return time(at);
});
define("timestamp(number): timestamp", "", (_, seconds: unknown) => time(toDouble(seconds) * 1000));
define("timestamp(timestamp): timestamp", "", (_, at: Date) => at);
define("duration(string): duration", "a length of time like 90s, 1h30m", (w, s: string) => {
  w.spend(TIME_UNITS);
  const found = /^([+-]?)((?:\d{1,15}(?:\.\d{0,12})?|\.\d{1,12})(?:ns|us|µs|ms|s|m|h))+$/.exec(
    s.slice(0, 200),
  );
  if (!found || s.length > 200)
    throw new Fault(`duration() reads lengths like 90s, 15m or 1h30m, not ${shown(s)}.`);
  let nanos = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of s.matchAll(/(\d*)\.?(\d*)(ns|us|µs|ms|s|m|h)/g)) {
    const size = present(UNITS[unit], "UNITS[unit]");
    nanos += BigInt(whole || "0") * size + (BigInt(fraction.padEnd(12, "0")) * size) / 10n ** 12n;
  }
  return new Duration(found[1] === "-" ? -nanos : nanos);
});
define("duration(duration): duration", "", (_, length: Duration) => length);
const UNITS: Readonly<Record<string, bigint>> = {
  h: 3600n * SECOND,
  m: 60n * SECOND,
  s: SECOND,
  ms: MILLISECOND,
  us: 1000n,
  µs: 1000n,
  ns: 1n,
};

const PARTS: readonly (readonly [TimePart, hint: string])[] = [
  ["FullYear", "the year"],
  ["Month", "the month, January is 0"],
  ["Date", "the day of the month, from 1"],
  ["DayOfMonth", ""],
  ["DayOfWeek", "the day of the week, Sunday is 0"],
  ["DayOfYear", ""],
  ["Hours", "the hour"],
  ["Minutes", ""],
  ["Seconds", ""],
  ["Milliseconds", ""],
];
/** Looking up a zone's clock costs a few microseconds. */
const ZONE_UNITS = 250;
for (const [part, hint] of PARTS) {
  define(`timestamp.get${part}(): int`, hint, (_, at: Date) => BigInt(partOfTime(at, part)));
  define(`timestamp.get${part}(string): int`, "", (w, at: Date, zone: string) => {
    w.spend(ZONE_UNITS);
    const value = partOfTime(at, part, zone);
    if (value === null)
      throw new Fault(`There is no time zone ${shown(zone)}; write one like Europe/Paris or +02:00.`);
    return BigInt(value);
  });
}
for (const [part, nanos] of [
  ["Hours", 3600n * SECOND],
  ["Minutes", 60n * SECOND],
  ["Seconds", SECOND],
  ["Milliseconds", MILLISECOND],
] as const)
  define(`duration.get${part}(): int`, "", (_, length: Duration) => length.nanos / nanos);
