import { createHash } from "node:crypto";
import { RunError } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { StepError } from "@/server/domain/base/durable";
import { isObject } from "@/server/domain/base/guards";
import { cutText } from "@/server/domain/base/sizes";
import type { Json } from "@/server/domain/base/values";

/** Errors of the language and platform: their messages are for Troupe's developers, not for users. */
const RAW: ReadonlySet<string> = new Set([
  ...["Error", "TypeError", "RangeError", "ReferenceError", "SyntaxError", "EvalError", "URIError"],
  ...["AggregateError", "InternalError", "DOMException", "SqliteError", ""],
]);

/**
 * An unexpected error as data. Our own errors have messages for people; for all others people get a sentence with an
 * error id, and the original message is in `detail` and in the server's log under the same id. The id is derived from
 * the error, so a replay produces the same.
 */
export function internalError(error: { name: string; message: string }, what: string): RunError {
  const isOurs = !RAW.has(error.name);
  const errorText = `${error.name}: ${error.message}`;
  const mark = createHash("sha256").update(errorText).digest("hex").slice(0, 8);
  return {
    code: "INTERNAL",
    message: isOurs
      ? cutText(error.message)
      : `${what}: an internal Troupe error (${mark}). Search the server's log for this code.`,
    retryable: false,
    user_action: "none",
    ...defined({ detail: isOurs ? undefined : { mark, fault: cutText(errorText) } }),
  };
}

/** Whether the detail of an error is what people were only given a mark of. */
export const isMarked = (detail: Json | undefined): detail is { mark: string; fault: string } =>
  typeof detail === "object" && detail !== null && "mark" in detail && "fault" in detail;

const isRunError = (value: unknown): value is RunError => RunError.safeParse(value).success;

/** The error for people that a step's failure carries, such as a model's; undefined where it has none. */
export function recordedError({ detail }: StepError): RunError | undefined {
  const error = isObject(detail) ? detail.error : undefined;
  return isRunError(error) ? error : undefined;
}

/** What was thrown, with a name and a message whatever it is. */
export const asError = (thrown: unknown): { name: string; message: string } =>
  thrown instanceof Error ? thrown : { name: "", message: String(thrown) };
