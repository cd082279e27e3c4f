import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import type { ModelFacts } from "@/server/domain/model/provider";
import { newModels } from "../models";
import {
  ask,
  budget,
  endServersWithTests,
  memoryProviders,
  newIo,
  newServer,
  remoteProvider,
  sendSse,
  sse,
  type TestServer,
} from "../testing";
import { checkProvider } from "./check";
import { readModelList } from "./model-list";

// What a test of a provider finds out, and that the first run after it need not find it out again.

endServersWithTests();
let server: TestServer | undefined;

type Asked = { tools?: unknown[]; response_format?: { type: string }; messages: { content: string }[] };
type Kind = "chat" | "tools" | "text tools" | "shape";
const kindOf = ({ tools, messages, response_format }: Asked): Kind => {
  const prompt = messages.map(({ content }) => content).join("\n");
  if (tools) return "tools";
  if (prompt.includes("Available Tools")) return "text tools";
  return response_format || prompt.includes("spider") ? "shape" : "chat";
};
const functionCall = `data: ${JSON.stringify({
  choices: [
    {
      index: 0,
      delta: {
        tool_calls: [{ index: 0, id: "a", function: { name: "note_word", arguments: '{"word":"ready"}' } }],
      },
      finish_reason: "tool_calls",
    },
  ],
})}\n\ndata: [DONE]\n\n`;
const textCall = sse(['TOOL_CALL: {"tool_name": "note_word", "args": {"word": "ready"}}']);
const refuse = (message: string) => (response: ServerResponse) =>
  void response
    .writeHead(400, { "content-type": "application/json" })
    .end(JSON.stringify({ error: { message } }));

/** A service whose one model answers so; anything else is a chat. */
async function serve(
  answers: Partial<Record<Kind, string | ((response: ServerResponse, asked: Asked) => void)>>,
  about: object = {},
  more: Record<string, unknown> = {},
) {
  server = await newServer(({ url, body }, response) => {
    const json = (value: unknown) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (url === "/v1/models") json({ data: [{ id: "test-model", ...about }] });
    else if (url in more) json(more[url]);
    else if (url !== "/v1/chat/completions") response.writeHead(404).end("not found");
    else {
      const asked = body as unknown as Asked;
      const answer = answers[kindOf(asked)] ?? sse(["OK"]);
      if (typeof answer === "string") sendSse(response, answer);
      else answer(response, asked);
    }
  });
  const provider = remoteProvider(server.url);
  const { findings, ...result } = await checkProvider(
    { ...provider, key: "sk-test-0123456789" },
    globalThis.fetch,
  );
  const providers = memoryProviders([provider]);
  providers.keepReported(provider.id, findings.reported ?? {});
  if (findings.learned) providers.observe(provider.id, findings.learned.model, findings.learned.capability);
  server.requests.length = 0;
  return {
    result,
    findings,
    models: newModels({ providers, fetch: globalThis.fetch }),
    requests: server.requests,
  };
}
const tools = [{ name: "note_word", description: "Notes", parameters: { type: "object" } }];
const schema = { type: "object", properties: { legs: { type: "integer" } }, required: ["legs"] };
const legs = sse(['{"legs": 8}']);

test("a provider test uses the protocol that the user chose", async () => {
  const messageItem = { type: "message", id: "m", content: [{ type: "output_text", text: "OK" }] };
  server = await newServer(({ url }, response) => {
    if (url !== "/v1/responses") return void response.writeHead(404).end("not found");
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ object: "response", status: "completed", output: [messageItem] }));
  });
  const provider = remoteProvider(server.url, { settings: { api: "responses" } });
  const { message } = await checkProvider({ ...provider, key: "sk-test-0123456789" }, globalThis.fetch);
  expect(message).toMatch(/^It works: test-model answered/);
});

describe("capability probe", () => {
  test("a model that supports native tool calls and schemas passes the probe", async () => {
    const { result, findings } = await serve({ tools: functionCall, shape: legs });
    expect(result.message).toMatch(/^It works: test-model answered/);
    expect(result.found).toEqual([
      "Native tool calls work.",
      "Follows JSON schemas.",
      expect.stringContaining("context window is unknown") as string,
      expect.stringMatching(/^This took 3 short test requests/) as string,
    ]);
    expect(findings.learned?.capability).toMatchObject({ native_tools: true, response_format: "strict" });
  });

  test("a server that rejects native tools gets text tools from the first run on", async () => {
    const { result, models, requests } = await serve({
      tools: refuse("tools is not supported"),
      "text tools": textCall,
      shape: legs,
    });
    expect(result.found[0]).toMatch(/^Native tool calls don't work; tools are called in text/);
    const answer = await models.complete(ask("Note ready", { tools }), newIo().io);
    expect(answer).toMatchObject({ tool_protocol: "text", tool_calls: [{ tool_name: "note_word" }] });
    expect(requests).toHaveLength(1);
  });

  test("a server that ignores native tools is recorded as not supporting them", async () => {
    const { result, findings } = await serve({ "text tools": textCall, shape: legs });
    expect(result.found[0]).toMatch(/tools are called in text/);
    expect(result.found.at(-1)).toMatch(/^This took 4 short test requests/);
    expect(findings.learned?.capability.native_tools).toBe(false);
  });

  test("a probe without any tool call is reported and concludes nothing", async () => {
    const { result, findings } = await serve({});
    expect(result.found[0]).toMatch(/didn't call a tool/);
    expect(findings.learned?.capability).not.toHaveProperty("native_tools");
  });

  test("a server that rejects schemas gets no schema from the first run on", async () => {
    const { result, models, requests } = await serve({
      tools: functionCall,
      shape: (response, { response_format }) =>
        response_format?.type === "json_schema"
          ? refuse("response_format.type json_schema is not supported")(response)
          : sendSse(response, legs),
    });
    expect(result.found[1]).toMatch(/aren't supported, but the model follows a schema in the prompt/);
    expect(await models.complete(ask("spider?", { schema }), newIo().io)).toMatchObject({
      response_format: "json_object",
    });
    expect(requests).toHaveLength(1);
  });

  test("a server that ignores schemas falls back to JSON mode", async () => {
    const { result, findings } = await serve({ tools: functionCall, shape: sse(["Eight, I think."]) });
    expect(result.found[1]).toMatch(/doesn't follow them/);
    expect(findings.learned?.capability.response_format).toBe("json_object");
  });

  test("a failed part of the probe doesn't fail the others", async () => {
    const { result } = await serve({
      tools: (response) => void response.writeHead(500).end("{}"),
      shape: legs,
    });
    expect(result).toMatchObject({ ok: true });
    expect(result.found[0]).toMatch(/^Part of the test failed: Testing returned a server error \(500\)/);
    expect(result.found[1]).toMatch(/Follows JSON schemas/);
  });
});

describe("capabilities in model lists", () => {
  const factsOf = (entry: object) => readModelList({ data: [{ id: "m", ...entry }] })!.models[0]!.facts;
  test.each<[string, object, ModelFacts]>([
    [
      "OpenRouter",
      {
        context_length: 200_000,
        top_provider: { context_length: 131_072 },
        supported_parameters: ["max_tokens", "tools", "response_format", "structured_outputs"],
        pricing: { prompt: "0.00000015", completion: "0.0000006", input_cache_read: "0.000000075" },
      },
      {
        context_window: 131_072,
        native_tools: true,
        response_format: "strict",
        price: { input_per_mtok: 0.15, output_per_mtok: 0.6, cached_input_per_mtok: 0.075 },
      },
    ],
    [
      "OpenRouter, a basic model with a variable price",
      {
        context_length: 8192,
        supported_parameters: ["max_tokens"],
        pricing: { prompt: "-1", completion: "-1" },
      },
      { context_window: 8192, native_tools: false, response_format: "prompt" },
    ],
    ["vLLM", { max_model_len: 32_768 }, { context_window: 32_768 }],
    ["Groq", { context_window: 131_072, active: true }, { context_window: 131_072 }],
    [
      "Mistral",
      { max_context_length: 32_768, capabilities: { function_calling: true, vision: false } },
      { context_window: 32_768, native_tools: true },
    ],
    [
      "LM Studio, as loaded",
      { max_context_length: 131_072, loaded_context_length: 4096, capabilities: ["tool_use"] },
      { context_window: 4096, native_tools: true },
    ],
    ["llama.cpp", { meta: { n_ctx: 16_384, n_ctx_train: 131_072 } }, { context_window: 16_384 }],
    ["invalid values", { context_length: "many", pricing: { prompt: "free" }, supported_parameters: 3 }, {}],
  ])("model facts are read from a list entry: %s", (_name, entry, facts) => {
    expect(factsOf(entry)).toEqual(facts);
  });

  test("listed prices, context windows and capabilities apply from the first run on", async () => {
    const { models, requests } = await serve(
      { shape: legs, "text tools": textCall },
      {
        context_length: 65_536,
        supported_parameters: ["response_format"],
        pricing: { prompt: "0.000001", completion: "0.000002" },
      },
    );
    expect(models.describe()).toMatchObject({ price_known: true, context_window: 65_536 });
    const answer = await models.complete(
      ask("Hi", { tools, budget: budget({ max_cost_usd: 1 }) }),
      newIo().io,
    );
    // 11 tokens in at 1 dollar a million, 7 out at 2.
    expect(answer).toMatchObject({ cost_usd: 0.000025, cost_source: "price_table", tool_protocol: "text" });
    expect(answer.reads?.context_window).toBe(65_536);
    expect(requests).toHaveLength(1);
  });

  test("the Ollama probe finds capabilities and the context window that is actually loaded", async () => {
    const { result, findings, models } = await serve(
      { "text tools": textCall, shape: legs },
      { owned_by: "library" },
      {
        "/api/show": {
          capabilities: ["completion"],
          model_info: { "general.architecture": "llama", "llama.context_length": 131_072 },
        },
        "/api/ps": { models: [{ name: "test-model:latest", context_length: 4096 }] },
      },
    );
    expect(findings.reported).toEqual({ "test-model": { context_window: 131_072, native_tools: false } });
    expect(result.found).toContain("The context window is 4,096 tokens.");
    expect(models.describe()?.context_window).toBe(4096);
  });

  test("a context window configured in Ollama overrides the model's maximum", async () => {
    const { result } = await serve(
      {},
      { owned_by: "library" },
      {
        "/api/show": {
          parameters: "stop x\nnum_ctx    16384",
          model_info: { "llama.context_length": 131_072 },
        },
      },
    );
    expect(result.found).toContain("The context window is 16,384 tokens.");
  });
});

describe("context window", () => {
  const windowOf = (base_url: string, model: string, context_window?: number) =>
    newModels({
      providers: memoryProviders([
        remoteProvider(base_url, {
          default_model: model,
          settings: context_window ? { context_window } : {},
        }),
      ]),
    }).describe()?.context_window;
  test("a context window comes from user settings, the bundled table, or a careful guess", () => {
    expect(windowOf("https://api.openai.com/v1", "gpt-4o-mini")).toBe(128_000);
    expect(windowOf("https://api.openai.com/v1", "gpt-4o-mini", 10_000)).toBe(10_000);
    expect(windowOf("https://llm.example/v1", "mystery")).toBe(32_768);
    expect(windowOf("http://127.0.0.1:8080/v1", "mystery")).toBe(8_192);
  });

  test.each([
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "the request exceeds the available context size (8192 tokens), try increasing it",
    "prompt is too long: 9000 tokens > 8192 maximum",
    "Prompt contains 9000 tokens, too large for model with 8192 maximum context length",
    "The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
    "Input validation error: `inputs` must have less than 8192 tokens. Given: 9000",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000 `inputs` tokens and 100 `max_new_tokens`",
  ])("the context window is learned from a rejection: %s", async (message) => {
    server = await newServer((_q, response) => refuse(message)(response));
    const providers = memoryProviders([remoteProvider(server.url)]);
    const models = newModels({ providers, fetch: globalThis.fetch });
    await expect(models.complete(ask("much"), newIo().io)).rejects.toMatchObject({
      error: { code: "CONTEXT_OVERFLOW", detail: { context_window: 8192 } },
    });
    expect(models.describe()?.context_window).toBe(8192);
  });
});
