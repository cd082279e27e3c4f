import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { isObject } from "@/server/domain/base/guards";
import { parseJson } from "@/server/domain/base/json";
import { asSchema, propertiesOf, requiredOf } from "@/server/domain/base/json-schema";
import { present } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { NAMED_SCHEMAS } from "@/server/operations/named-schemas";
import { API_TAGS } from "@/server/operations/operation";
import type { Endpoint } from "./endpoint";

const REFUSALS: Record<number, string> = {
  400: "Invalid request",
  401: "Missing or invalid token",
  403: "Missing scope, or only a signed-in person can do this",
  404: "Not found",
  409: "Conflict with the current state",
  411: "Content-Length is missing",
  412: "Precondition failed: changed since last read",
  413: "The body is too large",
  415: "The body is not JSON",
  422: "Valid, but can't be processed; see `details`",
  429: "Too many requests; retry after `Retry-After` seconds",
  500: "Internal error; look up the ID from `details` in the server log",
  503: "Server busy; retry after `Retry-After` seconds",
};

/** The OpenAPI 3.1 description of a table of endpoints, made from the schemas that check the requests. */
export function openApi(endpoints: readonly Endpoint[], version: string): JsonObject {
  const { named, describe } = describeSchemas(endpoints.flatMap(placesOf));
  const paths: Record<string, JsonObject> = {};
  for (const endpoint of endpoints) {
    const path = (paths[endpoint.path] ??= {});
    path[endpoint.method.toLowerCase()] = operation(endpoint, describe);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Troupe",
      version,
      description:
        "Store workflows of role-based AI agents, run them and follow their events. All endpoints except the public ones require `Authorization: Bearer TOKEN`. Create tokens in Settings.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/api/v1" }],
    security: [{ token: [] }],
    tags: API_TAGS.map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "A token created in Settings" },
      },
      schemas: named,
    },
  };
}

/** The schemas of an endpoint, and whether they are of what comes in or goes out. */
const placesOf = ({ query, body, success }: Endpoint): { schema: z.ZodType; io: Io }[] => [
  ...[query, body].flatMap((schema) => (schema ? [{ schema, io: "input" as const }] : [])),
  ...(success.schema ? [{ schema: success.schema, io: "output" as const }] : []),
];

function operation(endpoint: Endpoint, describe: Describe): JsonObject {
  const parameters = [
    ...endpoint.parts.filter((part) => part.startsWith("{")).map((part) => pathParameter(part.slice(1, -1))),
    ...queryParameters(endpoint.query, describe),
    ...Object.entries(endpoint.reads ?? {})
      // OpenAPI has a dedicated place for this one.
      .filter(([name]) => name !== "Accept")
      .map(([name, description]) => ({ name, in: "header", description, schema: { type: "string" } })),
  ];
  return {
    operationId: endpoint.name,
    summary: endpoint.summary,
    ...defined({ description: endpoint.about || undefined }),
    tags: [endpoint.tag],
    ...defined({
      security: endpoint.needs === "public" ? [] : undefined,
      "x-scope": endpoint.needs === "public" ? undefined : [endpoint.needs].flat().join(" "),
      parameters: parameters.length > 0 ? parameters : undefined,
      requestBody: endpoint.body ? requestBody(endpoint.body, describe) : undefined,
    }),
    responses: {
      [endpoint.success.status]: success(endpoint.success, describe),
      ...(endpoint.success.pending
        ? { 202: success({ ...endpoint.success, about: endpoint.success.pending }, describe) }
        : {}),
      ...defined({ 204: endpoint.success.empty ? { description: endpoint.success.empty } : undefined }),
      ...refusals(endpoint),
    },
  };
}

const pathParameter = (name: string) => ({ name, in: "path", required: true, schema: { type: "string" } });

function queryParameters(query: z.ZodType | undefined, describe: Describe): JsonObject[] {
  if (!query) return [];
  const described = describe(query, "input");
  const required = requiredOf(described);
  return Object.entries(propertiesOf(described)).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.has(name),
    ...defined({ description: description || undefined }),
    schema,
  }));
}

const requestBody = (body: z.ZodType, describe: Describe) => ({
  required: !body.safeParse(undefined).success,
  content: { "application/json": { schema: describe(body, "input") } },
});

function success({ about, schema, stream }: Endpoint["success"], describe: Describe): JsonObject {
  const content = {
    ...(schema ? { "application/json": { schema: describe(schema, "output") } } : {}),
    ...(stream ? { "text/event-stream": { schema: { type: "string", description: stream } } } : {}),
  };
  return { description: about, ...(Object.keys(content).length > 0 ? { content } : {}) };
}

function refusals(endpoint: Endpoint): JsonObject {
  const statuses = new Set([
    400,
    ...(endpoint.needs === "public" ? [] : [401, 403]),
    ...(endpoint.body ? [411, 413, 415] : []),
    ...(endpoint.refusals ?? []),
    429,
    500,
  ]);
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  return Object.fromEntries(
    [...statuses]
      .sort()
      .map((status) => [status, { description: present(REFUSALS[status], "what a refusal means"), content }]),
  );
}

const uri = (id: string) => `#/components/schemas/${id}`;

type Io = "input" | "output";
/** The schema of a place; what has a name is referred to by it. */
type Describe = (schema: z.ZodType, io: Io) => JsonObject;

/** Schemas that are named once and referenced everywhere else, and what each place adds to them. */
function describeSchemas(places: readonly { schema: z.ZodType; io: Io }[]): {
  named: JsonObject;
  describe: Describe;
} {
  // Describing one schema describes every named one with it: so all of a kind are described at once.
  const input = describeAll(
    places.filter(({ io }) => io === "input").map(({ schema }) => schema),
    "input",
  );
  const output = describeAll(
    places.filter(({ io }) => io === "output").map(({ schema }) => schema),
    "output",
  );
  return {
    named: input.named,
    describe: (schema, io) => (io === "input" ? input : output).describe(schema),
  };
}

function describeAll(places: readonly z.ZodType[], io: Io) {
  const registry = z.registry<{ id?: string }>();
  for (const [id, schema] of Object.entries(NAMED_SCHEMAS)) registry.add(schema, { id });
  for (const [at, schema] of places.entries())
    if (!registry.has(schema)) registry.add(schema, { id: `${PLACE}${at}` });
  const { schemas } = z.toJSONSchema(registry, { io, uri, unrepresentable: "any" });
  const described = asSchema(parseJson(JSON.stringify(schemas)));
  /** A place nested in another has no name to look up: its schema is inlined. */
  const writtenOut = (schema: JsonObject): JsonObject => {
    const { $ref, ...more } = schema;
    if (typeof $ref !== "string" || !$ref.startsWith(uri(PLACE)))
      return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, withPlaces(part)]));
    return writtenOut({ ...schemaNamed($ref.slice(uri("").length)), ...more });
  };
  const withPlaces = (value: Json): Json =>
    Array.isArray(value) ? value.map(withPlaces) : isObject(value) ? writtenOut(value) : value;
  const schemaNamed = (id: string): JsonObject => withoutIds(asSchema(described[id]));
  return {
    named: Object.fromEntries(Object.keys(NAMED_SCHEMAS).map((id) => [id, writtenOut(schemaNamed(id))])),
    describe: (schema: z.ZodType): JsonObject => {
      const id = registry.get(schema)?.id ?? "";
      return id.startsWith(PLACE) ? writtenOut(schemaNamed(id)) : { $ref: uri(id) };
    },
  };
}

/** Prefix for schemas without a name of their own; no named schema's name has a space. */
const PLACE = "place ";

function withoutIds({ $schema, $id, ...schema }: JsonObject): JsonObject {
  return schema;
}
