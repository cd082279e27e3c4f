import type { Run } from "../check";
import { isMultiple, isObject, lengthOf } from "../values";
import { counted, type Keyword, misread } from "./keyword";

/** Limits of numbers, and of the length of texts, lists and objects. */

function ofNumber(
  word: string,
  fits: (value: number, limit: number) => boolean,
  describe: (limit: number) => string,
): Keyword {
  return (rule, making) => {
    if (typeof rule !== "number") return misread(making, word, "a number");
    return (value, place, run) =>
      typeof value !== "number" || fits(value, rule) ? "yes" : run.refuse(place, describe(rule));
  };
}

function bySize(
  word: string,
  sizeOf: (value: unknown, limit: number, run: Run) => number | null,
  isMost: boolean,
  describe: (limit: number) => string,
): Keyword {
  return (rule, making) => {
    if (typeof rule !== "number" || rule < 0) return misread(making, word, "a number of at least 0");
    return (value, place, run) => {
      const size = sizeOf(value, rule, run);
      return size === null || (isMost ? size <= rule : size >= rule)
        ? "yes"
        : run.refuse(place, describe(rule));
    };
  };
}
const textSize = (value: unknown, limit: number, run: Run) =>
  typeof value === "string" ? lengthOf(value, limit, run.work) : null;
const listSize = (value: unknown) => (Array.isArray(value) ? value.length : null);
const objectSize = (value: unknown, _limit: number, run: Run) => {
  if (!isObject(value)) return null;
  const size = Object.keys(value).length;
  run.work.spend(size);
  return size;
};

interface LimitKeyword {
  word: string;
  /** The boolean of draft 4. */
  exclusive: string;
  fits: (value: number, limit: number) => boolean;
  phrase: string;
  exclusivePhrase: string;
}

/** A limit that draft 4 makes exclusive with a boolean keyword next to it. */
function limit({ word, exclusive, fits, phrase, exclusivePhrase }: LimitKeyword): Keyword {
  return (rule, making) => {
    const isExclusive = making.schema[exclusive] === true;
    return ofNumber(
      word,
      (value, given) => fits(value, given) && !(isExclusive && value === given),
      (given) => `must be ${isExclusive ? exclusivePhrase : phrase} ${given}`,
    )(rule, making);
  };
}

/** An exclusive limit; in draft 4 a boolean that modifies the other limit. */
const exclusive =
  (word: string, fits: (value: number, limit: number) => boolean, phrase: string): Keyword =>
  (rule, making) =>
    typeof rule === "boolean"
      ? null
      : ofNumber(word, fits, (given) => `must be ${phrase} ${given}`)(rule, making);

const atLeast = (one: string, many: string) => (n: number) => `must have at least ${counted(n, one, many)}`;
const atMost = (one: string, many: string) => (n: number) => `must have at most ${counted(n, one, many)}`;

export const multipleOf: Keyword = (rule, making) =>
  typeof rule === "number" && rule > 0
    ? (value, place, run) => {
        if (typeof value !== "number") return "yes";
        run.work.spend(100);
        return isMultiple(value, rule) ? "yes" : run.refuse(place, `must be a multiple of ${rule}`);
      }
    : misread(making, "multipleOf", "a number above 0");

export const minimum = limit({
  word: "minimum",
  exclusive: "exclusiveMinimum",
  fits: (value, least) => value >= least,
  phrase: "at least",
  exclusivePhrase: "more than",
});
export const maximum = limit({
  word: "maximum",
  exclusive: "exclusiveMaximum",
  fits: (value, most) => value <= most,
  phrase: "at most",
  exclusivePhrase: "less than",
});
export const exclusiveMinimum = exclusive("exclusiveMinimum", (value, least) => value > least, "more than");
export const exclusiveMaximum = exclusive("exclusiveMaximum", (value, most) => value < most, "less than");
export const minLength = bySize("minLength", textSize, false, atLeast("character", "characters"));
export const maxLength = bySize("maxLength", textSize, true, atMost("character", "characters"));
export const minItems = bySize("minItems", listSize, false, atLeast("item", "items"));
export const maxItems = bySize("maxItems", listSize, true, atMost("item", "items"));
export const minProperties = bySize("minProperties", objectSize, false, atLeast("key", "keys"));
export const maxProperties = bySize("maxProperties", objectSize, true, atMost("key", "keys"));
