import { createPrivateKey } from "node:crypto";
import {
  type AuthorizationServerMetadata,
  ClientCredentialsProvider,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  exchangeAuthorization,
  fetchToken,
  OAuthError,
  OAuthErrorCode,
  type OAuthTokens,
  PrivateKeyJwtProvider,
  refreshAuthorization,
  registerClient,
  resourceUrlFromServerUrl,
  selectClientAuthMethod,
  startAuthorization,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { errorMessage } from "@/server/domain/base/guards";
import { readable } from "./definition";
import { type Challenge, type OauthClient, type OauthGrant, SignInFailure } from "./oauth-grant";
import { algorithmOf } from "./private-key";

// The steps of OAuth 2.1 as MCP uses it, one function each; sign-in.ts stores the state between them.
// It needs the protocol's library, so it is loaded only when someone signs in or a token is renewed.

type Fetch = typeof globalThis.fetch;

/** Who grants access to a server, and to what. */
export interface AuthorizationServer {
  /** The address by which the server names it; credentials are bound to it. */
  issuer: string;
  /** Undefined where it publishes none: then its endpoints are where the older protocol put them. */
  metadata: AuthorizationServerMetadata | undefined;
  /** What tokens are asked for; null where the server does not say. */
  resource: string | null;
  scopes: string[];
}

/**
 * Finds who grants access to a server: by the server's own word (RFC 9728), else at the server's host, as before
 * that existed. Throws SignInFailure and EgressError.
 */
export async function discover(
  serverUrl: string,
  challenge: Challenge,
  fetch: Fetch,
): Promise<AuthorizationServer> {
  const about = await describedResource(serverUrl, challenge, fetch);
  if (
    about &&
    !checkResourceAllowed({
      requestedResource: resourceUrlFromServerUrl(serverUrl),
      configuredResource: about.resource,
    })
  )
    throw new SignInFailure(
      `The server identifies itself as ${readable(about.resource)}, which doesn't match its URL, so access wasn't requested.`,
    );
  const issuer = about?.authorization_servers?.[0] ?? String(new URL("/", serverUrl));
  const metadata = await explained(`${hostOf(issuer)} has no valid authorization server metadata`, () =>
    // Compared below, so that a mismatch is reported in our own message.
    discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch, skipIssuerValidation: true }),
  );
  // Whoever could speak for another would be sent its codes (RFC 8414, 3.3).
  if (about && metadata && !isSameAddress(metadata.issuer, issuer))
    throw new SignInFailure(
      `${hostOf(issuer)} identifies itself as ${readable(metadata.issuer).slice(0, 200)}, not as the authorization server named by this server.`,
    );
  return { issuer, metadata, resource: about?.resource ?? null, scopes: about?.scopes_supported ?? [] };
}

/** The server's own description, or null where it has none; one that it names must be there. */
async function describedResource(serverUrl: string, challenge: Challenge, fetch: Fetch) {
  const named = challenge.resource_metadata;
  try {
    return await discoverOAuthProtectedResourceMetadata(
      serverUrl,
      named === null ? {} : { resourceMetadataUrl: named },
      fetch,
    );
  } catch (error) {
    if (isUnreachable(error)) throw error;
    if (named !== null)
      throw new SignInFailure(
        `The server refers to authorization metadata at ${hostOf(named)}, but the metadata can't be read.`,
      );
    return null;
  }
}

/** Makes this installation known to an authorization server. */
export async function register(
  server: AuthorizationServer,
  redirect_uri: string,
  scope: string,
  fetch: Fetch,
): Promise<OauthClient> {
  const { metadata, issuer } = server;
  if (metadata && !metadata.registration_endpoint)
    throw new SignInFailure(
      `${hostOf(issuer)} doesn't support client registration. Register Troupe there, with the redirect URL ${redirect_uri}, and enter the client ID here (Edit).`,
    );
  const methods = metadata?.token_endpoint_auth_methods_supported;
  const information = await explained(`${hostOf(issuer)} didn't register Troupe`, () =>
    registerClient(issuer, {
      ...(metadata && { metadata }),
      clientMetadata: {
        client_name: "Troupe",
        redirect_uris: [redirect_uri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        ...defined({ token_endpoint_auth_method: methods?.includes("none") ? "none" : undefined }),
      },
      ...defined({ scope: scope === "" ? undefined : scope }),
      fetchFn: fetch,
    }),
  );
  const { client_id, client_secret, token_endpoint_auth_method } = information;
  return {
    client_id,
    client_secret: client_secret ?? null,
    token_endpoint_auth_method: token_endpoint_auth_method ?? null,
    private_key: null,
    by_hand: false,
    as_program: false,
    issuer,
    redirect_uri,
  };
}

/** Where a person agrees, and what proves afterwards that it was asked here (PKCE). */
export async function authorizationAddress(
  { issuer, metadata, resource }: AuthorizationServer,
  client: OauthClient,
  { redirect_uri, scope, state }: { redirect_uri: string; scope: string; state: string },
): Promise<{ url: URL; verifier: string }> {
  const { authorizationUrl, codeVerifier } = await explained(`Can't sign in at ${hostOf(issuer)}`, () =>
    startAuthorization(issuer, {
      ...(metadata && { metadata }),
      clientInformation: informationOf(client),
      redirectUrl: redirect_uri,
      state,
      ...defined({
        scope: scope === "" ? undefined : scope,
        resource: resource === null ? undefined : resource,
      }),
    }),
  );
  return { url: authorizationUrl, verifier: codeVerifier };
}

/** A code for tokens. */
export async function exchange(
  server: AuthorizationServer,
  client: OauthClient,
  {
    code,
    verifier,
    redirect_uri,
    scope,
    iss,
  }: { code: string; verifier: string; redirect_uri: string; scope: string; iss: string | undefined },
  { fetch, now }: { fetch: Fetch; now: number },
): Promise<OauthGrant> {
  const { issuer, metadata, resource } = server;
  const tokens = await explained(`${hostOf(issuer)} didn't grant access`, () =>
    exchangeAuthorization(issuer, {
      ...(metadata && { metadata }),
      clientInformation: informationOf(client),
      authorizationCode: code,
      codeVerifier: verifier,
      redirectUri: redirect_uri,
      ...defined({ iss, resource: resource === null ? undefined : resource }),
      fetchFn: fetch,
    }),
  );
  return grantOf(tokens, { issuer, resource, scope, server: metadata ? keptOf(metadata) : null }, now);
}

/** A token for the client itself, without a person: by its secret, or by what its private key signs. */
export async function grantToProgram(
  server: AuthorizationServer,
  client: OauthClient,
  scope: string,
  { fetch, now }: { fetch: Fetch; now: number },
): Promise<OauthGrant> {
  const { issuer, metadata, resource } = server;
  const tokens = await explained(`${hostOf(issuer)} didn't grant access`, () =>
    fetchToken(programOf(client, issuer), issuer, {
      ...(metadata && { metadata }),
      ...defined({
        resource: resource === null ? undefined : resource,
        scope: scope === "" ? undefined : scope,
      }),
      fetchFn: fetch,
    }),
  );
  return grantOf(tokens, { issuer, resource, scope, server: metadata ? keptOf(metadata) : null }, now);
}

function programOf({ client_id, client_secret, private_key }: OauthClient, issuer: string) {
  const about = { clientId: client_id, clientName: "Troupe", expectedIssuer: issuer };
  if (private_key === null)
    return new ClientCredentialsProvider({ ...about, clientSecret: client_secret ?? "" });
  const key = createPrivateKey(private_key);
  const algorithm = algorithmOf(key);
  if (algorithm === null) throw new SignInFailure("This type of private key isn't supported.");
  const privateKey = key.export({ type: "pkcs8", format: "pem" }).toString();
  return new PrivateKeyJwtProvider({ ...about, privateKey, algorithm });
}

/** New tokens for old ones. `refused`: the authorization server will not, so a person has to sign in again. */
export async function renew(
  grant: OauthGrant,
  client: OauthClient,
  fetch: Fetch,
  now: number,
): Promise<OauthGrant | { rejection: string; forgets_client: boolean }> {
  if (grant.refresh_token === null) return { rejection: "The sign-in has expired", forgets_client: false };
  try {
    const tokens = await refreshAuthorization(grant.issuer, {
      // Kept as the library read it from the authorization server, which it trusts no further for that.
      ...(grant.server && { metadata: grant.server as AuthorizationServerMetadata }),
      clientInformation: informationOf(client),
      refreshToken: grant.refresh_token,
      ...defined({ resource: grant.resource === null ? undefined : grant.resource }),
      fetchFn: fetch,
    });
    return grantOf(tokens, grant, now);
  } catch (error) {
    if (error instanceof OAuthError && !isServerError(error))
      return {
        rejection: describeOauthError(`${hostOf(grant.issuer)} doesn't renew the sign-in`, error),
        forgets_client: /^(invalid|unauthorized)_client$/.test(error.code),
      };
    throw isUnreachable(error)
      ? error
      : new SignInFailure(describeOauthError(`${hostOf(grant.issuer)} can't renew the sign-in now`, error));
  }
}

/** What metadata say of giving tokens up; the library's types know it of one kind of metadata only. */
const Revocation = z.object({
  revocation_endpoint: z.string().optional().catch(undefined),
  revocation_endpoint_auth_methods_supported: z.array(z.string()).optional().catch(undefined),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional().catch(undefined),
});

/**
 * Revokes tokens at an authorization server (RFC 7009), the refresh token first. Returns false if the server has no
 * revocation endpoint. Throws SignInFailure and EgressError.
 */
export async function revoke(grant: OauthGrant, client: OauthClient, fetch: Fetch): Promise<boolean> {
  const metadata = Revocation.parse(grant.server ?? {});
  const endpoint = metadata.revocation_endpoint;
  if (!endpoint) return false;
  const tokens = { refresh_token: grant.refresh_token, access_token: grant.access_token };
  for (const [token_type_hint, token] of Object.entries(tokens)) {
    if (token === null) continue;
    const { headers, fields } = clientProof(client, metadata);
    const response = await fetch(endpoint, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body: new URLSearchParams({ token, token_type_hint, ...fields }).toString(),
    });
    if (!response.ok)
      throw new SignInFailure(
        `${hostOf(grant.issuer)} didn't revoke access: it returned ${response.status}.`,
      );
  }
  return true;
}

/** As whom the client shows itself where the library does not do it. */
function clientProof(
  client: OauthClient,
  metadata: z.infer<typeof Revocation>,
): { headers: Record<string, string>; fields: Record<string, string> } {
  const { client_id, client_secret } = client;
  const supported =
    metadata.revocation_endpoint_auth_methods_supported ??
    metadata.token_endpoint_auth_methods_supported ??
    [];
  const method = selectClientAuthMethod(informationOf(client), supported);
  if (client_secret === null || method === "none") return { headers: {}, fields: { client_id } };
  if (method === "client_secret_post") return { headers: {}, fields: { client_id, client_secret } };
  const credentials = [client_id, client_secret].map(encodeURIComponent).join(":");
  return { headers: { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` }, fields: {} };
}

function grantOf(
  tokens: OAuthTokens,
  asked: Pick<OauthGrant, "issuer" | "resource" | "scope" | "server">,
  now: number,
): OauthGrant {
  const { issuer, resource, server } = asked;
  if (!/^bearer$/i.test(tokens.token_type))
    throw new SignInFailure(`${hostOf(issuer)} returned a token that isn't a bearer token.`);
  // A header cannot carry anything else.
  if (!/^[\x21-\x7e]{1,16000}$/.test(tokens.access_token))
    throw new SignInFailure(`${hostOf(issuer)} returned a token that can't be sent in a header.`);
  return {
    issuer,
    resource,
    server,
    scope: tokens.scope ?? asked.scope,
    access_token: tokens.access_token,
    refresh_token: tokens.refresh_token ?? null,
    expires_at: tokens.expires_in === undefined ? null : now + tokens.expires_in * 1000,
  };
}

/** What renewing and giving up need of the metadata. */
function keptOf(metadata: AuthorizationServerMetadata) {
  const { issuer, authorization_endpoint, token_endpoint, response_types_supported } = metadata;
  const { token_endpoint_auth_methods_supported: methods, ...revocation } = Revocation.parse(metadata);
  return {
    ...{ issuer, authorization_endpoint, token_endpoint, response_types_supported },
    ...(methods && { token_endpoint_auth_methods_supported: methods }),
    ...revocation,
  };
}

const informationOf = ({ client_id, client_secret, token_endpoint_auth_method }: OauthClient) => ({
  client_id,
  ...defined({ client_secret: client_secret === null ? undefined : client_secret }),
  // Not an undefined: the library asks whether it is there.
  ...defined({
    token_endpoint_auth_method: token_endpoint_auth_method === null ? undefined : token_endpoint_auth_method,
  }),
});

/** Not a refusal: the authorization server itself failed. */
const isServerError = ({ code }: OAuthError) => code === String(OAuthErrorCode.ServerError);

/** The address as people know it. */
export const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : readable(url).slice(0, 100));

const isSameAddress = (a: string, b: string) => {
  const plain = (url: string) => (URL.canParse(url) ? new URL(url).href : url).replace(/\/$/, "");
  return plain(a) === plain(b);
};

/** Whether nothing came back at all, or a connection was refused here. */
const isUnreachable = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === "EgressError" || error.name === "TimeoutError" || error instanceof TypeError);

/** Runs a step; its failures become sentences that begin with `what`. Refused connections pass as they are. */
async function explained<T>(what: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (isUnreachable(error)) throw error;
    throw new SignInFailure(describeOauthError(what, error));
  }
}

/** Quotes an authorization server's error, with hidden characters spelled out, shortened. */
function describeOauthError(what: string, error: unknown): string {
  if (error instanceof OAuthError) {
    const status = /^HTTP (\d{3}): /.exec(error.message)?.[1];
    if (isServerError(error) && status) return `${what}: it returned ${status} without a reason.`;
    const reason = readable(error.message).replace(/\s+/g, " ").trim().slice(0, 300);
    return `${what} (${error.code})${reason === "" ? "" : `: “${reason}”`}`;
  }
  // Their text quotes what was sent, in JSON of the checking library.
  if (error instanceof SyntaxError || (error instanceof Error && /ZodError/.test(error.name)))
    return `${what}: its response can't be read.`;
  return `${what}: ${readable(errorMessage(error)).slice(0, 300)}`;
}
