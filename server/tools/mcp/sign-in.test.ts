import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Db } from "@/db/open";
import { emptyDb } from "@/db/testing";
import { newMcpFetch } from "@/server/egress/fetch";
import { redact } from "@/server/secrets/redact";
import { newSealer } from "@/server/secrets/sealer";
import { McpServerStore } from "@/server/store/library/mcp-servers";
import { challengeOf } from "./challenge";
import { McpServers } from "./servers";
import { listen, newAuthorizationServer, newGuardedServer } from "./testing/guarded-server";

const BACK = "http://127.0.0.1:3000/tools/sign-in";
const ANNA = "session:anna";

let authority: Awaited<ReturnType<typeof newAuthorizationServer>>;
let remote: Awaited<ReturnType<typeof newGuardedServer>>;
let db: Db;
let store: McpServerStore;
let servers: McpServers;
const sealer = newSealer(null, {});
const newServers = (allowed = [remote.port, authority.port]) =>
  new McpServers({
    store,
    declared: [],
    fetch: newMcpFetch(allowed.map((port) => `127.0.0.1:${port}`).join()),
    onChange: () => {},
  });
beforeEach(async () => {
  authority = await newAuthorizationServer();
  remote = await newGuardedServer(authority);
  db = emptyDb();
  store = new McpServerStore(db, sealer);
  servers = newServers();
});
afterEach(async () => {
  await servers.stop();
  remote.close();
  authority.close();
});

const newKey = (...how: [string, object]): string =>
  (generateKeyPairSync as (...how: [string, object]) => { privateKey: KeyObject })(...how)
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
const begin = () => servers.beginSignIn("notes", BACK, ANNA);
const finish = (back: URL, owner = ANNA) => {
  const { state = "", ...answer } = Object.fromEntries(back.searchParams);
  return servers.finishSignIn(state, owner, answer);
};
const signIn = async () => finish(authority.agree((await begin()).url));
const save = () => servers.save({ name: "notes", url: remote.url });
const notes = () => servers.list()[0]!;
const call = async () => {
  const { fingerprint } = notes().tools[0]!;
  servers.approve("notes", "look", fingerprint);
  return servers
    .tools()[0]!
    .execute({}, { signal: new AbortController().signal, idempotencyKey: "k", run: null, agent: null });
};
const posted = (path: string) => authority.seen.filter((request) => request.path === path);

describe("MCP server sign-in", () => {
  test("a server that requires authentication reports it and works after sign-in", async () => {
    await save();
    expect(notes()).toMatchObject({
      state: "needs_sign_in",
      last_error: "The server requires authentication. Sign in, or enter an Authorization header.",
      sign_in: { state: "none" },
    });
    // Nobody is registered anywhere before somebody wants it.
    expect(authority.seen).toEqual([]);

    const { url, host, scope } = await begin();
    expect(host).toBe(`127.0.0.1:${authority.port}`);
    expect(scope).toBe("read");
    const asked = new URL(url).searchParams;
    expect(Object.fromEntries(asked)).toEqual({
      response_type: "code",
      client_id: [...authority.registered.keys()][0],
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      redirect_uri: BACK,
      state: expect.stringMatching(/^[\w-]{43}$/),
      scope: "read",
      resource: remote.url,
    });
    expect([...authority.registered.values()][0]).toMatchObject({
      client_name: "Troupe",
      redirect_uris: [BACK],
      token_endpoint_auth_method: "none",
    });

    expect(await finish(authority.agree(url))).toBe("notes");
    expect(notes()).toMatchObject({
      state: "connected",
      last_error: null,
      sign_in: { state: "signed_in", host, scope: "read", renews: true, client_id: null },
    });
    expect(await call()).toEqual({ status_code: 200, output: "seen" });
    expect(new URLSearchParams(posted("/token")[0]?.body).get("resource")).toBe(remote.url);

    await servers.signOut("notes");
    expect(notes()).toMatchObject({ state: "needs_sign_in", sign_in: { state: "none" } });
    expect(remote.presented.at(-1)).toBeUndefined();
  });

  test("tokens are encrypted, survive restarts, are redacted in logs, and are bound to their address", async () => {
    await save();
    await signIn();
    const [token] = authority.tokens.keys();
    const [refresh] = authority.refreshTokens.keys();
    const file = db.$client.serialize();
    expect([token, refresh].map((secret) => file.includes(Buffer.from(secret!)))).toEqual([false, false]);
    expect(redact(`it sent ${token} and ${refresh}`)).toBe("it sent [hidden] and [hidden]");
    await servers.stop();
    servers = newServers();
    await servers.start();
    expect(notes()).toMatchObject({ state: "connected", sign_in: { state: "signed_in" } });
    await servers.save({ name: "notes", url: `${remote.origin}/other` });
    expect(notes().sign_in).toMatchObject({ state: "none" });
    expect(store.oauthOf("notes")).toBeNull();
  });

  test("an expired token is refreshed once for all callers, before a call or after a rejection", async () => {
    await save();
    authority.expires_in = 1;
    await signIn();
    authority.expires_in = 3600;
    await Promise.all([call(), call(), call()]);
    const renewals = () =>
      posted("/token").filter(({ body }) => body.includes("grant_type=refresh_token")).length;
    const before = renewals();
    expect(before).toBeGreaterThanOrEqual(1);
    expect(await call()).toMatchObject({ status_code: 200 });
    authority.tokens.clear();
    const results = await Promise.all([call(), call(), call()]);
    expect(results.map(({ status_code }) => status_code)).toEqual([200, 200, 200]);
    expect(renewals()).toBe(before + 1);
    // What cannot be renewed needs a person.
    authority.tokens.clear();
    authority.refreshTokens.clear();
    expect(await call()).toMatchObject({ status_code: 403, error: expect.stringContaining("Sign in again") });
    expect(notes()).toMatchObject({ state: "needs_sign_in", sign_in: { state: "none" } });
    // Whoever asks later is told the same, and not as if nobody had ever signed in.
    await servers.refresh("notes");
    expect(notes()).toMatchObject({
      state: "needs_sign_in",
      last_error: expect.stringContaining("Sign in again"),
    });
  });

  test("signing out revokes tokens or explains why they may still be valid", async () => {
    const granted = () => [...authority.refreshTokens.keys(), ...authority.tokens.keys()];
    await save();
    await signIn();
    const given = granted();
    expect(await servers.signOut("notes")).toBeNull();
    expect(authority.revoked).toEqual(given);
    expect(posted("/revoke").map(({ body }) => new URLSearchParams(body).get("token_type_hint"))).toEqual([
      "refresh_token",
      "access_token",
    ]);
    expect(notes()).toMatchObject({ state: "needs_sign_in", sign_in: { state: "none" } });
    expect(await servers.signOut("notes")).toBeNull();

    await signIn();
    authority.refusal = { status: 503, body: "" };
    expect(await servers.signOut("notes")).toMatch(/didn't revoke access: it returned 503/);
    expect(notes().sign_in).toMatchObject({ state: "none" });
    authority.refusal = null;
    authority.metadata = { revocation_endpoint: null };
    await signIn();
    expect(await servers.signOut("notes")).toMatch(/can't revoke access/);
  });

  test("tokens are revoked with the client they were granted to, even when a server is removed", async () => {
    await servers.save({
      name: "notes",
      url: remote.url,
      client: { client_id: "an id", client_secret: "own:secret" },
    });
    authority.metadata = { revocation_endpoint_auth_methods_supported: ["client_secret_post"] };
    await signIn();
    await servers.signOut("notes");
    expect(Object.fromEntries(new URLSearchParams(posted("/revoke")[0]?.body))).toMatchObject({
      client_id: "an id",
      client_secret: "own:secret",
    });
    authority.metadata = { revocation_endpoint_auth_methods_supported: ["client_secret_basic"] };
    await signIn();
    await servers.remove("notes");
    const [, , last] = posted("/revoke");
    expect(last?.authorization).toBe(`Basic ${btoa("an%20id:own%3Asecret")}`);
    expect(last?.body).not.toContain("secret=");
  });

  test("a tool that needs more scopes names them, and sign-in adds them to those granted", async () => {
    await save();
    await signIn();
    remote.needs.call = "write";
    expect(await call()).toEqual({
      status_code: 403,
      error:
        "mcp:notes/look: The server requires more permissions for this (write). Sign in again on the Tools page to grant them.",
    });
    expect(notes()).toMatchObject({
      state: "connected",
      sign_in: { state: "signed_in", wants_more: "write" },
    });
    const { scope, url } = await begin();
    expect(scope).toBe("read write");
    await finish(authority.agree(url));
    expect(await call()).toMatchObject({ status_code: 200 });
    expect(notes().sign_in).toMatchObject({ wants_more: null, scope: "read write" });
    expect(authority.registered.size).toBe(1);
  });

  test("an entered client ID and secret are used only at their own authorization server", async () => {
    authority.metadata = { registration_endpoint: null };
    await save();
    await expect(begin()).rejects.toThrow(`Register Troupe there, with the redirect URL ${BACK}`);
    await servers.save({
      name: "notes",
      url: remote.url,
      client: { client_id: "by hand", client_secret: "a long secret" },
    });
    await signIn();
    expect(notes()).toMatchObject({
      state: "connected",
      sign_in: { client_id: "by hand", has_client_secret: true },
    });
    expect(posted("/token")[0]?.authorization).toBe(`Basic ${btoa("by hand:a long secret")}`);
    const other = await newAuthorizationServer();
    try {
      await servers.stop();
      servers = newServers([remote.port, authority.port, other.port]);
      await servers.start();
      remote.metadata = { authorization_servers: [other.origin] };
      await expect(begin()).rejects.toThrow("now names another authorization server");
      expect(other.seen.map(({ path }) => path)).toEqual(["/.well-known/oauth-authorization-server"]);
    } finally {
      other.close();
    }
  });

  test.each<[string, { client_secret?: string; private_key?: string }]>([
    ["its secret", { client_secret: "own-secret-of-it" }],
    ["a token signed with its EC key", { private_key: newKey("ec", { namedCurve: "P-256" }) }],
    ["a token signed with its RSA key", { private_key: newKey("rsa", { modulusLength: 2048 }) }],
  ])("a client gets access without a user through %s", async (_how, proof) => {
    await servers.save({
      name: "notes",
      url: remote.url,
      client: { client_id: "robot", client_secret: null, as_program: true, ...proof },
    });
    expect(notes()).toMatchObject({
      state: "connected",
      last_error: null,
      sign_in: { state: "signed_in", as_program: true, client_id: "robot" },
    });
    expect(await call()).toMatchObject({ status_code: 200 });
    const [asked] = posted("/token");
    const fields = Object.fromEntries(new URLSearchParams(asked?.body));
    expect(fields).toMatchObject({ grant_type: "client_credentials", resource: remote.url, scope: "read" });
    if (proof.private_key) {
      const claims = JSON.parse(atob(fields.client_assertion!.split(".")[1]!)) as Record<string, unknown>;
      expect(claims).toMatchObject({ iss: "robot", sub: "robot", aud: authority.origin });
    } else expect(asked?.authorization).toBe(`Basic ${btoa("robot:own-secret-of-it")}`);
    // Nobody goes anywhere, and what ended is asked for again by itself.
    await expect(begin()).rejects.toThrow("which need no sign-in");
    authority.tokens.clear();
    expect(await call()).toMatchObject({ status_code: 200 });
    const kept = db.$client.serialize();
    for (const secret of [proof.client_secret, proof.private_key?.split("\n")[1]])
      if (secret) {
        expect(kept.includes(Buffer.from(secret))).toBe(false);
        expect(JSON.stringify(servers.list())).not.toContain(secret);
      }
    expect(redact(`sent ${Object.values(proof)[0]}`)).toBe("sent [hidden]");
  });

  test("a rejected client reports the reason without exposing its secret", async () => {
    const client = { client_id: "robot", client_secret: "own-secret-of-it", as_program: true };
    authority.refusal = { status: 400, body: '{"error":"unauthorized_client"}' };
    await servers.save({ name: "notes", url: remote.url, client });
    expect(notes()).toMatchObject({
      state: "failed",
      last_error: expect.stringContaining("didn't grant access (unauthorized_client)"),
    });
    authority.refusal = null;
    await servers.refresh("notes");
    expect(notes().state).toBe("connected");
    const other = await newAuthorizationServer();
    remote.metadata = { authorization_servers: [other.origin] };
    authority.tokens.clear();
    const restricted = newServers([remote.port, authority.port, other.port]);
    await servers.stop();
    servers = restricted;
    await servers.start();
    expect(notes().last_error).toContain("now names another authorization server");
    expect(other.seen.map(({ path }) => path)).not.toContain("/token");
    other.close();
  });

  test("a stored header takes precedence over sign-in, and its rejection is reported", async () => {
    await servers.save({ name: "notes", url: remote.url, authorization: "Bearer wrong" });
    expect(notes()).toMatchObject({
      state: "failed",
      last_error:
        "The server rejected the Authorization header (401). Enter it again, or remove it and sign in.",
    });
  });
});

describe("sign-in attacks", () => {
  test("other sessions, forged states, old codes and repeated callbacks can't complete a sign-in", async () => {
    await save();
    const back = authority.agree((await begin()).url);
    expect(await finish(back, "session:eve")).toBeNull();
    const forged = new URL(back);
    forged.searchParams.set("state", "x".repeat(43));
    expect(await finish(forged)).toBeNull();
    expect(posted("/token")).toEqual([]);
    expect(await finish(back)).toBe("notes");
    expect(await finish(back)).toBeNull();
    expect(posted("/token")).toHaveLength(1);
  });

  test("a code from another authorization server is rejected", async () => {
    await save();
    const back = authority.agree((await begin()).url);
    back.searchParams.set("iss", "https://evil.example");
    await expect(finish(back)).rejects.toThrow("didn't come from");
    // Nor where it leaves out what it announced.
    const second = authority.agree((await begin()).url);
    second.searchParams.delete("iss");
    await expect(finish(second)).rejects.toThrow("didn't come from");
    expect(posted("/token")).toEqual([]);
    // A code of somebody else's sign-in does not fit the proof.
    const [mine, theirs] = [authority.agree((await begin()).url), authority.agree((await begin()).url)];
    mine.searchParams.set("code", theirs.searchParams.get("code")!);
    await expect(finish(mine)).rejects.toThrow("didn't grant access (invalid_grant): “no such code”");
    expect(notes().sign_in).toMatchObject({ state: "none" });
  });

  test("servers that claim another identity are rejected", async () => {
    await save();
    authority.metadata = { issuer: "https://accounts.example" };
    await expect(begin()).rejects.toThrow("identifies itself as https://accounts.example");
    authority.metadata = {};
    remote.metadata = { resource: "https://bank.example/mcp" };
    await expect(begin()).rejects.toThrow("The server identifies itself as https://bank.example/mcp");
    expect(authority.registered.size).toBe(0);
  });

  test("internal addresses that a server names are not requested", async () => {
    const inside = await listen((_request, response) => void response.end("{}"));
    try {
      await save();
      for (const change of [
        () => (remote.metadata = { authorization_servers: [inside.origin] }),
        () => {
          remote.metadata = {};
          remote.metadataUrl = `${inside.origin}/secrets`;
        },
      ]) {
        change();
        await servers.refresh("notes");
        await expect(begin()).rejects.toThrow("TROUPE_MCP_ALLOWED_HOSTS");
      }
      remote.metadataUrl = `${remote.origin}/.well-known/oauth-protected-resource/mcp`;
      await servers.refresh("notes");
      authority.metadata = { token_endpoint: `${inside.origin}/token` };
      await expect(signIn()).rejects.toThrow("TROUPE_MCP_ALLOWED_HOSTS");
      authority.metadata = { registration_endpoint: `${inside.origin}/register` };
      store.keepOauth("notes", remote.url, null);
      await expect(begin()).rejects.toThrow("TROUPE_MCP_ALLOWED_HOSTS");
      expect(notes().sign_in).toMatchObject({ state: "none" });
    } finally {
      inside.close();
    }
  });

  test.each(["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "not an address"])(
    "users are never redirected to %s",
    async (authorization_endpoint) => {
      await save();
      authority.metadata = { authorization_endpoint };
      await expect(begin()).rejects.toThrow();
    },
  );

  test("code and token requests follow no redirect to another host", async () => {
    const seen: (string | undefined)[] = [];
    const foreign = await listen((request, response) => {
      seen.push(request.url);
      response.end("{}");
    });
    try {
      await servers.stop();
      servers = newServers([remote.port, authority.port, foreign.port]);
      await save();
      authority.refusal = { status: 307, body: "", location: `${foreign.origin}/token` };
      await expect(signIn()).rejects.toThrow("redirect");
      authority.refusal = null;
      await signIn();
      expect(notes().state).toBe("connected");
      remote.redirect = `${foreign.origin}/mcp`;
      expect(await call()).toMatchObject({ status_code: 503, error: expect.stringContaining("redirect") });
      expect(seen).toEqual([]);
    } finally {
      foreign.close();
    }
  });

  test("an authorization server's message is quoted, shortened and stripped of hidden characters", async () => {
    await save();
    authority.refusal = {
      status: 400,
      body: JSON.stringify({
        error: "invalid_grant",
        error_description: `\u001b[2J\u202eall is well ${"x".repeat(5000)}`,
      }),
    };
    const error = await signIn().catch((error: Error) => error.message);
    expect(error).toContain("didn't grant access (invalid_grant): “\\u{1b}[2J\\u{202e}all is well");
    expect(String(error).length).toBeLessThan(500);
    authority.refusal = { status: 500, body: "<html><script>alert(1)</script></html>" };
    await expect(signIn()).rejects.toThrow("didn't grant access: it returned 500 without a reason.");
    authority.refusal = { status: 200, body: '{"token_type":"Bearer","access_token":"a\\nb"}' };
    await expect(signIn()).rejects.toThrow("a token that can't be sent in a header");
    authority.refusal = { status: 200, body: '{"token_type":"mac","access_token":"abcdef"}' };
    await expect(signIn()).rejects.toThrow("isn't a bearer token");
    const back = authority.agree((await begin()).url);
    back.searchParams.delete("code");
    back.searchParams.set("error", "access_denied");
    back.searchParams.set("error_description", "\u001b]0;owned\u0007 no");
    await expect(finish(back)).rejects.toThrow("denied access (access_denied): “\\u{1b}]0;owned\\u{7} no”");
  });
});

test("an authentication challenge is parsed for its relevant fields", () => {
  expect(
    challengeOf(
      'Bearer realm="a, b", error="insufficient_scope", scope="a b", resource_metadata="https://a.example/x"',
    ),
  ).toEqual({ error: "insufficient_scope", scope: "a b", resource_metadata: "https://a.example/x" });
  expect(challengeOf("Bearer scope=read")).toEqual({ error: null, scope: "read", resource_metadata: null });
  expect(challengeOf('Basic realm="x", scope="no"')).toEqual({
    error: null,
    scope: null,
    resource_metadata: null,
  });
  expect(challengeOf(null)).toEqual({ error: null, scope: null, resource_metadata: null });
});
