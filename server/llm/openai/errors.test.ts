import { describe, expect, test, vi } from "vitest";
import type { ErrorCode } from "@/server/domain/agent/outcome";
import { providerFetch } from "@/server/egress/fetch";
import { ModelError } from "../model";
import { newModels } from "../models";
import {
  ask,
  endServersWithTests,
  type Handler,
  memoryProviders,
  newIo,
  newServer,
  remoteProvider,
  sendSse,
  sse,
  type TestServer,
} from "../testing";
import type { TransportLimits } from "./transport";

const LIMITS: Partial<TransportLimits> = { firstByteMs: 250, idleMs: 200, totalMs: 2_000 };
/** Where nothing is to time out, however busy the machine is. */
const LONG_LIMITS: Partial<TransportLimits> = { firstByteMs: 30_000, idleMs: 30_000, totalMs: 30_000 };
endServersWithTests();
let server: TestServer | undefined;

async function against(
  handler: Handler,
  limits = LONG_LIMITS,
  signal?: AbortSignal,
  { prompt = "Hello" }: { prompt?: string } = {},
) {
  server = await newServer(handler);
  const models = newModels({
    providers: memoryProviders([remoteProvider(server.url)]),
    fetch: providerFetch,
    limits,
  });
  const { io, got } = newIo(signal);
  const error = await models.complete(ask(prompt), io).then(
    () => null,
    (failure: unknown) => failure,
  );
  return { error, got, models };
}

/** What a service that answers so gives, with the usual limits. */
async function answerOf(handler: Handler, io = newIo().io) {
  server = await newServer(handler);
  const providers = memoryProviders([remoteProvider(server.url)]);
  return newModels({ providers, fetch: providerFetch }).complete(ask("Hi"), io);
}

const head = (text: string) => text.slice(0, text.indexOf("data: [DONE]"));
const json =
  (status: number, body: unknown, headers = {}): Handler =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
const failing = (status: number, message: string, more: Record<string, unknown> = {}, headers = {}) =>
  json(status, { error: { message, ...more } }, headers);
const events =
  (text: string): Handler =>
  (_request, response) =>
    sendSse(response, text);
/** Sends the text, then does nothing. */
const stalling =
  (text: string): Handler =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text);
  };
const half = sse(["Half of", " it"], { finish: null, done: false, usage: false });
const mb = "x".repeat(1024 * 1024);

/** What may be over the next time. */
const PASSING = new Set<ErrorCode>(["RATE_LIMIT", "TRANSIENT", "TIMEOUT"]);
const MATRIX: [string, Handler, ErrorCode, RegExp][] = [
  ["429", failing(429, "slow down"), "RATE_LIMIT", /is rate limiting requests/],
  [
    "429 without credit",
    failing(429, "You exceeded your current quota", { code: "insufficient_quota" }),
    "QUOTA",
    /no credit/,
  ],
  ["500", failing(500, "oops"), "TRANSIENT", /returned a server error \(500\)/],
  [
    "503 in plain text",
    (_q, r) => void r.writeHead(503).end("upstream is away"),
    "TRANSIENT",
    /upstream is away/,
  ],
  [
    "200 and a web page",
    (_q, r) => void r.writeHead(200, { "content-type": "text/html" }).end("<html>Hi</html>"),
    "CONFIG",
    /web page.*\/v1/,
  ],
  ["200 and {}", json(200, {}), "CONFIG", /something else instead of a model's response/],
  [
    "truncated JSON",
    (_q, r) =>
      void r
        .writeHead(200, { "content-type": "application/json" })
        .end('{"choices":[{"message":{"content":"par'),
    "TRANSIENT",
    /was incomplete and was discarded/,
  ],
  ["no head", () => undefined, "TIMEOUT", /didn't start responding within/],
  ["a stall in the middle", stalling(half), "TIMEOUT", /paused its response for/],
  [
    "a reset connection",
    (_q, _r, socket) => void socket.resetAndDestroy(),
    "TRANSIENT",
    /was lost before the response/,
  ],
  ["a closed connection", (_q, _r, socket) => void socket.end(), "TRANSIENT", /was lost before the response/],
  [
    "FIN in mid-stream",
    (_q, r, socket) => {
      r.writeHead(200, { "content-type": "text/event-stream" });
      r.write(half, () => socket.end());
    },
    "TRANSIENT",
    /was cut off and was discarded/,
  ],
  ["an end without a finish", events(half), "TRANSIENT", /ended early/],
  ["DONE without a finish, and nothing said", events(sse([], { finish: null })), "TRANSIENT", /ended early/],
  ["a bad line of JSON", events(`${half}data: {"choices": [{"ind\n\n`), "TRANSIENT", /garbled/],
  [
    "an error in the stream",
    events(`${half}data: {"error":{"message":"model overloaded","type":"server_error"}}\n\n`),
    "TRANSIENT",
    /overloaded/,
  ],
  [
    "a rate limit in the stream",
    events(`${half}data: {"error":{"message":"hold on","code":429}}\n\n`),
    "RATE_LIMIT",
    /is rate limiting requests/,
  ],
  [
    "a 60 MB line",
    (_q, r) => {
      r.writeHead(200, { "content-type": "text/event-stream" });
      let n = 0;
      const more = () => {
        while (n++ < 60) if (!r.write(`data: ${mb}`)) return void r.once("drain", more);
        r.end();
      };
      more();
    },
    "OUTPUT_INVALID",
    /far more/,
  ],
  [
    "a 6 MB answer",
    events(sse(Array.from({ length: 40 }, () => "y".repeat(160_000)))),
    "OUTPUT_INVALID",
    /far more/,
  ],
  [
    "a wrong length",
    (_q, r, socket) => {
      r.writeHead(200, { "content-type": "text/event-stream", "content-length": "5000" });
      r.write(half, () => socket.end());
    },
    "TRANSIENT",
    /was cut off and was discarded/,
  ],
  [
    "a redirect",
    (_q, r) => void r.writeHead(302, { location: "https://elsewhere.example/v1" }).end(),
    "CONFIG",
    /answered with a redirect/,
  ],
  ["401", failing(401, "Incorrect API key provided: sk-test-0123456789"), "AUTH", /rejected the API key/],
  ["402", failing(402, "Insufficient Balance"), "QUOTA", /no credit/],
  ["403", failing(403, "no"), "AUTH", /isn't allowed to use test-model/],
  [
    "404 of a model",
    failing(404, "The model `test-model` does not exist", { code: "model_not_found" }),
    "CONFIG",
    /has no model “test-model”/,
  ],
  [
    "404 of the address",
    (_q, r) => void r.writeHead(404).end("404 page not found"),
    "CONFIG",
    /No model service at/,
  ],
  [
    "400 for length",
    failing(400, "This model's maximum context length is 8192 tokens", { code: "context_length_exceeded" }),
    "CONTEXT_OVERFLOW",
    /exceeds the context window of test-model/,
  ],
  [
    "400 by a filter",
    failing(400, "The response was filtered", { code: "content_filter" }),
    "CONTENT_FILTER",
    /filter/,
  ],
  [
    "a finish by a filter",
    events(sse(["I "], { finish: "content_filter" })),
    "CONTENT_FILTER",
    /stopped the response/,
  ],
  [
    "an answer that a filter took whole, message and all",
    (_q, r) =>
      void r
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ choices: [{ index: 0, finish_reason: "content_filter" }] })),
    "CONTENT_FILTER",
    /stopped the response/,
  ],
  ["an empty answer", events(sse([])), "OUTPUT_INVALID", /returned an empty response/],
];

describe("model service errors", () => {
  test.each(MATRIX)(
    "a model service that answers with %s fails with an error code and a message",
    async (name, handler, code, message) => {
      const { error } = await against(handler, code === "TIMEOUT" ? LIMITS : LONG_LIMITS);
      expect(error).toBeInstanceOf(ModelError);
      const failure = error as ModelError;
      expect(failure.error).toMatchObject({
        code,
        retryable: PASSING.has(code) || name === "an empty answer",
      });
      expect(failure.message).toMatch(message);
      expect(failure.message).not.toContain("sk-test-0123456789");
      expect(server!.requests.length).toBeLessThanOrEqual(1);
    },
  );

  test("a call that exceeds a time limit closes its connection", async () => {
    const { error } = await against(stalling(half), { firstByteMs: 20_000, idleMs: 100, totalMs: 20_000 });
    expect((error as ModelError).error.code).toBe("TIMEOUT");
    await vi.waitFor(() => expect(server!.sockets.size).toBe(0), { timeout: 5_000 });
  });

  test("a server's requested retry delay is passed on", async () => {
    for (const [headers, ms] of [
      [{ "retry-after": "2" }, 2000],
      [{ "retry-after-ms": "150" }, 150],
      [{ "retry-after": "3600" }, 3_600_000],
    ] as const) {
      const { error } = await against(failing(429, "slow", {}, headers));
      expect((error as ModelError).retry_after_ms).toBe(ms);
      await server!.close();
    }
  });

  test.each([
    ["before the response headers", () => undefined],
    ["in mid-stream", stalling(half)],
  ] as [string, Handler][])("cancelling %s takes effect immediately", async (_name, handler) => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 100);
    const { error } = await against(
      handler,
      { firstByteMs: 20_000, idleMs: 20_000, totalMs: 20_000 },
      abort.signal,
    );
    expect((error as ModelError).error.code).toBe("CANCELLED");
  });

  test("a refused connection, an unknown host and a TLS failure are reported", async () => {
    const failure = async (base_url: string, fetch = providerFetch) =>
      newModels({ providers: memoryProviders([remoteProvider(base_url)]), fetch })
        .complete(ask("Hi"), newIo().io)
        .catch((error: unknown) => (error as ModelError).error);
    server = await newServer(() => undefined);
    const gone = server.url;
    await server.close();
    expect(await failure(gone)).toMatchObject({
      code: "TRANSIENT",
      retryable: true,
      message: expect.stringMatching(/^Can't connect to 127/) as string,
    });
    expect(await failure("http://no-such-host.invalid/v1")).toMatchObject({
      code: "TRANSIENT",
      retryable: true,
      message: expect.stringContaining("Can't resolve no-such-host.invalid") as string,
    });
    server = await newServer(() => undefined);
    expect(await failure(server.url.replace("http:", "https:"))).toMatchObject({
      code: "CONFIG",
      retryable: false,
      message: expect.stringContaining("isn't secure") as string,
    });
  });
});

describe("split responses", () => {
  const text = "Grüße 👋🏽 — “fin”\nline two";
  test("an answer is decoded correctly wherever its bytes are split", async () => {
    const bytes = Buffer.from(head(sse([text, " more 字"], { usage: true })));
    for (const size of [1, 2, 3, 5, 7, 64]) {
      const parts: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) parts.push(bytes.subarray(at, at + size));
      const fetch: typeof globalThis.fetch = async () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              const part = parts.shift();
              if (part) controller.enqueue(part);
              else controller.close();
            },
          }),
          { headers: { "content-type": "text/event-stream" } },
        );
      const { io, got } = newIo();
      const answer = await newModels({
        providers: memoryProviders([remoteProvider("http://x.test/v1")]),
        fetch,
      }).complete(ask("Hi"), io);
      expect(answer.content).toBe(`${text} more 字`);
      expect(got.content).toBe(answer.content);
      expect(answer.usage).toMatchObject({ input_tokens: 11, output_tokens: 7, estimated: false });
    }
  });
  test("CRLF, comments, early usage, a missing [DONE] and other choices are handled", async () => {
    const lines = [
      ": keep-alive",
      'data: {"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1},"cost":0.5}}',
      'data: {"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"stop"}]}',
      'data: {"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}',
    ];
    const answer = await answerOf((_q, response) => sendSse(response, `${lines.join("\r\n\r\n")}\r\n\r\n`));
    expect(answer).toMatchObject({
      content: "ab",
      cost_usd: 0.5,
      cost_source: "provider",
      usage: { cached_input_tokens: 1 },
    });
  });
  test("a non-streaming answer is read with its usage", async () => {
    const body = {
      choices: [{ index: 0, message: { role: "assistant", content: "whole" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 4 },
    };
    const answer = await answerOf(json(200, body));
    expect(answer).toMatchObject({
      content: "whole",
      finish_reason: "stop",
      usage: { input_tokens: 3, output_tokens: 4 },
      cost_usd: null,
      cost_source: "unknown",
    });
  });
  test.each([
    [["<think>", "Let me", " see.</th", "ink>\n\nYes."], "Let me see.", "Yes."],
    [["  <thi", "nking>a</thinking> b"], "a", "b"],
    [["I use <think> tags"], undefined, "I use <think> tags"],
    [["<", "b>bold</b>"], undefined, "<b>bold</b>"],
    [["thought without opening</think>\nYes."], "thought without opening", "Yes."],
  ])("reasoning is separated from the answer: %j", async (parts, reasoning, content) => {
    const { io, got } = newIo();
    const answer = await answerOf((_q, response) => sendSse(response, sse(parts)), io);
    expect([answer.reasoning, answer.content]).toEqual([reasoning, content]);
    if (!parts[0]!.startsWith("thought")) expect(got).toMatchObject({ content, reasoning: reasoning ?? "" });
  });
  test("reasoning is read from both field names", async () => {
    for (const field of ["reasoning", "reasoning_content"]) {
      const answer = await answerOf((_q, response) =>
        sendSse(
          response,
          `data: ${JSON.stringify({ choices: [{ index: 0, delta: { [field]: "hm" } }] })}\n\n${sse(["ok"])}`,
        ),
      );
      expect([answer.reasoning, answer.content]).toEqual(["hm", "ok"]);
      await server?.close();
    }
  });
  test("environment variables are not sent with requests", async () => {
    process.env.OPENAI_ORG_ID = "org-secret";
    process.env.OPENAI_CUSTOM_HEADERS = "x-extra: secret";
    try {
      server = await newServer(events(sse(["ok"])));
      await newModels({
        providers: memoryProviders([remoteProvider(server.url)], null),
        fetch: providerFetch,
      }).complete(ask("Hi"), newIo().io);
      const sent = JSON.stringify(server.requests[0]!.headers);
      expect(sent).not.toContain("secret");
      expect(sent).not.toContain("authorization");
      expect(sent).not.toContain("stainless");
    } finally {
      delete process.env.OPENAI_ORG_ID;
      delete process.env.OPENAI_CUSTOM_HEADERS;
    }
  });
});

test("an unpaired surrogate in a prompt is replaced before sending", async () => {
  const { error } = await against(
    (_seen, response) => sendSse(response, sse(["done"])),
    LONG_LIMITS,
    undefined,
    {
      prompt: "Half \ud83d of it, and a whole \u{1f600}",
    },
  );
  expect(error).toBeNull();
  const sent = JSON.stringify(server!.requests[0]!.body);
  expect(sent).toContain("Half \ufffd of it, and a whole \u{1f600}");
});
