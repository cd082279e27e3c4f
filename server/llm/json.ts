import { jsonrepair } from "jsonrepair";
import type { Json } from "@/server/domain/values";

const MAX_DEPTH = 64;
/** Longer texts are parsed, but not repaired. */
export const MAX_REPAIR_CHARS = 1_000_000;
const FORBIDDEN = new Set(["__proto__", "prototype", "constructor"]);

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

/** Parses text of a stranger: undefined where it is not JSON or nested too deep; keys that reach prototypes are dropped. */
export function parseJson(text: string): Json | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text, function (this: unknown, key: string, value: Json) {
      return FORBIDDEN.has(key) && !Array.isArray(this) ? undefined : value;
    }) as Json;
  } catch {
    return undefined;
  }
}

/** The value of a text, mended where it is not JSON; undefined where even that does not help. */
export function parseMended(text: string): { value: Json; repaired: boolean } | undefined {
  const straight = parseJson(text);
  if (straight !== undefined) return { value: straight, repaired: false };
  if (text.length > MAX_REPAIR_CHARS || isTooDeep(text)) return undefined;
  try {
    const value = parseJson(jsonrepair(text));
    return value === undefined ? undefined : { value, repaired: true };
  } catch {
    return undefined;
  }
}
