import {
  both,
  type Check,
  type Node,
  type Place,
  type Run,
  type ValidationError,
  type Verdict,
} from "../check";
import { isObject } from "../values";
import { at, type Keyword, type Making, misread } from "./keyword";

/** What holds of the keys of an object. */

const own = (value: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined;

export const required: Keyword = (rule, making) => {
  // In early drafts it was a boolean on the property itself.
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
export function properties(making: Making): Check | null {
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
      if (verdict === "no" && !run.errors) return verdict;
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

export const propertyNames: Keyword = (rule, making) => {
  const node = making.node(rule, "propertyNames");
  return (value, place, run) => {
    if (!isObject(value)) return "yes";
    let verdict: Verdict = "yes";
    for (const key of Object.keys(value)) {
      run.work.spend(40);
      const errors: ValidationError[] | null = run.errors ? [] : null;
      const inner = run.aside(errors, () => run.check(node, key, null, null));
      if (inner === "no") run.refuse(at(place, key), `is not a valid key: it ${errors?.[0]?.message ?? ""}`);
      verdict = both(verdict, inner);
      if (verdict === "no" && !run.errors) return verdict;
    }
    return verdict;
  };
};

/** What follows from a key that is there: other keys, or a schema. */
export const dependent =
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

export const unevaluatedProperties: Keyword = (rule, making) => {
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
