import { z } from "zod";
import { isObject } from "./guards";
import { isSameJson } from "./json";

/**
 * A value as short as its schema allows: keys in the schema's order, without absent values and defaults. Reading the
 * result gives the same value again.
 */
export function writeTersely(schema: z.core.$ZodType, value: unknown): unknown {
  const def = definitionOf(schema);
  switch (def.type) {
    case "default":
    case "prefault":
    case "optional":
    case "nullable":
      return value === null || value === undefined ? value : writeTersely(def.innerType, value);
    case "pipe": {
      // z.preprocess puts the schema behind the transformation.
      const out = def.out;
      return writeTersely(out._zod.def.type === "transform" ? def.in : out, value);
    }
    case "array":
      return Array.isArray(value) ? value.map((item) => writeTersely(def.element, item)) : value;
    case "record":
      return isObject(value)
        ? Object.fromEntries(
            Object.entries(value).map(([key, inner]) => [key, writeTersely(def.valueType, inner)]),
          )
        : value;
    case "union": {
      const option = def.options.find((candidate) => {
        const parsed = z.safeParse(candidate, value);
        return parsed.success && isSameJson(parsed.data, value);
      });
      return option ? writeTersely(option, value) : value;
    }
    case "object":
      return isObject(value) ? writeObject(def.shape, value) : value;
    default:
      return value;
  }
}

/** The same for the fields of an object. */
export const writeFields = (
  schema: z.core.$ZodObject,
  value: Readonly<Record<string, unknown>>,
): Record<string, unknown> => writeObject(schema._zod.def.shape, value);

/** A schema's definition as one of all that zod has: its general type does not tell them apart, and zod says to cast. */
const definitionOf = (schema: z.core.$ZodType) => (schema as z.core.$ZodTypes)._zod.def;

function writeObject(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  value: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const written: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(shape)) {
    const inner = value[key];
    if (inner === undefined || (inner === null && isNullable(field)) || isDefault(field, inner)) continue;
    written[key] = writeTersely(field, inner);
  }
  // What an open object holds beside its named fields.
  for (const [key, inner] of Object.entries(value))
    if (!Object.hasOwn(shape, key) && inner !== undefined) written[key] = inner;
  return written;
}

function isDefault(schema: z.core.$ZodType, value: unknown): boolean {
  const { type } = schema._zod.def;
  if (type !== "default" && type !== "prefault") return false;
  const absent = z.safeParse(schema, undefined);
  return absent.success && isSameJson(absent.data, value);
}

/** Whether null means absent; in a field for any JSON it is a value. */
function isNullable(schema: z.core.$ZodType): boolean {
  const def = definitionOf(schema);
  if (def.type === "nullable") return true;
  return (def.type === "optional" || def.type === "default") && isNullable(def.innerType);
}
