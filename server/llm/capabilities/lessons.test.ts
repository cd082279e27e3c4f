import { describe, expect, test } from "vitest";
import type { LlmConfig } from "@/server/domain/agent/role";
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

// What a refusal teaches: no more than it says, not for ever, and never in silence.

endServersWithTests();
let server: TestServer | undefined;

type Body = Record<string, unknown> & { messages: { role: string; content: string; name?: string }[] };
const DAY = 24 * 3_600_000;
const tools = [{ name: "now", description: "The time", parameters: { type: "object" } }];

/** A server that refuses what `refuses` finds in a request. */
async function picky(refuses: (body: Body) => string | object | null) {
  server = await newServer(({ body }, response) => {
    const rejection = refuses(body as Body);
    if (rejection === null) return sendSse(response, sse(["OK"]));
    response
      .writeHead(400, { "content-type": "application/json" })
      .end(JSON.stringify(typeof rejection === "string" ? { error: { message: rejection } } : rejection));
  });
  const providers = memoryProviders([remoteProvider(server.url)]);
  let now = 1_800_000_000_000;
  const models = newModels({ providers, fetch: globalThis.fetch, now: () => now });
  return {
    providers,
    bodies: () => server!.requests.map(({ body }) => body as Body),
    later: (days: number) => {
      now += days * DAY;
    },
    go: (llm_config: LlmConfig = {}, more: Partial<Parameters<typeof models.complete>[0]> = {}) =>
      models.complete(ask("Hi", { llm_config, ...more }), newIo().io),
  };
}

test("a missing signature on another model's calls doesn't disable native tools", async () => {
  let isOdd = true;
  const { go, bodies } = await picky(({ tools: asked }) =>
    isOdd && asked ? "Function call is missing a thought_signature in functionCall parts." : null,
  );
  await go({}, { tools });
  isOdd = false;
  await go({}, { tools });
  expect(bodies().map(({ tools: asked }) => asked !== undefined)).toEqual([true, false, true]);
});

test("a learned capability expires after a week and is then tested again", async () => {
  let isStrict = true;
  const { go, bodies, later } = await picky((body) =>
    isStrict && body.temperature !== undefined ? "Unsupported value: 'temperature'" : null,
  );
  await go({ temperature: 0.5 });
  later(6);
  await go({ temperature: 0.5 });
  expect(bodies().map(({ temperature }) => temperature)).toEqual([0.5, undefined, undefined]);
  isStrict = false;
  later(1);
  expect((await go({ temperature: 0.5 })).notes).toBeUndefined();
  expect(bodies().at(-1)).toMatchObject({ temperature: 0.5 });
});

describe("notes about omitted settings", () => {
  test("omitted user settings are named in the answer's notes", async () => {
    const { go } = await picky((body) =>
      body.temperature !== undefined
        ? "Unsupported value: 'temperature'"
        : body.reasoning_effort
          ? "Unknown parameter: reasoning_effort"
          : null,
    );
    for (let times = 0; times < 2; times++)
      expect((await go({ temperature: 0.5, reasoning_effort: "high" })).notes).toEqual([
        "test-model was called without temperature, reasoning effort, which it rejects.",
      ]);
    expect((await go()).notes).toBeUndefined();
  });
  test("rejected native tool calls are reported in the answer's notes", async () => {
    const { go } = await picky((body) => (body.tools ? "does not support tools" : null));
    expect((await go({}, { tools })).notes).toEqual([
      "test-model received its tools as text, because it rejects native tool calls.",
    ]);
    expect((await go({}, { tools, tool_protocol: "text" })).notes).toBeUndefined();
  });
});

describe("reasoning effort with tools", () => {
  const both = "Function tools with reasoning_effort are not supported for m in /v1/chat/completions.";
  test("reasoning effort rejected only with tools is still sent in calls without tools", async () => {
    const { go, bodies, providers } = await picky((body) =>
      body.tools && body.reasoning_effort ? both : null,
    );
    const answer = await go({ reasoning_effort: "high" }, { tools });
    expect(answer).toMatchObject({
      tool_protocol: "native",
      notes: [expect.stringMatching(/called without reasoning effort, .* together with tools/)],
    });
    expect(providers.learned["test-model"]).toEqual({ effort_with_tools: "omit" });
    expect((await go({ reasoning_effort: "high" })).notes).toBeUndefined();
    expect(bodies().at(-1)).toMatchObject({ reasoning_effort: "high" });
  });
  test("reasoning effort is set to none if omitting it isn't enough", async () => {
    const { go, bodies, providers } = await picky((body) =>
      body.tools && body.reasoning_effort !== "none" ? both : null,
    );
    expect((await go({ reasoning_effort: "high" }, { tools })).tool_protocol).toBe("native");
    expect(bodies()).toHaveLength(3);
    expect(bodies().at(-1)).toMatchObject({ reasoning_effort: "none" });
    expect(providers.learned["test-model"]).toEqual({ effort_with_tools: "none" });
  });
});

test.each([
  { error: { message: "Failed to call a function. Please adjust your prompt.", code: "tool_use_failed" } },
  { error: { message: "Failed to generate JSON.", code: "json_validate_failed" } },
])("a single failed generation is retryable and teaches nothing: %j", async (body) => {
  const { go, bodies, providers } = await picky(() => body);
  await expect(go({}, { tools })).rejects.toMatchObject({
    error: { code: "OUTPUT_INVALID", retryable: true },
  });
  expect(bodies()).toHaveLength(1);
  expect(providers.learned).toEqual({});
});

describe("models that support fewer roles and fields", () => {
  test.each([
    "System role not supported",
    "Conversation roles must alternate user/assistant/user/assistant/...",
  ])("%s: system instructions are merged into the first message", async (errorText) => {
    const { go, bodies, providers } = await picky(({ messages }) =>
      messages.some(({ role }, at) => role !== (at % 2 === 0 ? "user" : "assistant"))
        ? { object: "error", message: errorText }
        : null,
    );
    await go(
      {},
      {
        messages: [
          { role: "system", content: "Be kind." },
          { role: "user", content: "Hi" },
          { role: "user", content: "you" },
          { role: "assistant", content: "Hello." },
          { role: "user", content: "Bye" },
        ],
      },
    );
    expect(bodies().at(-1)!.messages).toEqual([
      { role: "user", content: "Be kind.\n\nHi\n\nyou" },
      { role: "assistant", content: "Hello." },
      { role: "user", content: "Bye" },
    ]);
    expect(providers.learned["test-model"]).toEqual({ system_role: false });
  });
  test("speaker names are omitted if the server rejects them", async () => {
    const { go, bodies } = await picky(({ messages }) =>
      messages.some(({ name }) => name !== undefined)
        ? {
            detail: [{ loc: ["body", "messages", 0, "user", "name"], msg: "Extra inputs are not permitted" }],
          }
        : null,
    );
    await go({}, { messages: [{ role: "user", content: "Hi", name: "Ada" }] });
    expect(bodies().at(-1)!.messages).toEqual([{ role: "user", content: "Hi" }]);
  });
});
