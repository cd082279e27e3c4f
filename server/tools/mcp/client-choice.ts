import type { AuthorizationServer } from "./oauth";
import { type OauthClient, SignInFailure } from "./oauth-grant";

// As whom an authorization server is asked, and for which rights.

/** The host of a URL; text that isn't a URL is returned unchanged. */
export const hostIn = (url: string) => (URL.canParse(url) ? new URL(url).host : url);

/** A client by hand goes to the one it was entered for; one that registered itself also stays with its address. */
export function isKnownTo(
  client: OauthClient | null,
  issuer: string,
  redirect_uri: string,
): client is OauthClient {
  if (!client) return false;
  if (client.by_hand) return client.issuer === null || client.issuer === issuer;
  return client.issuer === issuer && client.redirect_uri === redirect_uri;
}

/** A client secret that a person entered is not given to whomever the server names next. */
export function refusingMove(client: OauthClient | null, server: AuthorizationServer): AuthorizationServer {
  if (client?.by_hand)
    throw new SignInFailure(
      `The server now names another authorization server: ${hostIn(server.issuer)} instead of ${hostIn(client.issuer ?? "")}. If this is expected, enter the client ID again.`,
    );
  return server;
}

/** The rights to ask for: what the server said when it refused, else all that it lists, with those held already. */
export function wantedScope(
  server: AuthorizationServer,
  challenged: string | null,
  held: string | null,
): string {
  const wanted = challenged?.split(/\s+/).filter(Boolean) ?? [];
  const own = held?.split(/\s+/) ?? [];
  // Without it some give no token to renew with.
  const offline = server.metadata?.scopes_supported?.includes("offline_access") ? ["offline_access"] : [];
  const all = [...new Set([...own, ...(wanted.length > 0 ? wanted : server.scopes), ...offline])].filter(
    Boolean,
  );
  return all.length === 1 && all[0] === "offline_access" ? "" : all.join(" ");
}
