import { z } from "zod";
import { TAGS } from "@/server/operations/operation";
import { NAMED_SCHEMAS } from "@/server/operations/schemas";
import type { Endpoint } from "./endpoint";

type JsonObject = Record<string, unknown>;

const REFUSALS: Record<number, string> = {
  400: "The request is not as expected",
  401: "The token is missing or not good",
  403: "Only a person who is signed in may do this",
  404: "There is no such thing",
  409: "It conflicts with what is there",
  411: "The body's length is missing",
  412: "It was changed in between",
  413: "The body is too large",
  415: "The body is not JSON",
  422: "It was understood, and cannot be done; `details` say why",
  429: "Too many requests; `Retry-After` says how long to wait",
  500: "Something went wrong inside; the log says more under the id in `details`",
  503: "The server is busy; `Retry-After` says how long to wait",
};

/** The OpenAPI 3.1 description of a table of endpoints, made from the schemas that check the requests. */
export function openApi(endpoints: readonly Endpoint[], version: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const endpoint of endpoints) {
    const path = (paths[endpoint.path] ??= {});
    path[endpoint.method.toLowerCase()] = operation(endpoint);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Troupe",
      version,
      description:
        "Keep workflows of role-based AI agents, run them and follow what happens. Every request but the public ones carries `Authorization: Bearer TOKEN`; tokens are made in the settings.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/api/v1" }],
    security: [{ token: [] }],
    tags: TAGS.map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "A token from the settings" },
      },
      schemas: namedSchemas(),
    },
  };
}

function operation(endpoint: Endpoint): JsonObject {
  const parameters = [
    ...endpoint.parts.filter((part) => part.startsWith("{")).map((part) => pathParameter(part.slice(1, -1))),
    ...queryParameters(endpoint.query),
    ...Object.entries(endpoint.reads ?? {})
      // OpenAPI has a place of its own for this one.
      .filter(([name]) => name !== "Accept")
      .map(([name, description]) => ({ name, in: "header", description, schema: { type: "string" } })),
  ];
  return {
    operationId: endpoint.name,
    summary: endpoint.summary,
    ...(endpoint.about ? { description: endpoint.about } : {}),
    tags: [endpoint.tag],
    ...(endpoint.isPublic ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(endpoint.body ? { requestBody: requestBody(endpoint.body) } : {}),
    responses: {
      [endpoint.success.status]: success(endpoint.success),
      ...(endpoint.success.empty ? { 204: { description: endpoint.success.empty } } : {}),
      ...refusals(endpoint),
    },
  };
}

const pathParameter = (name: string) => ({ name, in: "path", required: true, schema: { type: "string" } });

function queryParameters(query: z.ZodType | undefined): JsonObject[] {
  if (!query) return [];
  const { properties = {}, required = [] } = schemaOf(query, "input") as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(description ? { description } : {}),
    schema,
  }));
}

const requestBody = (body: z.ZodType) => ({
  required: !body.safeParse(undefined).success,
  content: { "application/json": { schema: schemaOf(body, "input") } },
});

function success({ about, schema, stream }: Endpoint["success"]): JsonObject {
  const content = {
    ...(schema ? { "application/json": { schema: schemaOf(schema, "output") } } : {}),
    ...(stream ? { "text/event-stream": { schema: { type: "string", description: stream } } } : {}),
  };
  return { description: about, ...(Object.keys(content).length > 0 ? { content } : {}) };
}

function refusals(endpoint: Endpoint): JsonObject {
  const statuses = new Set([
    400,
    ...(endpoint.isPublic ? [] : [401]),
    ...(endpoint.body ? [411, 413, 415] : []),
    ...(endpoint.refusals ?? []),
    429,
    500,
  ]);
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  return Object.fromEntries(
    [...statuses].sort().map((status) => [status, { description: REFUSALS[status], content }]),
  );
}

/** Schemas that are named once and referred to everywhere else. */
function registryOf(): z.core.$ZodRegistry<{ id?: string }> {
  const registry = z.registry<{ id?: string }>();
  for (const [id, schema] of Object.entries(NAMED_SCHEMAS)) registry.add(schema, { id });
  return registry;
}

const uri = (id: string) => `#/components/schemas/${id}`;

function namedSchemas(): JsonObject {
  const { schemas } = z.toJSONSchema(registryOf(), { io: "input", uri, unrepresentable: "any" });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => [id, withoutIds(schema as JsonObject)]),
  );
}

/** The schema of one place; what has a name is referred to by it. */
function schemaOf(schema: z.ZodType, io: "input" | "output"): JsonObject {
  const registry = registryOf();
  if (!registry.has(schema)) registry.add(schema, { id: "Here" });
  const id = registry.get(schema)?.id ?? "Here";
  if (id !== "Here") return { $ref: uri(id) };
  const { schemas } = z.toJSONSchema(registry, { io, uri, unrepresentable: "any" });
  return withoutIds(schemas.Here as JsonObject);
}

function withoutIds({ $schema, $id, ...schema }: JsonObject): JsonObject {
  return schema;
}
