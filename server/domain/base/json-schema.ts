import { isObject, textsOf } from "./guards";
import type { Json, JsonSchema } from "./values";

/** What the words of a JSON Schema hold, where nothing is checked by it: for forms, prompts and made-up answers. */

/** What stands where a schema may stand; `{}`, which takes everything, where it is none. */
export const asSchema = (value: Json | undefined): JsonSchema => (isObject(value) ? value : {});

/** The values of `enum`; undefined where it has none. */
export const enumOf = (schema: JsonSchema): Json[] | undefined =>
  Array.isArray(schema.enum) ? schema.enum : undefined;

/** What `anyOf` or `oneOf` offers; undefined where there is neither. */
export function optionsOf(schema: JsonSchema): Json[] | undefined {
  const options = schema.anyOf ?? schema.oneOf;
  return Array.isArray(options) ? options : undefined;
}

/** The named fields of an object; none where the schema names none. */
export const propertiesOf = (schema: JsonSchema | undefined): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(asSchema(schema?.properties)).map(([name, field]) => [name, asSchema(field)]),
  );

/** The fields that an object must have. */
export const requiredOf = (schema: JsonSchema | undefined): Set<string> => new Set(textsOf(schema?.required));
