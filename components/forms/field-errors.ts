import type { z } from "zod";

/** What a schema finds in the values of a form, by field: the first error of each. Empty where they are valid. */
export function fieldErrors(schema: z.ZodType, value: unknown): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of schema.safeParse(value).error?.issues ?? [])
    errors[String(path[0])] ??= message;
  return errors;
}
