import { defined } from "@/server/domain/base/defined";
import { JsonSchema } from "@/server/domain/base/values";

/** A parameter of a tool, described for people. */
export interface Parameter {
  name: string;
  /** Nesting depth in objects and lists. */
  depth: number;
  type: string;
  required: boolean;
  description: string;
  /** As JSON; undefined if there is none. */
  standard?: string;
}

const MAX_DEPTH = 4;
const MAX_ROWS = 200;

/** The parameters of an object schema as table rows, nested ones below their parent. */
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

/** A type as text: "Text", "Whole number from 1 to 10", "One of a, b", "List of text". */
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
  const type = TYPES.get(schema.type);
  if (type !== undefined) return typeof type === "string" ? type : type(schema);
  return asSchema(schema.properties) ? "Object" : "Anything";
}

const TYPES = new Map<unknown, string | ((schema: JsonSchema) => string)>([
  ["string", "Text"],
  ["boolean", "Yes or no"],
  ["integer", (schema) => `Whole number${range(schema)}`],
  ["number", (schema) => `Number${range(schema)}`],
  ["null", "nothing"],
  ["array", describeList],
  ["object", "Object"],
]);

function describeList(schema: JsonSchema): string {
  const items = asSchema(schema.items);
  return items ? `List of ${lower(describeType(items))}` : "List";
}

const plain = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
const lower = (word: string) => word.charAt(0).toLowerCase() + word.slice(1);

// Zod adds these bounds to every integer; they mean nothing to people.
const isBound = (value: unknown): value is number =>
  typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER;

function range({ minimum, maximum }: JsonSchema): string {
  if (isBound(minimum) && isBound(maximum)) return ` from ${minimum} to ${maximum}`;
  if (isBound(minimum)) return ` ≥ ${minimum}`;
  return isBound(maximum) ? ` ≤ ${maximum}` : "";
}
