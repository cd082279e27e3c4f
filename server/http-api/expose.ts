import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { listOf, recordOf } from "@/server/domain/base/guards";
import { Rejection } from "@/server/domain/errors/rejection";
import { Page } from "@/server/operations/common-schemas";
import { type HttpRoute, type Operation, perform } from "@/server/operations/operation";
import { type Place, pageOf } from "@/server/operations/paging";
import { REJECTIONS } from "@/server/operations/rejections";
import { routeOf } from "@/server/operations/route";
import { checked, type Endpoint, type EndpointCall, endpoint } from "./endpoint";

/** Does an operation for a program. */
export function performFor<In extends z.ZodType, Out>(
  operation: Operation<In, Out>,
  input: z.output<In>,
  {
    services,
    principal,
    note,
    signal,
  }: Pick<EndpointCall, "services" | "principal" | "note"> & Partial<Pick<EndpointCall, "signal">>,
): Out {
  if (!principal) throw new Error(`${operation.name} needs a principal`);
  return perform(operation, services, input, { principal, by: byOf({ principal }), note, signal });
}

/** Who asks, as events name them. */
export const byOf = ({ principal }: Pick<EndpointCall, "principal">) =>
  principal?.id === "environment" ? "API" : `API token ${principal?.id}`;

/** The endpoints of those operations that the HTTP API has as they are. */
export const endpointsOf = (operations: Readonly<Record<string, Operation>>): Endpoint[] =>
  Object.values(operations).flatMap((operation) =>
    "route" in operation.http ? [endpointOf(operation, operation.http)] : [],
  );

function endpointOf(operation: Operation, route: HttpRoute): Endpoint {
  const { name, summary, about, tag, needs, output } = operation;
  const { method, path, params } = routeOf(operation, route);
  const fields = params.map(({ field }) => field);
  const { problems = fields.length > 0 ? ["not_found"] : [] } = operation;
  const isInAddress = method === "GET" || method === "DELETE";
  const takesRevision = route.etag === true && method === "PUT";
  const rest = route.page
    ? Page
    : restOf(operation.input, [...fields, ...(takesRevision ? ["revision"] : [])], route);
  const schema = output && responseSchema(output, route);
  return endpoint({
    ...{ method, path, name, summary, tag, needs },
    ...(about ? { about } : {}),
    ...(rest && (isInAddress ? { query: inAddress(rest) } : { body: rest })),
    ...defined({ maxBytes: route.maxBytes, reads: takesRevision ? { "If-Match": IF_MATCH } : undefined }),
    success: {
      status: schema || route.file ? (route.status ?? 200) : 204,
      about: route.success,
      ...defined({ pending: route.pending, schema }),
    },
    refusals: [...new Set(problems.map((code) => REJECTIONS[code][0]))],
    async answer(call) {
      const body = route.body ? { [route.body]: call.body } : recordOf(call.body);
      const revision = takesRevision ? expectedRevision(call.headers) : undefined;
      const inPath = recordOf(call.params);
      const named = checked(
        inPathOf(operation.input, fields),
        Object.fromEntries(params.map(({ param, field }) => [field, inPath[param]])),
        "path",
      );
      const sent = { ...recordOf(call.query), ...body, ...defined({ revision }), ...named };
      const input = operation.input instanceof z.ZodVoid ? undefined : sent;
      return replyOf(await performFor(operation, input, call), call, { route, schema });
    },
  });
}

/** What an endpoint answers with. */
function replyOf(
  result: unknown,
  { query }: Pick<EndpointCall, "query">,
  { route, schema }: { route: HttpRoute; schema: z.ZodType | undefined },
) {
  const { as, page, etag, location } = route;
  if (route.file) {
    // Each route's `file` takes what its own operation returns.
    const { text, headers } = (route.file as (of: unknown) => { text: string; headers: HeadersInit })(result);
    return new Response(text, { headers });
  }
  if (!schema) return { status: 204 };
  const shown = page ? pageIn(result, Page.parse(query), route) : as ? { [as]: result } : result;
  const isPending = route.pending !== undefined && recordOf(result).applied === false;
  return {
    status: isPending ? 202 : (route.status ?? 200),
    // Fields that the API description doesn't name aren't sent: the browser may get more than programs do.
    body: schema.parse(shown),
    headers: {
      ...(etag && { etag: `"${String(recordOf(result).revision)}"` }),
      ...(location && { location: `/api/v1${filledIn(location, recordOf(result))}` }),
    },
  };
}

export const IF_MATCH =
  "The revision that the change is based on, from the `ETag`. If omitted, the latest revision is replaced";

/** The revision in an If-Match header. */
export function expectedRevision(headers: Headers): number | undefined {
  const match = headers.get("if-match");
  if (match === null || match === "*") return undefined;
  const revision = /^(?:W\/)?"?(\d{1,12})"?$/.exec(match.trim())?.[1];
  if (!revision) throw new Rejection("bad_request", 'If-Match must be a revision, such as "3".');
  return Number(revision);
}

const responseSchema = (output: z.ZodType, { as, page }: HttpRoute) =>
  as ? z.object({ [as]: output, ...(page && { next_cursor: z.string().nullable() }) }) : output;

/** A page of the whole list. */
function pageIn(all: unknown, page: z.output<typeof Page>, { as = "items", page: placeOf }: HttpRoute) {
  // An operation with pages answers a list of what its places are of.
  const { items, next_cursor } = pageOf(listOf(all), page, placeOf as (item: unknown) => Place);
  return { [as]: items, next_cursor };
}

const filledIn = (path: string, values: Readonly<Record<string, unknown>>) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));

/** In an address, yes and no are texts. */
function inAddress(schema: z.ZodType): z.ZodType {
  const object = schema instanceof z.ZodPrefault ? schema.unwrap() : schema;
  if (!(object instanceof z.ZodObject)) return schema;
  const entries = Object.entries(object.shape as Record<string, z.ZodType>).map(
    ([name, field]): [string, z.ZodType] => {
      if (!(field instanceof z.ZodDefault) || !(field.unwrap() instanceof z.ZodBoolean)) return [name, field];
      return [
        name,
        z
          .stringbool()
          .default(field.parse(undefined) === true)
          .meta(field.meta() ?? {}),
      ];
    },
  );
  return entries.every(([name, field]) => object.shape[String(name)] === field)
    ? schema
    : z.object(Object.fromEntries(entries));
}

/** The fields of an input that are path parameters: there, a number is text. */
function inPathOf(input: z.ZodType, names: readonly string[]): z.ZodObject {
  const shape: z.core.$ZodShape = input instanceof z.ZodObject ? input.shape : {};
  const schemaOf = (field: z.core.$ZodType = z.string()) =>
    field instanceof z.ZodNumber ? z.coerce.number().pipe(field) : field;
  return z.object(Object.fromEntries(names.map((name) => [name, schemaOf(shape[name])])));
}

/** What of an input is not in the path; undefined where all of it is. It may be left out where nothing in it is needed. */
function restOf(input: z.ZodType, params: readonly string[], { body }: HttpRoute): z.ZodType | undefined {
  if (!(input instanceof z.ZodObject)) return undefined;
  // The values of an object's `shape` are schemas.
  if (body) return input.shape[body] as z.ZodType;
  const names = Object.keys(input.shape).filter((name) => params.includes(name));
  // Without path parameters the input stays untouched: it may have refinements across its fields, which `omit` would
  // lose. The cast: `omit` wants keys known at compile time.
  const rest =
    names.length === 0
      ? input
      : input.omit(Object.fromEntries(names.map((name) => [name, true])) as Record<string, never>);
  if (Object.keys(rest.shape).length === 0) return undefined;
  return rest.safeParse({}).success ? rest.prefault({}) : rest;
}
