import { describe, expect, test } from "vitest";
import type { ErrorCode } from "@/server/domain/agent/outcome";
import type { ModelError } from "../model";
import { newModels } from "../models";
import {
  ask,
  endServersWithTests,
  memoryProviders,
  newIo,
  newServer,
  remoteProvider,
  sendSse,
  sse,
  type TestServer,
} from "../testing";
import { parseWait, readErrorText } from "./error-body";

// How services say no: whatever the shape of the body, their own words are shown, and what they mean is understood.

endServersWithTests();
let server: TestServer | undefined;

const tool = { name: "now", description: "The time", parameters: { type: "object" } };

/** The failure of a call that is answered with this. */
async function rejectedWith(status: number, body: unknown, type = "application/json", headers = {}) {
  server = await newServer((_q, response) =>
    response
      .writeHead(status, { "content-type": type, ...headers })
      .end(typeof body === "string" ? body : JSON.stringify(body)),
  );
  const models = newModels({
    providers: memoryProviders([remoteProvider(server.url)]),
    fetch: globalThis.fetch,
  });
  const failure = await models.complete(ask("Hi"), newIo().io).then(
    () => null,
    (error: unknown) => error as ModelError,
  );
  return failure!;
}

const MESSAGE = "the quick brown fox is out of reach";
describe("server error messages", () => {
  test.each<[string, unknown]>([
    ["error with a message", { error: { message: MESSAGE, type: "x", code: null, param: null } }],
    ["error as text", { error: MESSAGE }],
    ["a list of errors (Gemini)", [{ error: { code: 400, message: MESSAGE, status: "INVALID_ARGUMENT" } }]],
    [
      "object: error (older vLLM, NIM)",
      { object: "error", message: MESSAGE, type: "BadRequestError", code: 400 },
    ],
    ["message (Cohere)", { id: "1", message: MESSAGE }],
    ["Message (Bedrock)", { Message: MESSAGE }],
    ["detail as text (Mistral)", { detail: MESSAGE }],
    ["detail as a list (FastAPI)", { detail: [{ loc: ["body", "x"], msg: MESSAGE, type: "value_error" }] }],
    [
      "message that holds a detail",
      { object: "error", message: { detail: [{ type: "extra", msg: MESSAGE }] } },
    ],
    ["errors (watsonx)", { errors: [{ code: "invalid", message: MESSAGE }], trace: "t", status_code: 400 }],
    ["errors of texts", { success: false, errors: [MESSAGE] }],
    ["a problem (RFC 9457)", { type: "about:blank", title: "Bad Request", detail: MESSAGE, status: 400 }],
    ["a gateway fault", { fault: { faultstring: MESSAGE, detail: { errorcode: "steps.x" } } }],
    ["error and message", { error: "Bad Request", message: MESSAGE, statusCode: 400 }],
    ["text that contains JSON", { error: { message: JSON.stringify({ error: { message: MESSAGE } }) } }],
    ["an unknown format", { trouble: { words: [MESSAGE] } }],
    ["plain text", MESSAGE],
    ["a text in JSON", JSON.stringify(MESSAGE)],
  ])("the server's error message is shown: %s", async (_name, body) => {
    const { error, message } = await rejectedWith(
      400,
      body,
      typeof body === "string" ? "text/plain" : undefined,
    );
    expect(message).toContain(MESSAGE);
    expect(error).toMatchObject({ code: "CONFIG", retryable: false });
  });
  test("the title of an HTML error page is shown", async () => {
    const page = `<html><head><title>502 Bad Gateway</title></head><body>${"x".repeat(900)}</body></html>`;
    const { error, message } = await rejectedWith(502, page, "text/html");
    expect(error).toMatchObject({ code: "TRANSIENT", retryable: true });
    expect(message).toContain("The server says: “502 Bad Gateway”");
  });
  test("an upstream error message from OpenRouter is shown, even in a 200 response", async () => {
    const error = {
      message: "Provider returned error",
      code: 429,
      metadata: { raw: `{"error":{"message":"${MESSAGE}"}}`, provider_name: "Chutes" },
    };
    const failure = await rejectedWith(200, { error });
    expect(failure.error).toMatchObject({ code: "RATE_LIMIT", retryable: true });
    expect(failure.message).toContain(`“Provider returned error: Chutes: ${MESSAGE}”`);
  });
  test.each<[string, string]>([
    [
      "an event without the key error",
      `data: ${JSON.stringify({ object: "error", message: MESSAGE, code: 500 })}\n\n`,
    ],
    ["an event called error", `event: error\ndata: ${JSON.stringify({ message: MESSAGE, code: 500 })}\n\n`],
    ["an event called error, as plain text", `event: error\ndata: ${MESSAGE}\n\n`],
    ["a detail", `data: ${JSON.stringify({ detail: MESSAGE })}\n\n`],
  ])("an error message inside a stream is shown: %s", async (_name, events) => {
    const { error, message } = await rejectedWith(200, events, "text/event-stream");
    expect(message).toContain(MESSAGE);
    expect(error).toMatchObject({ code: "TRANSIENT", retryable: true });
  });
  test("API keys in an error message are redacted", async () => {
    const { message } = await rejectedWith(401, { detail: "sk-test-0123456789 is no key" });
    expect(message).not.toContain("sk-test-0123456789");
  });
});

describe("meaning of error responses", () => {
  const shapes: [string, (message: string) => unknown][] = [
    ["error", (message) => ({ error: { message } })],
    ["list", (message) => [{ error: { message } }]],
    ["object", (message) => ({ object: "error", message })],
    ["detail", (message) => ({ detail: message })],
    ["details", (message) => ({ detail: [{ loc: ["body"], msg: message }] })],
    ["errors", (message) => ({ errors: [{ message }] })],
    ["text", (message) => message],
  ];
  const meanings: [number, string, ErrorCode, boolean][] = [
    [400, "API key not valid. Please pass a valid API key.", "AUTH", false],
    [401, "Unauthorized", "AUTH", false],
    [429, "Requests rate limit exceeded", "RATE_LIMIT", true],
    [429, "You exceeded your current quota, please check your plan.", "QUOTA", false],
    [429, "You exceeded your current quota. Please retry in 32.6s.", "RATE_LIMIT", true],
    [429, "Too many tokens, please wait before trying again.", "RATE_LIMIT", true],
    [400, "This model's maximum context length is 4096 tokens.", "CONTEXT_OVERFLOW", false],
    [404, "The model `x` does not exist.", "CONFIG", false],
    [403, "Your input was flagged", "CONTENT_FILTER", false],
    [403, "openai/gpt-5 requires moderation. Your input was flagged for violence", "CONTENT_FILTER", false],
    [403, "This request violates our usage policies.", "CONTENT_FILTER", false],
    [403, "Your organisation's policy does not let this key use the model", "AUTH", false],
    [400, "Failed to call a function. Please adjust your prompt.", "OUTPUT_INVALID", true],
  ];
  const shapeOf = new Map(shapes);
  test.each([
    ...meanings.map((meaning) => ["error", ...meaning] as const),
    ...shapes.map(([name]) => [name, ...meanings[4]!] as const),
  ])("error format %s: status %i with message %j is %s", async (name, status, message, code, retryable) => {
    const failure = await rejectedWith(status, shapeOf.get(name)?.(message));
    expect(failure.error).toMatchObject({ code, retryable });
  });
  test("a missing model isn't reported as a wrong address", async () => {
    const { message } = await rejectedWith(404, {
      object: "error",
      message: "The model `x` does not exist.",
      code: 404,
    });
    expect(message).toContain(
      "Testing has no model “test-model”. Choose another model. The server says: “The model `x` does not exist.”",
    );
  });
  test.each<[string, unknown, object, number | undefined]>([
    ["the header", { detail: "slow down" }, { "retry-after": "7" }, 7_000],
    [
      "Google's error details",
      [
        {
          error: {
            message: "Slow.",
            details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "32s" }],
          },
        },
      ],
      {},
      32_000,
    ],
    ["the message", { message: "Rate limit reached. Please try again in 7m12.5s." }, {}, 432_500],
    ["none of these", { message: "Slow down." }, {}, undefined],
  ])("the retry delay comes from %s", async (_name, body, headers, wait) => {
    expect((await rejectedWith(429, body, undefined, headers)).retry_after_ms).toBe(wait);
  });
  test.each<[string, number | undefined]>([
    ["Please retry in 32.6s.", 32_600],
    ["Please try again in 20ms. Visit example.com", 20],
    ["Please retry after 26 seconds.", 26_000],
    ["try again in 1h2m3s", 3_723_000],
    ["Please wait 2 minutes and 5 seconds", 125_000],
    ["Please try again later.", undefined],
    ["Retry with gpt-4 in 3 steps", undefined],
    ["limit 6000, used 5000. Please try again in 1.5 hours", 5_400_000],
  ])("a retry delay is parsed from text: %s", (text, ms) => {
    expect(parseWait(text)).toBe(ms);
  });

  test.each(shapes)("%s: native tools that the server lacks are sent as text", async (_name, shape) => {
    server = await newServer(({ body }, response) => {
      if (!body.tools) return sendSse(response, sse(['TOOL_CALL: {"tool_name": "now", "args": {}}']));
      response
        .writeHead(400, { "content-type": "application/json" })
        .end(JSON.stringify(shape('"auto" tool choice requires --enable-auto-tool-choice')));
    });
    const providers = memoryProviders([remoteProvider(server.url)]);
    const answer = await newModels({ providers, fetch: globalThis.fetch }).complete(
      ask("Hi", { tools: [tool] }),
      newIo().io,
    );
    expect(answer.tool_calls).toHaveLength(1);
    expect(providers.learned["test-model"]).toMatchObject({ native_tools: false });
  });
  test.each<[string, number, unknown]>([
    [
      "FastAPI",
      422,
      {
        detail: [
          { loc: ["body", "stream_options"], msg: "Extra inputs are not permitted", type: "extra_forbidden" },
        ],
      },
    ],
    [
      "Mistral",
      422,
      { object: "error", message: { detail: [{ loc: ["body", "stream_options"], msg: "Extra" }] } },
    ],
    ["vLLM", 400, { object: "error", message: "stream_options is not known" }],
    ["an answer that began well", 200, { error: { message: "stream_options is not known", code: 400 } }],
  ])("a field that the server rejects is omitted: %s", async (_name, status, body) => {
    server = await newServer((request, response) => {
      if (!request.body.stream_options) return sendSse(response, sse(["Fine."]));
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
    const providers = memoryProviders([remoteProvider(server.url)]);
    const answer = await newModels({ providers, fetch: globalThis.fetch }).complete(ask("Hi"), newIo().io);
    expect(answer.content).toBe("Fine.");
  });
});

test("the field that an error refers to is read too", () => {
  expect(
    readErrorText(
      '{"detail":[{"loc":["body","messages",0,"name"],"msg":"Extra inputs","type":"extra_forbidden"}]}',
    ),
  ).toEqual({
    code: "",
    type: "extra_forbidden",
    param: "messages.0.name",
    message: "messages.0.name: Extra inputs",
  });
  expect(readErrorText('[{"error":{"code":429,"message":"Slow","status":"RESOURCE_EXHAUSTED"}}]')).toEqual({
    code: "429",
    type: "RESOURCE_EXHAUSTED",
    param: "",
    message: "Slow",
  });
  for (const nothing of ["", "{}", "[]", "null", "<html><body>x</body></html>"])
    expect(readErrorText(nothing).message).toBe("");
});
