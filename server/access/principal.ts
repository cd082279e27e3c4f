import type { Scope } from "@/server/domain/base/scopes";

/** Who is asking: a browser session or an API token. */
export interface Principal {
  kind: "session" | "token";
  id: string;
  /** Absent: all of them. */
  scopes?: readonly Scope[];
  /** IDs of workflows that it may see and use; absent: all. */
  workflows?: readonly string[];
  /** Of a token: whether input sent with it is trusted. */
  isTrusted?: boolean;
}

/** Who can be recognised: sessions by their cookie, programs by their token. */
export interface Recognition {
  /** The session that the request's cookie names, if it is still good. */
  sessionOf(request: Request): Promise<Principal | null> | Principal | null;
  /** The token that the Authorization header names, if it is still good. */
  tokenOf(request: Request): Promise<Principal | null> | Principal | null;
}

/** As the audit names them: "token:tok_1". */
export const auditName = (principal: Principal | null): string =>
  principal ? `${principal.kind}:${principal.id}` : "somebody";
