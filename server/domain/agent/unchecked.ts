import { parseJson } from "@/server/domain/base/json";
import { asSchema } from "@/server/domain/base/json-schema";
import type { JsonSchema } from "@/server/domain/base/values";
import { compileRegex, PatternError } from "@/server/domain/regex/regex";
import { KEYWORDS } from "@/server/domain/schema/keywords";
import { readSchema, type Schema } from "@/server/domain/schema/schema";
import type { Guardrail, RoleDefinition } from "./role";

const MAX_REPORTED = 3;

/** What of a schema is not checked, as sentences for whoever writes or approves it; empty where all of it is. */
export function describeUnchecked(schema: JsonSchema | Schema): string[] {
  const { unchecked } = isReady(schema) ? schema : readSchema(schema);
  const reported = unchecked
    .slice(0, MAX_REPORTED)
    .map(({ path, message }) =>
      path.length > 0 ? `At ${path.join(".")}: ${message}.` : `${upperFirst(message)}.`,
    );
  const more = unchecked.length - reported.length;
  return more > 0 ? [...reported, `${more} more ${more === 1 ? "isn't" : "aren't"} checked.`] : reported;
}

const isReady = (schema: JsonSchema | Schema): schema is Schema => typeof schema.errors === "function";
const upperFirst = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** What of a guardrail is not checked, or not as quickly as others; null where there is nothing to say. */
export function guardrailNote({ kind, spec }: Pick<Guardrail, "kind" | "spec">): string | null {
  if (kind === "regex") return patternNote(spec);
  if (kind !== "json_schema") return null;
  try {
    return describeUnchecked(asSchema(parseJson(spec))).join(" ") || null;
  } catch {
    return null; // No JSON: that is told elsewhere.
  }
}

/** What of a role's schemas and rules is not checked, with the place in the role. */
export function uncheckedOfRole(
  role: Pick<RoleDefinition, "input_schema" | "output_schema" | "guardrails">,
): { at: string; message: string }[] {
  const schemas = (["input_schema", "output_schema"] as const).flatMap((at) =>
    describeUnchecked(role[at] ?? {}).map((message) => ({ at, message })),
  );
  const rules = role.guardrails.flatMap((rule, k) => {
    const message = guardrailNote(rule);
    return message === null ? [] : [{ at: `guardrails.${k}.spec`, message }];
  });
  return [...schemas, ...rules];
}

/** Why a pattern is tried in the sandbox, one after the other and only for a second; null where it is not. */
function patternNote(pattern: string): string | null {
  try {
    compileRegex(pattern);
    return null;
  } catch (error) {
    if (!(error instanceof PatternError) || !error.isValid) return null;
    return `Runs in the sandbox, one pattern at a time, with a timeout of 1 s: ${error.message}.`;
  }
}

/** Rules about the state as a whole: its keys are filled one by one, and each is checked by itself. */
export function uncheckedOfState(schema: JsonSchema): string[] {
  return Object.keys(schema).filter((word) => KEYWORDS.has(word) && word !== "properties" && word !== "type");
}
