import { describe, expect, test } from "vitest";
import type { ProviderSettings } from "@/server/domain/model/provider";
import type { ModelError, ModelRequest } from "../model";
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
import { readFinish } from "./finish";
import { serverEvents } from "./sse";

// An answer is complete when the provider says so, whatever the connection does then; and no sooner.

endServersWithTests();
let server: TestServer | undefined;

const LIMITS = { firstByteMs: 5_000, idleMs: 150, totalMs: 10_000 };

async function answered(
  handler: Handler,
  request: Partial<ModelRequest> = {},
  settings: ProviderSettings = {},
  idleMs = LIMITS.idleMs,
) {
  server = await newServer(handler);
  const models = newModels({
    providers: memoryProviders([remoteProvider(server.url, { settings })]),
    fetch: globalThis.fetch,
    limits: { ...LIMITS, idleMs },
  });
  return models.complete(ask("Hi", request), newIo().io);
}
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error as ModelError,
  );
const chunk = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (given: object, finish_reason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta: given, finish_reason }] });
/** Sends the text, and then what `then` does. */
const begins =
  (
    text: string,
    then: (response: Parameters<Handler>[1], socket: Parameters<Handler>[2]) => void = () => {},
  ): Handler =>
  (_q, response, socket) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text, () => then(response, socket));
  };
const reset = (_response: unknown, socket: Parameters<Handler>[2]) =>
  void setTimeout(() => socket.resetAndDestroy(), 20);
const content = sse(["All of it."], { done: false, usage: false });
const billed = sse(["All of it."]);

describe("complete answers", () => {
  test.each<[string, Handler]>([
    ["after [DONE], then silence", begins(billed)],
    ["after [DONE], then a reset", begins(billed, reset)],
    ["after the finish reason, then silence", begins(content)],
    ["after the finish reason, then a reset", begins(content, reset)],
    ["after the finish reason, then an end", begins(content, (response) => response.end())],
    ["after [DONE] without a finish reason", begins(sse(["All of it."], { finish: null }))],
    ["after a last event without an empty line", begins(content.trimEnd(), (response) => response.end())],
  ])("a complete answer is accepted %s", async (_name, handler) => {
    const answer = await answered(handler);
    expect(answer).toMatchObject({ content: "All of it.", finish_reason: "stop" });
    expect(server!.requests).toHaveLength(1);
  });
  test("with [DONE] but no finish reason, a complete call is accepted, a truncated call rejected", async () => {
    const tools = [{ name: "now", description: "", parameters: { type: "object" } }];
    const call = (args: string) =>
      `${delta({ tool_calls: [{ index: 0, id: "a", function: { name: "now", arguments: args } }] })}data: [DONE]\n\n`;
    expect(await answered(begins(call("{}")), { tools })).toMatchObject({
      tool_calls: [{ id: "a", tool_name: "now", args: {} }],
    });
    await server!.close();
    expect((await failure(answered(begins(call('{"zo')), { tools })))?.error.code).toBe("TRANSIENT");
  });
  test("cancellation takes precedence over an almost complete answer", async () => {
    server = await newServer(begins(content));
    const abort = new AbortController();
    const models = newModels({
      providers: memoryProviders([remoteProvider(server.url)]),
      fetch: globalThis.fetch,
      limits: { ...LIMITS, idleMs: 5_000 },
    });
    setTimeout(() => abort.abort(), 50);
    expect((await failure(models.complete(ask("Hi"), newIo(abort.signal).io)))?.error.code).toBe("CANCELLED");
  });
});

describe("finish reasons", () => {
  test.each([
    ["stop", "end"],
    ["STOP", "end"],
    ["end_turn", "end"],
    ["tool-calls", "end"],
    ["MAX_TOKENS", "length"],
    ["model_length", "length"],
    ["SAFETY", "filter"],
    ["insufficient_system_resource", "error"],
    ["function_call_filter: MALFORMED_FUNCTION_CALL", "garbled"],
    ["MALFORMED_FUNCTION_CALL", "garbled"],
    ["something_new", "unknown"],
    [null, null],
  ])("finish reason %s is read as %s", (word, finish) => {
    expect(readFinish(word)).toBe(finish);
  });
  const unknown = begins(sse(["Half?"], { finish: "policy_pause" }));
  const none = begins(sse(["Half?"], { finish: null }));
  test.each<[string, Handler, ProviderSettings, RegExp]>([
    ["an unknown finish reason", unknown, {}, /ended for an unknown reason \(“policy_pause”\)/],
    ["a missing finish reason from a remote service", none, { local: false }, /ended without a reason/],
    ["a missing finish reason if rejected", none, { unknown_ends: "refuse" }, /ended without a reason/],
  ])("%s is a retryable failure", async (_name, handler, settings, message) => {
    const error = await failure(answered(handler, {}, settings));
    expect(error).toMatchObject({ error: { code: "TRANSIENT", retryable: true }, more: { tries: 2 } });
    expect(error?.message).toMatch(message);
    expect(error?.message).toContain("allow it in the provider's limits");
  });
  test("a missing finish reason is accepted with a note if allowed", async () => {
    for (const settings of [{}, { local: false, unknown_ends: "take" as const }]) {
      expect(await answered(none, {}, settings)).toMatchObject({
        content: "Half?",
        notes: ["Testing doesn't report why responses end, so they may be incomplete."],
      });
      await server!.close();
    }
  });
  test("an unknown finish reason is accepted with a note if allowed", async () => {
    const answer = await answered(unknown, {}, { unknown_ends: "take" });
    expect(answer).toMatchObject({
      content: "Half?",
      finish_reason: "stop",
      notes: ["Testing ended a response with the unknown reason “policy_pause”; it may be incomplete."],
    });
    await server!.close();
    expect((await answered(begins(billed))).notes).toBeUndefined();
  });
  test("another service's finish reason for the token limit is recognized", async () => {
    expect((await answered(begins(sse(["Half"], { finish: "max_tokens" })))).finish_reason).toBe("length");
  });
  test.each<[string, string, string, RegExp]>([
    [
      "a call that the service couldn't parse",
      sse([], { finish: "MALFORMED_FUNCTION_CALL" }),
      "OUTPUT_INVALID",
      /couldn't parse test-model's output as a tool call/,
    ],
    ["an empty answer", sse([]), "OUTPUT_INVALID", /^test-model returned an empty response/],
    [
      "an answer with only reasoning",
      delta({ reasoning_content: "Hm." }) + sse([]),
      "OUTPUT_INVALID",
      /returned only reasoning and no answer/,
    ],
    ["a renamed content filter", sse(["I"], { finish: "SAFETY" }), "CONTENT_FILTER", /stopped the response/],
  ])("%s is a specific error", async (_name, events, code, message) => {
    const error = await failure(answered(begins(events)));
    expect(error?.error.code).toBe(code);
    expect(error?.message).toMatch(message);
  });
});

describe("content parts", () => {
  const parts = [
    {
      type: "thinking",
      thinking: [
        { type: "text", text: "First " },
        { type: "text", text: "this." },
      ],
    },
    { type: "text", text: "Then " },
    { type: "text", text: "that." },
  ];
  test("streamed content parts become text and reasoning", async () => {
    const stream = parts.map((part) => delta({ content: [part] })).join("") + delta({}, "stop");
    expect(await answered(begins(stream))).toMatchObject({ content: "Then that.", reasoning: "First this." });
  });
  test("an error in a stream still reports its token usage", async () => {
    const stream = chunk({ error: { message: "No." }, usage: { prompt_tokens: 10, completion_tokens: 7 } });
    await expect(answered(begins(stream))).rejects.toMatchObject({
      more: { cost: { usage: { input_tokens: 10, output_tokens: 7, estimated: false } } },
    });
  });
  test("empty data lines in a stream are ignored", async () => {
    const stream = `data:\n\ndata\n\n${delta({ content: "Yes." })}data: \n\n${delta({}, "stop")}data:  [DONE] \n\n`;
    expect(await answered(begins(stream))).toMatchObject({ content: "Yes." });
  });
  test("content parts of a non-streaming answer become text and reasoning", async () => {
    const whole = {
      choices: [{ index: 0, message: { role: "assistant", content: parts }, finish_reason: "stop" }],
    };
    expect(
      await answered((_q, response) =>
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole)),
      ),
    ).toMatchObject({ content: "Then that.", reasoning: "First this." });
  });
});

test.each(["text/plain", "application/octet-stream", "text/event-stream", ""])(
  "a JSON answer is read even with the content type %j",
  async (type) => {
    const whole = { choices: [{ index: 0, message: { content: "Whole." }, finish_reason: "stop" }] };
    const answer = await answered((_q, response) =>
      response.writeHead(200, type === "" ? {} : { "content-type": type }).end(`\n ${JSON.stringify(whole)}`),
    );
    expect(answer.content).toBe("Whole.");
  },
);
test("a stream is read even with a JSON content type", async () => {
  const answer = await answered((_q, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(billed),
  );
  expect(answer.content).toBe("All of it.");
});
test("a long answer in many small events is accepted", async () => {
  const envelope = { id: "x".repeat(400) };
  const many = Array.from({ length: 20_000 }, () =>
    chunk({ ...envelope, choices: [{ index: 0, delta: { reasoning_content: "hm " }, finish_reason: null }] }),
  ).join("");
  const answer = await answered((_q, response) => sendSse(response, many + billed), {}, {}, 5_000);
  expect(answer).toMatchObject({ content: "All of it." });
  expect(answer.reasoning).toHaveLength(60_000);
});

test("events are parsed identically however the bytes are split", async () => {
  const text =
    "\uFEFF: hi\r\nevent: a\r\ndata: Grüße 👋\r\ndata:two\r\n\r\nid: 7\nretry: 1\ndata: b\n\ndata\rdata: c\r\rdata: last";
  const bytes = Buffer.from(text);
  const read = async (size: number) => {
    async function* cut() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
    const all = [];
    for await (const event of serverEvents(cut())) all.push(event);
    return all;
  };
  for (const size of [1, 2, 3, 5, 7, 1000])
    expect(await read(size)).toEqual([
      { event: "a", data: "Grüße 👋\ntwo" },
      { event: "message", data: "b" },
      { event: "message", data: "\nc" },
      { event: "message", data: "last" },
    ]);
});
