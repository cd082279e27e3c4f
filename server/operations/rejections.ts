import type { TRPC_ERROR_CODE_KEY } from "@trpc/server";
import { Rejection, type RejectionCode } from "@/server/domain/errors/rejection";
import { DamagedLog } from "@/server/domain/run/quarantine";

/** Every code of a rejection: the HTTP status, the code of tRPC, and after how many seconds to try again. */
export const REJECTIONS: Readonly<
  Record<RejectionCode, readonly [http: number, trpc: TRPC_ERROR_CODE_KEY, retryAfter?: number]>
> = {
  answer_does_not_fit: [400, "BAD_REQUEST"],
  bad_json: [400, "BAD_REQUEST"],
  bad_request: [400, "BAD_REQUEST"],
  unknown_field: [400, "BAD_REQUEST"],
  bad_signature: [401, "UNAUTHORIZED"],
  wrong_password: [401, "UNAUTHORIZED"],
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
  trigger_loop: [422, "BAD_REQUEST"],
  workflow_has_problems: [422, "BAD_REQUEST"],
  provider_failed: [422, "BAD_REQUEST"],
  visitor_limit: [429, "TOO_MANY_REQUESTS", 600],
  queue_full: [429, "TOO_MANY_REQUESTS", 5],
  too_many_streams: [429, "TOO_MANY_REQUESTS", 5],
  damaged_log: [500, "PRECONDITION_FAILED"],
  internal: [500, "INTERNAL_SERVER_ERROR"],
  busy: [503, "SERVICE_UNAVAILABLE", 1],
  start_failed: [503, "SERVICE_UNAVAILABLE", 60],
  server_too_many_streams: [503, "SERVICE_UNAVAILABLE", 5],
  storage_full: [507, "SERVICE_UNAVAILABLE"],
};

export const notFound = (what: string) =>
  new Rejection("not_found", `This ${what} doesn't exist. It may have been deleted.`);

/** The rejection for an error from another layer; null for an unexpected one. */
export function rejectionOf(error: unknown): Rejection | null {
  if (error instanceof Rejection) return error;
  if (error instanceof DamagedLog) return new Rejection("damaged_log", error.message);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code.startsWith("SQLITE_BUSY"))
    return new Rejection("busy", "The database is busy. Try again in a moment.");
  if (code === "SQLITE_FULL" || code === "ENOSPC")
    return new Rejection("storage_full", "The server's disk is full. Free up space and try again.");
  return null;
}
