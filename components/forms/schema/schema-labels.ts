import { defined } from "@/server/domain/base/defined";
import { JsonSchema } from "@/server/domain/base/values";

/** One parameter of a tool, in words. */
export interface Parameter {
  name: string;
  /** How deep it lies inside of objects and lists. */
  depth: number;
  type: string;
  required: boolean;
  description: string;
  /** As JSON; absent where there is none. */
  standard?: string;
}

const MAX_DEPTH = 4;
const MAX_ROWS = 200;

/** The parameters of an object schema as rows of a table, inner ones below the one they belong to. */
export function parametersOf(schema: JsonSchema): Parameter[] {
  const rows: Parameter[] = [];
  collect(schema, 0, rows);
  return rows;
}

function collect(schema: JsonSchema, depth: number, rows: Parameter[]): void {
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  for (const [name, inner] of Object.entries(asSchema(schema.properties) ?? {})) {
    if (rows.length >= MAX_ROWS) return;
    const field = asSchema(inner) ?? {};
    rows.push(
      defined({
        name,
        depth,
        type: describeType(field),
        required: required.includes(name),
        description: typeof field.description === "string" ? field.description : "",
        standard: field.default === undefined ? undefined : JSON.stringify(field.default),
      }),
    );
    if (depth + 1 >= MAX_DEPTH) continue;
    const items = asSchema(field.items);
    if (asSchema(field.properties)) collect(field, depth + 1, rows);
    else if (items && asSchema(items.properties)) collect(items, depth + 1, rows);
  }
}

export function asSchema(value: unknown): JsonSchema | undefined {
  const read = JsonSchema.safeParse(value);
  return read.success && !Array.isArray(value) ? read.data : undefined;
}

/** What a value must be: "Text", "Whole number from 1 to 10", "One of a, b", "List of text". */
export function describeType(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return `One of ${schema.enum.map(plain).join(", ")}`;
  if (schema.const !== undefined) return plain(schema.const);
  const several = Array.isArray(schema.anyOf)
    ? schema.anyOf
    : Array.isArray(schema.oneOf)
      ? schema.oneOf
      : null;
  if (several) return several.map((one) => describeType(asSchema(one) ?? {})).join(" or ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => describeType({ type })).join(" or ");
  switch (schema.type) {
    case "string":
      return "Text";
    case "boolean":
      return "Yes or no";
    case "integer":
      return `Whole number${range(schema)}`;
    case "number":
      return `Number${range(schema)}`;
    case "null":
      return "nothing";
    case "array": {
      const items = asSchema(schema.items);
      return items ? `List of ${lower(describeType(items))}` : "List";
    }
    case "object":
      return "Object";
    default:
      return asSchema(schema.properties) ? "Object" : "Anything";
  }
}

const plain = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
const lower = (word: string) => word.charAt(0).toLowerCase() + word.slice(1);

// JSON Schema from zod bounds every whole number by these; they say nothing to a person.
const isBound = (value: unknown): value is number =>
  typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER;

function range({ minimum, maximum }: JsonSchema): string {
  if (isBound(minimum) && isBound(maximum)) return ` from ${minimum} to ${maximum}`;
  if (isBound(minimum)) return ` from ${minimum}`;
  return isBound(maximum) ? ` up to ${maximum}` : "";
}
