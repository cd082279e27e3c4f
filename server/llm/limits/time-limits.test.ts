import { describe, expect, test } from "vitest";
import type { LlmConfig } from "@/server/domain/agent/role";
import type { ProviderSettings } from "@/server/domain/model/provider";
import type { ModelError } from "../model";
import { newModels } from "../models";
import {
  ask,
  endServersWithTests,
  type Handler,
  memoryProviders,
  newIo,
  newServer,
  remoteProvider,
  sse,
  type TestServer,
} from "../testing";
import { isThinkingModel, timeLimits } from "./time-limits";

endServersWithTests();
let server: TestServer | undefined;

const FAR = "https://llm.example.org/v1";
const minutes = (base_url: string, model = "m", config: LlmConfig = {}, settings: ProviderSettings = {}) => {
  const { firstByteMs, idleMs, totalMs } = timeLimits({ base_url, settings }, model, config);
  return [firstByteMs, idleMs, totalMs].map((ms) => ms / 60_000);
};

describe("call time limits", () => {
  test("by default, the first token may take 1 minute and the whole call 10", () => {
    expect(minutes(FAR)).toEqual([1, 0.75, 10]);
  });
  test("a reasoning model gets 10 minutes to start, detected by name, settings or past answers", () => {
    const long = [10, 3, 30];
    expect(minutes(FAR, "gpt-5.4")).toEqual(long);
    expect(minutes(FAR, "m", { reasoning_effort: "low" })).toEqual(long);
    expect(minutes(FAR, "m", { extra_body: { thinking: { type: "enabled" } } })).toEqual(long);
    expect(minutes(FAR, "m", { reasoning_effort: "none" })).toEqual([1, 0.75, 10]);
    expect(timeLimits({ base_url: FAR, settings: {} }, "m", {}, { thinks: true }).firstByteMs).toBe(600_000);
  });
  test("a model on local hardware gets 5 minutes to start, detected by address, not port", () => {
    for (const url of [
      "http://127.0.0.1:8081/v1",
      "http://192.168.1.7:5000/v1",
      "http://localhost:12434/v1",
      "http://[::1]:9/v1",
      "http://ollama:11434/v1",
    ])
      expect(minutes(url)).toEqual([5, 2, 30]);
    expect(minutes(FAR, "m", {}, { local: true })).toEqual([5, 2, 30]);
    expect(minutes("http://127.0.0.1:8081/v1", "m", {}, { local: false })).toEqual([1, 0.75, 10]);
    expect(minutes("http://127.0.0.1:8081/v1", "qwen3:8b")).toEqual([10, 3, 30]);
  });
  test("agent time limits override provider limits, and these override the defaults", () => {
    const settings = { first_byte_ms: 120_000, idle_timeout_ms: 180_000, timeout_ms: 240_000 };
    expect(minutes(FAR, "gpt-5.4", {}, settings)).toEqual([2, 3, 4]);
    const config = { first_byte_ms: 300_000, idle_timeout_ms: 360_000, timeout_ms: 420_000 };
    expect(minutes(FAR, "gpt-5.4", config, settings)).toEqual([5, 6, 7]);
    // A long silence that is allowed is also one before the first word.
    expect(minutes(FAR, "m", { idle_timeout_ms: 300_000 })).toEqual([5, 5, 10]);
    expect(timeLimits({ base_url: FAR, settings: {} }, "m", { timeout_ms: 1e12 }).totalMs).toBe(2 ** 31 - 1);
  });
  test.each([
    "o3",
    "o4-mini",
    "gpt-5.4-mini",
    "openai/gpt-oss-120b",
    "deepseek-r1:14b",
    "deepseek-reasoner",
    "qwen/qwq-32b",
    "qwen3:4b",
    "magistral-small-latest",
    "grok-4-fast",
    "gemini-2.5-pro",
    "kimi-k2-thinking",
    "anthropic/claude-sonnet-4.5",
  ])("%s is recognized as a reasoning model", (model) => {
    expect(isThinkingModel(model)).toBe(true);
  });
  test.each([
    "gpt-4o-mini",
    "gpt-4.1",
    "llama3.2",
    "mistral-small-latest",
    "qwen2.5:7b",
    "gemini-2.0-flash",
    "phi4",
  ])("%s is not recognized as a reasoning model", (model) => {
    expect(isThinkingModel(model)).toBe(false);
  });
});

describe("silent servers", () => {
  async function failing(handler: Handler, limits: object, llm_config: LlmConfig = {}) {
    server = await newServer(handler);
    const models = newModels({
      providers: memoryProviders([remoteProvider(server.url)]),
      fetch: globalThis.fetch,
      limits,
    });
    return models.complete(ask("Hi", { llm_config }), newIo().io).then(
      ({ content }) => content,
      (error: unknown) => error as ModelError,
    );
  }
  const thinking: Handler = (_q, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse([], { finish: null, done: false, usage: false }));
    setTimeout(() => response.end(sse(["So."])), 300);
  };
  test("silence between headers and first token is limited only by the first-token timeout", async () => {
    expect(await failing(thinking, { firstByteMs: 5_000, idleMs: 50, totalMs: 10_000 })).toBe("So.");
  });
  test.each<[string, LlmConfig, RegExp]>([
    [
      "first-token",
      { first_byte_ms: 60 },
      /didn't start responding within 60 ms\. If test-model needs longer, raise “First-token timeout”/,
    ],
    ["response", { timeout_ms: 60 }, /didn't finish its response within 60 ms\. .* raise “Response timeout”/],
  ])("a %s timeout names its setting and is retried once", async (_name, config, message) => {
    const error = (await failing(thinking, {}, config)) as ModelError;
    expect(error.error).toMatchObject({ code: "TIMEOUT", retryable: true });
    expect(error.message).toMatch(message);
    expect(error.more.tries).toBe(2);
  });
});
