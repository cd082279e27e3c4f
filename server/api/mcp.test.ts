import { generateKeyPairSync } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Db } from "@/db/open";
import { emptyDb } from "@/db/testing";
import type { Principal } from "@/server/access/principal";
import { newMcpFetch } from "@/server/egress/fetch";
import { newSealer } from "@/server/secrets/sealer";
import { newServices } from "@/server/services";
import { McpServerStore } from "@/server/store/library/mcp-servers";
import { McpServers } from "@/server/tools/mcp/servers";
import { newAuthorizationServer, newGuardedServer } from "@/server/tools/mcp/testing/guarded-server";
import { appRouter } from "./root";

const ORIGIN = "http://127.0.0.1:3000";

let authority: Awaited<ReturnType<typeof newAuthorizationServer>>;
let remote: Awaited<ReturnType<typeof newGuardedServer>>;
let mcp: McpServers;
let db: Db;
const callerOf = (principal: Principal | null) => {
  const troupe = Object.assign(newServices(db, { dataDir: null }), { toolSources: { mcp, customTools: {} } });
  return appRouter.createCaller({ troupe, principal }).mcp;
};
const ann = () => callerOf({ kind: "session", id: "ann" });
beforeEach(async () => {
  authority = await newAuthorizationServer();
  remote = await newGuardedServer(authority);
  db = emptyDb();
  mcp = new McpServers({
    store: new McpServerStore(db, newSealer(null, {})),
    declared: [],
    fetch: newMcpFetch(`127.0.0.1:${remote.port},127.0.0.1:${authority.port}`),
    onChange: () => {},
  });
});
afterEach(async () => {
  await mcp.stop();
  remote.close();
  authority.close();
});

/** The way of a person's browser: there, agreeing or not, and back with what the address holds. */
async function walk(how: "Allow" | "Deny") {
  const { url } = await ann().beginSignIn({ name: "notes", origin: ORIGIN });
  const page = await (await fetch(url)).text();
  const link = new RegExp(`href="([^"]+)">${how}<`).exec(page)![1]!.replaceAll("&amp;", "&");
  const { searchParams, origin, pathname } = new URL(link);
  expect(origin + pathname).toBe(`${ORIGIN}/tools/sign-in`);
  return Object.fromEntries(searchParams) as { state: string };
}

test("signing in to an MCP server never returns or logs its tokens", async () => {
  const added = await ann().add({ name: "notes", url: remote.url });
  expect(added).toMatchObject({ state: "needs_sign_in", sign_in: { state: "none" } });
  const back = await walk("Allow");
  const signedIn = await ann().finishSignIn(back);
  expect(signedIn).toMatchObject({ state: "connected", sign_in: { state: "signed_in", renews: true } });
  await expect(ann().finishSignIn(back)).rejects.toMatchObject({ code: "BAD_REQUEST" });
  const secrets = [...authority.tokens.keys(), ...authority.refreshTokens.keys()];
  expect(secrets).toHaveLength(2);
  const out = await ann().signOut({ name: "notes" });
  expect(out).toMatchObject({ state: "needs_sign_in", sign_in: { state: "none" }, still_good: null });
  expect(authority.revoked.sort()).toEqual([...secrets].sort());
  const troupe = newServices(db, { dataDir: null });
  const noted = troupe.audit.list({ limit: 50 });
  const output = JSON.stringify([added, signedIn, out, await ann().list(), noted]);
  for (const secret of secrets) expect(output).not.toContain(secret);
  expect(output).toContain("mcp_signed_in");
  expect(output).toContain("mcp_signed_out");
});

test("denied access is reported, and nothing is granted", async () => {
  await ann().add({ name: "notes", url: remote.url });
  const back = await walk("Deny");
  await expect(ann().finishSignIn(back)).rejects.toMatchObject({
    code: "BAD_REQUEST",
    message: `127.0.0.1:${authority.port} denied access.`,
  });
  expect(await ann().list()).toMatchObject([{ state: "needs_sign_in", sign_in: { state: "none" } }]);
});

test("sign-in to an MCP server requires this origin and the session that started it", async () => {
  await ann().add({ name: "notes", url: remote.url });
  await expect(ann().beginSignIn({ name: "notes", origin: "https://evil.example" })).rejects.toMatchObject({
    code: "BAD_REQUEST",
  });
  const back = await walk("Allow");
  await expect(callerOf({ kind: "session", id: "bob" }).finishSignIn(back)).rejects.toMatchObject({
    code: "BAD_REQUEST",
    message: expect.stringContaining("wasn't started in this browser"),
  });
  await expect(callerOf(null).finishSignIn(back)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  await expect(callerOf(null).signOut({ name: "notes" })).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  expect(await ann().finishSignIn(back)).toMatchObject({ state: "connected" });
});

test("a client with its own credentials connects with its private key, which is never returned", async () => {
  const private_key = generateKeyPairSync("ec", { namedCurve: "P-256" })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
  const client = { client_id: "robot", client_secret: null, private_key, as_program: true };
  const added = await ann().add({ name: "notes", url: remote.url, client });
  expect(added).toMatchObject({
    state: "connected",
    sign_in: { as_program: true, has_private_key: true, client_id: "robot" },
  });
  const body = private_key.split("\n")[1]!;
  expect(JSON.stringify([added, await ann().list()])).not.toContain(body);
  for (const odd of [
    { ...client, private_key: "-----BEGIN PRIVATE KEY-----" },
    { ...client, private_key: null },
    { ...client, as_program: false },
  ])
    await expect(ann().add({ name: "notes", url: remote.url, client: odd })).rejects.toMatchObject({
      code: "BAD_REQUEST",
    });
});
