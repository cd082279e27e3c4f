import { must } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";

/** A check that a guardrail may name. */
export interface GuardrailFunction {
  name: string;
  description: string;
  /** Null where the value passes, else what is wrong, for whoever made it. */
  check(value: JsonObject): string | null;
}

const SECRET =
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----|\b(?:sk-[\w-]{16,200}|gh[pousr]_\w{30,100}|xox[abpr]-[\w-]{10,100}|AIza[\w-]{30,60}|AKIA[A-Z0-9]{16})/;
const PERSONAL = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}|\b(?:\d[ -]?){13,19}\b/;
const PLACEHOLDER = /\b(?:TODO|TBD|FIXME|lorem ipsum)\b|\[(?:insert|your|placeholder)\b[^\]\n]{0,80}\]/i;

const functions: readonly GuardrailFunction[] = [
  {
    name: "not_empty",
    description: "No empty values",
    check: (value) => {
      const empty = Object.keys(value).filter((key) => isEmpty(must(value, key)));
      return empty.length > 0 ? `Fill in these values: ${empty.join(", ")}.` : null;
    },
  },
  {
    name: "no_placeholders",
    description: "No placeholders such as TODO or [insert name]",
    check: (value) => found(PLACEHOLDER, value, "is a placeholder. Replace it"),
  },
  {
    name: "no_secrets",
    description: "No API keys, access tokens or private keys",
    // What was found is not repeated: it would be kept with the run.
    check: (value) =>
      textsOf(value).some((text) => SECRET.test(text)) ? "The value contains a secret key. Remove it." : null,
  },
  {
    name: "no_personal_data",
    description: "No email addresses or card numbers",
    check: (value) =>
      textsOf(value).some((text) => PERSONAL.test(text))
        ? "The value contains an email address or card number. Remove it."
        : null,
  },
  {
    name: "valid_json",
    description: "All text values are valid JSON",
    check: (value) =>
      textsOf(value).some((text) => !isJson(text)) ? "The value isn't valid JSON. Return only JSON." : null,
  },
  {
    name: "names_sources",
    description: "Cites at least one source URL",
    check: (value) =>
      textsOf(value).some((text) => /\bhttps?:\/\/[^\s"<>]{4}/.test(text))
        ? null
        : "The value cites no source. Add the URL of each source.",
  },
];

// A Map, so that a name from a file can only ever find what was registered here.
const registry = new Map(functions.map((one) => [one.name, one]));

export function findGuardrailFunction(name: string): GuardrailFunction | undefined {
  return registry.get(name);
}

export function guardrailFunctions(): GuardrailFunction[] {
  return [...registry.values()];
}

function textsOf(value: Json): string[] {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap((inner: Json) => textsOf(inner));
}

function found(pattern: RegExp, value: JsonObject, what: string): string | null {
  for (const text of textsOf(value)) {
    const match = pattern.exec(text)?.[0];
    if (match !== undefined) return `"${match.slice(0, 80)}" ${what}.`;
  }
  return null;
}

const isEmpty = (value: Json): boolean =>
  value === null ||
  (typeof value === "string"
    ? value.trim() === ""
    : typeof value === "object" && Object.keys(value).length === 0);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
