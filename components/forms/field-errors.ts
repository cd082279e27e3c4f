import type { z } from "zod";

/** The first validation error of each field, by key. Empty if the form is valid. */
export function fieldErrors(schema: z.ZodType, value: unknown): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of schema.safeParse(value).error?.issues ?? [])
    errors[String(path[0])] ??= message;
  return errors;
}
