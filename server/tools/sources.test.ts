import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { appRouter } from "@/server/api/root";
import { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import { newSealer } from "@/server/secrets/sealer";
import { newAuditStore } from "@/server/store/audit";
import { CustomToolStore } from "@/server/store/library/custom-tools";
import { McpServerStore } from "@/server/store/library/mcp-servers";
import { newToolSources } from "./sources";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "troupe-sources-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function setUp(env: Record<string, string> = {}) {
  const db = emptyDb();
  const sources = newToolSources({
    customTools: new CustomToolStore(db),
    mcpServers: new McpServerStore(db, newSealer(null, {})),
    env: { NODE_ENV: "test", ...env },
    reserved: () => ["calculator"],
  });
  const api = appRouter.createCaller({
    principal: { kind: "session", id: "s" },
    troupe: {
      toolSources: sources,
      audit: newAuditStore(db),
      disk: { sync: () => Promise.resolve() },
    } as never,
  });
  return { sources, api };
}
const definition = CustomToolDefinition.parse({
  name: "shout",
  description: "In capitals",
  input_schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  code: "return input.text.toUpperCase()",
});

test("a custom tool is created, tested, saved, changed, deleted and restored", async () => {
  const { sources, api } = setUp({ TROUPE_ENABLE_CODE: "1" });
  let changes = 0;
  const stop = sources.onChange(() => changes++);
  expect(await api.customTools.try({ definition, args: { text: "hey" } })).toEqual({
    status_code: 200,
    output: "HEY",
  });
  expect(await api.customTools.try({ definition, args: {} })).toMatchObject({ status_code: 400 });
  await api.customTools.save({ definition, base_version: null });
  await api.customTools.save({ definition: { ...definition, risk: "MEDIUM" }, base_version: 1 });
  await expect(api.customTools.save({ definition, base_version: 1 })).rejects.toMatchObject({
    code: "CONFLICT",
  });
  expect((await api.customTools.versions({ name: "shout" })).map(({ version }) => version)).toEqual([2, 1]);
  expect(sources.tools().map(({ spec }) => [spec.name, spec.source, spec.version])).toEqual([
    ["run_javascript", "builtin", undefined],
    ["shout", "custom", 2],
  ]);
  expect(await api.customTools.restore({ name: "shout", version: 1 })).toEqual({ name: "shout", version: 3 });
  await api.customTools.remove({ name: "shout" });
  expect(sources.tools()).toHaveLength(1);
  expect(await api.customTools.list()).toMatchObject({ enabled: true, tools: [], bin: [{ version: 3 }] });
  await api.customTools.restore({ name: "shout" });
  expect((await api.customTools.get({ name: "shout" })).definition.risk).toBe("LOW");
  expect(changes).toBe(5);
  stop();
});

test("tool names that are already taken are rejected", async () => {
  const { api } = setUp();
  for (const name of ["calculator", "run_javascript"])
    await expect(
      api.customTools.save({ definition: { ...definition, name }, base_version: null }),
    ).rejects.toMatchObject({ code: "CONFLICT" });
});

test("if code is disabled, its tools are listed as unavailable with instructions", async () => {
  const { sources, api } = setUp();
  await api.customTools.save({ definition, base_version: null });
  for (const { spec } of sources.tools()) expect(spec.unavailable).toContain("TROUPE_ENABLE_CODE=1");
  expect(await api.customTools.try({ definition, args: { text: "a" } })).toMatchObject({ status_code: 503 });
  expect((await api.customTools.list()).enabled).toBe(false);
});

test("the operator's file adds tools and servers, and a mistake in it prevents startup", async () => {
  const file = path.join(folder, "tools.yaml");
  writeFileSync(
    file,
    `tools: [{ name: list, type: script, description: d, command: ["ls"] }]\nmcp_servers: [{ name: local, command: "./nowhere" }]\n`,
  );
  const { sources, api } = setUp({ TROUPE_TOOLS_FILE: file });
  expect(sources.tools().map(({ spec }) => spec.name)).toEqual(["list", "run_javascript"]);
  expect(await api.mcp.list()).toMatchObject([
    { name: "local", kind: "stdio", state: "off", from_file: true },
  ]);
  await expect(api.mcp.remove({ name: "local" })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  writeFileSync(file, "tools: [{ name: list }]");
  expect(() => setUp({ TROUPE_TOOLS_FILE: file })).toThrow("tools[0]: must have type");
});

test("an unreachable MCP server is kept and reports the reason", async () => {
  const { sources, api } = setUp();
  const status = await api.mcp.add({
    name: "inside",
    url: "http://127.0.0.1:48123/mcp",
    authorization: "Bearer s3cret-word",
  });
  expect(status).toMatchObject({
    state: "failed",
    last_error: expect.stringContaining("TROUPE_MCP_ALLOWED_HOSTS"),
    has_authorization: true,
  });
  expect(JSON.stringify(await api.mcp.list())).not.toContain("s3cret-word");
  expect(await api.mcp.setEnabled({ name: "inside", is_enabled: false })).toMatchObject({ state: "off" });
  expect(await api.mcp.approve({ name: "inside", tools: [{ tool: "t", fingerprint: "f" }] })).toMatchObject({
    refused: [{ tool: "t", reason: "gone" }],
  });
  await expect(api.mcp.add({ name: "a b", url: "http://x.example" })).rejects.toMatchObject({
    code: "BAD_REQUEST",
  });
  await expect(api.mcp.add({ name: "a", url: "file:///etc/passwd" })).rejects.toMatchObject({
    code: "BAD_REQUEST",
  });
  await api.mcp.remove({ name: "inside" });
  await sources.stop();
});

test("a tool with a worker label reports that a server without workers can't run it", async () => {
  const file = path.join(folder, "labelled.yaml");
  writeFileSync(
    file,
    "tools: [{ name: render, type: script, description: Renders, command: [echo, here], worker_label: gpu }]",
  );
  const { sources } = setUp({ TROUPE_TOOLS_FILE: file });
  const render = sources.tools().find(({ spec }) => spec.name === "render");
  const why =
    'render runs on a worker with the label "gpu", and none is online. Start one with TROUPE_WORKER_LABELS=gpu.';
  expect(render?.spec.unavailable).toBe(why);
  const scope = { signal: new AbortController().signal, idempotencyKey: "k", run: null, agent: null };
  expect(await render?.execute({}, scope)).toEqual({ status_code: 503, error: why });
});

test("an invalid worker label prevents startup and is reported with its location", () => {
  const file = path.join(folder, "odd.yaml");
  writeFileSync(
    file,
    `tools: [{ name: render, type: script, description: Renders, command: [echo], worker_label: "two words" }]
mcp_servers: [{ name: cards, command: node, worker_label: "" }]`,
  );
  expect(() => setUp({ TROUPE_TOOLS_FILE: file })).toThrow(
    "mcp_servers[0].worker_label: isn't a valid worker label, such as gpu",
  );
});
