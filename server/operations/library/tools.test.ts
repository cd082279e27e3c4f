import { expect, test } from "vitest";
import { z } from "zod";
import { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import { expectSchema, newApi } from "@/server/http-api/testing";
import { defineTool } from "@/server/tools/define";

const KEY = "brave-canary-key-0123456789";
const echo = defineTool({
  name: "echo",
  description: "Says it again",
  input: z.object({ text: z.string() }),
  source: "builtin",
  risk: "LOW",
  execute: ({ text }) => text,
});

test("the API lists tools and the roles that name them, but can't call a tool", async () => {
  const api = newApi();
  api.registry.register(echo);
  api.roles.create({ ...api.roles.list()[0]!.role, name: "Parrot", tools: ["echo"] });
  const { body } = await api.ask("GET", "/tools");
  expectSchema("listTools", body);
  expect(body.tools).toMatchObject([{ name: "echo", used_by: ["Parrot"] }]);
  expect((await api.ask("POST", "/tools/echo", { text: "Hi" })).body.error.code).toBe("not_found");
});

test("the API replaces a search service's key, but not its address, and never returns a key", async () => {
  const api = newApi();
  const answers: unknown[] = [];
  const put = async (body: object) => {
    const { status, body: answer } = await api.ask("PUT", "/search-services", body);
    answers.push(answer);
    return answer?.error?.code ?? status;
  };
  const brave = { purpose: "web", kind: "brave", base_url: "" };
  expect(await put({ ...brave, key: KEY })).toBe("person_only");
  // A person sets it up.
  api.toolSettings.save({ purpose: "web", kind: "brave", base_url: "", key: "first-key-of-a-person" });
  expect(await put({ ...brave, key: KEY })).toBe(200);
  expect(api.toolSettings.backendFor("web")?.key).toBe(KEY);
  expect(await put({ ...brave, base_url: "https://elsewhere.example", key: KEY })).toBe("person_only");
  expect(await put({ purpose: "web", kind: "searxng", base_url: "https://elsewhere.example" })).toBe(
    "person_only",
  );
  expect(await put({ ...brave, key: `${KEY}\u200b` })).toBe("bad_request");
  expect(await put({ ...brave, purpose: "code" })).toBe("bad_request");
  expect(api.toolSettings.backendFor("web")).toMatchObject({ kind: "brave", key: KEY });
  const { body } = await api.ask("GET", "/search-services");
  expectSchema("listSearchServices", body);
  expect(body.searches[0]).toEqual({
    purpose: "web",
    kind: "brave",
    base_url: expect.any(String),
    has_key: true,
  });
  expect((await api.ask("DELETE", "/search-services/web")).status).toBe(204);
  expect((await api.ask("DELETE", "/search-services/web")).body.error.code).toBe("not_found");
  expect((await api.ask("DELETE", "/search-services/people")).body.error.code).toBe("bad_request");
  expect(api.audit.list().map(({ kind, detail }) => [kind, detail?.key])).toEqual([
    ["search_service_removed", undefined],
    ["search_service_changed", "replaced"],
  ]);
  const all = JSON.stringify([answers, body, api.audit.list()]);
  for (const part of [KEY, KEY.slice(-4)]) expect(all).not.toContain(part);
});

test("the API lists, disables and removes MCP servers without their keys, but can't add or enable any", async () => {
  const secret = "canary-mcp-0123456789";
  const api = newApi();
  const { mcp } = api.toolSources;
  await mcp.save({
    name: "notes",
    url: `http://127.0.0.1:9/mcp?token=${secret}`,
    authorization: `Bearer ${secret}`,
  });
  const list = await api.ask("GET", "/mcp-servers");
  expectSchema("listMcpServers", list.body);
  expect(list.body.servers).toMatchObject([{ name: "notes", has_authorization: true, is_enabled: true }]);
  const put = (is_enabled: boolean) => api.ask("PUT", "/mcp-servers/notes/enabled", { is_enabled });
  const off = await put(false);
  expect(off).toMatchObject({ status: 200, body: { is_enabled: false, state: "off" } });
  const on = await put(true);
  expect(on).toMatchObject({ status: 403, body: { error: { code: "person_only" } } });
  expect(mcp.list()[0]?.is_enabled).toBe(false);
  const withdrawn = await api.ask("POST", "/mcp-servers/notes/withdraw", { tool: "write" });
  const refreshed = await api.ask("POST", "/mcp-servers/notes/refresh");
  expect([withdrawn.status, refreshed.status]).toEqual([200, 200]);
  expect((await api.ask("PUT", "/mcp-servers/none/enabled", { is_enabled: false })).body.error.code).toBe(
    "not_found",
  );
  expect((await api.ask("POST", "/mcp-servers/notes/approve", {})).body.error.code).toBe("not_found");
  expect((await api.ask("POST", "/mcp-servers", {})).body.error.code).toBe("method_not_allowed");
  const out = await api.ask("POST", "/mcp-servers/notes/sign-out");
  expectSchema("signOutOfMcpServer", out.body);
  expect((await api.ask("DELETE", "/mcp-servers/notes")).status).toBe(204);
  expect((await api.ask("DELETE", "/mcp-servers/notes")).body.error.code).toBe("not_found");
  expect(api.audit.list().map(({ kind }) => kind)).toEqual([
    "mcp_server_removed",
    "mcp_signed_out",
    "mcp_server_changed",
  ]);
  const bodies = [list, off, on, withdrawn, refreshed, out].map(({ body }) => body);
  expect(JSON.stringify([bodies, api.audit.list()])).not.toContain(secret);
});

test("the API lists custom tools and can delete one, but can't write any", async () => {
  const api = newApi();
  const definition = CustomToolDefinition.parse({ name: "count", description: "Counts", code: "return 1" });
  api.toolSources.customTools.save(definition, null);
  const { body } = await api.ask("GET", "/custom-tools");
  expectSchema("listCustomTools", body);
  expect(body).toMatchObject({ enabled: false, tools: [{ version: 1 }], bin: [] });
  const one = await api.ask("GET", "/custom-tools/count");
  expect(one.body.definition.code).toBe("return 1");
  expectSchema("getCustomTool", one.body);
  const versions = await api.ask("GET", "/custom-tools/count/versions");
  expectSchema("listCustomToolVersions", versions.body);
  expect(versions.body.versions).toHaveLength(1);
  expect((await api.ask("GET", "/custom-tools/none")).body.error.code).toBe("not_found");
  expect((await api.ask("PUT", "/custom-tools/count", definition)).body.error.code).toBe(
    "method_not_allowed",
  );
  expect((await api.ask("DELETE", "/custom-tools/count")).status).toBe(204);
  expect((await api.ask("DELETE", "/custom-tools/count")).body.error.code).toBe("not_found");
  expect((await api.ask("GET", "/custom-tools")).body.bin).toHaveLength(1);
  expect(api.audit.list()).toMatchObject([
    { kind: "custom_tool_removed", who: expect.stringContaining("token:"), detail: { tool: "count" } },
  ]);
});
