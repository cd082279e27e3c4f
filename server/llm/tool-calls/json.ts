import { jsonrepair } from "jsonrepair";
import { parseJson as parseTrusted } from "@/server/domain/base/json";
import { must, present } from "@/server/domain/base/must";
import { isReserved } from "@/server/domain/base/names";
import type { Json } from "@/server/domain/base/values";

const MAX_DEPTH = 64;
/** Longer texts are parsed, but not repaired. */
export const MAX_REPAIR_CHARS = 1_000_000;
/** Longer texts get only the repairs that cannot be mistaken: guessing takes the square of their length. */
export const MAX_GUESSED_CHARS = 16_384;

/** V8 parses a bracket bomb for seconds and validators overflow on it; looking first is cheap. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (inString) {
      if (sign === 92) at++;
      else if (sign === 34) inString = false;
    } else if (sign === 34) inString = true;
    else if (sign === 123 || sign === 91) {
      if (++depth > MAX_DEPTH) return true;
    } else if (sign === 125 || sign === 93) depth--;
  }
  return false;
}

/**
 * Parses untrusted text: undefined if it isn't JSON or is nested too deeply; keys that reach prototypes are dropped.
 */
export function parseJson(text: string): Json | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return parseTrusted(text, function (key, value) {
      return isReserved(key) && !Array.isArray(this) ? undefined : value;
    });
  } catch {
    return undefined;
  }
}

/**
 * The value of a text, repaired if it isn't JSON; undefined if that fails. `isCautious`: repairs only what is
 * unambiguous.
 */
export function parseMended(
  text: string,
  { isCautious = false } = {},
): { value: Json; repaired: boolean } | undefined {
  const straight = parseJson(text);
  if (straight !== undefined) return { value: straight, repaired: false };
  if (text.length > MAX_REPAIR_CHARS || isTooDeep(text)) return undefined;
  const close = parseJson(straightened(text));
  if (close !== undefined) return { value: close, repaired: true };
  const guess = isCautious ? undefined : guessed(text);
  return guess === undefined ? undefined : { value: guess, repaired: true };
}

/** What a broken text most likely means; undefined where that cannot be guessed, or where it is longer than `most`. */
export function guessed(text: string, most = MAX_GUESSED_CHARS): Json | undefined {
  if (text.length > most) return undefined;
  try {
    return parseJson(jsonrepair(text));
  } catch {
    return undefined;
  }
}

/** Whether a quote at this place begins a string: an apostrophe does only where a value can begin, as in Python. */
export const opensString = (sign: string, before: string) =>
  sign === '"' || (sign === "'" && "{[,:(".includes(before));

/** Any quote begins a string, as in a program. */
export const opensAnyString = (sign: string) => sign === '"' || sign === "'";

/**
 * Goes over the signs of a text that stand outside of strings, from `from` on, until `visit` answers true. A quote that
 * begins a string is not visited, its string is passed over. `opens`: whether a quote begins a string, by the sign before
 * it that is no space. Answers whether the text ends inside of a string.
 */
export function scanOutsideStrings(
  text: string,
  visit: (sign: string, at: number) => boolean | undefined,
  {
    from = 0,
    opens = opensString,
  }: { from?: number; opens?: (sign: string, before: string) => boolean } = {},
): boolean {
  let quote = "";
  let before = "";
  for (let at = from; at < text.length; at++) {
    const sign = text.charAt(at);
    if (quote !== "") {
      if (sign === "\\") at++;
      else if (sign === quote) quote = "";
      continue;
    }
    if (opens(sign, before)) quote = sign;
    else if (visit(sign, at) === true) return false;
    if (sign.trim() !== "") before = sign;
  }
  return quote !== "";
}

const CLOSERS: Readonly<Record<string, string>> = { "{": "}", "[": "]" };
const OTHER_LITERALS: Readonly<Record<string, string>> = {
  true: "true",
  false: "false",
  none: "null",
  null: "null",
};

/**
 * JSON of a text that differs from it only in ways that cannot be mistaken: Python's quotes, words in other case, commas at the
 * end, brackets that are missing at the end, line breaks inside of strings. Its strings mean what they say, which the general
 * repair does not promise.
 */
function straightened(text: string): string {
  const open: string[] = [];
  /** In pieces, so that a comma at the end can be taken back without going over all of it. */
  const out: string[] = [];
  const dropComma = () => {
    let last = out.length - 1;
    while (last >= 0 && out[last]?.trim() === "") last--;
    if (out[last] === ",") out.length = last;
  };
  let before = "";
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (opensString(sign, before)) {
      const end = endOfString(text, at, sign);
      const string = sign === '"' ? text.slice(at, end) : `"${requoted(text.slice(at + 1, end - 1))}"`;
      out.push(string.replace(/[\n\r\t]/g, (blank) => JSON.stringify(blank).slice(1, -1)));
      at = end - 1;
      before = sign;
      continue;
    }
    const word = /^(?:true|false|none|null)\b/i.exec(text.slice(at, at + 6))?.[0];
    if (word && !/\w/.test(text[at - 1] ?? "")) {
      out.push(must(OTHER_LITERALS, word.toLowerCase()));
      at += word.length - 1;
    } else if (sign === "}" || sign === "]") {
      dropComma();
      while (open.length > 0 && open.at(-1) !== sign) out.push(present(open.pop(), "open"));
      open.pop();
      out.push(sign);
    } else {
      if (CLOSERS[sign]) open.push(CLOSERS[sign]);
      out.push(sign);
    }
    if (sign.trim() !== "") before = sign;
  }
  dropComma();
  return out.join("") + open.reverse().join("");
}

/** The place after the string that begins at `start`. */
function endOfString(text: string, start: number, quote: string): number {
  for (let at = start + 1; at < text.length; at++)
    if (text[at] === "\\") at++;
    else if (text[at] === quote) return at + 1;
  return text.length;
}

/** The inside of a string in single quotes, as it stands between double ones. */
const requoted = (inside: string) =>
  inside.replace(/\\([\s\S])|"/g, (whole, escaped?: string) =>
    escaped === "'" ? "'" : escaped === undefined ? '\\"' : whole,
  );
