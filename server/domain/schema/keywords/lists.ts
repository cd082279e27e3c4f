import { isList } from "@/server/domain/base/guards";
import { both, type Check, type Verdict } from "../check";
import { canonical } from "../values";
import { at, counted, type Keyword, type Making, misread } from "./keyword";

/** What holds of the items of a list. */

export const uniqueItems: Keyword = (rule) =>
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

/** The items at the front, each by its own schema, and all others by one. */
export function items(making: Making): Check | null {
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
      if (verdict === "no" && !run.errors) return verdict;
    }
    if (rest) seen?.everyItem();
    else seen?.itemsUpTo(first.length);
    return verdict;
  };
}

export const contains: Keyword = (rule, making) => {
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
      return run.refuse(place, `must contain at least ${counted(least, "matching item", "matching items")}`);
    if (sure > most)
      return run.refuse(place, `must contain at most ${counted(most, "matching item", "matching items")}`);
    return sure >= least && possible <= most ? "yes" : "unknown";
  };
};

export const unevaluatedItems: Keyword = (rule, making) => {
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
