import { UnsignedInt } from "@marcbachmann/cel-js/evaluator";
import { isList } from "@/server/domain/base/guards";
import { namedError } from "@/server/domain/base/named-error";
import type { Work } from "@/server/domain/base/work-budget";

/**
 * The values of expressions and what operators do with them. A value is JSON from outside (so numbers are doubles), or
 * made on the way: a whole number (bigint), a time (Date), a duration, an optional, bytes or a type.
 */

/** The types as the language names them; "dyn" is known only when it runs. */
export const TYPES = [
  "dyn",
  "null",
  "bool",
  "int",
  "uint",
  "double",
  "string",
  "bytes",
  "list",
  "map",
  "timestamp",
  "duration",
  "optional",
  "type",
] as const;
export type Type = (typeof TYPES)[number];

/** What went wrong in an evaluation. `missing`: it asked for a value that is not there. */
export class EvaluationError extends namedError("EvaluationError") {
  constructor(
    message: string,
    readonly missing: string | null = null,
  ) {
    super(message);
  }
}

/** A type as a value, as `type(x)` gives it. */
export class CelType {
  constructor(readonly name: string) {}
}

/** A value that may be missing. */
export class Optional {
  static readonly none = new Optional(undefined);
  private constructor(readonly held: unknown) {}
  static of(value: unknown): Optional {
    return value === undefined ? Optional.none : new Optional(value);
  }
}

/** A length of time in nanoseconds. */
export class Duration {
  constructor(readonly nanos: bigint) {
    if (nanos > MAX_DURATION || nanos < -MAX_DURATION)
      throw new EvaluationError("Duration out of range (about 10,000 years).");
  }
  toString(): string {
    const sign = this.nanos < 0n ? "-" : "";
    const size = this.nanos < 0n ? -this.nanos : this.nanos;
    const fraction = String(size % SECOND)
      .padStart(9, "0")
      .replace(/0{1,9}$/, "");
    return `${sign}${size / SECOND}${fraction ? `.${fraction}` : ""}s`;
  }
}

export const SECOND = 1_000_000_000n;
export const MILLISECOND = 1_000_000n;
const MAX_DURATION = 315_576_000_000n * SECOND;
const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MIN_TIME = Date.parse("0001-01-01T00:00:00Z");
const MAX_TIME = Date.parse("9999-12-31T23:59:59.999Z");

export type CelMap = Readonly<Record<string, unknown>>;

export function typeOf(value: unknown): Type {
  switch (typeof value) {
    case "string":
      return "string";
    case "number":
      return "double";
    case "bigint":
      return "int";
    case "boolean":
      return "bool";
    default:
      if (value === null || value === undefined) return "null";
      if (Array.isArray(value)) return "list";
      if (value instanceof Date) return "timestamp";
      if (value instanceof Duration) return "duration";
      if (value instanceof Optional) return "optional";
      if (value instanceof UnsignedInt) return "uint";
      if (value instanceof Uint8Array) return "bytes";
      if (value instanceof CelType) return "type";
      return "map";
  }
}

export const isNumeric = (type: Type) => type === "int" || type === "double" || type === "uint";

/** A whole number, inside the 64 bits that the language has. */
export function int(value: bigint): bigint {
  if (value < MIN_INT || value > MAX_INT) throw new EvaluationError("Whole number out of range (64 bits).");
  return value;
}

export function intFromNumber(value: number): bigint {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 63)
    throw new EvaluationError(`${value} is out of range for whole numbers (64 bits).`);
  return BigInt(Math.trunc(value));
}

export function uint(value: bigint): UnsignedInt {
  if (value < 0n || value >= 2n ** 64n)
    throw new EvaluationError("Out of range: unsigned whole numbers go from 0 to 2^64 - 1.");
  return new UnsignedInt(value);
}

/** An object with keys: whatever is none of the other types. */
export const isMap = (value: unknown): value is CelMap => typeOf(value) === "map";

export const isUint = (value: unknown): value is UnsignedInt => value instanceof UnsignedInt;

/** A number of any of the three types; null for anything else. */
const numberOf = (value: unknown): number | bigint | null =>
  typeof value === "number" || typeof value === "bigint" ? value : isUint(value) ? value.valueOf() : null;

/** Any number as a double. */
export const toDouble = (value: unknown) => Number(isUint(value) ? value.valueOf() : value);

/** A time inside the years 1 to 9999, which is what a timestamp can hold. */
export function time(milliseconds: number): Date {
  if (!(milliseconds >= MIN_TIME && milliseconds <= MAX_TIME))
    throw new EvaluationError("Time out of range: years go from 1 to 9999.");
  return new Date(milliseconds);
}

export const OPERATORS = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "in"] as const;
export type Operator = (typeof OPERATORS)[number];

/** The type of an operator's result, or null if these types do not go together. */
export function operatorType(operator: Operator, left: Type, right: Type): Type | null {
  if (operator === "in") return right === "list" || right === "map" || right === "dyn" ? "bool" : null;
  const numbers = isNumeric(left) && isNumeric(right);
  if (operator === "==" || operator === "!=")
    return left === right || numbers || [left, right].some((type) => type === "dyn" || type === "null")
      ? "bool"
      : null;
  if (left === "dyn" || right === "dyn") {
    const known = left === "dyn" ? right : left;
    const isTried = known === "dyn" || operatorType(operator, known, known) !== null;
    const isTime = (known === "timestamp" || known === "duration") && (operator === "+" || operator === "-");
    if (!isTried && !isTime) return null;
    if (isComparison(operator)) return "bool";
    return known === "string" || known === "list" ? known : "dyn";
  }
  if (isComparison(operator)) return numbers || (left === right && ORDERED.has(left)) ? "bool" : null;
  if (numbers) {
    if (left === right) return left;
    return left === "double" || right === "double" ? "double" : null;
  }
  const pair = `${left} ${operator} ${right}`;
  return SUMS[pair] ?? null;
}

const SUMS: Readonly<Record<string, Type>> = {
  "string + string": "string",
  "list + list": "list",
  "bytes + bytes": "bytes",
  "timestamp + duration": "timestamp",
  "duration + timestamp": "timestamp",
  "timestamp - duration": "timestamp",
  "timestamp - timestamp": "duration",
  "duration + duration": "duration",
  "duration - duration": "duration",
};
const ORDERED = new Set<Type>(["bool", "string", "timestamp", "duration"]);
const isComparison = (operator: Operator) =>
  operator === "<" || operator === "<=" || operator === ">" || operator === ">=";

/** What an operator gives. Throws EvaluationError where the values do not go together, WorkError where it is too much. */
export function operate(work: Work, operator: Operator, left: unknown, right: unknown): unknown {
  switch (operator) {
    case "==":
      return equals(work, left, right);
    case "!=":
      return !equals(work, left, right);
    case "in":
      return isIn(work, left, right);
    case "<":
    case "<=":
    case ">":
    case ">=": {
      const order = compare(work, left, right);
      if (order === null) throw mismatch(operator, left, right);
      if (operator === "<") return order < 0;
      if (operator === "<=") return order <= 0;
      return operator === ">" ? order > 0 : order >= 0;
    }
    default:
      return calculate(work, operator, left, right);
  }
}

function calculate(
  work: Work,
  operator: "+" | "-" | "*" | "/" | "%",
  left: unknown,
  right: unknown,
): unknown {
  if (typeof left === "number" && typeof right === "number") return onDoubles(operator, left, right);
  if (typeof left === "bigint" && typeof right === "bigint") return int(onInts(operator, left, right));
  const types = [typeOf(left), typeOf(right)] as const;
  if (isNumeric(types[0]) && isNumeric(types[1])) {
    if (isUint(left) && isUint(right)) return uint(onInts(operator, left.valueOf(), right.valueOf()));
    if (types.includes("double")) return onDoubles(operator, toDouble(left), toDouble(right));
  }
  if (operator === "+") {
    const sum = join(work, left, right);
    if (sum !== undefined) return sum;
  }
  const sign = operator === "+" ? 1n : operator === "-" ? -1n : 0n;
  if (sign !== 0n && right instanceof Duration) {
    if (left instanceof Date) return move(left, sign * right.nanos);
    if (left instanceof Duration) return new Duration(left.nanos + sign * right.nanos);
  }
  if (operator === "+" && left instanceof Duration && right instanceof Date) return move(right, left.nanos);
  if (operator === "-" && left instanceof Date && right instanceof Date)
    return new Duration(BigInt(left.getTime() - right.getTime()) * MILLISECOND);
  throw mismatch(operator, left, right);
}

/** Two texts, lists or rows of bytes as one; undefined for anything else. */
function join(work: Work, left: unknown, right: unknown): string | unknown[] | Uint8Array | undefined {
  if (typeof left === "string" && typeof right === "string") {
    work.makeText(left.length + right.length);
    return left + right;
  }
  if (isList(left) && isList(right)) {
    work.makeList(left.length + right.length);
    return left.concat(right);
  }
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    work.makeText(left.length + right.length);
    const both = new Uint8Array(left.length + right.length);
    both.set(left);
    both.set(right, left.length);
    return both;
  }
  return undefined;
}

const move = (from: Date, nanos: bigint) => time(Math.floor(from.getTime() + Number(nanos) / 1e6));

function onDoubles(operator: "+" | "-" | "*" | "/" | "%", left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "%": {
      const broken = [left, right].find((value) => !Number.isInteger(value));
      if (broken !== undefined) throw new EvaluationError(noRemainder(broken));
      if (right === 0) throw new EvaluationError("Division by zero.");
      return left % right;
    }
  }
}

export const noRemainder = (value: number) =>
  `% needs whole numbers, and ${value} isn't one. Use math.round, math.floor or int.`;

function onInts(operator: "+" | "-" | "*" | "/" | "%", left: bigint, right: bigint): bigint {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    default:
      if (right === 0n) throw new EvaluationError("Division by zero.");
      return operator === "/" ? left / right : left % right;
  }
}

export const mismatch = (operator: string, left: unknown, right: unknown) =>
  new EvaluationError(`Type mismatch: ${typeOf(left)} ${operator} ${typeOf(right)}.`);

/** Which of two comes first: negative, zero or positive, NaN for what has no order, null if they cannot be compared. */
export function compare(work: Work, left: unknown, right: unknown): number | null {
  const a = numberOf(left);
  const b = numberOf(right);
  if (a !== null && b !== null)
    // JavaScript compares a bigint with a double exactly.
    // biome-ignore lint/suspicious/noDoubleEquals: a whole number equals a double of the same value
    return a < b ? -1 : a > b ? 1 : a == b ? 0 : Number.NaN;
  if (typeof left === "string" && typeof right === "string") {
    work.read(Math.min(left.length, right.length));
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  if (left instanceof Date && right instanceof Date) return left.getTime() - right.getTime();
  if (left instanceof Duration && right instanceof Duration) {
    const difference = left.nanos - right.nanos;
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }
  return null;
}

/** Whether two values are equal; values of different types are not, numbers are by what they are worth. */
export function equals(work: Work, left: unknown, right: unknown): boolean {
  work.spend(1);
  if (left === right) return true;
  if (typeof left === "string") {
    if (typeof right !== "string" || left.length !== right.length) return false;
    work.read(left.length);
    return false;
  }
  if (numberOf(left) !== null || left instanceof Date || left instanceof Duration)
    return compare(work, left, right) === 0;
  if (left === null || left === undefined) return right === null || right === undefined;
  if (isList(left))
    return (
      isList(right) && left.length === right.length && left.every((item, i) => equals(work, item, right[i]))
    );
  if (left instanceof Optional) {
    if (!(right instanceof Optional)) return false;
    if (left.held === undefined || right.held === undefined) return left.held === right.held;
    return equals(work, left.held, right.held);
  }
  if (left instanceof Uint8Array) {
    if (!(right instanceof Uint8Array)) return false;
    work.spend(left.length);
    return left.length === right.length && left.every((byte, i) => byte === right[i]);
  }
  if (left instanceof CelType) return right instanceof CelType && left.name === right.name;
  return isMap(left) && isMap(right) && equalMaps(work, left, right);
}

function equalMaps(work: Work, left: CelMap, right: CelMap): boolean {
  const keys = keysOf(work, left);
  return (
    keys.length === keysOf(work, right).length &&
    keys.every((key) => Object.hasOwn(right, key) && equals(work, left[key], right[key]))
  );
}

function isIn(work: Work, value: unknown, within: unknown): boolean {
  if (isList(within)) return within.some((item) => equals(work, value, item));
  if (!isMap(within)) throw mismatch("in", value, within);
  const key = keyText(value);
  return key !== null && Object.hasOwn(within, key) && within[key] !== undefined;
}

/** The keys of an object. The count follows the reading: an object from outside has a bounded number of keys. */
export function keysOf(work: Work, map: CelMap): string[] {
  const keys = Object.keys(map);
  work.spend(keys.length * 4);
  return keys;
}

/** How a value reads as the key of an object; null if it cannot be one. */
export function keyText(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "bigint" || typeof value === "boolean" || isUint(value)) return String(value);
  return typeof value === "number" && Number.isInteger(value) ? String(value) : null;
}
