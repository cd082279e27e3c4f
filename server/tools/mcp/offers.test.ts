import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import type { Json } from "@/server/domain/base/values";
import { isGranted } from "@/server/domain/tool/tool";
import { newSealer } from "@/server/secrets/sealer";
import { McpServerStore } from "@/server/store/library/mcp-servers";
import { ToolsRegistry } from "../registry";
import { readDefinition } from "./definition";
import { PROMPTS, RESOURCES, readOutput, TEMPLATES } from "./offers";
import { McpServers } from "./servers";

let servers: McpServers;
beforeEach(async () => {
  servers = new McpServers({
    store: new McpServerStore(emptyDb(), newSealer(null, {})),
    declared: [
      {
        name: "memos",
        command: process.execPath,
        args: [path.join(import.meta.dirname, "testing/offering-server.mjs")],
        environment: {},
        cwd: process.cwd(),
      },
    ],
    fetch: globalThis.fetch,
    onChange: () => {},
  });
  await servers.start();
});
afterEach(() => servers.stop());

const call = (name: string, args: Json) => {
  const registry = new ToolsRegistry();
  for (const tool of servers.tools()) registry.register(tool);
  const { signal } = new AbortController();
  return registry.invoke(name, args, { signal, idempotencyKey: "key", run: null, agent: null });
};
const approve = () => {
  for (const { name, fingerprint } of servers.list()[0]!.tools) servers.approve("memos", name, fingerprint);
};

describe("MCP resources and prompts", () => {
  test("valid resources and prompts are listed, invalid entries are counted, and tools are optional", () => {
    const [server] = servers.list();
    expect(server).toMatchObject({
      state: "connected",
      problems: ["2 of its resources are invalid.", "1 of its prompts are invalid."],
      prompts: [
        {
          name: "greet",
          description: "A greeting",
          arguments: [
            { name: "who", required: true },
            { name: "how", required: false },
          ],
        },
      ],
    });
    expect(server?.resources.map(({ uri, name, size }) => [uri, name, size])).toEqual([
      ["memo://one", "First memo", 12],
      ["memo://huge", "huge", 9_000_000],
      ["memo://picture", "picture", null],
    ]);
    expect(server?.resources[0]?.description).toBe("Read \\u{202e}me");
  });

  test("resources and prompts become tools that need approval and return untrusted content", async () => {
    expect(servers.tools().map(({ spec }) => [spec.name, spec.taints, spec.sink, spec.risk])).toEqual([
      ["mcp:memos/@get_prompt", true, true, "UNKNOWN"],
      ["mcp:memos/@read_resource", true, true, "UNKNOWN"],
    ]);
    expect(isGranted(["mcp:memos/@read_resource"], "mcp:memos/@read_resource")).toBe(true);
    expect(await call("mcp:memos/@read_resource", {})).toMatchObject({
      status_code: 503,
      error: expect.stringContaining("Approve it on the Tools page"),
    });
    approve();
    expect(await call("mcp:memos/@read_resource", {})).toMatchObject({
      status_code: 200,
      output: [
        { uri: "memo://one", name: "First memo", mime_type: "text/plain", size: 12 },
        { uri: "memo://huge" },
        { uri: "memo://picture" },
      ],
    });
    expect(await call("mcp:memos/@read_resource", { uri: "memo://one" })).toEqual({
      status_code: 200,
      output: "Tea at four.",
    });
    expect(await call("mcp:memos/@get_prompt", { name: "greet", arguments: { who: "Ann" } })).toEqual({
      status_code: 200,
      output: {
        description: "greet",
        messages: [
          { role: "user", text: "Greet Ann." },
          { role: "assistant", text: "[image, image/png, 3 bytes; not shown]" },
        ],
      },
    });
    expect(await call("mcp:memos/@get_prompt", { arguments: { who: 1 } })).toMatchObject({
      status_code: 400,
    });
  });

  test("a missing, oversized or non-text resource is rejected with the reason", async () => {
    approve();
    for (const [uri, status_code, message] of [
      ["memo://huge", 413, "9000000 bytes; at most"],
      ["memo://long", 413, "returned more than"],
      ["memo://picture", 400, "is a file of 3 bytes (image/png), not text"],
      ["memo://none", 500, "Resource not found"],
    ] as const)
      expect(await call("mcp:memos/@read_resource", { uri })).toMatchObject({
        status_code,
        error: expect.stringContaining(message),
      });
  });

  test("changed resources and prompts are noticed and keep their approvals", async () => {
    approve();
    await call("mcp:memos/@get_prompt", { name: "greet", arguments: { who: "Ann" } });
    await expect
      .poll(() => servers.list()[0]!.prompts.map(({ name }) => name))
      .toEqual(["greet", "farewell"]);
    expect(servers.list()[0]!.tools.map(({ state }) => state)).toEqual(["approved", "approved"]);
  });
});

test("a server's tool can't use the reserved name of a resource tool", () => {
  expect(readDefinition({ name: "@read_resource", inputSchema: { type: "object" } })).toEqual({
    error: expect.stringContaining("can't begin with @"),
  });
});

test("malformed resources and prompts are tolerated", () => {
  for (const { read } of [RESOURCES, TEMPLATES, PROMPTS])
    for (const odd of [null, 1, "x", [], {}, { uri: 1, name: {}, uriTemplate: [] }])
      expect(read(odd)).toBeNull();
  expect(TEMPLATES.read({ uriTemplate: "memo://{id}", name: null, size: "big" })).toMatchObject({
    uri: "memo://{id}",
    name: "memo://{id}",
    is_template: true,
    size: null,
  });
  expect(readOutput("t", "u", { contents: [] })).toEqual({ status_code: 200, output: "" });
});
