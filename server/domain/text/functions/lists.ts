import { WORK_LIMITS, type Work } from "@/server/domain/base/work-budget";
import {
  compare,
  EvaluationError,
  equals,
  isNumeric,
  isUint,
  operate,
  toDouble,
  typeOf,
} from "../expression/expression-values";
import { define, within } from "./define";

/** What expressions do with lists. */
export const listFunctions = [
  define("list.contains(dyn): bool", "whether it contains a value", (w, list: unknown[], value: unknown) =>
    list.some((item) => equals(w, item, value)),
  ),
  define("list.sum(): dyn", "sum of its numbers", (w, list: unknown[]) => {
    w.spend(list.length * 6);
    return list.reduce<unknown>((sum, item, i) => {
      if (!isNumeric(typeOf(item)) && !(i === 0 && typeOf(item) === "duration") && typeOf(sum) !== "duration")
        throw new EvaluationError(`sum adds numbers, but one item is ${typeOf(item)}.`);
      return i === 0 ? item : operate(w, "+", ...mixed(sum, item));
    }, 0n);
  }),
  define("list.sort(): list", "sorted", (w, list: unknown[]) => {
    w.makeList(list.length);
    return [...list].sort((a, b) => {
      w.spend(8);
      const order = compare(w, a, b);
      if (order === null)
        throw new EvaluationError(`sort needs numbers or strings, but got ${typeOf(a)} and ${typeOf(b)}.`);
      return order || 0;
    });
  }),
  define("list.reverse(): list", "reversed", (w, list: unknown[]) => {
    w.makeList(list.length);
    return [...list].reverse();
  }),
  define(
    "list.slice(whole, whole): list",
    "from index n up to but not including m",
    (w, list: unknown[], from: unknown, to: unknown) => {
      const start = within(from, list.length, "The position");
      const end = within(to, list.length, "The position");
      if (end < start) throw new EvaluationError(`The end ${end} is before the start ${start}.`);
      w.makeList(end - start);
      return list.slice(start, end);
    },
  ),
  define("list.first(): dyn", "first item; fails on an empty list", (_, list: unknown[]) => atEnd(list, 0)),
  define("list.last(): dyn", "last item; fails on an empty list", (_, list: unknown[]) =>
    atEnd(list, list.length - 1),
  ),
  define("list.distinct(): list", "without duplicates", distinct),
  define("list.flatten(): list", "nested lists flattened", (w, list: unknown[]) => flatten(w, list, 1)),
  define("list.flatten(whole): list", "", (w, list: unknown[], depth: unknown) =>
    flatten(w, list, within(depth, WORK_LIMITS.depth, "The depth")),
  ),
];

function atEnd(list: unknown[], index: number): unknown {
  if (list.length === 0)
    throw new EvaluationError("The list is empty.", index === 0 ? "first item" : "last item");
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
