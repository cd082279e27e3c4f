import type { z } from "zod";
import type { Principal } from "@/server/access/principal";
import type { AuditKind, Note } from "@/server/domain/run/audit";
import { Problem, type ProblemCode } from "./problem";
import type { Services } from "./services";

/** Who asks, and how what they do is written down. */
export interface Caller {
  principal: Principal;
  /** As the events of a run name them. */
  by: string;
  /** Writes to the audit; takes only what the operation says that it audits. */
  note: Note;
  /** Aborted where whoever asks has gone; absent: they wait to the end. */
  signal?: AbortSignal | undefined;
}

/** What the OpenAPI file sorts operations by. */
export const API_TAGS = [
  "Workflows",
  "Runs",
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

/** Where the HTTP API has an operation as it is: parts of the path and the rest of the input make up its input. */
export interface HttpRoute {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: `/${string}`;
  /** Fields of the input that the path calls otherwise: { id: "run_id" }. */
  params?: Readonly<Record<string, string>>;
  /** 200, or 204 where nothing is answered, unless this says otherwise. */
  status?: 201 | 202;
  /** What a good answer means. */
  success: string;
  /** What 202 means, which is the status of an answer that says `applied: false`. */
  pending?: string;
  /** The field that a list is answered in. */
  as?: string;
}

/**
 * One thing that can be asked of the server, as data. The browser (tRPC) and programs (HTTP) get it by the same
 * definition: a session may call all of them, and so may a token.
 */
export interface Operation<
  In extends z.ZodType = z.ZodType,
  Out = unknown,
  Kind extends "query" | "mutation" = "query" | "mutation",
> {
  kind: Kind;
  /** In the OpenAPI file. */
  name: string;
  summary: string;
  about?: string;
  tag: Tag;
  /** An object, or `NoInput`. */
  input: In;
  /** What it answers over HTTP, as JSON; absent: nothing (204), or what the endpoint of its own says. */
  output?: z.ZodType;
  /** The refusals that it may make. */
  problems?: readonly ProblemCode[];
  /** What it may write to the audit. */
  audits?: readonly AuditKind[];
  /**
   * Else a reason. `own`: the HTTP API gives it a form of its own (pages, files, headers) in an endpoint of the same name,
   * which has a schema of its answer. Only the browser has it: `browserOnly`, as its form is for a screen; `personOnly`, as a
   * program must not do this, and `perform` refuses a token whichever way it comes.
   */
  http: HttpRoute | { own: string } | { browserOnly: string } | { personOnly: string };
  run(services: Services, input: z.output<In>, caller: Caller): Out;
}

/** Defines an operation; its input reaches `run` checked. */
export const operation = <const Kind extends "query" | "mutation", In extends z.ZodType, Out>(
  definition: Operation<In, Out, Kind>,
): Operation<In, Out, Kind> => definition;

/** Refuses a program where an operation is a person's in part. Throws person_only. */
export function onlyPerson({ kind }: Principal, why: string): void {
  if (kind !== "session")
    throw new Problem("person_only", `Only a person who is signed in may do this: ${why}.`);
}

/** Does it. Throws Problem, also where a token asks for what only a person may do; an audit entry that the operation does not declare is a programming error. */
export function perform<In extends z.ZodType, Out>(
  { name, audits = [], http, run }: Operation<In, Out>,
  services: Services,
  input: z.output<In>,
  caller: Caller,
): Out {
  if ("personOnly" in http) onlyPerson(caller.principal, http.personOnly);
  const note: Note = (kind, detail) => {
    if (!audits.includes(kind)) throw new Error(`${name} does not declare that it audits ${kind}`);
    caller.note(kind, detail);
  };
  return run(services, input, { ...caller, note });
}
