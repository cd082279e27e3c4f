import { namedError } from "@/server/domain/base/named-error";
import type { Challenge } from "./oauth-grant";

// How a server demands a sign-in, and how the caller learns of it.

/** A person has to sign in, for the first time, again, or for more rights. */
export class SignInNeeded extends namedError("SignInNeeded") {
  constructor(
    message: string,
    /** It is signed in, but not for this. */
    readonly isForMore: boolean,
  ) {
    super(message);
  }
}

/** The SignInNeeded that caused an error, if any: the library wraps some failures in its own errors. */
export function signInBehind(error: unknown): SignInNeeded | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof SignInNeeded) return cause;
  return null;
}

/** A `WWW-Authenticate: Bearer` header, as far as it matters here. */
export function challengeOf(header: string | null): Challenge & { error: string | null } {
  if (!header || !/^\s*bearer\b/i.test(header)) return { resource_metadata: null, scope: null, error: null };
  const fields = new Map(
    [...header.matchAll(/([a-z_]{1,30})=(?:"([^"]{0,2000})"|([^\s,"]{1,2000}))/gi)].map(
      ([, name, quoted, bare]) => [name, quoted ?? bare ?? null],
    ),
  );
  const metadata = fields.get("resource_metadata") ?? null;
  return {
    resource_metadata: metadata !== null && URL.canParse(metadata) ? metadata : null,
    scope: fields.get("scope") ?? null,
    error: fields.get("error") ?? null,
  };
}
