import type { z } from "zod";
import type { Principal } from "@/server/access/principal";
import { errorMessage } from "@/server/domain/base/guards";
import { issueText } from "@/server/domain/base/issues/issue-text";
import { Rejection } from "@/server/domain/errors/rejection";
import type { Note } from "@/server/domain/run/audit";
import type { Needs, Tag } from "@/server/operations/operation";
import type { Services } from "@/server/operations/services";

type Method = "GET" | "POST" | "PUT" | "DELETE";

/** The names in braces of a path: "/runs/{id}" has `id`. */
type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [K in Name]: string } & ParamsOf<Rest>
  : unknown;

/** A request as an endpoint sees it: everything checked already. */
export interface EndpointCall<Params = Record<string, string>, Query = unknown, Body = unknown> {
  params: Params;
  query: Query;
  body: Body;
  headers: Headers;
  signal: AbortSignal;
  principal: Principal | null;
  /** Whether the caller's token is still valid; for long responses. */
  isAllowed(): Promise<boolean>;
  /** Writes an action of the caller to the audit log. */
  note: Note;
  /** Limited to what the caller may see. */
  services: Services;
}

/** An answer: data to send as JSON, or a whole response. */
export type Reply = { body?: unknown; status?: number; headers?: Record<string, string> } | Response;

interface Definition<Path extends string, Query extends z.ZodType, Body extends z.ZodType> {
  method: Method;
  path: Path;
  /** The name of the operation in the OpenAPI file. */
  name: string;
  summary: string;
  about?: string;
  tag: Tag;
  /** `public`: no token needed. Checked before the request is read. */
  needs: Needs | "public";
  query?: Query;
  body?: Body;
  maxBytes?: number;
  /** Headers it reads, by name, with what they do. */
  reads?: Record<string, string>;
  /** The answer when all went well; `stream` where it can also be an event stream, `empty` where also nothing (204), `pending` where also 202. */
  success: {
    status: 200 | 201 | 202 | 204;
    about: string;
    schema?: z.ZodType;
    stream?: string;
    empty?: string;
    pending?: string;
  };
  /** Statuses of refusals beyond those that any endpoint may send. */
  refusals?: readonly number[];
  answer(call: EndpointCall<ParamsOf<Path>, z.output<Query>, z.output<Body>>): Reply | Promise<Reply>;
}

/** An endpoint as the table holds it: a door that checks what comes in, and its description. */
export interface Endpoint extends Omit<Definition<string, z.ZodType, z.ZodType>, "answer"> {
  /** The path's parts; a name in braces stands for any one part. */
  parts: readonly string[];
  serve(raw: RawCall): Promise<Reply>;
}

export interface RawCall extends Omit<EndpointCall, "query" | "body"> {
  search: URLSearchParams;
  request: Request;
}

/** Describes one endpoint; its parameters, query and body reach `answer` parsed. */
export function endpoint<
  const Path extends string,
  Query extends z.ZodType = z.ZodUnknown,
  Body extends z.ZodType = z.ZodUnknown,
>(definition: Definition<Path, Query, Body>): Endpoint {
  const { answer, ...description } = definition;
  return {
    ...description,
    parts: partsOf(definition.path),
    async serve({ search, request, params, ...rest }) {
      const query = definition.query && checked(definition.query, Object.fromEntries(search), "query");
      const body = definition.body && checked(definition.body, await jsonOf(request), "body");
      // The names were read from the same path that the type was, and what has no schema has no type either.
      return answer({ ...rest, params, query, body } as EndpointCall<
        ParamsOf<Path>,
        z.output<Query>,
        z.output<Body>
      >);
    },
  };
}

export const partsOf = (path: string) => path.split("/").filter(Boolean);

async function jsonOf(request: Request): Promise<unknown> {
  const text = await request.text();
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Rejection("bad_json", `Invalid JSON: ${errorMessage(error)}`);
  }
}

/** Checks a part of a request. Throws bad_request, and unknown_field where a body or query holds more than is known. */
export function checked<S extends z.ZodType>(
  schema: S,
  value: unknown,
  where: "query" | "body" | "path",
): z.output<S> {
  // A query's numbers arrive as text.
  const result = schema.safeParse(value, {
    error: ({ input }) => (Number.isNaN(input) ? "expected a number" : undefined),
  });
  if (result.success) {
    const extra = unknownField(value, result.data);
    if (extra === null) return result.data;
    throw new Rejection("unknown_field", `Unknown field "${extra}" in the ${where}.`, {
      issues: [{ at: extra, message: "unknown field" }],
    });
  }
  const issues = result.error.issues
    .slice(0, 20)
    .map((issue) => ({ at: issue.path.join("."), message: issueText(issue) }));
  const [first] = issues;
  const place = first?.at ? ` (${first.at})` : "";
  throw new Rejection("bad_request", `Invalid ${where}${place}: ${first?.message}`, {
    issues,
  });
}

/** The first field of a body that the schema dropped, as a path: a misspelled field is reported, not ignored. */
function unknownField(sent: unknown, read: unknown, path = ""): string | null {
  if (typeof sent !== "object" || sent === null || typeof read !== "object" || read === null) return null;
  for (const [key, value] of Object.entries(sent)) {
    const at = path === "" ? key : `${path}.${key}`;
    if (!Object.hasOwn(read, key)) return at;
    const known: unknown = Reflect.get(read, key);
    const inside = unknownField(value, known, at);
    if (inside !== null) return inside;
  }
  return null;
}
