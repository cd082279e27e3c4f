import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach } from "vitest";
import { defined } from "@/server/domain/base/defined";
import { JsonObject, type JsonSchema } from "@/server/domain/base/values";
import type { Capability, ModelFacts, Provider, Providers } from "@/server/domain/model/provider";
import { offlineDemo } from "@/server/domain/model/provider";
import type { BudgetCheck, ModelIo, ModelRequest } from "./model";

// What the tests of this folder share: a server that misbehaves on demand, and providers held in memory.

export type Handler = (
  request: { body: Record<string, unknown>; url: string; headers: IncomingMessage["headers"] },
  response: ServerResponse,
  socket: Socket,
) => unknown;

const open = new Set<{ close(): Promise<unknown> }>();

/** Servers end with the test that opened them: for files whose tests run one after another. */
export const endServersWithTests = () =>
  afterEach(async () => {
    const servers = [...open];
    open.clear();
    await Promise.all(servers.map((server) => server.close()));
  });

/** A real HTTP server on a free port of this machine. */
export async function newServer(handler: Handler) {
  const requests: { body: Record<string, unknown>; url: string; headers: IncomingMessage["headers"] }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const text = Buffer.concat(parts).toString("utf8");
      const seen = {
        body: text === "" ? {} : JsonObject.parse(JSON.parse(text)),
        url: request.url ?? "",
        headers: request.headers,
      };
      requests.push(seen);
      handler(seen, response, request.socket);
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const port = portOf(server);
  const made = {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    sockets,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
  open.add(made);
  return made;
}
/** The port that a server of this machine listens on. */
export function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("It listens on no port.");
  return address.port;
}
export type TestServer = Awaited<ReturnType<typeof newServer>>;

export const offlineProvider: Provider = offlineDemo(true);

export const remoteProvider = (base_url: string, more: Partial<Provider> = {}): Provider => ({
  ...offlineProvider,
  id: "remote",
  name: "Testing",
  kind: "openai-compatible",
  base_url,
  has_key: true,
  default_model: "test-model",
  simulated: false,
  ...more,
});

/** Providers without a database. */
export function memoryProviders(
  all: Provider[],
  key: string | null = "sk-test-0123456789",
  headers: Readonly<Record<string, string>> = {},
): Providers & { learned: Record<string, Capability> } {
  const learned: Record<string, Capability> = {};
  let reported: Readonly<Record<string, ModelFacts>> = {};
  return {
    learned,
    list: () => all,
    find: (id) => all.find((provider) => provider.id === id),
    findDefault: () => all.find(({ is_default }) => is_default),
    keyOf: () => key,
    headersOf: () => headers,
    reported: (_id, model) => reported[model] ?? {},
    keepReported(_id, models) {
      reported = models;
    },
    observe(id, model, capability) {
      const { learned_at: _times, ...lessons } = capability;
      learned[model] = lessons;
      const provider = all.find((one) => one.id === id);
      if (provider)
        provider.settings = {
          ...provider.settings,
          capabilities: { ...provider.settings.capabilities, [model]: capability },
        };
    },
  };
}

export function ask(
  content: string,
  more: Partial<ModelRequest> & { schema?: JsonSchema; system?: string } = {},
): ModelRequest {
  const { schema, system, ...rest } = more;
  return {
    llm_config: {},
    messages: [...(system ? [{ role: "system" as const, content: system }] : []), { role: "user", content }],
    call_id: "call",
    run_id: "run_test",
    ...defined({ response: schema ? { name: "answer", schema } : undefined }),
    ...rest,
  };
}

export const budget = (more: Partial<BudgetCheck>): BudgetCheck => ({
  max_cost_usd: null,
  max_total_tokens: null,
  spent_cost_usd: 0,
  spent_tokens: 0,
  mode: "hard",
  ...more,
});

/** Collects what was streamed, and checks that offsets fit together. */
export function newIo(signal: AbortSignal = new AbortController().signal) {
  const got = { content: "", reasoning: "", tool_args: "" };
  const io: ModelIo = {
    signal,
    delta(channel, offset, text) {
      if (offset !== got[channel].length)
        throw new Error(`${channel} continues at ${offset}, but ${got[channel].length} characters came`);
      got[channel] += text;
    },
  };
  return { io, got };
}

/** Server-sent events with these contents, and a finish. */
export function sse(
  parts: readonly string[],
  {
    finish = "stop",
    done = true,
    usage = true,
  }: { finish?: string | null; done?: boolean; usage?: boolean } = {},
): string {
  const chunk = (delta: unknown, reason: string | null = null) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
  return [
    chunk({ role: "assistant", content: "" }),
    ...parts.map((content) => chunk({ content })),
    ...(finish === null ? [] : [chunk({}, finish)]),
    ...(usage
      ? [
          `data: ${JSON.stringify({ id: "c", choices: [], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } })}\n\n`,
        ]
      : []),
    ...(done ? ["data: [DONE]\n\n"] : []),
  ].join("");
}

export function sendSse(response: ServerResponse, text: string | Buffer) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(text);
}
