import { describe, expect, test } from "vitest";
import { containing } from "@/server/domain/testing/containing";
import { currentCapability, lessonsOf, withLesson, withoutLesson } from "./lessons";
import { concurrencyOf, headerError, isLocalServer, isPrivateHost, offlineDemo } from "./provider";
import { providerErrors, providerLimits, providerSettings } from "./provider-form";

test.each<[Parameters<typeof lessonsOf>[0], string[]]>([
  [{ api: "responses" }, ["Responses API"]],
  [{ native_tools: false }, ["as text"]],
  [{ parallel_tools: false }, ["Tool calls are requested one at a time"]],
  [{ response_format: "json_schema" }, ["Structured output: JSON Schema, which the model might not follow"]],
  [{ response_format: "json_object" }, ["Structured output: JSON mode, with the schema in the prompt"]],
  [{ response_format: "prompt" }, ["Structured output: prompt only"]],
  [{ stream_usage: false }, ["Token usage isn't requested, because the model rejects that setting"]],
  [{ max_tokens_name: "max_tokens" }, ["“max_tokens”"]],
  [{ wants_reasoning: true }, ["sent back"]],
  [{ system_role: false }, ["Instructions come before the first message, because the model doesn't "]],
  [{ effort_with_tools: "omit" }, ["Reasoning effort isn't sent with tools, because the model doesn't"]],
  [{ context_window: 4096 }, ["4,096 tokens"]],
  [
    { refuses: ["reasoning.summary", "include", "seed"] },
    [
      "Reasoning summaries aren't requested",
      "Encrypted reasoning isn't requested, so none is sent back",
      "“seed”",
    ],
  ],
  [
    {
      api: "chat",
      native_tools: true,
      parallel_tools: true,
      response_format: "strict",
      stream_usage: true,
      wants_reasoning: false,
      system_role: true,
    },
    [],
  ],
])("lessons describe how a model differs from the defaults: %j", (capability, words) => {
  expect(lessonsOf(capability, 0).map(({ text }) => text)).toEqual(words.map(containing));
});

describe("a lesson", () => {
  test("relearning a lesson updates the time of a setting but keeps the time of a refusal", () => {
    const first = withLesson({}, { native_tools: false, refuses: ["seed"] }, 1000);
    expect(first).toEqual({
      native_tools: false,
      refuses: ["seed"],
      learned_at: { native_tools: 1000, "refuses:seed": 1000 },
    });
    expect(withLesson(first, { native_tools: false, refuses: ["seed"] }, 2000)).toEqual({
      native_tools: false,
      refuses: ["seed"],
      learned_at: { native_tools: 2000, "refuses:seed": 1000 },
    });
  });
  test("forgetting a lesson removes only its own time, and an unknown lesson changes nothing", () => {
    const both = {
      native_tools: false,
      parallel_tools: false,
      learned_at: { native_tools: 1, parallel_tools: 2 },
    };
    expect(withoutLesson(both, "native_tools")).toEqual({
      parallel_tools: false,
      learned_at: { parallel_tools: 2 },
    });
    expect(withoutLesson(both, "api")).toEqual(both);
    expect(currentCapability({}, 1)).toEqual({});
  });
});

test.each([
  ["X-Org", "acme", null],
  ["X-Org", undefined, null],
  ["x".repeat(100), "a", null],
  ["x".repeat(101), "a", "Use letters, digits and - in header names"],
  ["", "a", "Use letters, digits and - in header names"],
  ["X Org", "a", "Use letters, digits and - in header names"],
  ["Host", "a", "The header Host is set automatically"],
  ["Sec-Fetch", "a", "The header Sec-Fetch is set automatically"],
  ["proxy-x", "a", "The header proxy-x is set automatically"],
  ["X-Proxy-Sec", "a", null],
  ["X-Org", "a\nb", "The value of X-Org has invalid characters; copy it again"],
  ["X-Org", " a", "The value of X-Org has invalid characters; copy it again"],
  ["X-Org", "", "The value of X-Org has invalid characters; copy it again"],
  ["X-Org", "a".repeat(4000), null],
  ["X-Org", "a".repeat(4001), "The value of X-Org has invalid characters; copy it again"],
])("the header %j with the value %j has the error %s", (name, value, error) => {
  expect(headerError(name, value)).toBe(error);
});

test.each([
  ["localhost", true],
  ["[::1]", true],
  ["host.docker.internal", true],
  ["Box.local", true],
  ["a.localhost", true],
  ["127.0.0.1", true],
  ["10.1.2.3", true],
  ["192.168.0.9", true],
  ["172.16.0.1", true],
  ["172.31.0.1", true],
  ["172.15.0.1", false],
  ["172.32.0.1", false],
  ["110.1.2.3", false],
  ["local", false],
  ["api.example.com", false],
])("%s is in a private network: %s", (host, is) => {
  expect(isPrivateHost(host)).toBe(is);
});

test.each([
  ["http://localhost:11434/v1", true, 1],
  ["http://10.0.0.2:8000/v1", true, 4],
  ["http://localhost:9000/v1", false, 4],
  ["https://api.example.com:8000/v1", false, 4],
  ["https://api.example.com/v1", false, 4],
  ["nowhere", false, 4],
])("%s is a local model server: %s, with %i concurrent calls", (base_url, isLocal, most) => {
  const kind = "openai-compatible" as const;
  expect([isLocalServer(base_url), concurrencyOf({ kind, base_url, settings: {} })]).toEqual([isLocal, most]);
  expect(concurrencyOf({ kind, base_url, settings: { max_concurrency: 7 } })).toBe(7);
});

test("the offline demo allows many concurrent calls and needs no key", () => {
  const demo = offlineDemo(true);
  expect(concurrencyOf(demo)).toBe(64);
  expect(demo).toMatchObject({
    kind: "offline",
    has_key: false,
    key_hint: null,
    header_names: [],
    is_default: true,
    simulated: true,
    from_environment: false,
    settings: {},
  });
});

describe("the provider form", () => {
  const price = (input_per_mtok: number, output_per_mtok: number, more: object = {}) => ({
    input_per_mtok,
    output_per_mtok,
    ...more,
  });
  const draft = { name: "P", base_url: "https://a.example", key: "", default_model: "m", is_default: false };
  test("the provider form shows the price for all models, but no other prices or lessons", () => {
    const learned = { capabilities: { m: { native_tools: false } }, max_concurrency: 2 };
    expect(providerLimits({ ...learned, prices: { "*": price(1, 2), m: price(3, 4) } })).toEqual({
      max_concurrency: 2,
      input_price: 1,
      output_price: 2,
    });
    expect(providerLimits({ ...learned, prices: { m: price(3, 4) } })).toEqual({ max_concurrency: 2 });
    expect(providerLimits(learned)).toEqual({ max_concurrency: 2 });
  });
  test.each([
    ["no prices if none are set", {}, {}, {}],
    ["no prices once the price for all models is removed", { prices: { "*": price(1, 2) } }, {}, {}],
    [
      "the prices of individual models",
      { prices: { "*": price(1, 2), m: price(3, 4) } },
      {},
      { prices: { m: price(3, 4) } },
    ],
    ["learned capabilities", { capabilities: { m: {} } }, {}, { capabilities: { m: {} } }],
    ["an input price alone", {}, { input_price: 1 }, { prices: { "*": price(1, 0) } }],
    ["an output price alone", {}, { output_price: 2 }, { prices: { "*": price(0, 2) } }],
    [
      "other parts of the price for all models",
      { prices: { "*": price(1, 2, { cached_input_per_mtok: 0.1 }) } },
      { input_price: 5, output_price: 6 },
      { prices: { "*": price(5, 6, { cached_input_per_mtok: 0.1 }) } },
    ],
    ["the concurrency limit", { max_concurrency: 1 }, { max_concurrency: 3 }, { max_concurrency: 3 }],
  ])("saving the provider form keeps %s", (_what, before, entered, settings) => {
    expect(providerSettings(before, { ...draft, ...entered })).toEqual(settings);
  });
  test.each([
    [{}, []],
    [{ name: " ", default_model: " " }, ["name", "default_model"]],
    [{ base_url: " http://a " }, []],
    [{ base_url: "ftp://a.example" }, ["base_url"]],
    [{ base_url: "https://" }, ["base_url"]],
    [{ base_url: "" }, ["base_url"]],
  ])("the provider form with %j has errors in %j", (more, fields) => {
    expect(Object.keys(providerErrors({ ...draft, ...more }))).toEqual(fields);
  });
});
