import { z } from "zod";
import { recordOf } from "@/server/domain/base/guards";
import { type HttpRoute, type Operation, perform } from "@/server/operations/operation";
import { PROBLEMS } from "@/server/operations/problem";
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
  if (!principal) throw new Error(`${operation.name} needs somebody who asks`);
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
  const { name, summary, about, tag, output } = operation;
  const { as } = route;
  const { method, path, params } = routeOf(operation, route);
  const fields = params.map(({ field }) => field);
  const rest = restOf(operation.input, fields);
  const schema = output && as ? z.object({ [as]: output }) : output;
  return endpoint({
    method,
    path,
    name,
    summary,
    ...(about ? { about } : {}),
    tag,
    ...(rest && (method === "GET" || method === "DELETE" ? { query: rest } : { body: rest })),
    success: {
      status: schema ? (route.status ?? 200) : 204,
      about: route.success,
      ...(route.pending === undefined ? {} : { pending: route.pending }),
      ...(schema ? { schema } : {}),
    },
    refusals: [...new Set((operation.problems ?? []).map((code) => PROBLEMS[code][0]))],
    async answer(call) {
      const sent = { ...recordOf(call.query), ...recordOf(call.body) };
      const isNothing = operation.input instanceof z.ZodVoid;
      const inPath = recordOf(call.params);
      const named = checked(
        inPathOf(operation.input, fields),
        Object.fromEntries(params.map(({ param, field }) => [field, inPath[param]])),
        "path",
      );
      const input = isNothing ? undefined : { ...sent, ...named };
      const result = await performFor(operation, input, call);
      if (!schema) return { status: 204 };
      // What the description does not name is not sent: a form of the browser may show more than programs are told.
      const isPending = route.pending !== undefined && recordOf(result).applied === false;
      return {
        status: isPending ? 202 : (route.status ?? 200),
        body: schema.parse(as ? { [as]: result } : result),
      };
    },
  });
}

/** The fields of an input that stand in the path: there, a number is text. */
function inPathOf(input: z.ZodType, names: readonly string[]): z.ZodObject {
  const shape: z.core.$ZodShape = input instanceof z.ZodObject ? input.shape : {};
  const schemaOf = (field: z.core.$ZodType = z.string()) =>
    field instanceof z.ZodNumber ? z.coerce.number().pipe(field) : field;
  return z.object(Object.fromEntries(names.map((name) => [name, schemaOf(shape[name])])));
}

/** What of an input is not in the path; undefined where all of it is. It may be left out where nothing in it is needed. */
function restOf(input: z.ZodType, params: readonly string[]): z.ZodType | undefined {
  if (!(input instanceof z.ZodObject)) return undefined;
  const names = Object.keys(input.shape).filter((name) => params.includes(name));
  // What stands as a whole may be bound by rules across its fields; they would be lost. `omit` takes names that the
  // compiler knows.
  const rest =
    names.length === 0
      ? input
      : input.omit(Object.fromEntries(names.map((name) => [name, true])) as Record<string, never>);
  if (Object.keys(rest.shape).length === 0) return undefined;
  return rest.safeParse({}).success ? rest.prefault({}) : rest;
}
