import type { z } from "zod";
import { issueText } from "@/server/domain/base/issues/issue-text";

/** The first validation error of each field, by key. Empty if the form is valid. */
export function fieldErrors(schema: z.ZodType, value: unknown): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const issue of schema.safeParse(value).error?.issues ?? [])
    errors[String(issue.path[0])] ??= issueText(issue);
  return errors;
}
