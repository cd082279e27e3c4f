import { beforeEach, describe, expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { Sessions } from "@/server/access/sessions";
import { RoleDefinition } from "@/server/domain/agent/role";
import { OFFLINE } from "@/server/domain/model/provider";
import { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import { registerSecret } from "@/server/secrets/redact";
import { newServices } from "@/server/services";
import { newSessionStore } from "@/server/store/sessions";
import { newSettingStore } from "@/server/store/settings";
import { bringFile } from "@/server/testing/importing";
import { appRouter } from "./root";

// What a person did is told once, by whom, and without anything secret.

const SECRETS = {
  provider: "canary-provider-key-1111",
  search: "canary-search-key-2222",
  mcp: "Bearer canary-mcp-header-3333",
  password: "canary-password-4444",
  address: "canary-in-an-address-5555",
};

function newCaller() {
  const db = emptyDb();
  const troupe = newServices(db, { dataDir: null });
  const ask = appRouter.createCaller({ troupe, principal: { kind: "session", id: "ses_1" } });
  const auditEntries = () =>
    troupe.audit
      .list()
      .reverse()
      .map(({ kind, detail }) => ({ kind, ...detail }));
  return { db, troupe, ask, auditEntries };
}
let here: ReturnType<typeof newCaller>;
beforeEach(() => {
  here = newCaller();
});

test("the audit log records changes to providers and their keys, but no key and no full address", async () => {
  const { ask, auditEntries } = here;
  const form = { name: "Ours", base_url: `http://127.0.0.1:9/${SECRETS.address}/v1`, default_model: "m" };
  const { id } = await ask.providers.save({ ...form, key: SECRETS.provider });
  await ask.providers.save({ ...form, id, default_model: "other" });
  await ask.providers.save({ ...form, id, key: `${SECRETS.provider}-2` });
  await ask.providers.save({ ...form, id, base_url: "http://127.0.0.1:10/v1" });
  await ask.providers.setDefault({ id });
  await expect(ask.providers.remove({ id })).rejects.toThrow(
    "“Ours” is the default provider. Choose another default first.",
  );
  await ask.providers.remove({ id, next: "offline" });
  await expect(ask.providers.remove({ id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  const [host, provider] = ["127.0.0.1:9", "Ours"];
  expect(auditEntries()).toEqual([
    { kind: "provider_added", provider, host, key: "set" },
    { kind: "provider_changed", provider, host, key: "kept" },
    { kind: "provider_changed", provider, host, key: "replaced" },
    { kind: "provider_changed", provider, host: "127.0.0.1:10", host_before: host, key: "removed" },
    { kind: "provider_chosen", provider },
    { kind: "provider_chosen", provider: OFFLINE.name },
    { kind: "provider_removed", provider, key: "none" },
  ]);
});

test("the audit log records the names of created and revoked tokens", async () => {
  const { ask, auditEntries } = here;
  const { id, token } = await ask.access.createToken({ name: "Nightly", scopes: ["read"] });
  await ask.access.revokeToken({ id });
  await expect(ask.access.revokeToken({ id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(auditEntries()).toEqual([
    {
      ...{ kind: "token_made", token: "Nightly", id, scopes: ["read"] },
      ...{ workflows: null, expires_at: null, is_trusted: false },
    },
    { kind: "token_revoked", token: "Nightly", id },
  ]);
  expect(JSON.stringify(await ask.audit.list({}))).not.toContain(token);
});

test("the audit log records changes to search services, MCP servers and custom tools", async () => {
  const { ask, auditEntries } = here;
  await ask.toolSettings.save({ purpose: "web", kind: "brave", base_url: "", key: SECRETS.search });
  await ask.toolSettings.remove({ purpose: "web" });
  const server = { name: "notes", url: `http://127.0.0.1:9/mcp?token=${SECRETS.address}` };
  await ask.mcp.add({ ...server, authorization: SECRETS.mcp, is_enabled: false });
  await ask.mcp.setEnabled({ name: "notes", is_enabled: true });
  await ask.mcp.add({ ...server, authorization: null });
  await ask.mcp.remove({ name: "notes" });
  const definition = CustomToolDefinition.parse({
    name: "count_words",
    description: "Counts",
    code: `export default () => "${SECRETS.address}"`,
    input_schema: { type: "object", properties: {} },
  });
  await ask.customTools.save({ definition, base_version: null });
  await ask.customTools.try({ definition, args: { text: SECRETS.address } });
  await ask.customTools.remove({ name: "count_words" });
  await ask.customTools.restore({ name: "count_words" });
  await ask.customTools.save({ definition: { ...definition, description: "Counts words" }, base_version: 1 });
  await ask.customTools.restore({ name: "count_words", version: 1 });
  const [tool, host] = ["count_words", "127.0.0.1:9"];
  expect(auditEntries()).toEqual([
    {
      kind: "search_service_changed",
      search: "web",
      service: "brave",
      host: expect.stringMatching(/brave/) as string,
      key: "set",
    },
    { kind: "search_service_removed", search: "web" },
    { kind: "mcp_server_added", server: "notes", host, is_enabled: false, key: "set" },
    { kind: "mcp_server_changed", server: "notes", is_enabled: true },
    { kind: "mcp_server_changed", server: "notes", host, is_enabled: true, key: "removed" },
    { kind: "mcp_server_removed", server: "notes" },
    { kind: "custom_tool_saved", tool, version: 1 },
    { kind: "tool_tried_out", tool, status_code: 503, is_draft: true },
    { kind: "custom_tool_removed", tool },
    { kind: "custom_tool_restored", tool, version: 1 },
    { kind: "custom_tool_saved", tool, version: 2 },
    { kind: "custom_tool_restored", tool, version: 3, from_version: 1 },
  ]);
});

test("the audit log records changes to a role's tools, made by hand or by a file", async () => {
  const { ask, auditEntries } = here;
  const role = RoleDefinition.parse({ name: "Scout", description: "Looks", tools: ["browse_url"] });
  await ask.roles.create({ role });
  await ask.roles.save({ name: "Scout", revision: 1, role: { ...role, description: "Looks well" } });
  await ask.roles.save({ name: "Scout", revision: 2, role: { ...role, tools: ["http_write"] } });
  const file = JSON.stringify({
    roles: { Guest: { name: "Guest", description: "A guest", tools: ["file_write", "http_write"] } },
  });
  const brought = await bringFile(ask, file, { allow: ["tool:file_write"] });
  expect(brought.created).toEqual(["Guest"]);
  await ask.roles.remove({ name: "Scout" });
  expect(auditEntries()).toEqual([
    { kind: "role_tools_changed", role: "Scout", added: ["browse_url"], removed: [] },
    { kind: "role_tools_changed", role: "Scout", added: ["http_write"], removed: ["browse_url"] },
    { kind: "role_tools_changed", role: "Guest", added: ["file_write"], removed: [], from: "file" },
    { kind: "role_tools_changed", role: "Scout", added: [], removed: ["http_write"] },
  ]);
});

describe("sign-ins in the audit log", () => {
  const HOST = "127.0.0.1:3000";
  const door = (env: Record<string, string>) =>
    new Sessions({
      store: newSessionStore(here.db),
      settings: newSettingStore(here.db),
      audit: here.troupe.audit,
      env,
    });
  const withCookie = (cookie: string) =>
    new Request(`http://${HOST}/`, { headers: { host: HOST, cookie: cookie.split(";")[0] ?? "" } });
  const who = () =>
    here.troupe.audit
      .list()
      .reverse()
      .map(({ kind, who }) => `${kind} ${who.replace(/:.*/, "")}`);

  test("the audit log records sign-ins, failed attempts and sign-outs", async () => {
    const sessions = door({ TROUPE_PASSWORD: SECRETS.password });
    expect(await sessions.tryPassword(`${SECRETS.password}?`, HOST)).toBe("wrong");
    const come = async () => {
      const result = await sessions.tryPassword(SECRETS.password, HOST);
      return withCookie(typeof result === "object" && "cookie" in result ? result.cookie : "");
    };
    await sessions.end(await come());
    const first = await come();
    const second = await come();
    await sessions.endAll(first);
    expect(await sessions.find(second)).toBeNull();
    expect(who()).toEqual([
      "sign_in_failed password",
      "signed_in password",
      "signed_out session",
      "signed_in password",
      "signed_in password",
      "signed_out_everywhere session",
    ]);
    // What was tried may be somebody's real password elsewhere.
    expect(JSON.stringify(here.troupe.audit.list())).not.toContain(SECRETS.password);
  });

  test("throttled attempts and repeated wrong links don't fill the audit log", async () => {
    const sessions = door({ TROUPE_PASSWORD: SECRETS.password });
    for (let at = 0; at < 30; at++) await sessions.tryPassword("guess", HOST);
    expect(who().length).toBeLessThanOrEqual(5);
    const byLink = door({ TROUPE_START_LINK: "1" });
    const link = new URL(byLink.newLink() ?? "", `http://${HOST}`).searchParams.get("link") ?? "";
    for (let at = 0; at < 30; at++) byLink.useLink("guess");
    expect(who().filter((entry) => entry === "sign_in_failed link").length).toBeLessThanOrEqual(5);
    expect(byLink.useLink(link)).toBe(true);
    expect(who().at(-1)).toBe("signed_in link");
    expect(JSON.stringify(here.troupe.audit.list())).not.toContain(link);
  });
});

test("the audit log is read by page and area, with token names, and only when signed in", async () => {
  const { ask, troupe } = here;
  const { id } = await ask.access.createToken({ name: "Nightly", scopes: ["read"] });
  troupe.audit.append({ kind: "role_tools_changed", who: `token:${id}`, detail: { role: "A" } });
  for (let at = 0; at < 4; at++) await ask.tools.tryOut({ name: "calculator", args: { expression: "1" } });
  const pages = [await ask.audit.list({ limit: 4 })];
  pages.push(await ask.audit.list({ limit: 4, cursor: pages[0]!.next }));
  expect(pages.map(({ entries, next }) => [entries.length, next === null])).toEqual([
    [4, false],
    [2, true],
  ]);
  expect(pages[1]!.entries).toMatchObject([
    { kind: "role_tools_changed", token_name: "Nightly", isOwn: false },
    { kind: "token_made", who: "session:ses_1", isOwn: true },
  ]);
  expect((await ask.audit.list({ area: "keys" })).entries.map(({ kind }) => kind)).toEqual(["token_made"]);
  const anonymous = appRouter.createCaller({ troupe, principal: null });
  await expect(anonymous.audit.list({})).rejects.toMatchObject({ code: "UNAUTHORIZED" });
});

test("the audit log contains no secret, whichever field it was entered in", async () => {
  const { ask, troupe, db } = here;
  for (const secret of Object.values(SECRETS)) registerSecret(secret);
  const form = { base_url: "http://127.0.0.1:9/v1", default_model: "m" };
  // People paste keys into fields of names.
  await ask.providers.save({ ...form, name: SECRETS.provider, key: SECRETS.provider });
  await ask.access.createToken({ name: SECRETS.search, scopes: ["read"] });
  await ask.access.createToken({ name: "sk-canary0123456789abcdef", scopes: ["read"] });
  const role = RoleDefinition.parse({ name: "R", description: "d", tools: [SECRETS.password] });
  await ask.roles.create({ role });
  await ask.tools.tryOut({ name: SECRETS.address, args: { text: SECRETS.mcp } });
  const written = JSON.stringify(db.$client.prepare("select * from audit").all());
  expect(troupe.audit.list()).toHaveLength(5);
  for (const secret of [...Object.values(SECRETS), "sk-canary0123456789abcdef"])
    expect(written).not.toContain(secret);
});
