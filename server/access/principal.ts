/** Who is asking: a browser session or an API token. */
export interface Principal {
  kind: "session" | "token";
  id: string;
}

/** As the audit names them: "token:tok_1". */
export const auditName = (principal: Principal | null): string =>
  principal ? `${principal.kind}:${principal.id}` : "somebody";
