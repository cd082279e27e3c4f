import type { JsonSchema } from "@/server/domain/base/values";
import { errorTexts, readSchema } from "@/server/domain/schema/schema";

export type Checked = { ok: true; input: unknown } | { ok: false; errors: string[] };

/**
 * Checks values by a JSON Schema from outside, such as a tool's that is only known at run time, and fills in its
 * defaults. What the schema asks for and nobody here can check is left to whoever gets the value.
 */
export function checkBySchema(schema: JsonSchema, value: unknown): Checked {
  const ready = readSchema(schema);
  const input = ready.withDefaults(value);
  const errors = ready.errors(input);
  if (errors.length === 0) return { ok: true, input };
  // A default of a foreign schema may itself not fit; nobody is refused for that.
  return input !== value && ready.fits(value)
    ? { ok: true, input: value }
    : { ok: false, errors: errorTexts(errors) };
}
