import type { Json } from "@/server/domain/base/values";

/**
 * Values in prompts are enclosed in tags, so that a model can tell instructions from data. A value can neither close
 * its own tag nor open or close one that prompts are built from: whatever it says, it stays data.
 */

/** The tags that prompts are built from; they may be nested in any combination. */
const STRUCTURE = [
  ...["task", "goal", "inputs", "expected_output", "results", "result", "value", "memory"],
  ...["crew_status", "plan", "bulletin", "reply", "answer", "reason", "context", "summary"],
  ...["proposal", "votes", "vote", "rule", "criteria", "outcome", "failure", "labels"],
] as const;
const STRUCTURE_NAMES: ReadonlySet<string> = new Set(STRUCTURE);
export type StructureTag = (typeof STRUCTURE)[number];

const TAG_NAME = /^[A-Za-z_][\w.-]*$/;
/** A value longer than this, or of several lines, gets lines of its own. Characters. */
const LONGEST_INLINE = 200;

/** A value as prompt text: text as it is, null and undefined as "", the rest as JSON. */
export const promptText = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** Tags that give instructions: the result of a tool has no tag around it, so only these could mislead. */
const DIRECTING: ReadonlySet<string> = new Set(["task", "goal", "expected_output", "criteria", "rule"]);

/** "<" and what a model may read as it, then a name, perhaps with blanks, slashes or invisible characters between. */
const TAG =
  /([<＜﹤‹〈⟨]|&(?:lt|#0*60|#x0*3c);?|\\u003c)(?!\\)([\s\p{Cc}\p{Cf}/／⁄∕]*)([\p{L}_](?:[\p{L}\p{N}\p{M}\p{Cf}_.-]|(?!\s)\p{Cc})*)/giu;

const plainName = (name: string): string =>
  name
    .normalize("NFKD")
    .replace(/[\p{Cc}\p{Cf}\p{M}]/gu, "")
    .toLowerCase();

function broken(text: string, names: ReadonlySet<string>, own?: string): string {
  return text.replace(TAG, (whole, sign: string, gap: string, written: string) => {
    const name = plainName(written);
    const isTag = names.has(name) || (name === own?.toLowerCase() && /[/／⁄∕]/.test(gap));
    return isTag ? `${sign}\\${gap}${written}` : whole;
  });
}

/** How values are written into prompts. */
export interface Fences {
  /** A text that neither opens nor closes a tag of prompts, nor closes `own`. */
  harmless(text: string, own?: string): string;
  /** What a tool gave, without tags that say what is to be done. */
  harmlessResult(text: string): string;
  /** A value between tags of that name. Attributes are shortened and lose what would end them. */
  fence(name: string, value: Json, attributes?: Readonly<Record<string, string>>): string;
  /** A value in a tag of that name. A name that cannot be a tag, or is one of prompts, becomes an attribute. */
  named(name: string, value: Json): string;
  /** The opening tag of such a value. */
  opening(name: string): string;
}

const isOwnTag = (name: string) =>
  name === "value" || (TAG_NAME.test(name) && !STRUCTURE_NAMES.has(name.toLowerCase()));

export const FENCES: Fences = {
  harmless: (text, own) => broken(text, STRUCTURE_NAMES, own),
  harmlessResult: (text) => broken(text, DIRECTING),
  fence(name, value, attributes = {}) {
    const safe = Object.entries(attributes).map(
      ([key, attribute]) => [key, FENCES.harmless(attribute)] as const,
    );
    return tagged(name, FENCES.harmless(promptText(value), name), Object.fromEntries(safe));
  },
  named: (name, value) =>
    isOwnTag(name) ? FENCES.fence(name, value) : FENCES.fence("value", value, { name }),
  opening: (name) => (isOwnTag(name) ? `<${name}>` : `<value${attributesText({ name })}>`),
};

/** As runs of before the third edition write them, whose requests stay as they were. */
export const FENCES_BEFORE_3: Fences = {
  harmless: (text, own) =>
    text.replace(/<(?=\s*\/\s*([A-Za-z_][\w.-]*))/g, (sign, name: string) => {
      const closes = STRUCTURE_NAMES.has(name.toLowerCase()) || name.toLowerCase() === own?.toLowerCase();
      return closes ? "<\\" : sign;
    }),
  harmlessResult: (text) => text,
  fence: (name, value, attributes = {}) =>
    TAG_NAME.test(name)
      ? tagged(name, FENCES_BEFORE_3.harmless(promptText(value), name), attributes)
      : FENCES_BEFORE_3.fence("value", value, { name, ...attributes }),
  named: (name, value) => FENCES_BEFORE_3.fence(name, value),
  opening: (name) => `<${name}>`,
};

/** Fenced texts inside one outer tag; empty if there are none. */
export function group(
  name: StructureTag,
  parts: readonly string[],
  attributes: Readonly<Record<string, string>> = {},
): string {
  const there = parts.filter((part) => part !== "");
  return there.length === 0 ? "" : `<${name}${attributesText(attributes)}>\n${there.join("\n")}\n</${name}>`;
}

function tagged(name: string, text: string, attributes: Readonly<Record<string, string>>): string {
  const opening = `<${name}${attributesText(attributes)}>`;
  const isBlock = text.includes("\n") || text.length > LONGEST_INLINE;
  return isBlock ? `${opening}\n${text}\n</${name}>` : `${opening}${text}</${name}>`;
}

const attributesText = (attributes: Readonly<Record<string, string>>): string =>
  Object.entries(attributes)
    .map(
      ([key, value]) =>
        ` ${key}="${value
          .replace(/["<>\s]+/g, " ")
          .trim()
          .slice(0, 120)}"`,
    )
    .join("");
