import { createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { emptyDb } from "@/db/testing";
import type { ToolAnswer } from "@/server/domain/tool/tool";
import { newMcpFetch } from "@/server/egress/fetch";
import { newSealer } from "@/server/secrets/sealer";
import { McpServerStore } from "@/server/store/library/mcp-servers";
import { McpServers } from "./servers";
import { bodyOf, listen } from "./testing/guarded-server";

// A server that speaks the newest version of the protocol (2026-07-28) and none before it: no handshake, no session.

let remote: Awaited<ReturnType<typeof listen>>;
let servers: McpServers;
let asked: { method: string; session: unknown }[];
let tools: string[];
const handler = createMcpHandler(
  () => {
    const server = new McpServer({ name: "newest", version: "1.0.0" });
    for (const name of tools)
      server.registerTool(name, { description: name, inputSchema: z.object({ a: z.number() }) }, ({ a }) => ({
        content: [{ type: "text", text: String(a + 1) }],
      }));
    server.registerTool("book", { description: "Books", inputSchema: z.object({}) }, (_input, { mcpReq }) => {
      const answered = mcpReq.inputResponses?.seat as
        | { action: string; content?: { seat?: string } }
        | undefined;
      if (!answered)
        return inputRequired({
          inputRequests: {
            seat: inputRequired.elicit({
              message: "Which seat?",
              requestedSchema: { type: "object", properties: { seat: { type: "string" } } },
            }),
          },
        });
      return { content: [{ type: "text", text: `${answered.action} ${answered.content?.seat}` }] };
    });
    server.registerResource("memo", "memo://one", { description: "A memo" }, (uri) => ({
      contents: [{ uri: uri.href, text: "Tea at four." }],
    }));
    return server;
  },
  { legacy: "reject" },
);
beforeEach(async () => {
  asked = [];
  tools = ["add"];
  remote = await listen((request, response) => {
    void (async () => {
      const body = await bodyOf(request);
      const { method } = (body === "" ? {} : JSON.parse(body)) as { method?: string };
      asked.push({ method: method ?? request.method ?? "", session: request.headers["mcp-session-id"] });
      const abort = new AbortController();
      response.on("close", () => abort.abort());
      const answer = await handler.fetch(
        new Request(`${remote.origin}/mcp`, {
          method: request.method ?? "GET",
          headers: request.headers as Record<string, string>,
          signal: abort.signal,
          ...(body === "" ? {} : { body }),
        }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      for await (const chunk of answer.body ?? []) response.write(chunk);
      response.end();
    })().catch(() => response.destroy());
  });
  servers = new McpServers({
    store: new McpServerStore(emptyDb(), newSealer(null, {})),
    declared: [],
    fetch: newMcpFetch(`127.0.0.1:${remote.port}`),
    onChange: () => {},
  });
  await servers.save({ name: "newest", url: `${remote.origin}/mcp` });
});
afterEach(async () => {
  await servers.stop();
  remote.close();
});

const call = (name: string, args: object, answers: ToolAnswer[] = []) => {
  for (const tool of servers.list()[0]!.tools) servers.approve("newest", tool.name, tool.fingerprint);
  return servers
    .tools()
    .find(({ spec }) => spec.name === `mcp:newest/${name}`)!
    .execute(args, {
      signal: new AbortController().signal,
      idempotencyKey: "key",
      run: null,
      agent: null,
      answers,
    });
};

test("a server of the newest protocol is called without a handshake or session", async () => {
  expect(servers.list()[0]).toMatchObject({ state: "connected", last_error: null, problems: [] });
  expect(await call("add", { a: 1 })).toEqual({ status_code: 200, output: "2" });
  expect(await call("@read_resource", { uri: "memo://one" })).toEqual({
    status_code: 200,
    output: "Tea at four.",
  });
  expect(asked.map(({ method }) => method)).toContain("server/discover");
  expect(asked.filter(({ method, session }) => method === "initialize" || session !== undefined)).toEqual([]);
});

test("a newest-protocol server's question is answered when the call is repeated", async () => {
  const first = await call("book", {});
  expect(first).toMatchObject({ status_code: 409, asks: { from: "newest", message: "Which seat?" } });
  const answer = { question: first.asks!, action: "accept" as const, content: { seat: "12A" } };
  expect(await call("book", {}, [answer])).toEqual({ status_code: 200, output: "accept 12A" });
});

test("a changed tool list is noticed", async () => {
  tools.push("later");
  handler.notify.toolsChanged();
  await expect
    .poll(() => servers.list()[0]!.tools.map(({ name }) => name), { timeout: 10_000 })
    .toContain("later");
});
