import { isList, isText } from "@/server/domain/base/guards";
import { present } from "@/server/domain/base/must";
import type { Regex } from "../regex/regex";
import {
  both,
  type Check,
  type Fault,
  MAX_FAULTS,
  type Node,
  type Place,
  type Run,
  type Verdict,
} from "./check";
import { FORMATS, HINTS } from "./formats";
import { canonical, isMultiple, isObject, KIND_WORDS, kindOf, lengthOf, orList, shown } from "./values";

/** What a keyword needs from whoever compiles the schema around it. */
export interface Making {
  readonly schema: Readonly<Record<string, unknown>>;
  /** The node of a schema inside this one. */
  node(schema: unknown, ...path: string[]): Node;
  /** Notes what is not checked, at a keyword of this schema. */
  tell(message: string, ...path: string[]): void;
  /** Null where the engine cannot run it, which is told. */
  regex(pattern: string, ...path: string[]): Regex | null;
  canonical(value: unknown): string;
}

/** Makes the check of one keyword; null where it says nothing. */
type Keyword = (rule: unknown, making: Making) => Check | null;

const unknown: Check = (_value, _place, _run, seen) => {
  seen?.everyKey();
  seen?.everyItem();
  return "unknown";
};

/** Below a keyword of the wrong form nothing is refused. */
function misread(making: Making, word: string, wants: string): null {
  making.tell(`"${word}" must be ${wants}, so it is not checked`, word);
  return null;
}

const at = (parent: Place | null, key: string | number): Place => ({ parent, key });
const own = (value: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined;

const TYPES = new Set(["null", "boolean", "number", "integer", "string", "array", "object"]);

function ofNumber(
  word: string,
  fits: (value: number, limit: number) => boolean,
  says: (limit: number) => string,
): Keyword {
  return (rule, making) => {
    if (typeof rule !== "number") return misread(making, word, "a number");
    return (value, place, run) =>
      typeof value !== "number" || fits(value, rule) ? "yes" : run.refuse(place, says(rule));
  };
}

function bySize(
  word: string,
  sizeOf: (value: unknown, limit: number, run: Run) => number | null,
  isMost: boolean,
  says: (limit: number) => string,
): Keyword {
  return (rule, making) => {
    if (typeof rule !== "number" || rule < 0) return misread(making, word, "a number of at least 0");
    return (value, place, run) => {
      const size = sizeOf(value, rule, run);
      return size === null || (isMost ? size <= rule : size >= rule) ? "yes" : run.refuse(place, says(rule));
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
const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

const type: Keyword = (rule, making) => {
  const types = isList(rule) ? rule : [rule];
  const strange = types.find((name) => typeof name !== "string" || !TYPES.has(name));
  if (strange !== undefined) {
    making.tell(`${shown(strange)} is not a type of JSON Schema, so the type is not checked`, "type");
    return unknown;
  }
  const known = new Set(types.filter(isText));
  // OpenAPI's word, which generated schemas keep.
  if (making.schema.nullable === true) known.add("null");
  const kinds = [...known].map((name) => present(KIND_WORDS[name], "KIND_WORDS[name]"));
  return (value, place, run) => {
    const kind = kindOf(value);
    if (known.has(kind) || (kind === "number" && known.has("integer") && Number.isInteger(value)))
      return "yes";
    const is = kind === "number" && known.has("integer") ? "one with a fraction" : KIND_WORDS[kind];
    return run.refuse(place, `must be ${orList(kinds)}, not ${is}`, kinds);
  };
};

function oneOfValues(options: readonly unknown[], making: Making): Check {
  const known = new Set(options.map((option) => making.canonical(option)));
  const shownOptions = options.slice(0, 20).map(shown);
  if (options.length > 20) shownOptions.push("…");
  const message =
    options.length === 1 ? `must be ${shownOptions[0]}` : `must be one of ${shownOptions.join(", ")}`;
  return (value, place, run) =>
    known.has(canonical(value, run.work)) ? "yes" : run.refuse(place, message, shownOptions);
}

const uniqueItems: Keyword = (rule) =>
  rule !== true
    ? null
    : (value, place, run) => {
        if (!isList(value)) return "yes";
        const met = new Set<string>();
        for (const [index, item] of value.entries()) {
          run.work.spend(6);
          const text = canonical(item, run.work);
          if (met.has(text)) return run.refuse(at(place, index), "is there twice, but must be unique");
          met.add(text);
        }
        return "yes";
      };

const pattern: Keyword = (rule, making) => {
  if (typeof rule !== "string") return misread(making, "pattern", "text");
  const regex = making.regex(rule, "pattern");
  if (!regex) return unknown;
  const says = `must match the pattern ${rule.length > 200 ? `${rule.slice(0, 200)}…` : rule}`;
  return (value, place, run) =>
    typeof value !== "string" || regex.test(value, run.work) ? "yes" : run.refuse(place, says);
};

const format: Keyword = (rule, making) => {
  if (typeof rule !== "string") return misread(making, "format", "text");
  const check = FORMATS.get(rule);
  if (!check) {
    if (!HINTS.has(rule)) making.tell(`the format "${rule}" is not checked`, "format");
    return HINTS.has(rule) ? null : unknown;
  }
  return (value, place, run) =>
    typeof value !== "string" || check(value, run.work)
      ? "yes"
      : run.refuse(place, `must be text in the format "${rule}"`);
};

const required: Keyword = (rule, making) => {
  // In the first drafts it stood beside the property itself.
  if (!Array.isArray(rule)) return misread(making, "required", "a list of keys");
  const keys = rule.filter((key): key is string => typeof key === "string");
  return (value, place, run) => {
    if (!isObject(value)) return "yes";
    run.work.spend(keys.length);
    return missing(value, keys, place, run);
  };
};

function missing(
  value: Record<string, unknown>,
  keys: readonly string[],
  place: Place | null,
  run: Run,
  because = "",
): Verdict {
  let verdict: Verdict = "yes";
  for (const key of keys)
    if (own(value, key) === undefined) verdict = run.refuse(at(place, key), `is missing${because}`);
  return verdict;
}

/** Keys of `properties`, of `patternProperties`, and what is said about all others, in one pass. */
function properties(making: Making): Check | null {
  const { schema } = making;
  const named = record(making, "properties");
  const patterned = record(making, "patternProperties");
  const patterns = [...patterned].map(([source, node]) => ({
    node,
    regex: making.regex(source, "patternProperties", source),
  }));
  const rest =
    schema.additionalProperties === undefined
      ? null
      : making.node(schema.additionalProperties, "additionalProperties");
  const isClosed = schema.additionalProperties === false;
  if (named.size === 0 && patterns.length === 0 && !rest) return null;
  const names = [...named.keys()];
  const allowed =
    names.length > 0 ? ` (allowed: ${names.slice(0, 12).join(", ")}${names.length > 12 ? ", …" : ""})` : "";
  return (value, place, run, seen) => {
    if (!isObject(value)) return "yes";
    let verdict: Verdict = "yes";
    const keys = Object.keys(value);
    // Where nothing is said of other keys, the shorter list leads.
    const isByName = patterns.length === 0 && !rest && names.length < keys.length;
    for (const key of isByName ? names : keys) {
      run.work.spend(6);
      if (isByName && !Object.hasOwn(value, key)) continue;
      let isKnown = false;
      const apply = (node: Node) => {
        isKnown = true;
        verdict = both(verdict, run.check(node, value[key], at(place, key), null));
      };
      const node = named.get(key);
      if (node) apply(node);
      let isUnsure = false;
      for (const one of patterns)
        if (!one.regex) isUnsure = true;
        else if (one.regex.test(key, run.work)) apply(one.node);
      if (isUnsure) {
        isKnown = true;
        verdict = both(verdict, "unknown");
      }
      if (!isKnown && rest) {
        if (isClosed) verdict = run.refuse(at(place, key), `is not expected here${allowed}`);
        else apply(rest);
      }
      if (isKnown || rest) seen?.key(key);
      if (verdict === "no" && !run.faults) return verdict;
    }
    return verdict;
  };
}

/** The nodes of the schemas in an object, by key. */
function record(making: Making, word: string): Map<string, Node> {
  const rule = making.schema[word];
  if (rule === undefined) return new Map();
  if (!isObject(rule)) {
    misread(making, word, "an object");
    return new Map();
  }
  return new Map(Object.entries(rule).map(([key, inner]) => [key, making.node(inner, word, key)]));
}

const propertyNames: Keyword = (rule, making) => {
  const node = making.node(rule, "propertyNames");
  return (value, place, run) => {
    if (!isObject(value)) return "yes";
    let verdict: Verdict = "yes";
    for (const key of Object.keys(value)) {
      run.work.spend(40);
      const faults: Fault[] | null = run.faults ? [] : null;
      const inner = run.aside(faults, () => run.check(node, key, null, null));
      if (inner === "no")
        run.refuse(at(place, key), `is not a possible key: it ${faults?.[0]?.message ?? ""}`);
      verdict = both(verdict, inner);
      if (verdict === "no" && !run.faults) return verdict;
    }
    return verdict;
  };
};

/** What follows from a key that is there: other keys, or a schema. */
const dependent =
  (word: string): Keyword =>
  (rule, making) => {
    if (!isObject(rule)) return misread(making, word, "an object");
    const keys: [string, string[]][] = [];
    const nodes: [string, Node][] = [];
    for (const [key, inner] of Object.entries(rule))
      if (Array.isArray(inner)) keys.push([key, inner.filter((name) => typeof name === "string")]);
      else nodes.push([key, making.node(inner, word, key)]);
    return (value, place, run, seen) => {
      if (!isObject(value)) return "yes";
      run.work.spend(keys.length + nodes.length);
      let verdict: Verdict = "yes";
      for (const [key, needed] of keys)
        if (Object.hasOwn(value, key)) {
          run.work.spend(needed.length);
          verdict = both(verdict, missing(value, needed, place, run, `, as "${key}" is given`));
        }
      for (const [key, node] of nodes)
        if (Object.hasOwn(value, key)) verdict = both(verdict, run.check(node, value, place, seen));
      return verdict;
    };
  };

/** The items at the front, each by its own schema, and all others by one. */
function items(making: Making): Check | null {
  const { schema } = making;
  const isOld = Array.isArray(schema.items);
  const front = isOld ? schema.items : schema.prefixItems;
  const frontWord = isOld ? "items" : "prefixItems";
  const restWord = isOld ? "additionalItems" : "items";
  if (front !== undefined && !Array.isArray(front)) misread(making, frontWord, "a list");
  const first = Array.isArray(front) ? front.map((inner, n) => making.node(inner, frontWord, String(n))) : [];
  const rule = schema[restWord];
  const rest = rule === undefined ? null : making.node(rule, restWord);
  if (first.length === 0 && !rest) return null;
  return (value, place, run, seen) => {
    if (!isList(value)) return "yes";
    let verdict: Verdict = "yes";
    for (const [index, item] of value.entries()) {
      const node = first[index] ?? rest;
      if (!node) break;
      if (index >= first.length && rule === false) {
        verdict = run.refuse(place, `must have at most ${counted(first.length, "item", "items")}`);
        break;
      }
      verdict = both(verdict, run.check(node, item, at(place, index), null));
      if (verdict === "no" && !run.faults) return verdict;
    }
    if (rest) seen?.everyItem();
    else seen?.itemsUpTo(first.length);
    return verdict;
  };
}

const contains: Keyword = (rule, making) => {
  const node = making.node(rule, "contains");
  const limit = (word: string, otherwise: number) => {
    const given = making.schema[word];
    return typeof given === "number" ? given : otherwise;
  };
  const least = limit("minContains", 1);
  const most = limit("maxContains", Number.POSITIVE_INFINITY);
  return (value, place, run, seen) => {
    if (!isList(value)) return "yes";
    let sure = 0;
    let possible = 0;
    for (const [index, item] of value.entries()) {
      const verdict = run.aside(null, () => run.check(node, item, at(place, index), null));
      if (verdict === "yes") sure++;
      if (verdict === "no") continue;
      possible++;
      seen?.item(index);
    }
    if (possible < least)
      return run.refuse(place, `must hold at least ${counted(least, "item", "items")} of the described kind`);
    if (sure > most)
      return run.refuse(place, `must hold at most ${counted(most, "item", "items")} of the described kind`);
    return sure >= least && possible <= most ? "yes" : "unknown";
  };
};

const unevaluatedProperties: Keyword = (rule, making) => {
  const node = making.node(rule, "unevaluatedProperties");
  return (value, place, run, seen) => {
    if (!isObject(value)) return "yes";
    let verdict: Verdict = "yes";
    for (const key of Object.keys(value)) {
      run.work.spend(2);
      if (seen?.hasKey(key)) continue;
      const there = at(place, key);
      if (rule === false) verdict = run.refuse(there, "is not expected here");
      else verdict = both(verdict, run.check(node, value[key], there, null));
    }
    seen?.everyKey();
    return verdict;
  };
};

const unevaluatedItems: Keyword = (rule, making) => {
  const node = making.node(rule, "unevaluatedItems");
  return (value, place, run, seen) => {
    if (!isList(value)) return "yes";
    let verdict: Verdict = "yes";
    for (const [index, item] of value.entries()) {
      run.work.spend(2);
      if (seen?.hasItem(index)) continue;
      const there = at(place, index);
      if (rule === false) verdict = run.refuse(there, "is not expected here");
      else verdict = both(verdict, run.check(node, item, there, null));
    }
    seen?.everyItem();
    return verdict;
  };
};

/** The nodes of a list of schemas; null where it is none. */
function list(rule: unknown, making: Making, word: string): Node[] | null {
  if (!Array.isArray(rule) || rule.length === 0) return misread(making, word, "a list of schemas");
  return rule.map((inner, n) => making.node(inner, word, String(n)));
}

const allOf: Keyword = (rule, making) => {
  const nodes = list(rule, making, "allOf");
  return (
    nodes &&
    ((value, place, run, seen) => {
      let verdict: Verdict = "yes";
      for (const node of nodes) {
        verdict = both(verdict, run.check(node, value, place, seen));
        if (verdict === "no" && !run.faults) break;
      }
      return verdict;
    })
  );
};

/** `isOne`: a value may fit only one of them. */
const choice =
  (word: string, isOne: boolean): Keyword =>
  (rule, making) => {
    const nodes = list(rule, making, word);
    return (
      nodes &&
      ((value, place, run, seen) => {
        const fitting: number[] = [];
        let isUnsure = false;
        const why: Fault[][] = [];
        for (const [n, node] of nodes.entries()) {
          run.work.spend(40);
          const faults: Fault[] | null = run.faults ? [] : null;
          const verdict = run.aside(faults, () => run.check(node, value, place, seen));
          if (verdict === "yes") fitting.push(n + 1);
          isUnsure ||= verdict === "unknown";
          if (faults && verdict === "no") why.push(faults);
          // Others may still tell what was looked at.
          if (!seen && (isOne ? fitting.length > 1 : fitting.length > 0)) break;
        }
        if (isOne && fitting.length > 1)
          return run.refuse(
            place,
            `fits more than one of the ${nodes.length} shapes of which it may have only one (${fitting.join(" and ")})`,
          );
        if (isUnsure && !(fitting.length > 0 && !isOne)) return "unknown";
        return fitting.length > 0 ? "yes" : refuseAll(why, place, run);
      })
    );
  };

/** Says of a value that fits no alternative what would have been closest. */
function refuseAll(why: readonly Fault[][], place: Place | null, run: Run): "no" {
  if (!run.faults) return "no";
  run.work.spend(why.length * 10);
  const here: Fault["path"] = [];
  for (let up = place; up; up = up.parent) here.unshift(up.key);
  const isHere = ({ path }: Fault) => path.length === here.length;
  // Alternatives that are all about the same place are told as one.
  const single = why.map((faults) =>
    faults.length === 1 && isHere(present(faults[0], "faults[0]"))
      ? present(faults[0], "faults[0]").wanted
      : undefined,
  );
  if (single.every((faults) => faults !== undefined)) {
    const words = [...new Set(single.flat())];
    return run.refuse(place, `must be ${orList(words)}`, words);
  }
  // A shape of another kind is not what was meant.
  const meant = why.filter((faults) => !faults.some((fault) => isHere(fault) && fault.wanted));
  const closest = [...(meant.length > 0 ? meant : why)].sort((a, b) => a.length - b.length)[0] ?? [];
  if (meant.length <= 1 && closest.length > 0) {
    for (const fault of closest) if (run.faults.length < MAX_FAULTS) run.faults.push(fault);
    return "no";
  }
  const [first] = closest;
  const inside = first?.path.slice(here.length).join(".");
  return run.refuse(
    place,
    `fits none of the ${why.length} allowed shapes${first ? ` (closest: ${inside ? `${inside} ` : ""}${first.message})` : ""}`,
  );
}

const not: Keyword = (rule, making) => {
  const node = making.node(rule, "not");
  const inner = isObject(rule) ? rule : {};
  const options = Array.isArray(inner.enum) ? inner.enum : "const" in inner ? [inner.const] : null;
  const message = options
    ? `must not be ${orList(options.slice(0, 12).map(shown))}`
    : Array.isArray(inner.required) && Object.keys(inner).length === 1
      ? `must not have ${inner.required.map(String).join(" and ")}${inner.required.length > 1 ? " together" : ""}`
      : "is what its schema excludes (not)";
  return (value, place, run) => {
    const verdict = run.aside(null, () => run.check(node, value, place, null));
    if (verdict === "yes") return run.refuse(place, message);
    return verdict === "no" ? "yes" : "unknown";
  };
};

function conditional(making: Making): Check | null {
  const { schema } = making;
  if (schema.if === undefined) return null;
  const branch = (word: string) => (schema[word] === undefined ? null : making.node(schema[word], word));
  const condition = making.node(schema.if, "if");
  const yes = branch("then");
  const no = branch("else");
  return (value, place, run, seen) => {
    run.work.spend(40);
    const verdict = run.aside(null, () => run.check(condition, value, place, seen));
    const follow = (node: Node | null): Verdict => (node ? run.check(node, value, place, seen) : "yes");
    if (verdict === "yes") return follow(yes);
    if (verdict === "no") return follow(no);
    // Nobody knows which of them holds, so only what breaks both is refused.
    const either = run.aside(null, () => [follow(yes), follow(no)]);
    return either.every((one) => one === "no")
      ? run.refuse(place, "fits neither of two shapes of which it must have one (if, then, else)")
      : "unknown";
  };
}

/** Keywords in the order in which they are checked, those about the rest last. */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ["type", type],
  ["const", (rule, making) => oneOfValues([rule], making)],
  [
    "enum",
    (rule, making) =>
      Array.isArray(rule) ? oneOfValues(rule, making) : misread(making, "enum", "a list of values"),
  ],
  [
    "multipleOf",
    (rule, making) =>
      typeof rule === "number" && rule > 0
        ? (value, place, run) => {
            if (typeof value !== "number") return "yes";
            run.work.spend(100);
            return isMultiple(value, rule) ? "yes" : run.refuse(place, `must be a multiple of ${rule}`);
          }
        : misread(making, "multipleOf", "a number above 0"),
  ],
  [
    "minimum",
    limit("minimum", "exclusiveMinimum", (value, least) => value >= least, "at least", "more than"),
  ],
  ["maximum", limit("maximum", "exclusiveMaximum", (value, most) => value <= most, "at most", "less than")],
  [
    "exclusiveMinimum",
    (rule, making) =>
      typeof rule === "boolean"
        ? null
        : ofNumber(
            "exclusiveMinimum",
            (value, least) => value > least,
            (least) => `must be more than ${least}`,
          )(rule, making),
  ],
  [
    "exclusiveMaximum",
    (rule, making) =>
      typeof rule === "boolean"
        ? null
        : ofNumber(
            "exclusiveMaximum",
            (value, most) => value < most,
            (most) => `must be less than ${most}`,
          )(rule, making),
  ],
  [
    "minLength",
    bySize(
      "minLength",
      textSize,
      false,
      (n) => `must have at least ${counted(n, "character", "characters")}`,
    ),
  ],
  [
    "maxLength",
    bySize("maxLength", textSize, true, (n) => `must have at most ${counted(n, "character", "characters")}`),
  ],
  ["pattern", pattern],
  ["format", format],
  [
    "minItems",
    bySize("minItems", listSize, false, (n) => `must have at least ${counted(n, "item", "items")}`),
  ],
  ["maxItems", bySize("maxItems", listSize, true, (n) => `must have at most ${counted(n, "item", "items")}`)],
  [
    "minProperties",
    bySize("minProperties", objectSize, false, (n) => `must have at least ${counted(n, "key", "keys")}`),
  ],
  [
    "maxProperties",
    bySize("maxProperties", objectSize, true, (n) => `must have at most ${counted(n, "key", "keys")}`),
  ],
  ["required", required],
  ["dependentRequired", dependent("dependentRequired")],
  ["dependentSchemas", dependent("dependentSchemas")],
  ["dependencies", dependent("dependencies")],
  ["propertyNames", propertyNames],
  ["properties", (_rule, making) => properties(making)],
  ["items", (_rule, making) => items(making)],
  ["contains", contains],
  ["uniqueItems", uniqueItems],
  ["allOf", allOf],
  ["anyOf", choice("anyOf", false)],
  ["oneOf", choice("oneOf", true)],
  ["not", not],
  ["if", (_rule, making) => conditional(making)],
  ["unevaluatedItems", unevaluatedItems],
  ["unevaluatedProperties", unevaluatedProperties],
]);

/** A limit that, in the fourth draft, a truth value beside it makes exclusive. */
function limit(
  word: string,
  exclusive: string,
  fits: (value: number, limit: number) => boolean,
  says: string,
  saysExclusive: string,
): Keyword {
  return (rule, making) => {
    const isExclusive = making.schema[exclusive] === true;
    return ofNumber(
      word,
      (value, given) => fits(value, given) && !(isExclusive && value === given),
      (given) => `must be ${isExclusive ? saysExclusive : says} ${given}`,
    )(rule, making);
  };
}

/** Keywords that another one reads, and the one that does. */
export const READ_BY: ReadonlyMap<string, string> = new Map([
  ["patternProperties", "properties"],
  ["additionalProperties", "properties"],
  ["prefixItems", "items"],
  ["additionalItems", "items"],
  ["minContains", "contains"],
  ["maxContains", "contains"],
  ["then", "if"],
  ["else", "if"],
]);

/** Words that describe and rule nothing. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  "$anchor",
  "$comment",
  "$defs",
  "$dynamicAnchor",
  "$id",
  "$recursiveAnchor",
  "$schema",
  "$vocabulary",
  "default",
  "definitions",
  "deprecated",
  "description",
  "discriminator",
  "example",
  "examples",
  "externalDocs",
  "id",
  "nullable",
  "propertyOrdering",
  "readOnly",
  "strict",
  "title",
  "writeOnly",
  "xml",
]);

/** Where schemas lie inside of a schema. */
export const SCHEMA_IN = new Set([
  "additionalItems",
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
export const SCHEMAS_IN = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"]);
export const NAMED_SCHEMAS_IN = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);
