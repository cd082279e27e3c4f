import type { TRPC_ERROR_CODE_KEY } from "@trpc/server";
import { namedError } from "@/server/domain/base/named-error";
import { KeyReused } from "@/server/domain/run/key-reused";
import { DamagedLog } from "@/server/domain/run/quarantine";
import { BisectRejected } from "@/server/runner/bisect/find-difference";
import { ForkRejected } from "@/server/runner/fork/fork";
import { QueueFull } from "@/server/runner/lifecycle/host";
import { StartRejected } from "@/server/runner/lifecycle/launch";
import { TooManyTests } from "@/server/runner/scenario/run-suite";

/**
 * Every way in which the server refuses: a code that stays, and what HTTP and tRPC make of it. The HTTP API sends the
 * code itself, the browser hears tRPC's.
 */
export const PROBLEMS = {
  answer_does_not_fit: [400, "BAD_REQUEST"],
  bad_json: [400, "BAD_REQUEST"],
  bad_request: [400, "BAD_REQUEST"],
  unknown_field: [400, "BAD_REQUEST"],
  not_allowed: [403, "FORBIDDEN"],
  person_only: [403, "FORBIDDEN"],
  not_found: [404, "NOT_FOUND"],
  method_not_allowed: [405, "METHOD_NOT_SUPPORTED"],
  id_taken: [409, "CONFLICT"],
  name_taken: [409, "CONFLICT"],
  key_taken: [409, "CONFLICT"],
  expired: [409, "CONFLICT"],
  in_use: [409, "CONFLICT"],
  role_in_use: [409, "CONFLICT"],
  crew_in_use: [409, "CONFLICT"],
  agent_in_use: [409, "CONFLICT"],
  fixed: [409, "BAD_REQUEST"],
  read_only: [409, "FORBIDDEN"],
  run_held: [409, "PRECONDITION_FAILED"],
  run_ended: [409, "PRECONDITION_FAILED"],
  not_held: [409, "PRECONDITION_FAILED"],
  not_at_limit: [409, "PRECONDITION_FAILED"],
  not_ended: [409, "PRECONDITION_FAILED"],
  not_open: [409, "CONFLICT"],
  not_now: [409, "PRECONDITION_FAILED"],
  not_forked: [409, "PRECONDITION_FAILED"],
  not_compared: [409, "PRECONDITION_FAILED"],
  no_crew_at_work: [409, "PRECONDITION_FAILED"],
  not_higher: [409, "PRECONDITION_FAILED"],
  which_crew: [409, "PRECONDITION_FAILED"],
  plan_not_changed: [409, "CONFLICT"],
  changed_meanwhile: [412, "CONFLICT"],
  id_fixed: [422, "BAD_REQUEST"],
  invalid_answer: [422, "BAD_REQUEST"],
  invalid_input: [422, "BAD_REQUEST"],
  key_reused: [422, "CONFLICT"],
  no_such_limit: [422, "BAD_REQUEST"],
  no_such_model: [422, "BAD_REQUEST"],
  not_a_workflow: [422, "BAD_REQUEST"],
  not_importable: [422, "BAD_REQUEST"],
  not_asked_for: [422, "BAD_REQUEST"],
  too_large: [422, "BAD_REQUEST"],
  workflow_has_problems: [422, "BAD_REQUEST"],
  provider_failed: [422, "BAD_REQUEST"],
  queue_full: [429, "TOO_MANY_REQUESTS"],
  too_many_streams: [429, "TOO_MANY_REQUESTS"],
  damaged_log: [500, "PRECONDITION_FAILED"],
  internal: [500, "INTERNAL_SERVER_ERROR"],
  busy: [503, "SERVICE_UNAVAILABLE"],
  server_too_many_streams: [503, "SERVICE_UNAVAILABLE"],
  storage_full: [507, "SERVICE_UNAVAILABLE"],
} as const satisfies Record<string, readonly [http: number, trpc: TRPC_ERROR_CODE_KEY]>;
export type ProblemCode = keyof typeof PROBLEMS;

/** A refusal that a person and a program can act on: a code, a sentence that says what to do, and details as data. */
export class Problem extends namedError("Problem") {
  constructor(
    readonly code: ProblemCode,
    message: string,
    readonly details?: Readonly<Record<string, unknown>>,
    /** `editor`: further details for an editing page, such as the current version. */
    private readonly more: {
      headers?: Readonly<Record<string, string>>;
      editor?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(message);
  }
  get headers(): Readonly<Record<string, string>> {
    return this.more.headers ?? {};
  }
  /** The details for the browser. */
  get editorDetails(): Readonly<Record<string, unknown>> | undefined {
    return this.more.editor ? { ...this.details, ...this.more.editor } : this.details;
  }
  /** The code in the API: which streams are too many is clear from the status. */
  get publicCode(): string {
    return this.code === "server_too_many_streams" ? "too_many_streams" : this.code;
  }
  get status(): number {
    return PROBLEMS[this.code][0];
  }
  get trpcCode(): TRPC_ERROR_CODE_KEY {
    return PROBLEMS[this.code][1];
  }
}

export const notFound = (what: string) =>
  new Problem("not_found", `This ${what} does not exist, or was deleted.`);

/** The Problem for an error from another layer; null for an unexpected one. */
export function problemOf(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (error instanceof StartRejected) {
    const code = "errors" in error.detail ? "invalid_input" : "workflow_has_problems";
    return new Problem(code, error.message, error.detail);
  }
  if (error instanceof ForkRejected) {
    const { errors } = error;
    return new Problem("not_forked", error.message, errors.length > 1 ? { faults: errors } : undefined);
  }
  if (error instanceof BisectRejected) return new Problem("not_compared", error.message);
  if (error instanceof QueueFull || error instanceof TooManyTests)
    return new Problem("queue_full", error.message, undefined, { headers: { "retry-after": "5" } });
  if (error instanceof KeyReused) return new Problem("key_reused", error.message, { run_id: error.runId });
  if (error instanceof DamagedLog) return new Problem("damaged_log", error.message);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code.startsWith("SQLITE_BUSY"))
    return new Problem("busy", "The database is busy. Try again in a moment.", undefined, {
      headers: { "retry-after": "1" },
    });
  if (code === "SQLITE_FULL" || code === "ENOSPC")
    return new Problem("storage_full", "The disk of this server is full.");
  return null;
}
