import { isList, isText } from "@/server/domain/base/guards";
import { must } from "@/server/domain/base/must";
import type { Check } from "../check";
import { FORMATS, HINTS } from "../formats";
import { canonical, JSON_TYPE_LABELS, kindOf, orList, shown } from "../values";
import { type Keyword, type Making, misread, unknown } from "./keyword";

/** Rules for a value itself: its type, an enumeration, the format of a text. */

const TYPES = new Set(["null", "boolean", "number", "integer", "string", "array", "object"]);

export const type: Keyword = (rule, making) => {
  const types = isList(rule) ? rule : [rule];
  const strange = types.find((name) => typeof name !== "string" || !TYPES.has(name));
  if (strange !== undefined || types.length === 0) {
    making.reportUnchecked(
      `${shown(strange ?? types)} is not a JSON Schema type, so the type is not checked`,
      "type",
    );
    return unknown;
  }
  const known = new Set(types.filter(isText));
  // OpenAPI's word, which generated schemas keep.
  if (making.schema.nullable === true) known.add("null");
  const kinds = [...known].map((name) => must(JSON_TYPE_LABELS, name));
  return (value, place, run) => {
    const kind = kindOf(value);
    if (known.has(kind) || (kind === "number" && known.has("integer") && Number.isInteger(value)))
      return "yes";
    const is = kind === "number" && known.has("integer") ? "one with a fraction" : JSON_TYPE_LABELS[kind];
    return run.refuse(place, `must be ${orList(kinds)}, not ${is}`, kinds);
  };
};

function oneOfValues(options: readonly unknown[], making: Making): Check {
  const known = new Set(options.map((option) => making.canonical(option)));
  const shownOptions = options.slice(0, 20).map(shown);
  if (options.length > 20) shownOptions.push("…");
  if (options.length === 0) return (_value, place, run) => run.refuse(place, "is not allowed here");
  const message =
    options.length === 1 ? `must be ${shownOptions[0]}` : `must be one of ${shownOptions.join(", ")}`;
  return (value, place, run) =>
    known.has(canonical(value, run.work)) ? "yes" : run.refuse(place, message, shownOptions);
}

export const constant: Keyword = (rule, making) => oneOfValues([rule], making);
export const enumeration: Keyword = (rule, making) =>
  Array.isArray(rule) ? oneOfValues(rule, making) : misread(making, "enum", "a list of values");

export const pattern: Keyword = (rule, making) => {
  if (typeof rule !== "string") return misread(making, "pattern", "text");
  const regex = making.regex(rule, "pattern");
  if (!regex) return unknown;
  const message = `must match the pattern ${rule.length > 200 ? `${rule.slice(0, 200)}…` : rule}`;
  return (value, place, run) =>
    typeof value !== "string" || regex.test(value, run.work) ? "yes" : run.refuse(place, message);
};

export const format: Keyword = (rule, making) => {
  if (typeof rule !== "string") return misread(making, "format", "text");
  const check = FORMATS.get(rule);
  if (!check) {
    if (!HINTS.has(rule)) making.reportUnchecked(`the format "${rule}" is not checked`, "format");
    return HINTS.has(rule) ? null : unknown;
  }
  return (value, place, run) =>
    typeof value !== "string" || check(value, run.work)
      ? "yes"
      : run.refuse(place, `must be text in the format "${rule}"`);
};
