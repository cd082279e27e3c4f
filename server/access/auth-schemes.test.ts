import { describe, expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { appRouter } from "@/server/api/root";
import { SCOPES } from "@/server/domain/base/scopes";
import { hashOf } from "@/server/store/tokens";
import { newAccess } from "./current";
import { inStreamPlace, takeStream } from "./requests/streams";
import { signIn, signOut } from "./sign-in";

const HOST = "127.0.0.1:3000";

test("every procedure rejects a caller who isn't signed in", async () => {
  const nobody = appRouter.createCaller({ principal: null, troupe: {} as never });
  const procedures = Object.keys(appRouter._def.procedures);
  expect(procedures.length).toBeGreaterThan(20);
  const open: string[] = [];
  for (const path of procedures) {
    const call = path
      .split(".")
      .reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], nobody) as (
      input: unknown,
    ) => Promise<unknown>;
    const code = await call({}).then(
      () => "answered",
      (error: { code?: string }) => error.code,
    );
    if (code !== "UNAUTHORIZED") open.push(`${path} ${code}`);
  }
  expect(open).toEqual([]);
});

test("an API token can neither create nor list tokens", async () => {
  const program = appRouter.createCaller({ principal: { kind: "token", id: "t" }, troupe: {} as never });
  await expect(program.access.createToken({ name: "more", scopes: ["read"] })).rejects.toMatchObject({
    code: "FORBIDDEN",
  });
  await expect(program.access.tokens()).rejects.toMatchObject({ code: "FORBIDDEN" });
});

describe("API tokens", () => {
  const bearer = (token: string) =>
    new Request(`http://${HOST}/`, { headers: { authorization: `Bearer ${token}` } });

  test("a token is valid until it is revoked, and isn't stored in plain text", async () => {
    const db = emptyDb();
    const access = newAccess(db, {});
    const { id, token } = access.tokens.create("CI", {
      ...{ scopes: ["read", "run"], workflows: ["wf_1"], expires_at: null, is_trusted: false },
    });
    expect(token).toMatch(/^wf_[\w-]{43}$/);
    expect(await access.tokenOf(bearer(token))).toEqual({
      ...{ kind: "token", id, scopes: ["read", "run"], workflows: ["wf_1"], isTrusted: false },
    });
    expect(access.tokens.list()).toMatchObject([{ id, name: "CI", hint: token.slice(-4) }]);
    expect(access.tokens.list()[0]?.last_used_at).toBeGreaterThan(0);
    expect(db.$client.serialize().includes(Buffer.from(token))).toBe(false);

    expect(access.tokens.revoke(id)).toBe(true);
    expect(access.tokens.revoke(id)).toBe(false);
    expect(await access.tokenOf(bearer(token))).toBeNull();
    expect(access.tokens.list()).toEqual([]);
  });

  test("a token is refused from the moment it expires", async () => {
    const db = emptyDb();
    const access = newAccess(db, {});
    const make = (expires_at: number) =>
      access.tokens.create("CI", { scopes: ["read"], workflows: null, expires_at, is_trusted: false });
    const [past, later] = [make(Date.now()), make(Date.now() + 60_000)];
    expect(await access.tokenOf(bearer(past.token))).toBeNull();
    expect(await access.tokenOf(bearer(later.token))).toMatchObject({ id: later.id });
    expect(access.tokens.list().map(({ id }) => id)).toContain(past.id);
  });

  test("a token from before scopes keeps all of them, for every workflow, and is trusted", async () => {
    const db = emptyDb();
    const access = newAccess(db, {});
    db.$client
      .prepare(
        "insert into api_tokens (id, name, hash, hint, created_at) values ('old', 'Old', ?, 'old!', 1)",
      )
      .run(hashOf("wf_old"));
    expect(await access.tokenOf(bearer("wf_old"))).toEqual({
      ...{ kind: "token", id: "old", scopes: SCOPES, isTrusted: true },
    });
  });

  test("a token can come from the environment; without it, no token is valid", async () => {
    const access = newAccess(emptyDb(), { TROUPE_API_TOKEN: "a token of my own" });
    expect(await access.tokenOf(bearer("a token of my own"))).toBeNull();
    const spaceless = newAccess(emptyDb(), { TROUPE_API_TOKEN: "a-token-of-my-own" });
    expect(await spaceless.tokenOf(bearer("a-token-of-my-own"))).toEqual({
      kind: "token",
      id: "environment",
      isTrusted: true,
    });
    for (const guess of ["", "a-token-of-my-ow", "undefined", "null", "x".repeat(500)])
      expect(await spaceless.tokenOf(bearer(guess))).toBeNull();
    expect(await newAccess(emptyDb(), {}).tokenOf(bearer("undefined"))).toBeNull();
  });
});

describe("signing in", () => {
  const access = () => newAccess(emptyDb(), { TROUPE_PASSWORD: "correct horse" });
  function ask(body: unknown, headers: Record<string, string> = {}) {
    const text = JSON.stringify(body);
    const length = String(Buffer.byteLength(text));
    const from = {
      host: HOST,
      origin: `http://${HOST}`,
      "content-type": "application/json",
      "content-length": length,
    };
    return new Request(`http://${HOST}/api/session`, {
      method: "POST",
      headers: { ...from, ...headers },
      body: text,
    });
  }

  test("the right password creates a session and returns the next page", async () => {
    const door = access();
    const response = await signIn(ask({ password: "correct horse", next: "/runs" }), door);
    expect([response.status, await response.json()]).toEqual([200, { next: "/runs" }]);
    const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(await door.sessionOf(ask({}, { cookie }))).toMatchObject({ kind: "session" });

    const out = await signOut(ask({}, { cookie }), door);
    expect(out.headers.get("set-cookie")).toContain("Max-Age=0");
    expect(await door.sessionOf(ask({}, { cookie }))).toBeNull();
  });

  test("a sign-in that is cross-origin, not JSON or too long is rejected without a password check", async () => {
    const door = access();
    const statuses = [
      await signIn(ask({ password: "correct horse" }, { origin: "https://evil.example" }), door),
      await signIn(ask({ password: "correct horse" }, { host: "evil.example" }), door),
      await signIn(ask({ password: "correct horse" }, { "content-type": "text/plain" }), door),
      await signIn(ask({ password: "x".repeat(5_000) }), door),
      await signIn(ask({ password: ["correct horse"] }), door),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 421, 415, 413, 400]);
  });

  test("the sixth sign-in attempt must wait, even with the right password, and returns how long", async () => {
    const door = access();
    const tries = await Promise.all(
      Array.from({ length: 5 }, () => signIn(ask({ password: "guess" }), door)),
    );
    expect(tries.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    const sixth = await signIn(ask({ password: "correct horse" }), door);
    expect(sixth.status).toBe(429);
    expect(sixth.headers.get("retry-after")).toBe("60");
    expect(sixth.headers.has("set-cookie")).toBe(false);
  });
});

describe("stream slots", () => {
  const watcher = (id: string) => ({
    principal: { kind: "session" as const, id },
    request: new Request(`http://${HOST}/`, { headers: { accept: "text/event-stream" } }),
  });
  const limits = { perPrincipal: 2, perProcess: 3 };

  test("streams are limited per client and in total; a released slot is free again", () => {
    const open = new Map<string, number>();
    const take = (id: string) => takeStream({ kind: "session", id }, limits, open);
    const [first, second] = [take("a"), take("a")];
    expect(take("a")).toBe("too_many_yours");
    const third = take("b");
    expect(take("c")).toBe("too_many");
    if (typeof first === "object") {
      first.release();
      first.release();
    }
    const fourth = take("c");
    expect(typeof fourth).toBe("object");
    expect(take("c")).toBe("too_many");
    for (const place of [second, third, fourth]) if (typeof place === "object") place.release();
  });

  test("a stream keeps its slot until it ends or its reader disconnects", async () => {
    const free = () => {
      const place = takeStream({ kind: "session", id: "w" }, { perPrincipal: 1, perProcess: 1_000 });
      if (typeof place === "string") return false;
      place.release();
      return true;
    };
    const endless = () =>
      Promise.resolve(new Response(new ReadableStream({ pull: () => new Promise(() => {}) })));
    const open = await inStreamPlace(watcher("w"), endless);
    expect(free()).toBe(false);
    await open.body?.cancel();
    expect(free()).toBe(true);

    const short = await inStreamPlace(watcher("w"), () => Promise.resolve(new Response("data: 1\n\n")));
    expect(free()).toBe(false);
    expect(await short.text()).toBe("data: 1\n\n");
    await expect.poll(() => free()).toBe(true);

    await expect(inStreamPlace(watcher("w"), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(free()).toBe(true);
  });
});
