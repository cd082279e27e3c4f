import type { z } from "zod";
import type { JsonSchema } from "@/server/domain/values";
import { compiled } from "@/server/llm/compiled";
import { withoutUnsafeParts } from "@/server/llm/schema";
import { readableIssues } from "./define";

export type Checked = { ok: true; input: unknown } | { ok: false; errors: string[] };

/**
 * Checks values by a JSON Schema from outside, such as a tool's that is only known at run time. Words that cannot be
 * checked safely, patterns above all, are left to whoever gets the value.
 */
export function checkBySchema(schema: JsonSchema, value: unknown): Checked {
  const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
  if (schema.type === "object" && !isObject)
    return { ok: false, errors: ["The arguments must be an object"] };
  const chars = JSON.stringify(value)?.length ?? 0;
  const checker: z.ZodType | null = compiled(withoutUnsafeParts(schema, chars));
  if (!checker) return { ok: true, input: value };
  const read = checker.safeParse(value);
  return read.success ? { ok: true, input: read.data } : { ok: false, errors: readableIssues(read.error) };
}
