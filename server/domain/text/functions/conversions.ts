import type { UnsignedInt } from "@marcbachmann/cel-js/evaluator";
import { jsonTextProblem } from "@/server/domain/base/json-limits";
import { must } from "@/server/domain/base/must";
import {
  CelType,
  EvaluationError,
  int,
  intFromNumber,
  isUint,
  keysOf,
  type Type,
  toDouble,
  typeOf,
  uint,
} from "../expression/expression-values";
import { asText } from "./as-text";
import { define, shown, within } from "./define";
import { sizeOfText } from "./texts";

const sizes = [
  define("size(string): int", "number of characters", (w, s: string) => BigInt(sizeOfText(w, s))),
  define("size(list): int", "number of items", (_, list: unknown[]) => BigInt(list.length)),
  define("size(map): int", "number of keys", (w, map: Record<string, unknown>) =>
    BigInt(keysOf(w, map).length),
  ),
  define("size(bytes): int", "", (_, bytes: Uint8Array) => BigInt(bytes.length)),
];

/** How large a value is, of which type, and values of one type as another. */
export const conversions = [
  ...sizes,
  ...sizes.map(({ args: [kind], run }) => define(`${kind}.size(): int`, "", run)),
  define("dyn(dyn): dyn", "", (_, value: unknown) => value),
  define("type(dyn): type", "", (_, value: unknown) => typeValue(typeOf(value))),
  define("bool(bool): bool", "", (_, value: boolean) => value),
  define("bool(string): bool", "", (_, s: string) => {
    if (["1", "t", "true", "TRUE", "True"].includes(s)) return true;
    if (["0", "f", "false", "FALSE", "False"].includes(s)) return false;
    throw new EvaluationError(`bool() accepts only "true" and "false", not ${shown(s)}.`);
  }),
  define("int(number): int", "without decimals", (_, value: number | bigint | UnsignedInt) =>
    typeof value === "number" ? intFromNumber(value) : int(isUint(value) ? value.valueOf() : value),
  ),
  define("int(string): int", "", (_, s: string) => {
    if (!/^[+-]?\d{1,19}$/.test(s))
      throw new EvaluationError(`int() accepts only whole numbers, not ${shown(s)}.`);
    return int(BigInt(s.replace(/^\+/, "")));
  }),
  define("int(timestamp): int", "seconds since 1970", (_, at: Date) =>
    BigInt(Math.floor(at.getTime() / 1000)),
  ),
  define("uint(number): uint", "", (_, value: number | bigint | UnsignedInt) =>
    isUint(value) ? value : uint(typeof value === "number" ? intFromNumber(value) : value),
  ),
  define("uint(string): uint", "", (_, s: string) => {
    if (!/^\d{1,20}$/.test(s))
      throw new EvaluationError(`uint() accepts only whole numbers of 0 or more, not ${shown(s)}.`);
    return uint(BigInt(s));
  }),
  define("double(number): double", "", (_, value: unknown) => toDouble(value)),
  define("double(string): double", "number from text", (_, s: string) => {
    const special = /^([+-]?)(?:inf|infinity)$/i.exec(s);
    if (special) return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    if (/^nan$/i.test(s)) return Number.NaN;
    if (!/^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?$/.test(s))
      throw new EvaluationError(`double() accepts only numbers, not ${shown(s)}.`);
    return Number(s);
  }),
  ...["string", "bool", "number", "bytes", "duration"].map((kind) =>
    define(`string(${kind}): string`, kind === "number" ? "as text" : "", asText),
  ),
  define("string(timestamp): string", "as text, such as 2026-01-31T08:00:00Z", asText),
  define("bytes(string): bytes", "", (w, s: string) => {
    w.makeText(s.length * 3);
    return new TextEncoder().encode(s);
  }),
  define("bytes(bytes): bytes", "", (_, bytes: Uint8Array) => bytes),
  define("bytes.string(): string", "", asText),
  define("bytes.hex(): string", "", (w, bytes: Uint8Array) => {
    w.makeList(bytes.length);
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }),
  define("bytes.base64(): string", "", (w, bytes: Uint8Array) => {
    w.makeList(bytes.length);
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  }),
  define("bytes.at(whole): int", "", (_, bytes: Uint8Array, at: unknown) =>
    BigInt(must(bytes, within(at, bytes.length - 1, "The position"))),
  ),
  define("bytes.json(): dyn", "", (w, bytes: Uint8Array) => {
    const json = asText(w, bytes);
    // Reading JSON makes a value of every few characters.
    w.read(json.length, 8);
    const problem = jsonTextProblem(json);
    if (problem) throw new EvaluationError(problem);
    try {
      return JSON.parse(json);
    } catch {
      throw new EvaluationError("This text isn't valid JSON.");
    }
  }),
];

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
