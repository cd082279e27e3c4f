import { describe, expect, test } from "vitest";
import type { Provider } from "@/server/domain/model/provider";
import type { ModelError, ModelRequest, ToolOffer } from "../model";
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
import { toolBlock, toolResultText } from "../tool-calls/text-protocol";

// What servers that call themselves compatible were seen to send when a model calls tools: each as a conversation
// over a real connection, through the real client.

endServersWithTests();
let server: TestServer | undefined;

const weather: ToolOffer = {
  name: "weather",
  description: "The weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const now: ToolOffer = { name: "now", description: "The time", parameters: { type: "object" } };
const tools = [weather, now];

/** Events with these deltas of the first choice, and a finish. */
const deltas = (parts: readonly unknown[], finish: string | null = "tool_calls") =>
  [
    ...parts.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    ...(finish === null ? [] : [{ choices: [{ index: 0, delta: {}, finish_reason: finish }] }]),
  ]
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join("") + "data: [DONE]\n\n";
const piece = (more: object) => ({ tool_calls: [more] });
const fn = (name?: string, args?: unknown) => ({
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
});

async function answering(body: string, request: Partial<ModelRequest> = {}) {
  server = await newServer((_q, response) => sendSse(response, body));
  const { io, got } = newIo();
  const models = newModels({
    providers: memoryProviders([remoteProvider(server.url)]),
    fetch: globalThis.fetch,
  });
  const answer = await models.complete(ask("Hi", { tools, ...request }), io);
  return { answer, got, sent: server.requests[0]!.body };
}
const bern = (id: string) => ({ id, tool_name: "weather", args: { city: "Bern" } });
const rome = (id: string) => ({ id, tool_name: "weather", args: { city: "Rome" } });
const BERN = '{"city":"Bern"}';
const ROME = '{"city":"Rome"}';

describe("streamed tool calls", () => {
  const whole = (index: number | undefined, id: string | undefined, args: unknown, name = "weather") => ({
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id }),
    ...fn(name, args),
  });
  test.each<[string, unknown[], unknown[]]>([
    [
      "in pieces by index",
      [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ index: 0, id: "a", type: "function", ...fn("weather", "") }],
        },
        piece({ index: 0, ...fn(undefined, '{"city"') }),
        piece({ index: 1, id: "b", ...fn("weather", '{"ci') }),
        piece({ index: 0, ...fn(undefined, ':"Bern"}') }),
        piece({ index: 1, ...fn(undefined, 'ty":"Rome"}') }),
      ],
      [bern("a"), rome("b")],
    ],
    [
      "without an index, by id",
      [
        piece({ id: "a", ...fn("weather", '{"city"') }),
        piece({ id: "b", ...fn("weather", ROME) }),
        piece({ id: "a", ...fn(undefined, ':"Bern"}') }),
      ],
      [bern("a"), rome("b")],
    ],
    [
      "without index and id, the last open call",
      [piece(fn("weather", '{"city"')), piece(fn(undefined, ':"Bern"}')), piece(fn("weather", ROME))],
      [bern("call_1"), rome("call_2")],
    ],
    [
      "a new id and name on a used index",
      [piece(whole(0, "a", BERN)), piece(whole(0, "b", ROME))],
      [bern("a"), rome("b")],
    ],
    [
      "all on the same index, in a single chunk, without ids",
      [{ tool_calls: [whole(0, "", BERN), whole(0, "", ROME)] }],
      [bern("call_1"), rome("call_2")],
    ],
    [
      "the name comes late",
      [
        piece({ index: 0, id: "a", ...fn(undefined, '{"city"') }),
        piece({ index: 0, ...fn("weather", ':"Bern"}') }),
      ],
      [bern("a")],
    ],
    [
      "the name comes with every piece",
      [piece(whole(0, "a", '{"city"')), piece(whole(0, "a", ':"Bern"}')), piece(whole(0, "a", ""))],
      [bern("a")],
    ],
    [
      "no id, or an empty one",
      [piece(whole(0, undefined, BERN)), piece(whole(1, "", ROME))],
      [bern("call_1"), rome("call_2")],
    ],
    [
      "the same id twice",
      [piece(whole(0, "a", BERN)), piece(whole(1, "a", ROME))],
      [bern("a"), rome("call_1")],
    ],
    [
      "the single function_call of older servers",
      [
        { role: "assistant", content: null, function_call: { name: "weather", arguments: "" } },
        { function_call: { arguments: '{"city"' } },
        { function_call: { arguments: ':"Bern"}' } },
      ],
      [bern("call_1")],
    ],
    [
      "the same call in both formats",
      [
        { ...piece({ index: 0, id: "a", ...fn("weather", BERN) }), function_call: { name: "weather" } },
        { function_call: { arguments: BERN } },
      ],
      [bern("a")],
    ],
    ["arguments as an object", [piece(whole(0, "a", { city: "Bern" }))], [bern("a")]],
    [
      "no arguments at all",
      [piece({ index: 0, id: "a", ...fn("now") })],
      [{ id: "a", tool_name: "now", args: {} }],
    ],
    ["empty arguments", [piece(whole(0, "a", "", "now"))], [{ id: "a", tool_name: "now", args: {} }]],
    ["null for arguments", [piece(whole(0, "a", "null", "now"))], [{ id: "a", tool_name: "now", args: {} }]],
    ["JSON inside JSON", [piece(whole(0, "a", JSON.stringify(BERN)))], [bern("a")]],
    ["a trailing comma", [piece(whole(0, "a", '{"city":"Bern",}'))], [{ ...bern("a"), repaired: true }]],
    ["a name as in the training data", [piece(whole(0, "a", BERN, "functions.weather"))], [bern("a")]],
    [
      "a tool that wasn't offered",
      [piece(whole(0, "a", "{}", "teleport"))],
      [{ id: "a", tool_name: "teleport", args: {} }],
    ],
  ])("a streamed tool call is assembled: %s", async (_name, parts, calls) => {
    const { answer } = await answering(deltas(parts));
    expect(answer.tool_calls).toEqual(calls);
    expect(answer).toMatchObject({ finish_reason: "tool_calls", tool_protocol: "native", content: "" });
  });
  test("tool arguments are streamed as they arrive", async () => {
    const { got } = await answering(
      deltas([piece(whole(0, "a", '{"city"')), piece({ index: 0, ...fn(undefined, ':"Bern"}') })]),
    );
    expect(got).toEqual({ content: "", reasoning: "", tool_args: BERN });
  });
  test.each<[string, unknown, unknown[]]>([
    [
      "tool_calls",
      {
        tool_calls: [
          whole(undefined, undefined, { city: "Bern" }),
          whole(undefined, undefined, { city: "Rome" }),
        ],
      },
      [bern("call_1"), rome("call_2")],
    ],
    ["the older function_call", { function_call: { name: "weather", arguments: BERN } }, [bern("call_1")]],
  ])("calls are read from a non-streaming server that sends %s", async (_name, message, calls) => {
    server = await newServer((_q, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({
          choices: [{ message: { content: "", ...(message as object) }, finish_reason: "stop" }],
        }),
      );
    });
    const models = newModels({
      providers: memoryProviders([remoteProvider(server.url)]),
      fetch: globalThis.fetch,
    });
    const answer = await models.complete(ask("Hi", { tools }), newIo().io);
    expect(answer.tool_calls).toEqual(calls);
    expect(answer.finish_reason).toBe("tool_calls");
  });
});

test("reasoning is returned to a model that requires it, unprompted after the first rejection", async () => {
  server = await newServer(({ body }, response) => {
    const own = (body.messages as { role: string; reasoning_content?: string }[]).filter(
      ({ role }) => role === "assistant",
    );
    if (own.every(({ reasoning_content }) => reasoning_content !== undefined))
      return sendSse(
        response,
        deltas([{ reasoning_content: "So it is done." }, { content: "Done." }], "stop"),
      );
    response.writeHead(400, { "content-type": "application/json" }).end(
      JSON.stringify({
        error: { message: "The `reasoning_content` in the thinking mode must be passed back to the API." },
      }),
    );
  });
  const providers = memoryProviders([remoteProvider(server.url)]);
  const models = newModels({ providers, fetch: globalThis.fetch });
  for (const tool_protocol of ["native", "text"] as const) {
    const answer = await models.complete(
      ask("", {
        tools,
        tool_protocol,
        messages: [
          { role: "user", content: "Weather?" },
          { role: "assistant", content: "", tool_calls: [bern("a")], reasoning: "I must look." },
          { role: "tool", name: "weather", tool_call_id: "a", content: "sunny" },
          { role: "assistant", content: "Sunny." },
          { role: "user", content: "Sure?" },
        ],
      }),
      newIo().io,
    );
    expect(answer).toMatchObject({ content: "Done.", reasoning: "So it is done." });
    expect(
      (server.requests.at(-1)!.body.messages as { role: string; reasoning_content?: string }[]).map(
        ({ role, reasoning_content }) => [role, reasoning_content],
      ),
    ).toEqual([
      ...(tool_protocol === "text" ? [["system", undefined]] : []),
      ["user", undefined],
      ["assistant", "I must look."],
      [tool_protocol === "text" ? "user" : "tool", undefined],
      ["assistant", ""],
      ["user", undefined],
    ]);
  }
  expect(server.requests).toHaveLength(3);
  expect(providers.learned["test-model"]).toEqual({ wants_reasoning: true });
});

describe("end of an answer", () => {
  const call = piece({ index: 0, id: "a", ...fn("weather", BERN) });
  test.each(["stop", "function_call"])("a tool call counts even with finish reason %s", async (finish) => {
    expect((await answering(deltas([call], finish))).answer).toMatchObject({
      finish_reason: "tool_calls",
      tool_calls: [bern("a")],
    });
  });
  test("the finish reason tool_calls without calls is read as stop", async () => {
    const { answer } = await answering(deltas([{ content: "Sunny." }]));
    expect(answer).toMatchObject({ content: "Sunny.", finish_reason: "stop" });
    expect(answer.tool_calls).toBeUndefined();
  });
  test("an answer without text or calls is rejected as invalid", async () => {
    await expect(answering(deltas([{ content: "" }]))).rejects.toMatchObject({
      error: { code: "OUTPUT_INVALID", retryable: true },
    });
  });
  test("token usage is read from chunks before the end and chunks without choices", async () => {
    for (const usage of [{ choices: [] }, { choices: [{ index: 0, delta: {} }] }]) {
      const chunk = `data: ${JSON.stringify({ ...usage, usage: { prompt_tokens: 5, completion_tokens: 3 } })}\n\n`;
      const { answer } = await answering(chunk + deltas([call]));
      expect(answer.usage).toMatchObject({ input_tokens: 5, output_tokens: 3, estimated: false });
      await server?.close();
    }
  });
  test("token usage is read from Groq's streaming field", async () => {
    const chunk = `data: ${JSON.stringify({ choices: [], x_groq: { id: "req", usage: { prompt_tokens: 18, completion_tokens: 73 } } })}\n\n`;
    const { answer } = await answering(chunk + deltas([call]));
    expect(answer.usage).toMatchObject({ input_tokens: 18, output_tokens: 73, estimated: false });
  });
  test("choices other than the first are ignored", async () => {
    const other = {
      choices: [{ index: 1, delta: piece({ index: 0, id: "z", ...fn("now", "{}") }), finish_reason: "stop" }],
    };
    const { answer } = await answering(`data: ${JSON.stringify(other)}\n\n${deltas([call])}`);
    expect(answer.tool_calls).toEqual([bern("a")]);
  });
  test("a stream that breaks off inside a call is a transient error", async () => {
    await expect(
      answering(deltas([piece({ index: 0, id: "a", ...fn("weather", '{"ci') })], null)),
    ).rejects.toMatchObject({ error: { code: "TRANSIENT" } });
  });
  test("at the token limit, complete calls are kept and truncated calls are never guessed", async () => {
    const parts = [call, piece({ index: 1, id: "b", ...fn("weather", '{"city":"Ro') })];
    const { answer } = await answering(deltas(parts, "length"));
    expect(answer).toMatchObject({
      finish_reason: "length",
      tool_calls: [bern("a"), { id: "b", args: {}, fault: expect.stringContaining("TRUNCATED") as string }],
    });
    await server?.close();
    const none = await answering(deltas([piece({ index: 0, id: "a", ...fn("weather", "") })], "length"));
    expect(none.answer.tool_calls![0]!.fault).toContain("TRUNCATED");
  });
  test.each([
    ["[1]", "weather", /its arguments are not a JSON object near "\[1\]"/],
    ["Bern", "weather", /its arguments are not a JSON object near "Bern"/],
    ["{}", "", /it names no tool/],
  ])('arguments %s for tool "%s" produce a fault with the reason', async (args, name, message) => {
    const { answer } = await answering(deltas([piece({ index: 0, id: "a", ...fn(name, args) })]));
    expect(answer.tool_calls).toEqual([
      { id: "a", tool_name: name, args: {}, fault: expect.stringMatching(message) as string },
    ]);
  });
  test("an error inside a stream is a transient error", async () => {
    const error = await answering(
      `data: ${JSON.stringify({ error: { message: "engine died", code: 500 } })}\n\n`,
    ).then(
      () => null,
      (reason: unknown) => reason as ModelError,
    );
    expect(error?.error.code).toBe("TRANSIENT");
  });
});

describe("tool calls leaked as text", () => {
  const leaked = `I will look.\n<tool_call>\n{"name": "weather", "arguments": ${BERN}}\n</tool_call>`;
  test("calls leaked as text are parsed and never shown as the answer", async () => {
    const { answer, got } = await answering(
      sse([leaked.slice(0, 17), leaked.slice(17, 40), leaked.slice(40)]),
    );
    expect(answer).toMatchObject({
      content: "I will look.",
      tool_calls: [bern("call_1")],
      finish_reason: "tool_calls",
    });
    expect(got.content).toBe("I will look.\n");
    expect(got.tool_args).toBe(leaked.slice(13));
  });
  test("native calls take precedence over calls leaked as text", async () => {
    const { answer } = await answering(
      deltas([{ content: leaked }, piece({ index: 0, id: "a", ...fn("weather", ROME) })]),
    );
    expect(answer).toMatchObject({ content: "I will look.", tool_calls: [rome("a")] });
  });
  test.each([
    ["a call behind its token", leaked],
    ["an answer that is nothing but calls", `{"tool_calls": [{"name": "weather", "arguments": ${BERN}}]}`],
  ])("leaked calls are rejected if no tools were offered: %s", async (_what, text) => {
    await expect(answering(sse([text]), { tools: [] })).rejects.toMatchObject({
      error: {
        code: "OUTPUT_INVALID",
        message: expect.stringContaining("called weather, but no tools were available to it here") as string,
        retryable: true,
      },
    });
  });
  test("call syntax remains the answer if it was requested as JSON or quoted as an example", async () => {
    const text = `{"tool_calls": [{"name": "weather", "arguments": ${BERN}}]}`;
    const schema = {
      type: "object",
      properties: { tool_calls: { type: "array" } },
      required: ["tool_calls"],
    };
    const asked = await answering(sse([text]), { tools: [], response: { name: "answer", schema } });
    expect(asked.answer.content).toBe(text);
    await server?.close();
    const shown = `It is written so:\n\n\`\`\`\n<tool_call>\n{"name": "weather", "arguments": ${BERN}}\n</tool_call>\n\`\`\``;
    const { answer, got } = await answering(sse([shown]), { tools: [] });
    expect({ answer: answer.content, shown: got.content, calls: answer.tool_calls }).toEqual({
      answer: shown,
      shown,
      calls: undefined,
    });
  });
  const pieces = (text: string) => text.match(/[\s\S]{1,5}/g) ?? [];
  test.each([
    ["Qwen3-Coder", "<function=weather>\n<parameter=city>\nBern\n</parameter>\n</function>"],
    ["GLM", "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Bern</arg_value>\n</tool_call>"],
    [
      "Kimi K2",
      `<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>${BERN}<|tool_call_end|><|tool_calls_section_end|>`,
    ],
    [
      "DeepSeek",
      `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>${BERN}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    ],
    [
      "MiniMax",
      '<minimax:tool_call>\n<invoke name="weather">\n<parameter name="city">Bern</parameter>\n</invoke>\n</minimax:tool_call>',
    ],
    ["Llama 3", `<|python_tag|>{"name": "weather", "parameters": ${BERN}}`],
    ["Phi-4", `functools[{"name": "weather", "arguments": ${BERN}}]`],
    ["gpt-oss", `<|channel|>commentary to=functions.weather <|constrain|>json<|message|>${BERN}<|call|>`],
  ])("leaked calls are hidden while they stream, in the format of %s", async (_name, text) => {
    const { answer, got } = await answering(sse(pieces(`I will look.\n${text}`)));
    expect({ text: answer.content, calls: answer.tool_calls, seen: got }).toEqual({
      text: "I will look.",
      calls: [bern("call_1")],
      seen: { content: "I will look.\n", reasoning: "", tool_args: text },
    });
  });
  test("leaked calls are hidden when they are the whole answer", async () => {
    const text = `{"tool_calls": [{"name": "weather", "arguments": ${BERN}}]}`;
    const { got } = await answering(sse(pieces(text)));
    expect(got).toEqual({ content: "", reasoning: "", tool_args: text });
  });
  test.each([
    "Look:\n<tool_call> is what other models write.\n\nThat is all.",
    "<function=weather is half a tag.\nTOOL_CALL lines are another way.",
    "A list:\nfunctional\n<|nothing|>\n",
    '{"tool_calls": 3}',
    "<think>Hm.</think><tool_call> means nothing here.",
  ])("buffered text that turns out not to be a call is shown at the end: %s", async (text) => {
    const { answer, got } = await answering(sse(pieces(text)));
    expect(answer.tool_calls).toBeUndefined();
    expect(got.content).toBe(text.replace("<think>Hm.</think>", ""));
    expect(answer.content.trim()).toBe(got.content.trim());
  });
  test("buffered text is counted once if the server reports no usage", async () => {
    const text = `<|python_tag|>{"name": "weather", "parameters": ${BERN}}`;
    const written = async (content: string) => {
      const { answer } = await answering(sse([content], { usage: false }));
      await server?.close();
      return answer.usage;
    };
    expect(await written(text)).toEqual(await written("x".repeat(text.length)));
  });
  test("text between buffered text and a call is shown once", async () => {
    const text = `<tool_call> is what I write.\n${leaked}`;
    const { answer, got } = await answering(sse(pieces(text)));
    expect({ text: answer.content, calls: answer.tool_calls, seen: got.content }).toEqual({
      text: "<tool_call> is what I write.\nI will look.",
      calls: [bern("call_1")],
      seen: "<tool_call> is what I write.\nI will look.",
    });
  });
  test("tool calls inside reasoning are ignored", async () => {
    const { answer } = await answering(sse([`<think>\nTOOL_CALL: {"tool_name": "now"}\n</think>\nNo need.`]));
    expect(answer).toMatchObject({ content: "No need.", finish_reason: "stop" });
    expect(answer.tool_calls).toBeUndefined();
  });
});

const conversation: ModelRequest["messages"] = [
  { role: "system", content: "You are X." },
  { role: "user", content: "Hi" },
  {
    role: "assistant",
    content: "",
    tool_calls: [{ id: "call_1", tool_name: "mcp:maps/find.me", args: { q: "x" } }],
  },
  {
    role: "tool",
    name: "mcp:maps/find.me",
    tool_call_id: "call_1",
    content: toolResultText("mcp:maps/find.me", 200, "here"),
  },
];
const named = (name: string): ToolOffer => ({ ...now, name });

describe("request contents", () => {
  test("tool names that servers reject are renamed consistently and restored in answers", async () => {
    const offered = [
      "mcp:maps/find.me",
      "mcp_maps_find_me",
      "mcp:maps/find_me",
      "x".repeat(80),
      `${"x".repeat(80)}y`,
    ].map(named);
    const { answer, sent } = await answering(
      deltas([piece({ index: 0, id: "call_1", ...fn("mcp_maps_find_me_2", "{}") })]),
      { tools: offered, messages: conversation },
    );
    const names = (sent.tools as { function: { name: string } }[]).map(({ function: { name } }) => name);
    expect(new Set(names).size).toBe(offered.length);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(names.slice(0, 2)).toEqual(["mcp_maps_find_me_2", "mcp_maps_find_me"]);
    expect(sent.messages).toEqual([
      { role: "system", content: "You are X." },
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: "call_1",
            type: "function",
            function: { name: "mcp_maps_find_me_2", arguments: '{"q":"x"}' },
          },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "mcp:maps/find.me (200): here" },
    ]);
    // The id is taken by an earlier turn.
    expect(answer.tool_calls).toEqual([{ id: "call_2", tool_name: "mcp:maps/find.me", args: {} }]);
  });
  test("text mode sends the tool block, a stop sequence and merged results, but no functions", async () => {
    const { answer, sent, got } = await answering(
      sse(["Let me see.\nTOOL_", 'CALL: {"tool_name": "weather", "args": {"city": "Bern"}}']),
      { tool_protocol: "text", messages: conversation, llm_config: { stop: ["END"] } },
    );
    expect(sent).toMatchObject({
      stop: ["END", "\nTOOL_RESULT"],
      messages: [
        { role: "system", content: `You are X.\n\n${toolBlock(tools)}` },
        { role: "user", content: "Hi" },
        { role: "assistant", content: 'TOOL_CALL: {"tool_name":"mcp:maps/find.me","args":{"q":"x"}}' },
        { role: "user", content: "TOOL_RESULT [1] mcp:maps/find.me (200): here" },
      ],
    });
    expect(sent).not.toHaveProperty("tools");
    expect(answer).toMatchObject({
      content: "Let me see.",
      tool_protocol: "text",
      tool_calls: [bern("call_2")],
    });
    expect(got.content).toBe("Let me see.\n");
  });
  test("without offered tools, earlier calls are sent as text", async () => {
    const { sent } = await answering(sse(["Fine."]), { tools: [], messages: conversation });
    expect(sent).not.toHaveProperty("tools");
    expect((sent.messages as { role: string }[]).map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
    ]);
  });
  test("with both tools and a schema, tools are sent and the schema is left to the caller", async () => {
    const { sent, answer } = await answering(sse(["{}"]), {
      response: { name: "answer", schema: { type: "object" } },
    });
    expect(sent).toHaveProperty("tools");
    expect(sent).not.toHaveProperty("response_format");
    expect(answer.response_format).toBe("text");
  });
});

describe("tool protocol choice", () => {
  /** A server that refuses what `refuses` finds in a request. */
  async function picky(
    refuses: (body: Record<string, unknown>) => string | null,
    more: Partial<Provider> = {},
    status = 400,
  ) {
    server = await newServer(({ body }, response) => {
      const rejection = refuses(body);
      if (rejection === null)
        return sendSse(response, sse([`TOOL_CALL: {"tool_name": "weather", "args": ${BERN}}`]));
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: rejection } }));
    });
    const providers = memoryProviders([remoteProvider(server.url, more)]);
    const models = newModels({ providers, fetch: globalThis.fetch });
    return {
      providers,
      count: () => server!.requests.length,
      go: (request: Partial<ModelRequest> = {}) =>
        models.complete({ ...ask("Hi", { tools }), ...request }, newIo().io),
    };
  }
  test.each<[number, string]>([
    [400, "registry.ollama.ai/library/gemma:2b does not support tools"],
    [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
    [404, 'No endpoints found that support tool use. Try disabling "weather".'],
    [422, "body.functions: extra fields not permitted"],
  ])("%s %s: the call is retried with text tools, and the lesson is remembered", async (status, message) => {
    const { go, providers, count } = await picky((body) => (body.tools ? message : null), {}, status);
    expect(await go()).toMatchObject({ tool_protocol: "text", tool_calls: [bern("call_1")] });
    expect(count()).toBe(2);
    expect(providers.learned["test-model"]).toEqual({ native_tools: false });
    await go();
    expect(count()).toBe(3);
  });
  test("a rejected schema of a single tool teaches nothing about other tools", async () => {
    const { go, providers } = await picky((body) =>
      body.tools ? "Invalid schema for function 'weather': no" : null,
    );
    expect((await go()).tool_protocol).toBe("text");
    expect(providers.learned).toEqual({});
  });
  test("the user's tool protocol is never overruled, whether set on the agent or the provider", async () => {
    const refuses = (body: Record<string, unknown>) => (body.tools ? "does not support tools" : null);
    const first = await picky(refuses);
    await expect(first.go({ tool_protocol: "native" })).rejects.toMatchObject({ error: { code: "CONFIG" } });
    expect(first.count()).toBe(1);
    await server?.close();
    const second = await picky(refuses, { settings: { tool_protocol: "text" } });
    expect((await second.go()).tool_protocol).toBe("text");
    expect(second.count()).toBe(1);
    await expect(second.go({ tool_protocol: "native" })).rejects.toMatchObject({ error: { code: "CONFIG" } });
    await server?.close();
    const third = await picky(refuses, { settings: { tool_protocol: "native" } });
    await expect(third.go({ tool_protocol: "auto" })).rejects.toMatchObject({ error: { code: "CONFIG" } });
  });
  test("a server that rejects stop sequences is called without them", async () => {
    const { go, providers } = await picky((body) => (body.stop ? "Unsupported parameter: 'stop'" : null));
    expect((await go({ tool_protocol: "text" })).tool_calls).toEqual([bern("call_1")]);
    expect(providers.learned["test-model"]).toEqual({ refuses: ["stop"] });
  });
  test("parallel tool calls are disabled for a model that doesn't support them", async () => {
    const bodies: Record<string, unknown>[] = [];
    const settings = { capabilities: { "test-model": { parallel_tools: false } } };
    const { go } = await picky(
      (body) => {
        bodies.push(body);
        return null;
      },
      { settings },
    );
    await go();
    expect(bodies[0]).toMatchObject({ parallel_tool_calls: false });
  });
});
