import { namedError } from "@/server/domain/base/named-error";
import type { CATALOG } from "./catalog";

export type RejectionCode = keyof typeof CATALOG.api_errors;

/**
 * An operation that was rejected, as a person and a program can act on it: a code, a sentence that says what to do, and
 * details as data.
 */
export class Rejection extends namedError("Rejection") {
  constructor(
    readonly code: RejectionCode,
    message: string,
    readonly details?: Readonly<Record<string, unknown>>,
    /** Further details for an editing page, such as the current version. */
    readonly editor?: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}
