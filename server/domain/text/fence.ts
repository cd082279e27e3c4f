import type { Json } from "@/server/domain/base/values";

/*
 * Values in prompts stand between tags, so that a model can tell what it is asked from what it is given. A value cannot
 * close the tag that it stands in, nor one of those around it: what it says stays inside, whatever it is.
 */

/** The tags that prompts are built from; what stands in any of them may stand in another. */
const STRUCTURE = [
  ...["task", "goal", "inputs", "expected_output", "results", "result", "value", "memory"],
  ...["crew_status", "plan", "bulletin", "reply", "answer", "reason", "context", "summary"],
  ...["proposal", "votes", "vote", "rule", "criteria", "outcome", "failure", "labels"],
] as const;
const STRUCTURE_NAMES: ReadonlySet<string> = new Set(STRUCTURE);
export type StructureTag = (typeof STRUCTURE)[number];

const TAG_NAME = /^[A-Za-z_][\w.-]*$/;
/** A value of so many characters, or of several lines, stands on lines of its own. */
const LONGEST_INLINE = 200;

/** How a value reads in a prompt: text as it is, the rest as JSON, nothing as nothing. */
export const promptText = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** A text that closes none of the tags of prompts, nor `own`. */
export function harmless(text: string, own?: string): string {
  return text.replace(/<(?=\s*\/\s*([A-Za-z_][\w.-]*))/g, (sign, name: string) => {
    const closes = STRUCTURE_NAMES.has(name.toLowerCase()) || name.toLowerCase() === own?.toLowerCase();
    return closes ? "<\\" : sign;
  });
}

/**
 * A value between tags of that name; a name that is none becomes an attribute. Attributes are shortened and lose what
 * would end them.
 */
export function fence(name: string, value: Json, attributes: Readonly<Record<string, string>> = {}): string {
  if (!TAG_NAME.test(name)) return fence("value", value, { name, ...attributes });
  return tagged(name, harmless(promptText(value), name), attributes);
}

/** Texts that are fenced themselves, between tags around all of them; nothing where there are none. */
export function group(name: StructureTag, parts: readonly string[]): string {
  const there = parts.filter((part) => part !== "");
  return there.length === 0 ? "" : `<${name}>\n${there.join("\n")}\n</${name}>`;
}

function tagged(name: string, text: string, attributes: Readonly<Record<string, string>>): string {
  const said = Object.entries(attributes)
    .map(
      ([key, value]) =>
        ` ${key}="${value
          .replace(/["<>\s]+/g, " ")
          .trim()
          .slice(0, 120)}"`,
    )
    .join("");
  const isBlock = text.includes("\n") || text.length > LONGEST_INLINE;
  return isBlock ? `<${name}${said}>\n${text}\n</${name}>` : `<${name}${said}>${text}</${name}>`;
}
