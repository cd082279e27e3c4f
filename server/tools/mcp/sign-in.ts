import { randomBytes } from "node:crypto";
import { recordOf } from "@/server/domain/base/guards";
import { challengeOf, SignInNeeded } from "./challenge";
import { hostIn, isKnownTo, refusingMove, wantedScope } from "./client-choice";
import { readable } from "./definition";
import type { AuthorizationServer } from "./oauth";
import { type Challenge, type OauthClient, type OauthClientInput, SignInFailure } from "./oauth-grant";
import { type AccessParts, type Kept, KeptAccess, type SignInStatus, statusOf } from "./stored-credentials";

export { type OauthClientInput, SignInFailure } from "./oauth-grant";

type Fetch = typeof globalThis.fetch;

const loadOauth = () => import("./oauth");

export const SIGN_IN_LIMITS = {
  /** One request to an authorization server. */
  requestMs: 15_000,
  /** How long a person may take. */
  pendingMs: 10 * 60_000,
  /** Renewed so long before its end. */
  earlyMs: 30_000,
} as const;

interface Pending {
  url: string;
  /** The session that began. */
  owner: string;
  server: AuthorizationServer;
  client: OauthClient;
  verifier: string;
  redirect_uri: string;
  scope: string;
  ends_at: number;
}

export interface SignInParts extends AccessParts {
  /** Egress: every request goes through it. */
  fetch: Fetch;
  now?: () => number;
}

/** What comes back from an authorization server in a person's browser. */
export interface SignInAnswer {
  code?: string | undefined;
  iss?: string | undefined;
  error?: string | undefined;
  error_description?: string | undefined;
}

/** The access that a person granted to one server over HTTP: asked for, kept, used, renewed and given up. */
export class McpSignIn {
  private challenge: Challenge = { resource_metadata: null, scope: null };
  private wantsMore: string | null = null;
  /** Why the last sign-in ended, until there is a new one or someone signs out. */
  private ended: string | null = null;
  private renewing: Promise<void> | null = null;
  private readonly pending = new Map<string, Pending>();

  private readonly access: KeptAccess;

  constructor(private readonly parts: SignInParts) {
    this.access = new KeptAccess(parts);
  }

  status(): SignInStatus {
    return statusOf(this.kept(), this.wantsMore);
  }

  /** Sets the client by hand, or removes it; grants to another client end. */
  setClient(entered: OauthClientInput | null): void {
    this.keep({
      client: entered && {
        private_key: null,
        as_program: false,
        ...entered,
        token_endpoint_auth_method: null,
        by_hand: true,
        issuer: null,
        redirect_uri: null,
      },
      grant: null,
    });
  }

  /**
   * Deletes the tokens and revokes them at the authorization server. Returns why they may still be valid there, or
   * null. They are deleted here in any case.
   */
  async signOut(): Promise<string | null> {
    const { client, grant } = this.kept();
    this.pending.clear();
    this.wantsMore = null;
    this.keep({ client, grant: null });
    if (!client || !grant) return null;
    const host = hostIn(grant.issuer);
    try {
      const { revoke } = await loadOauth();
      return (await revoke(grant, client, this.timed))
        ? null
        : `${host} can't revoke access; access ends when it expires.`;
    } catch (error) {
      if (error instanceof SignInFailure) return error.message;
      const { describeError } = await import("./library");
      return `${host} couldn't revoke access: ${describeError(error)}`;
    }
  }

  /** Sends requests to the server with the token, renewed in time. Throws SignInNeeded if a person is needed. */
  readonly fetch: Fetch = async (input, init) => {
    await this.renewEarly();
    const used = this.kept().grant?.access_token ?? null;
    const response = await this.send(input, init, used);
    if (response.status !== 401 && response.status !== 403) return response;
    const challenge = challengeOf(response.headers.get("www-authenticate"));
    const { resource_metadata, scope } = challenge;
    if (response.status === 403 && challenge.error !== "insufficient_scope") return response;
    this.challenge = { resource_metadata, scope };
    if (response.status === 403) {
      await response.body?.cancel();
      throw this.needsMore(scope);
    }
    // Another request may have renewed it meanwhile.
    const isStale =
      (used !== null || this.isProgram()) &&
      ((this.kept().grant?.access_token ?? null) !== used || (await this.renewNow(used)));
    if (isStale) {
      await response.body?.cancel();
      const again = await this.send(input, init, this.kept().grant?.access_token ?? null);
      if (again.status !== 401) return again;
      await again.body?.cancel();
    } else await response.body?.cancel();
    if (this.isProgram()) throw new SignInFailure("The server rejected the client's access token.");
    throw new SignInNeeded(
      used === null
        ? (this.ended ?? "The server requires authentication. Sign in, or enter an Authorization header.")
        : "The sign-in is no longer valid. Sign in again.",
      false,
    );
  };

  private needsMore(scope: string | null): SignInNeeded {
    this.wantsMore = scope ?? "";
    if (this.isProgram()) return new SignInNeeded("The server doesn't allow this client to do this.", true);
    const rights = scope === null ? "" : ` (${readable(scope).slice(0, 200)})`;
    return new SignInNeeded(
      `The server requires more permissions for this${rights}. Sign in again on the Tools page to grant them.`,
      true,
    );
  }

  /**
   * Begins to sign in: finds out where, registers if need be, and answers where to send the person. `owner`: the
   * session that may finish it. Throws SignInFailure and EgressError.
   */
  async begin(redirect_uri: string, owner: string): Promise<{ url: string; host: string; scope: string }> {
    const address = this.parts.url();
    const oauth = await loadOauth();
    if (address === undefined) throw new SignInFailure("This server was removed.");
    if (this.isProgram())
      throw new SignInFailure(
        "This server uses client credentials, which need no sign-in. To sign in, change that first.",
      );
    const server = await oauth.discover(address, this.challenge, this.timed);
    const { client: known, grant } = this.kept();
    // What a tool was refused for counts, whatever was refused since for want of any token.
    const more = this.wantsMore;
    const scope =
      more === null
        ? wantedScope(server, this.challenge.scope, null)
        : wantedScope(server, more, grant?.scope ?? null);
    const client = isKnownTo(known, server.issuer, redirect_uri)
      ? known
      : await oauth.register(refusingMove(known, server), redirect_uri, scope, this.timed);
    if (client !== known) this.keep({ client, grant });
    const state = randomBytes(32).toString("base64url");
    const { url, verifier } = await oauth.authorizationAddress(server, client, {
      redirect_uri,
      scope,
      state,
    });
    if (url.protocol !== "https:" && !(url.protocol === "http:" && address.startsWith("http:")))
      throw new SignInFailure("The sign-in page doesn't use https, so it wasn't opened.");
    this.forgetLate();
    // More than one may be open, in several tabs, but not any number.
    const [oldest] = this.pending.keys();
    if (this.pending.size >= 5 && oldest !== undefined) this.pending.delete(oldest);
    this.pending.set(state, {
      url: address,
      owner,
      server,
      client,
      verifier,
      redirect_uri,
      scope,
      ends_at: this.now() + SIGN_IN_LIMITS.pendingMs,
    });
    return { url: url.href, host: url.host, scope: readable(scope) };
  }

  /** Whether this sign-in was begun here, by this session. */
  knows(state: string, owner: string): boolean {
    this.forgetLate();
    return this.pending.get(state)?.owner === owner;
  }

  /** Finishes what `begin` began, once. Throws SignInFailure and EgressError. */
  async finish(state: string, owner: string, answer: SignInAnswer): Promise<void> {
    const oauth = await loadOauth();
    const pending = this.knows(state, owner) ? this.pending.get(state) : undefined;
    this.pending.delete(state);
    if (!pending || pending.url !== this.parts.url())
      throw new SignInFailure("This sign-in wasn't started here or took too long. Start again.");
    const { server, client, verifier, redirect_uri, scope } = pending;
    const host = oauth.hostOf(server.issuer);
    // Codes of one authorization server must not be carried to another (RFC 9207).
    const isAnnounced = recordOf(server.metadata).authorization_response_iss_parameter_supported === true;
    if (answer.iss !== undefined ? answer.iss !== (server.metadata?.issuer ?? server.issuer) : isAnnounced)
      throw new SignInFailure(`The response didn't come from ${host}, where you were sent. Start again.`);
    if (answer.error !== undefined) {
      const description = readable(answer.error_description ?? "")
        .replace(/\s+/g, " ")
        .trim()
        .slice(0, 300);
      throw new SignInFailure(
        answer.error === "access_denied" && description === ""
          ? `${host} denied access.`
          : `${host} denied access (${readable(answer.error).slice(0, 60)})${description === "" ? "" : `: “${description}”`}`,
      );
    }
    if (!answer.code) throw new SignInFailure(`${host} didn't return an authorization code. Start again.`);
    const grant = await oauth.exchange(
      server,
      client,
      { code: answer.code, verifier, redirect_uri, scope, iss: answer.iss },
      { fetch: this.timed, now: this.now() },
    );
    if (!this.keepAt(pending.url, { client: { ...client, issuer: server.issuer }, grant }))
      throw new SignInFailure("The server was changed in the meantime. Start again.");
    this.wantsMore = null;
  }

  /** Renews a token that is about to end; one that cannot be renewed is used to its end. */
  private async renewEarly(): Promise<void> {
    const { grant } = this.kept();
    if (!grant || grant.expires_at === null) return;
    if (grant.refresh_token === null && !this.isProgram()) return;
    if (this.now() >= grant.expires_at - SIGN_IN_LIMITS.earlyMs) await this.renewNow(grant.access_token);
  }

  /** Renews the token that was used; answers whether there is another one now. Once for all who wait. */
  private async renewNow(used: string | null): Promise<boolean> {
    this.renewing ??= this.renewal().finally(() => {
      this.renewing = null;
    });
    await this.renewing;
    const { grant } = this.kept();
    return grant !== null && grant.access_token !== used;
  }

  private async renewal(): Promise<void> {
    const url = this.parts.url();
    const { client, grant } = this.kept();
    if (url !== undefined && client?.as_program) return this.grantProgram(url, client);
    if (url === undefined || !client || !grant?.refresh_token) return;
    const { renew } = await loadOauth();
    const renewed = await renew(grant, client, this.timed, this.now());
    // Signed out, or another server by now: what came back is not kept.
    if (this.kept().grant?.access_token !== grant.access_token) return;
    if (!("rejection" in renewed)) return void this.keepAt(url, { client, grant: renewed });
    this.keepAt(url, { client: renewed.forgets_client && !client.by_hand ? null : client, grant: null });
    this.ended = `${renewed.rejection}. Sign in again.`;
    throw new SignInNeeded(this.ended, false);
  }

  /** Asks for a token for the client itself; only whom it was first used with is shown its secret. */
  private async grantProgram(url: string, client: OauthClient): Promise<void> {
    const oauth = await loadOauth();
    const server = await oauth.discover(url, this.challenge, this.timed);
    if (client.issuer !== null && client.issuer !== server.issuer) refusingMove(client, server);
    const scope = wantedScope(server, this.challenge.scope, null);
    const grant = await oauth.grantToProgram(server, client, scope, { fetch: this.timed, now: this.now() });
    // Another client or another server by now: what came back is not kept.
    if (this.kept().client?.client_id !== client.client_id) return;
    this.keepAt(url, { client: { ...client, issuer: server.issuer }, grant });
  }

  private isProgram(): boolean {
    return this.kept().client?.as_program === true;
  }

  private send(
    input: Parameters<Fetch>[0],
    init: Parameters<Fetch>[1],
    token: string | null,
  ): Promise<Response> {
    const target = new URL(input instanceof Request ? input.url : input);
    const own = this.parts.url();
    const headers = new Headers(init?.headers);
    if (token !== null && own !== undefined && target.origin === new URL(own).origin)
      headers.set("authorization", `Bearer ${token}`);
    return this.parts.fetch(target, { ...init, headers });
  }

  /** To authorization servers: in a bounded time, and with the built-in Response, which the library asks for. */
  private readonly timed: Fetch = async (input, init) => {
    const response = await this.parts.fetch(input, {
      ...init,
      signal: AbortSignal.timeout(SIGN_IN_LIMITS.requestMs),
    });
    const { status, headers } = response;
    const text = await response.text();
    return new Response([101, 204, 205, 304].includes(status) ? null : text, {
      status,
      headers: { "content-type": headers.get("content-type") ?? "" },
    });
  };

  private kept(): Kept {
    return this.access.read();
  }

  private keep(kept: Kept): void {
    const url = this.parts.url();
    if (url !== undefined) this.keepAt(url, kept);
  }

  private keepAt(url: string, kept: Kept): boolean {
    this.ended = null;
    return this.access.write(url, kept);
  }

  private forgetLate(): void {
    for (const [state, { ends_at }] of this.pending) if (ends_at <= this.now()) this.pending.delete(state);
  }

  private now(): number {
    return (this.parts.now ?? Date.now)();
  }
}
