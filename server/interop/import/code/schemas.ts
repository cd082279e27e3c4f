import { defined } from "@/server/domain/base/defined";
import { textsOf } from "@/server/domain/base/guards";
import { isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { type Evaluator, NO_SCOPE } from "./evaluator";
import { calledName, isCallOf, jsonOf, pathOf, positional } from "./literals";
import type { CallExpr, ClassStatement, Entry, Expr } from "./program";

const MAX_DEPTH = 12;

/** A zod schema, a pydantic class or a written JSON Schema as JSON Schema; null if unknown. */
export function schemaOf(type: Expr, evaluator: Evaluator, depth = 0): Raw | null {
  // About the cost of the short text that it becomes.
  evaluator.work.spend(8);
  if (depth > MAX_DEPTH) return {};
  if (type.is === "name") return schemaOfName(type.name, evaluator, depth);
  if (type.is === "nothing") return { type: "null" };
  if (type.is === "text") return typeof type.parts[0] === "string" ? pythonName(type.parts[0]) : null;
  if (type.is === "binary" && type.operator === "|") return anyOf([type.left, type.right], evaluator, depth);
  if (type.is === "index") return genericOf(type.of, type.index, evaluator, depth);
  if (type.is === "record") return writtenSchema(type);
  if (type.is === "member") return pythonName(type.key);
  if (type.is !== "call") return null;
  const wrapped = calledName(type) === "AgentOutputSchema" ? positional(type) : null;
  return wrapped ? schemaOf(wrapped, evaluator, depth + 1) : zodOf(type, evaluator, depth);
}

function schemaOfName(name: string, evaluator: Evaluator, depth: number): Raw | null {
  const value = evaluator.value(name);
  if (value) return schemaOf(value, evaluator, depth + 1);
  const declared = evaluator.class(name);
  return declared ? schemaOfClass(declared, evaluator, depth) : pythonName(name);
}

const PYTHON_TYPES: ReadonlyMap<string, string> = new Map([
  ["str", "string"],
  ["datetime", "string"],
  ["date", "string"],
  ["UUID", "string"],
  ["int", "integer"],
  ["float", "number"],
  ["Decimal", "number"],
  ["bool", "boolean"],
  ["list", "array"],
  ["List", "array"],
  ["dict", "object"],
  ["Dict", "object"],
]);

function pythonName(name: string): Raw | null {
  if (name === "Any") return {};
  const type = PYTHON_TYPES.get(name);
  return type === undefined ? null : { type };
}

/** A JSON Schema in the code, also in the wrapper of the Responses API. */
function writtenSchema(type: Expr): Raw | null {
  const value = jsonOf(type);
  if (!value || typeof value !== "object" || Array.isArray(value)) return null;
  const inner = value.schema;
  const schema = inner && typeof inner === "object" && !Array.isArray(inner) ? inner : value;
  return "type" in schema || "properties" in schema || "enum" in schema ? schema : null;
}

function schemaOfClass(declared: ClassStatement, evaluator: Evaluator, depth: number): Raw {
  evaluator.work.spend(1 + declared.fields.length);
  const names = declared.bases.map((base) => pathOf(base)?.at(-1) ?? "");
  if (names.some((name) => /Enum$/.test(name))) {
    return enumOf(declared.fields.flatMap(({ value }) => (value && jsonOf(value)) ?? []));
  }
  const properties: Raw = {};
  const required: string[] = [];
  for (const base of names) {
    const parent = depth < MAX_DEPTH ? evaluator.class(base) : undefined;
    const inherited = parent && parent !== declared ? schemaOfClass(parent, evaluator, depth + 1) : null;
    Object.assign(properties, inherited?.properties);
    required.push(...textsOf(inherited?.required));
  }
  for (const { name, type, value } of declared.fields) {
    if (!type || name === "model_config") continue;
    const field = isCallOf(value, "Field", "field") ? value : null;
    const description = textIn(field && fieldOf(field, "description"), evaluator);
    properties[name] = {
      ...(schemaOf(type, evaluator, depth + 1) ?? {}),
      ...defined({ description: description || undefined }),
    };
    if (value === null || (field && isRequired(field))) required.push(name);
  }
  return { type: "object", properties, required };
}

const textIn = (expr: Expr | null, evaluator: Evaluator): string | null =>
  expr && evaluator.text({ expr, scope: NO_SCOPE });

const fieldOf = (call: CallExpr, name: string): Expr | null =>
  call.args.find((argument) => argument.name === name)?.value ?? null;

function isRequired(field: CallExpr): boolean {
  const first = positional(field);
  if (fieldOf(field, "default") || fieldOf(field, "default_factory")) return false;
  return first === null || first.is === "other" || (first.is === "name" && first.name === "...");
}

function anyOf(options: readonly Expr[], evaluator: Evaluator, depth: number): Raw {
  const schemas = options.map((option) => schemaOf(option, evaluator, depth + 1) ?? {});
  const [only, ...more] = schemas.filter(({ type }) => type !== "null");
  return only && more.length === 0 ? only : { anyOf: schemas };
}

const enumOf = (values: unknown[]): Raw => ({
  ...defined({ type: values.every((value) => typeof value === "string") ? "string" : undefined }),
  enum: values,
});

const arrayOf = (item: Expr | null | undefined, evaluator: Evaluator, depth: number): Raw => ({
  type: "array",
  ...defined({ items: item ? (schemaOf(item, evaluator, depth + 1) ?? {}) : undefined }),
});

const itemsOf = (list: Expr | undefined): Expr[] =>
  list?.is === "list" ? list.items.flatMap((item) => ("spread" in item ? [] : [item])) : [];

function genericOf(of: Expr, index: Expr, evaluator: Evaluator, depth: number): Raw | null {
  const inner = index.is === "list" ? itemsOf(index) : [index];
  const [first] = inner;
  switch (pathOf(of)?.at(-1)) {
    case "list":
    case "List":
    case "Sequence":
    case "set":
    case "Set":
      return arrayOf(first, evaluator, depth);
    case "dict":
    case "Dict":
    case "Mapping":
      return { type: "object" };
    case "Optional":
    case "Annotated":
      return first ? schemaOf(first, evaluator, depth + 1) : null;
    case "Union":
      return anyOf(inner, evaluator, depth);
    case "Literal":
      return enumOf(inner.flatMap((one) => jsonOf(one) ?? []));
    default:
      return null;
  }
}

const ZOD_TYPES: ReadonlyMap<string, string> = new Map([
  ["string", "string"],
  ["email", "string"],
  ["url", "string"],
  ["uuid", "string"],
  ["date", "string"],
  ["number", "number"],
  ["int", "integer"],
  ["boolean", "boolean"],
  ["null", "null"],
  ["record", "object"],
]);

/** `z.object({...}).optional()` and the like: the last call is the outermost. */
function zodOf(call: CallExpr, evaluator: Evaluator, depth: number): Raw | null {
  if (call.callee.is !== "member") return null;
  const { of, key } = call.callee;
  const first = positional(call);
  if (of.is !== "name" || !/^(z|zod)$/.test(of.name)) {
    const inner = schemaOf(of, evaluator, depth + 1);
    return inner && refined(inner, key, key === "describe" ? textIn(first, evaluator) : null);
  }
  const type = ZOD_TYPES.get(key);
  if (type !== undefined) return { type };
  switch (key) {
    case "any":
    case "unknown":
      return {};
    case "literal":
    case "enum": {
      const value = first ? jsonOf(first) : undefined;
      return enumOf(Array.isArray(value) ? value : value === undefined ? [] : [value]);
    }
    case "array":
      return arrayOf(first, evaluator, depth);
    case "union":
    case "discriminatedUnion":
      return anyOf(itemsOf(call.args.find(({ value }) => value.is === "list")?.value), evaluator, depth);
    case "object":
    case "strictObject":
    case "looseObject":
      return objectOf(first, evaluator, depth);
    default:
      return null;
  }
}

/** A zod schema after a method such as `.int()`. */
function refined(inner: Raw, method: string, description: string | null): Raw {
  switch (method) {
    case "describe":
      return description ? { ...inner, description } : inner;
    case "int":
      return { ...inner, type: "integer" };
    case "array":
      return { type: "array", items: inner };
    case "nullable":
    case "nullish":
      return { anyOf: [inner, { type: "null" }] };
    default:
      return inner;
  }
}

function objectOf(fields: Expr | null, evaluator: Evaluator, depth: number): Raw {
  if (fields?.is !== "record") return { type: "object" };
  const entries = fields.entries.filter(
    (entry): entry is Entry => !("spread" in entry) && entry.key !== "__proto__",
  );
  const properties = Object.fromEntries(
    entries.map(({ key, value }) => [key, schemaOf(value, evaluator, depth + 1) ?? {}]),
  );
  const required = entries.filter(({ value }) => !isOptional(value)).map(({ key }) => key);
  return { type: "object", properties, required };
}

function isOptional(type: Expr): boolean {
  let current = type;
  while (current.is === "call" && current.callee.is === "member") {
    if (/^(optional|nullish|default)$/.test(current.callee.key)) return true;
    current = current.callee.of;
  }
  return false;
}

/** The properties of an object's schema; null if it has none. */
export function propertiesOf(schema: Raw | null): [name: string, schema: Raw][] | null {
  const properties = schema?.properties;
  if (!properties || typeof properties !== "object" || Array.isArray(properties)) return null;
  const entries = Object.entries(properties).map(([name, part]): [string, Raw] => [
    name,
    isRaw(part) ? part : {},
  ]);
  return entries.length > 0 ? entries : null;
}
