import { textsOf } from "@/server/domain/base/guards";
import { isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { type Evaluator, NO_SCOPE } from "./evaluator";
import { calledName, isCallOf, jsonOf, pathOf, positional } from "./literals";
import type { CallExpr, ClassStatement, Entry, Expr } from "./program";

const MAX_DEPTH = 12;

/** A zod schema, a pydantic class or a written JSON Schema as JSON Schema; null where it cannot be told. */
export function schemaOf(type: Expr, evaluator: Evaluator, depth = 0): Raw | null {
  // About what a short text costs, since it becomes one.
  evaluator.work.spend(8);
  if (depth > MAX_DEPTH) return {};
  if (type.is === "name") {
    const value = evaluator.value(type.name);
    if (value) return schemaOf(value, evaluator, depth + 1);
    const declared = evaluator.class(type.name);
    return declared ? schemaOfClass(declared, evaluator, depth) : pythonName(type.name);
  }
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

function pythonName(name: string): Raw | null {
  switch (name) {
    case "str":
    case "datetime":
    case "date":
    case "UUID":
      return { type: "string" };
    case "int":
      return { type: "integer" };
    case "float":
    case "Decimal":
      return { type: "number" };
    case "bool":
      return { type: "boolean" };
    case "list":
    case "List":
      return { type: "array" };
    case "dict":
    case "Dict":
      return { type: "object" };
    case "Any":
      return {};
    default:
      return null;
  }
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
    const values = declared.fields.flatMap(({ value }) => (value && jsonOf(value)) ?? []);
    return {
      ...(values.every((value) => typeof value === "string") ? { type: "string" } : {}),
      enum: values,
    };
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
      ...(description ? { description } : {}),
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

function genericOf(of: Expr, index: Expr, evaluator: Evaluator, depth: number): Raw | null {
  const name = pathOf(of)?.at(-1);
  const inner =
    index.is === "list" ? index.items.flatMap((item) => ("spread" in item ? [] : [item])) : [index];
  const [first] = inner;
  switch (name) {
    case "list":
    case "List":
    case "Sequence":
    case "set":
    case "Set":
      return { type: "array", ...(first ? { items: schemaOf(first, evaluator, depth + 1) ?? {} } : {}) };
    case "dict":
    case "Dict":
    case "Mapping":
      return { type: "object" };
    case "Optional":
    case "Annotated":
      return first ? schemaOf(first, evaluator, depth + 1) : null;
    case "Union":
      return anyOf(inner, evaluator, depth);
    case "Literal": {
      const values = inner.flatMap((one) => jsonOf(one) ?? []);
      return {
        ...(values.every((value) => typeof value === "string") ? { type: "string" } : {}),
        enum: values,
      };
    }
    default:
      return null;
  }
}

/** `z.object({...}).optional()` and the like: what is called last stands outermost. */
function zodOf(call: CallExpr, evaluator: Evaluator, depth: number): Raw | null {
  if (call.callee.is !== "member") return null;
  const { of, key } = call.callee;
  const first = positional(call);
  if (of.is !== "name" || !/^(z|zod)$/.test(of.name)) {
    const inner = schemaOf(of, evaluator, depth + 1);
    if (!inner) return null;
    if (key === "describe") {
      const description = textIn(first, evaluator);
      return description ? { ...inner, description } : inner;
    }
    if (key === "int") return { ...inner, type: "integer" };
    if (key === "array") return { type: "array", items: inner };
    if (key === "nullable" || key === "nullish") return { anyOf: [inner, { type: "null" }] };
    return inner;
  }
  switch (key) {
    case "string":
    case "email":
    case "url":
    case "uuid":
    case "date":
      return { type: "string" };
    case "number":
      return { type: "number" };
    case "int":
      return { type: "integer" };
    case "boolean":
      return { type: "boolean" };
    case "null":
      return { type: "null" };
    case "any":
    case "unknown":
      return {};
    case "record":
      return { type: "object" };
    case "literal":
    case "enum": {
      const value = first ? jsonOf(first) : undefined;
      const values = Array.isArray(value) ? value : value === undefined ? [] : [value];
      return { ...(values.every((one) => typeof one === "string") ? { type: "string" } : {}), enum: values };
    }
    case "array":
      return { type: "array", ...(first ? { items: schemaOf(first, evaluator, depth + 1) ?? {} } : {}) };
    case "union":
    case "discriminatedUnion": {
      const list = call.args.find(({ value }) => value.is === "list")?.value;
      const options =
        list?.is === "list" ? list.items.flatMap((item) => ("spread" in item ? [] : [item])) : [];
      return anyOf(options, evaluator, depth);
    }
    case "object":
    case "strictObject":
    case "looseObject": {
      if (first?.is !== "record") return { type: "object" };
      const entries = first.entries.filter(
        (entry): entry is Entry => !("spread" in entry) && entry.key !== "__proto__",
      );
      const properties = Object.fromEntries(
        entries.map(({ key: name, value }) => [name, schemaOf(value, evaluator, depth + 1) ?? {}]),
      );
      return {
        type: "object",
        properties,
        required: entries.filter(({ value }) => !isOptional(value)).map((e) => e.key),
      };
    }
    default:
      return null;
  }
}

function isOptional(type: Expr): boolean {
  let current = type;
  while (current.is === "call" && current.callee.is === "member") {
    if (/^(optional|nullish|default)$/.test(current.callee.key)) return true;
    current = current.callee.of;
  }
  return false;
}

/** The properties of an object's schema; null where it is none. */
export function propertiesOf(schema: Raw | null): [name: string, schema: Raw][] | null {
  const properties = schema?.properties;
  if (!properties || typeof properties !== "object" || Array.isArray(properties)) return null;
  const entries = Object.entries(properties).map(([name, part]): [string, Raw] => [
    name,
    isRaw(part) ? part : {},
  ]);
  return entries.length > 0 ? entries : null;
}
