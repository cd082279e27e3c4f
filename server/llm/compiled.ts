import { z } from "zod";
import type { JsonSchema } from "@/server/domain/values";

const KEPT = 200;
const validators = new Map<string, z.ZodType | null>();

/** A validator for the schema, made once for equal schemas; null where the schema says what nothing here can check. */
export function compiled(schema: JsonSchema): z.ZodType | null {
  const key = JSON.stringify(schema);
  const known = validators.get(key);
  if (known !== undefined) return known;
  const validator = compile(schema);
  if (validators.size >= KEPT) validators.delete(validators.keys().next().value ?? "");
  validators.set(key, validator);
  return validator;
}

function compile(schema: JsonSchema): z.ZodType | null {
  try {
    return z.fromJSONSchema(schema);
  } catch {
    return null;
  }
}
