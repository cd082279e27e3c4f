import { describe, expect, test } from "vitest";
import type { ProviderSettings } from "@/server/domain/model/provider";
import type { ChatMessage } from "@/server/domain/run/events";
import type { ModelAnswer, ModelError, ModelRequest, ToolOffer } from "../model";
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

// What services give with a message and want back with it, and the second protocol that such models are asked by: each
// over a real connection.

endServersWithTests();
let server: TestServer | undefined;

const weather: ToolOffer = {
  name: "weather.now",
  description: "The weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

async function open(handler: Handler, settings: ProviderSettings = { api: "responses" }) {
  server = await newServer(handler);
  const providers = memoryProviders([remoteProvider(server.url, { settings })]);
  const models = newModels({ providers, fetch: globalThis.fetch });
  return {
    learned: providers.learned,
    sent: () => server!.requests.map(({ url, body }) => ({ url, body })),
    async answer(request: ModelRequest) {
      const { io, got } = newIo();
      return { answer: await models.complete(request, io), got };
    },
  };
}

const events = (list: readonly { type: string }[]) =>
  list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60 },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 25 },
  total_tokens: 140,
};
const thought = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Look it up." }] };
const sealed = { ...thought, encrypted_content: "SEALED", status: "completed" };
const called = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_a",
  name: "weather_now",
  arguments: '{"city":"Bern"}',
};
const message = (text: string) => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
});
const completed = (output: object[], more: object = {}) => ({
  type: "response.completed",
  response: { object: "response", id: "resp_1", status: "completed", output, usage, ...more },
});
const calling = events([
  { type: "response.created" },
  { type: "response.output_item.added", output_index: 0, item: thought } as never,
  { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "Look " } as never,
  { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "it up." } as never,
  { type: "response.output_item.done", output_index: 0, item: sealed } as never,
  { type: "response.output_item.added", output_index: 1, item: { ...called, arguments: "" } } as never,
  { type: "response.function_call_arguments.delta", output_index: 1, delta: '{"city"' } as never,
  { type: "response.function_call_arguments.delta", output_index: 1, delta: ':"Bern"}' } as never,
  { type: "response.function_call_arguments.done", output_index: 1, arguments: called.arguments } as never,
  { type: "response.output_item.done", output_index: 1, item: called } as never,
  completed([sealed, called]),
]);
const textEvents = (text: string) =>
  events([
    { type: "response.output_text.delta", output_index: 0, delta: text.slice(0, 3) } as never,
    { type: "response.output_text.delta", output_index: 0, delta: text.slice(3) } as never,
    { type: "response.output_item.done", output_index: 0, item: message(text) } as never,
    completed([message(text)]),
  ]);

/** The conversation after an answer that called, with what the tool said. */
const after = (answer: ModelAnswer, result: string): ChatMessage[] => [
  { role: "user", content: "Hi" },
  {
    role: "assistant",
    content: answer.content,
    ...(answer.tool_calls ? { tool_calls: answer.tool_calls } : {}),
    ...(answer.carried
      ? { carried: { provider_id: answer.provider_id, model: answer.model, parts: answer.carried } }
      : {}),
  },
  { role: "tool", content: result, tool_call_id: answer.tool_calls![0]!.id },
];

describe("Responses API", () => {
  test("a Responses API model reasons, calls tools, and gets its encrypted reasoning back", async () => {
    const bodies = [calling, textEvents("Sunny")];
    const model = await open((_request, response) => sendSse(response, bodies.shift()!));
    const llm_config = { reasoning_effort: "high", max_tokens: 500, temperature: 0.5 } as const;
    const first = await model.answer(ask("Hi", { system: "Be kind", tools: [weather], llm_config }));
    expect(first.answer).toMatchObject({
      content: "",
      reasoning: "Look it up.",
      tool_calls: [{ id: "call_a", tool_name: "weather.now", args: { city: "Bern" } }],
      tool_protocol: "native",
      finish_reason: "tool_calls",
      usage: {
        input_tokens: 100,
        output_tokens: 40,
        cached_input_tokens: 60,
        reasoning_tokens: 25,
        estimated: false,
      },
    });
    expect(first.got).toEqual({ content: "", reasoning: "Look it up.", tool_args: '{"city":"Bern"}' });
    const messages = after(first.answer, "18 degrees");
    const second = await model.answer(ask("", { messages, tools: [weather], llm_config }));
    expect([second.answer.content, second.got.content]).toEqual(["Sunny", "Sunny"]);

    const [asked, again] = model.sent();
    expect(asked).toEqual({
      url: "/v1/responses",
      body: {
        model: "test-model",
        stream: true,
        store: false,
        include: ["reasoning.encrypted_content"],
        input: [
          { role: "system", content: "Be kind" },
          { role: "user", content: "Hi" },
        ],
        tools: [
          {
            type: "function",
            name: "weather_now",
            description: weather.description,
            parameters: weather.parameters,
            strict: false,
          },
        ],
        reasoning: { effort: "high", summary: "auto" },
        max_output_tokens: 500,
        temperature: 0.5,
      },
    });
    expect(again!.body.input).toEqual([
      { role: "user", content: "Hi" },
      { type: "reasoning", id: "rs_1", summary: thought.summary, encrypted_content: "SEALED" },
      { type: "function_call", call_id: "call_a", name: "weather_now", arguments: '{"city":"Bern"}' },
      { type: "function_call_output", call_id: "call_a", output: "18 degrees" },
    ]);
  });

  test("a Responses API answer follows its schema, and unsupported settings are reported", async () => {
    const model = await open((_request, response) => sendSse(response, textEvents('{"a":1}')));
    const schema = {
      type: "object",
      properties: { a: { type: "integer" } },
      required: ["a"],
      additionalProperties: false,
    };
    const { answer } = await model.answer(ask("Hi", { schema, llm_config: { stop: ["END"], seed: 4 } }));
    expect(answer.content).toBe('{"a":1}');
    expect(model.sent()[0]!.body).toMatchObject({
      text: { format: { type: "json_schema", name: "answer", schema, strict: true } },
    });
    expect(model.sent()[0]!.body).not.toHaveProperty("stop");
    expect(answer.notes?.join(" ")).toMatch(/without seed, stop sequences/);
  });

  test.each([
    [
      "from a whole body, if the server doesn't stream",
      JSON.stringify(completed([sealed, called, message("And?")]).response),
    ],
    [
      "from output items only",
      events([
        { type: "response.output_item.done", output_index: 0, item: sealed } as never,
        { type: "response.output_item.done", output_index: 1, item: called } as never,
        { type: "response.output_item.done", output_index: 2, item: message("And?") } as never,
        completed([]),
      ]),
    ],
  ])("a Responses API answer is read %s", async (_name, body) => {
    const model = await open((_request, response) => {
      response.writeHead(200, {
        "content-type": body.startsWith("{") ? "application/json" : "text/event-stream",
      });
      response.end(body);
    });
    const { answer } = await model.answer(ask("Hi", { tools: [weather] }));
    expect(answer).toMatchObject({
      content: "And?",
      reasoning: "Look it up.",
      tool_calls: [{ id: "call_a", tool_name: "weather.now", args: { city: "Bern" } }],
      carried: { items: [{ encrypted_content: "SEALED" }] },
    });
  });

  test("a Responses API answer reports the token limit, filters and failures", async () => {
    const ended = (response: object, type = "response.incomplete") => events([{ type, response } as never]);
    const bodies: [string, object][] = [
      [
        events([{ type: "response.output_text.delta", output_index: 0, delta: "Hal" } as never]) +
          ended({
            object: "response",
            status: "incomplete",
            incomplete_details: { reason: "max_output_tokens" },
            usage,
          }),
        { finish_reason: "length", content: "Hal" },
      ],
      [
        ended({
          object: "response",
          status: "incomplete",
          incomplete_details: { reason: "content_filter" },
          usage,
        }),
        { code: "CONTENT_FILTER" },
      ],
      [
        ended(
          {
            object: "response",
            status: "failed",
            error: { code: "server_error", message: "The lights went out." },
          },
          "response.failed",
        ),
        { message: expect.stringContaining("The lights went out.") },
      ],
      [
        events([{ type: "error", code: "x", message: "Not today." } as never]),
        { message: expect.stringContaining("Not today.") },
      ],
    ];
    const model = await open((_request, response) => sendSse(response, bodies[0]![0]));
    for (const [, expected] of [...bodies]) {
      const got = await model
        .answer(ask("Hi"))
        .then(({ answer }) => answer)
        .catch((error: unknown) => (error as ModelError).error);
      expect(got).toMatchObject(expected);
      bodies.shift();
    }
  });

  test("options that a Responses API model rejects are omitted, but its effort is kept", async () => {
    const model = await open(({ body }, response) => {
      const { reasoning, include } = body as { reasoning?: { summary?: string }; include?: unknown };
      const rejection = reasoning?.summary
        ? {
            message: "Your organization must be verified to generate reasoning summaries.",
            param: "reasoning.summary",
          }
        : include
          ? { message: "Encrypted content is not supported with this model.", param: "include" }
          : null;
      if (rejection === null) return sendSse(response, textEvents("OK"));
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { ...rejection, code: "unsupported_value" } }));
    });
    const request = ask("Hi", { llm_config: { reasoning_effort: "high" } });
    await model.answer(request);
    const { answer } = await model.answer(request);
    expect(answer.content).toBe("OK");
    expect(model.sent()).toHaveLength(4);
    const { reasoning, include } = model.sent()[3]!.body;
    expect([reasoning, include]).toEqual([{ effort: "high" }, undefined]);
  });

  test("a failed Responses API call still reports its cost", async () => {
    const error = { code: "server_error", message: "The lights went out." };
    const failed = [{ type: "response.failed", response: { object: "response", error, usage } }];
    const model = await open((_request, response) => sendSse(response, events(failed)));
    const failure: unknown = await model.answer(ask("Hi")).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({
      more: { cost: { usage: { input_tokens: 100, output_tokens: 40, estimated: false } } },
    });
  });

  test("the Responses API is discovered from a rejection and then used directly, with reasoning effort", async () => {
    const errorText =
      "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. Please use /v1/responses instead.";
    const model = await open((request, response) => {
      if (request.url.endsWith("/responses")) return sendSse(response, calling);
      response.writeHead(400, { "content-type": "application/json" });
      response.end(
        JSON.stringify({
          error: { message: errorText, type: "invalid_request_error", param: "reasoning_effort" },
        }),
      );
    }, {});
    const request = ask("Hi", { tools: [weather], llm_config: { reasoning_effort: "high" } });
    for (const _time of [1, 2]) expect((await model.answer(request)).answer.tool_calls).toHaveLength(1);
    expect(model.sent().map(({ url }) => url)).toEqual([
      "/v1/chat/completions",
      "/v1/responses",
      "/v1/responses",
    ]);
    expect(model.sent()[1]!.body.reasoning).toEqual({ effort: "high", summary: "auto" });
    expect(model.learned).toEqual({ "test-model": { api: "responses" } });
  });
});

describe("provider data in messages", () => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

  test("call signatures and streamed reasoning details are sent back unchanged", async () => {
    const signed = { extra_content: { google: { thought_signature: "SIGNATURE" } } };
    const call = {
      index: 0,
      id: "call_a",
      type: "function",
      function: { name: "weather_now", arguments: '{"city":"Bern"}' },
    };
    const bodies = [
      chunk({ reasoning_details: [{ type: "reasoning.text", index: 0, text: "Look " }] }) +
        chunk({ reasoning_details: [{ type: "reasoning.text", index: 0, text: "it up.", signature: "S" }] }) +
        chunk({ reasoning_details: [{ type: "reasoning.encrypted", index: 1, data: "xyz" }] }) +
        chunk({ tool_calls: [{ ...call, ...signed }] }) +
        chunk({}, "tool_calls") +
        "data: [DONE]\n\n",
      sse(["Sunny"]),
      sse(["Sunny"]),
    ];
    const model = await open((_request, response) => sendSse(response, bodies.shift()!), {});
    const { answer } = await model.answer(ask("Hi", { tools: [weather] }));
    const messages = after(answer, "18 degrees");
    await model.answer(ask("", { messages, tools: [weather] }));
    expect((model.sent()[1]!.body.messages as object[])[1]).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_a", type: "function", function: call.function, ...signed }],
      reasoning_details: [
        { type: "reasoning.text", index: 0, text: "Look it up.", signature: "S" },
        { type: "reasoning.encrypted", index: 1, data: "xyz" },
      ],
    });
    // Another model would not know what to do with it.
    await model.answer(ask("", { messages, tools: [weather], llm_config: { model: "other" } }));
    expect((model.sent()[2]!.body.messages as object[])[1]).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_a", type: "function", function: call.function }],
    });
  });
});

test("a provider's custom headers are sent with every request and override the key's header", async () => {
  server = await newServer((_request, response) => sendSse(response, sse(["Hi"])));
  const providers = memoryProviders([remoteProvider(server.url)], "sk-test-0123456789", {
    "api-key": "k",
    Authorization: "Basic abc",
  });
  const { io } = newIo();
  await newModels({ providers, fetch: globalThis.fetch }).complete(ask("Hi"), io);
  const { "api-key": own, authorization, ...others } = server.requests[0]!.headers;
  expect([own, authorization]).toEqual(["k", "Basic abc"]);
  expect(Object.keys(others).filter((name) => name.startsWith("x-"))).toEqual([]);
});
