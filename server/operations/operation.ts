import type { z } from "zod";
import type { Principal } from "@/server/access/principal";
import { isTrusted } from "@/server/access/trusted";
import type { Scope } from "@/server/domain/base/scopes";
import type { JsonObject } from "@/server/domain/base/values";
import { Rejection, type RejectionCode } from "@/server/domain/errors/rejection";
import type { AuditKind, Note } from "@/server/domain/run/audit";
import { servicesFor } from "./limited/limited";
import type { Place } from "./paging";
import type { Services } from "./services";

/** Who asks, and how what they do is written down. */
export interface Caller {
  principal: Principal;
  /** As the events of a run name them. */
  by: string;
  /** Writes to the audit; takes only what the operation says that it audits. */
  note: Note;
  /** Aborted if the caller disconnects; absent: the caller waits to the end. */
  signal?: AbortSignal | undefined;
}

/** What the OpenAPI file sorts operations by. */
export const API_TAGS = [
  "Workflows",
  "Runs",
  "Triggers",
  "Tests",
  "Roles",
  "Library",
  "Memories",
  "Tools",
  "Providers",
  "Storage",
  "Server",
] as const;
export type Tag = (typeof API_TAGS)[number];

/** An operation as an HTTP endpoint: path, query and body together make up its input. */
export interface HttpRoute {
  /** `{id}` of `/runs/{id}` is the input's `run_id`, if it has one; other parameters have the name of their field. */
  route: `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;
  /** Defaults to 200, or 204 without an output. */
  status?: 201 | 202;
  /** Description of the success response. */
  success: string;
  /** Description of 202, the status of a response with `applied: false`. */
  pending?: string;
  /** The field that holds a list. */
  as?: string;
  /** The list is answered in pages, in the order of these places. */
  page?: (item: never) => Place;
  /** The input field that is the whole body. */
  body?: string;
  /** The size limit of the body in bytes, if it is not the usual one. */
  maxBytes?: number;
  /** The result's `revision` is sent as ETag. A change takes the revision that it was made on as If-Match. */
  etag?: true;
  /** Sends the result as a file instead of as JSON. */
  file?: (result: never) => { text: string; headers: Record<string, string> };
  /** The address of what was created, with fields of the result: "/roles/{name}". */
  location?: `/${string}`;
}

/** An operation as a terminal command. */
export interface CommandForm {
  /** "skip RUN NODE [OUTPUT] [--set KEY=VALUE]...": capitals are values, `...` takes several, `A,B` is a list. */
  form: string;
  /** For the help; the operation's own if absent. */
  summary?: string;
  /** The path of the input that a word or an option sets, by its lower-case name; a function makes a part of the input. */
  fields?: Readonly<Record<string, string | ((...texts: string[]) => JsonObject)>>;
  /** The part of the input that the form stands for. */
  preset?: JsonObject;
  /** Top-level fields that hold where nothing sets them. */
  defaults?: JsonObject;
}

/** The scopes that a caller must have. What answers with contents of runs also needs `read`. */
export type Needs = Scope | readonly Scope[];

/** What an operation is, whatever its kind and tag. */
interface Definition<In extends z.ZodType, Out> {
  /** In the OpenAPI file. */
  name: string;
  summary: string;
  about?: string;
  /** `perform` checks it for every interface. */
  needs: Needs;
  /** An object, or `z.void()`. */
  input: In;
  /** The JSON response over HTTP; absent: nothing (204), or what the hand-written endpoint declares. */
  output?: z.ZodType;
  /** The codes of the refusals that it may make. Absent: not_found, if its path names something. */
  problems?: readonly RejectionCode[];
  /** What it may write to the audit. */
  audits?: readonly AuditKind[];
  /**
   * Or the reason why there is no derived endpoint. `own`: a hand-written endpoint of the same name (files, headers, streams).
   * `browserOnly`: made for a screen. `personOnly`: a program must not do this; `perform` refuses a token.
   */
  http: HttpRoute | { own: string } | { browserOnly: string } | { personOnly: string };
  /** Absent: the terminal does not have it. */
  cli?: readonly CommandForm[];
  run(services: Services, input: z.output<In>, caller: Caller): Out;
}

/** One thing that can be asked of the server, as data. The browser (tRPC) and programs (HTTP) get it by the same definition. */
export interface Operation<
  In extends z.ZodType = z.ZodType,
  Out = unknown,
  Kind extends "query" | "mutation" = "query" | "mutation",
> extends Definition<In, Out> {
  kind: Kind;
  tag: Tag;
}

/** Defines the operations of a tag; their input reaches `run` checked. */
export const operationsOf = (tag: Tag) => ({
  query: <In extends z.ZodType, Out>(definition: Definition<In, Out>): Operation<In, Out, "query"> => ({
    kind: "query",
    tag,
    ...definition,
  }),
  mutation: <In extends z.ZodType, Out>(definition: Definition<In, Out>): Operation<In, Out, "mutation"> => ({
    kind: "mutation",
    tag,
    ...definition,
  }),
});

/** Refuses a program where an operation is a person's in part. Throws person_only. */
export function onlyPerson({ kind }: Principal, why: string): void {
  if (kind !== "session") throw new Rejection("person_only", `Only a signed-in person can do this: ${why}.`);
}

/** Refuses a caller whose words don't count as a person's own. Throws person_only. */
export function onlyTrusted(principal: Principal, why: string): void {
  if (!isTrusted(principal))
    throw new Rejection(
      "person_only",
      `${why}, so only a signed-in person or a trusted API token can set them.`,
    );
}

/** Performs an operation for a caller. Throws Rejection; an audit entry that the operation does not declare is a programming error. */
export function perform<In extends z.ZodType, Out>(
  operation: Operation<In, Out>,
  services: Services,
  input: z.output<In>,
  caller: Caller,
): Out {
  const { name, needs, http, audits = [], run } = operation;
  authorize(needs, caller.principal);
  if ("personOnly" in http) onlyPerson(caller.principal, http.personOnly);
  const note: Note = (kind, detail) => {
    if (!audits.includes(kind)) throw new Error(`${name} does not declare that it audits ${kind}`);
    caller.note(kind, detail);
  };
  return run(servicesFor(services, caller.principal), input, { ...caller, note });
}

/** Refuses a caller without the scopes: in `perform`, and before handwritten endpoints. Throws not_allowed. */
export function authorize(needs: Needs, { scopes }: Principal): void {
  const missing = scopes && [needs].flat().find((scope) => !scopes.includes(scope));
  if (missing)
    throw new Rejection("not_allowed", `This requires the scope "${missing}". Use a token that has it.`);
}
