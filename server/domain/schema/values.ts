import { isObject } from "@/server/domain/base/guards";
import type { Work } from "../regex/work";

export type Kind = "null" | "boolean" | "number" | "string" | "array" | "object";

export function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  const kind = typeof value;
  return kind === "boolean" || kind === "number" || kind === "string" ? kind : "object";
}

export { isObject };

/** Text that equal values share, whatever the order of their keys. */
export function canonical(value: unknown, work: Work): string {
  if (typeof value === "string") work.spend(10 + value.length / 8);
  else work.spend(6);
  if (Array.isArray(value)) return `[${value.map((item: unknown) => canonical(item, work)).join()}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const keys = Object.keys(value).sort();
  work.spend(keys.length * 12);
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key], work)}`).join()}}`;
}

/** Whether a number is a whole multiple of another, reckoned in decimals as they are written. */
export function isMultiple(value: number, of: number): boolean {
  const a = decimal(value);
  const b = decimal(of);
  const power = Math.min(a.power, b.power);
  const scaled = ({ digits, power: own }: { digits: bigint; power: number }) =>
    digits * 10n ** BigInt(own - power);
  return scaled(a) % scaled(b) === 0n;
}

function decimal(value: number): { digits: bigint; power: number } {
  const [, whole = "0", part = "", power = "0"] =
    /^(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  return { digits: BigInt(whole + part), power: Number(power) - part.length };
}

/** Characters as people count them: code points. Not more than `most` + 1 are counted. */
export function lengthOf(text: string, most: number, work: Work): number {
  if (text.length / 2 > most) return Math.ceil(text.length / 2);
  work.spend(text.length / 16);
  let count = 0;
  for (let at = 0; at < text.length; at++, count++) {
    const code = text.charCodeAt(at);
    if (
      code >= 0xd800 &&
      code < 0xdc00 &&
      at + 1 < text.length &&
      (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00
    )
      at++;
  }
  return count;
}

/** Words for what a type wants and for what is there. */
export const JSON_TYPE_LABELS: Readonly<Record<string, string>> = {
  null: "null",
  boolean: "true or false",
  number: "a number",
  integer: "a whole number",
  string: "text",
  array: "a list",
  object: "an object",
};

/** "a, b or c", without saying the same twice. */
export function orList(items: readonly string[]): string {
  const all = [...new Set(items)];
  return all.length < 2 ? (all[0] ?? "") : `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`;
}

const MAX_SHOWN = 120;
/** A value of a schema as shown to people, truncated if long. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
