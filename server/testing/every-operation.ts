import { z } from "zod";
import { operations } from "@/server/operations";
import type { Operation } from "@/server/operations/operation";
import { routeOf } from "@/server/operations/route";

// Every operation with a valid input, for tests that cover all operations.

/** "runs.start" and so on. */
export const everyOperation = Object.entries(operations).flatMap(([subject, group]) =>
  Object.entries<Operation>(group).map(([name, operation]) => ({ path: `${subject}.${name}`, operation })),
);

/** A value that matches a schema, without optional parts. `named`: values of fields by name. */
export function exampleOf(
  schema: z.ZodType,
  named: Readonly<Record<string, unknown>> = {},
  field = "",
): unknown {
  if (field in named) return named[field];
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(
      Object.entries<z.ZodType>(schema.shape).flatMap(([key, part]) => {
        const value = exampleOf(part, named, key);
        return value === undefined ? [] : [[key, value]];
      }),
    );
  if (schema instanceof z.ZodVoid || schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return undefined;
  if (schema instanceof z.ZodPrefault) return exampleOf(schema.unwrap() as z.ZodType, named);
  if (schema instanceof z.ZodNullable) return null;
  if (schema instanceof z.ZodPipe) return exampleOf(schema.in as z.ZodType, named);
  if (schema instanceof z.ZodLazy) return exampleOf(schema.unwrap() as z.ZodType, named);
  if (schema instanceof z.ZodUnion) return exampleOf(schema.options[0] as z.ZodType, named);
  if (schema instanceof z.ZodEnum) return schema.options[0];
  if (schema instanceof z.ZodLiteral) return [...schema.values][0];
  if (schema instanceof z.ZodArray) return [exampleOf(schema.element as z.ZodType, named)];
  if (schema instanceof z.ZodRecord) return {};
  if (schema instanceof z.ZodBoolean) return false;
  const [found] = [1, "a", "https://example.org/a", "a".repeat(24), "a".repeat(32), {}, null].filter(
    (value) => schema.safeParse(value).success,
  );
  return found;
}

/** The request of an operation's derived endpoint; null if it has none. */
export function requestOf(
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
): { method: string; path: string; body?: unknown } | null {
  if (!("route" in operation.http)) return null;
  const { method, path, params } = routeOf(operation, operation.http);
  const filled = params.reduce(
    (text, { param, field }) => text.replace(`{${param}}`, encodeURIComponent(String(input[field]))),
    path,
  );
  const used = new Set(params.map(({ field }) => field));
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !used.has(name)));
  if (method === "GET" || method === "DELETE") {
    const query = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)]));
    return { method, path: query.size > 0 ? `${filled}?${query}` : filled };
  }
  const { revision, ...changed } = rest;
  const body = operation.http.etag && method === "PUT" ? changed : rest;
  return { method, path: filled, body: operation.http.body ? body[operation.http.body] : body };
}
