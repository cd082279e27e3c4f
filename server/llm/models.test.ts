import { describe, expect, test, vi } from "vitest";
import type { Provider } from "@/server/domain/model/provider";
import { costOf, isPriceKnown } from "./limits/prices";
import { newRateLimiter } from "./limits/rate-limit";
import type { ModelError, ModelRequest } from "./model";
import { newModels } from "./models";
import { newOfflineFetch } from "./offline";
import { strictSchema } from "./openai/strict-schema";
import { newScriptedModels } from "./scripted";
import {
  ask,
  budget,
  endServersWithTests,
  type Handler,
  memoryProviders,
  newIo,
  newServer,
  offlineProvider,
  remoteProvider,
  sendSse,
  sse,
  type TestServer,
} from "./testing";

endServersWithTests();
let server: TestServer | undefined;

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error as ModelError,
  );
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const schema = {
  type: "object",
  properties: { a: { type: "string" }, b: { type: "integer" } },
  required: ["a"],
  additionalProperties: false,
};

describe("schema requests", () => {
  /** A server that refuses what `refuses` finds in a request, with a 400 that says so. */
  async function picky(
    refuses: (body: Record<string, unknown>) => string | null,
    more: Partial<Provider> = {},
    status = 400,
  ) {
    server = await newServer(({ body }, response) => {
      const rejection = refuses(body);
      if (rejection === null) return sendSse(response, sse(['{"a":"x"}']));
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: rejection } }));
    });
    const providers = memoryProviders([remoteProvider(server.url, more)]);
    const models = newModels({ providers, fetch: globalThis.fetch });
    const bodies = () => server!.requests.map(({ body }) => body);
    return {
      providers,
      bodies,
      go: (request: Partial<ModelRequest> = {}) =>
        models.complete({ ...ask("Hi", { schema }), ...request }, newIo().io),
    };
  }
  const format = (body: Record<string, unknown>) =>
    body.response_format as { type: string; json_schema?: { strict?: boolean } } | undefined;

  test("a schema is first requested in strict mode, with optional keys as null", async () => {
    const { go, bodies, providers } = await picky(() => null);
    expect((await go()).response_format).toBe("json_schema");
    expect(format(bodies()[0]!)).toMatchObject({
      type: "json_schema",
      json_schema: {
        strict: true,
        name: "answer",
        schema: { required: ["a", "b"], properties: { b: { type: ["integer", "null"] } } },
      },
    });
    expect(bodies()[0]).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(providers.learned).toEqual({});
  });
  test("a rejected format falls back step by step, keeps JSON in the prompt, and is remembered", async () => {
    const { go, bodies, providers } = await picky((body) =>
      format(body) ? `response_format type ${format(body)!.type} is not supported` : null,
    );
    expect((await go()).response_format).toBe("prompt");
    expect(bodies().map((body) => format(body)?.type ?? "none")).toEqual([
      "json_schema",
      "json_schema",
      "json_object",
      "none",
    ]);
    expect(JSON.stringify(bodies()[2]!.messages)).toContain("JSON schema");
    expect(providers.learned["test-model"]).toEqual({ response_format: "prompt" });
    await go();
    expect(bodies()).toHaveLength(5);
  });
  test("a schema that the server rejects teaches nothing about other schemas", async () => {
    const { go, bodies, providers } = await picky((body) =>
      format(body)?.json_schema?.strict
        ? "Invalid schema for response_format 'answer': In context=(), x is not permitted"
        : null,
    );
    await go();
    expect(bodies()).toHaveLength(2);
    expect(providers.learned).toEqual({});
  });
  test("a blank answer in JSON mode is retried without it and teaches nothing", async () => {
    server = await newServer(({ body }, response) =>
      sendSse(response, sse([body.response_format ? " \n".repeat(50) : '{"a":"x"}'])),
    );
    const providers = memoryProviders([remoteProvider(server.url)]);
    const models = newModels({ providers, fetch: globalThis.fetch });
    const go = (call_id: string, llm_config = {}) =>
      models.complete(ask("Hi", { schema, call_id, llm_config }), newIo().io);
    expect((await failure(go("n/1/a/turn0/call1")))?.error).toMatchObject({
      code: "OUTPUT_INVALID",
      retryable: true,
    });
    expect(await go("n/1/a/turn0/call2")).toMatchObject({ content: '{"a":"x"}', response_format: "prompt" });
    expect((await failure(go("n/1/a/turn1/call1")))?.error.code).toBe("OUTPUT_INVALID");
    const chosen = { structured_output: "json_schema" } as const;
    await failure(go("n/1/b/turn0/call1", chosen));
    expect((await failure(go("n/1/b/turn0/call2", chosen)))?.error.code).toBe("OUTPUT_INVALID");
    expect(providers.learned).toEqual({});
  });
  test("the user's response format is never overruled", async () => {
    const { go, bodies } = await picky((body) => (format(body) ? "response_format is not supported" : null));
    expect((await failure(go({ llm_config: { structured_output: "json_object" } })))?.error.code).toBe(
      "CONFIG",
    );
    expect(bodies()).toHaveLength(1);
  });
  test("rejected stream options, token limits and other fields are replaced or omitted", async () => {
    const { go, bodies, providers } = await picky((body) =>
      body.stream_options
        ? "Unknown field: stream_options"
        : body.max_tokens
          ? "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
          : body.temperature !== undefined
            ? "Unsupported value: 'temperature' does not support 0.2 with this model."
            : null,
    );
    await go({ llm_config: { max_tokens: 50, temperature: 0.2 } });
    expect(bodies().at(-1)).toMatchObject({ max_completion_tokens: 50 });
    expect(providers.learned["test-model"]).toEqual({
      stream_usage: false,
      max_tokens_name: "max_completion_tokens",
      refuses: ["temperature"],
    });
  });
  test("other rejections fail at once", async () => {
    const { go, bodies } = await picky(
      () => "messages[0].content must not be so rude, whatever was meant by it",
    );
    expect((await failure(go()))?.error.code).toBe("CONFIG");
    expect(bodies()).toHaveLength(1);
  });
  test("schemas that strict mode can't express are left unchanged", () => {
    expect(strictSchema({ type: "object", properties: { a: {} } })).toBeNull();
    expect(strictSchema({ type: "object", properties: { a: { type: "object" } } })).toBeNull();
    expect(
      strictSchema({
        type: "object",
        properties: {
          a: { type: "object", properties: { b: { type: "string" } }, additionalProperties: true },
        },
      }),
    ).toBeNull();
    expect(strictSchema({ type: "array", items: { type: "string" } })).toBeNull();
    expect(
      strictSchema({
        type: "object",
        properties: { n: { type: "string", minLength: 2, description: "Name" }, k: { const: "x" } },
        required: ["n"],
      }),
    ).toEqual({
      type: "object",
      properties: {
        n: { type: "string", description: "Name (minLength: 2)" },
        k: { anyOf: [{ enum: ["x"], type: "string" }, { type: "null" }] },
      },
      required: ["n", "k"],
      additionalProperties: false,
    });
  });
});

describe("prices", () => {
  const million = { input_tokens: 1e6, output_tokens: 1e6, cached_input_tokens: 0 };
  const openai = remoteProvider("https://api.openai.com/v1");
  test("prices come from the table, with a discount for cached tokens", () => {
    expect(costOf(openai, "gpt-4o-mini", million)).toEqual({
      cost_usd: expect.closeTo(0.75) as number,
      cost_source: "price_table",
    });
    expect(costOf(openai, "gpt-4o-mini", { ...million, cached_input_tokens: 5e5 }).cost_usd).toBeCloseTo(
      0.7125,
    );
  });
  test("a user's price overrides the table, and the provider's reported cost overrides both", () => {
    const own = {
      ...openai,
      settings: {
        prices: { "gpt-4o-mini": { input_per_mtok: 1, output_per_mtok: 2, cached_input_per_mtok: 0.5 } },
      },
    };
    expect(costOf(own, "gpt-4o-mini", { ...million, cached_input_tokens: 5e5 })).toEqual({
      cost_usd: 2.75,
      cost_source: "override",
    });
    expect(costOf(own, "gpt-4o-mini", million, 0.01)).toEqual({ cost_usd: 0.01, cost_source: "provider" });
  });
  test("local models cost nothing, and an unknown price isn't zero", () => {
    expect(costOf(remoteProvider("http://127.0.0.1:11434/v1"), "llama3.2", million)).toEqual({
      cost_usd: 0,
      cost_source: "local",
    });
    expect(costOf(offlineProvider, "offline-demo", million)).toEqual({
      cost_usd: 0,
      cost_source: "simulated",
    });
    for (const url of [
      "http://127.0.0.1:4000/v1",
      "https://llm.example.org/v1",
      "https://api.openai.com.evil.org/v1",
    ])
      expect(costOf(remoteProvider(url), "gpt-4o-mini", million)).toEqual({
        cost_usd: null,
        cost_source: "unknown",
      });
    expect(isPriceKnown(openai, "no-such-model")).toBe(false);
    expect(isPriceKnown(openai, "gpt-4o-mini")).toBe(true);
  });
});

describe("budgets", () => {
  const priced = { prices: { "*": { input_per_mtok: 1000, output_per_mtok: 1000 } } };
  const answerOk: Handler = (_request, response) => sendSse(response, sse(["ok"]));
  async function paid(more: Partial<Provider> = { settings: priced }, answer: Handler = answerOk) {
    server = await newServer(answer);
    const models = newModels({
      providers: memoryProviders([remoteProvider(server.url, more)]),
      fetch: globalThis.fetch,
    });
    return (check: Parameters<typeof budget>[0], llm_config = {}) =>
      models.complete(ask("Hello", { budget: budget(check), llm_config }), newIo().io);
  }

  test("a call that could exceed the limit is not sent", async () => {
    const go = await paid();
    const cost = await failure(go({ max_cost_usd: 1, spent_cost_usd: 0.9 }, { max_tokens: 200 }));
    expect(cost?.error).toMatchObject({
      code: "BUDGET",
      user_action: "raise_limit",
      retryable: false,
      detail: { metric: "cost_usd", used: 0.9, limit: 1 },
    });
    const tokens = await failure(go({ max_total_tokens: 1000, spent_tokens: 950 }, { max_tokens: 100 }));
    expect(tokens?.error).toMatchObject({
      code: "BUDGET",
      detail: { metric: "total_tokens", used: 950, limit: 1000 },
    });
    expect(server!.requests).toHaveLength(0);
  });
  test("a call that fits is sent, with a shorter answer if little budget is left", async () => {
    const go = await paid();
    expect((await go({ max_cost_usd: 1, spent_cost_usd: 0.5 }, { max_tokens: 200 })).cost_usd).toBeCloseTo(
      0.018,
    );
    await go({ max_cost_usd: 1, spent_cost_usd: 0.5 });
    // What the first took counts, too.
    expect(server!.requests[1]!.body.max_tokens).toBe(480);
    await go({ max_total_tokens: 100_000, spent_tokens: 10 });
    expect(server!.requests[2]!.body.max_tokens).toBe(8192);
    await go({ max_total_tokens: 100_000, spent_tokens: 10 }, { reasoning_effort: "high" });
    expect(server!.requests[3]!.body.max_tokens).toBe(32_768);
    await go({ max_total_tokens: 100_000 }, { extra_body: { max_completion_tokens: 99_000 } });
    expect(server!.requests[4]!.body).toMatchObject({ max_tokens: 8192 });
    expect(server!.requests[4]!.body).not.toHaveProperty("max_completion_tokens");
    await go({ max_total_tokens: 100_000, mode: "soft" });
    expect(server!.requests[5]!.body).not.toHaveProperty("max_tokens");
  });
  test.each([
    ["max_tokens is too large: 8192. This model supports at most 4096 completion tokens.", 4096],
    ["Invalid max_tokens value, the valid range of max_tokens is [1, 2048]", 2048],
    ["max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for m-20240307", 4096],
    ["This model's maximum context length is 2000 tokens. However, you requested 8202 tokens.", 1981],
  ])("a max_tokens rejected as too large is reduced and teaches nothing: %s", async (errorText, cap) => {
    const providers = memoryProviders([]);
    server = await newServer(({ body }, response) =>
      Number(body.max_tokens) > cap
        ? response.writeHead(400).end(JSON.stringify({ error: { message: errorText } }))
        : sendSse(response, sse(["ok"])),
    );
    providers.list().push(remoteProvider(server.url, { is_default: true }));
    const models = newModels({ providers, fetch: globalThis.fetch });
    await models.complete(ask("Hello", { budget: budget({ max_total_tokens: 100_000 }) }), newIo().io);
    expect(server.requests.map(({ body }) => body.max_tokens)).toEqual([8192, cap]);
    expect(providers.learned).toEqual({});
  });
  test("concurrent calls wait for budget instead of overspending together", async () => {
    const seen: string[] = [];
    const go = await paid({ settings: priced }, async (_request, response) => {
      seen.push("asked");
      await pause(20);
      seen.push("answered");
      sendSse(response, sse(["ok"]));
    });
    const calls = await Promise.all([0, 1, 2].map(() => go({ max_total_tokens: 1000 }, { max_tokens: 800 })));
    expect(calls.map(({ content }) => content)).toEqual(["ok", "ok", "ok"]);
    expect(seen).toEqual([0, 1, 2].flatMap(() => ["asked", "answered"]));
    const over = await Promise.all(
      [0, 1].map(() => failure(go({ max_total_tokens: 120, spent_tokens: 95 }, { max_tokens: 20 }))),
    );
    expect(over.map((error) => error?.error.code ?? "ok").sort()).toEqual(["BUDGET", "ok"]);
  });
  test("the demo model uses tokens but costs nothing", async () => {
    const models = newModels({
      providers: memoryProviders([{ ...offlineProvider }]),
      offlineFetch: newOfflineFetch({ speed: 0 }),
    });
    const go = (check: Parameters<typeof budget>[0]) =>
      models.complete(ask("Task: Write", { budget: budget(check) }), newIo().io);
    expect((await go({ max_cost_usd: 0 })).cost_usd).toBe(0);
    expect((await failure(go({ max_total_tokens: 100, spent_tokens: 100 })))?.error.code).toBe("BUDGET");
  });
});

describe("call queues", () => {
  test("a limited number of calls run at once, and the rest in order of arrival", async () => {
    const gate = newRateLimiter(2);
    const order: number[] = [];
    const { signal } = new AbortController();
    const leaves = [await gate.enter(signal), await gate.enter(signal)];
    const waiting = [1, 2, 3].map((n) =>
      gate.enter(signal).then((leave) => {
        order.push(n);
        return leave;
      }),
    );
    expect(gate.waiting).toBe(3);
    leaves[0]!();
    leaves[0]!();
    (await waiting[0]!)();
    (await waiting[1]!)();
    (await waiting[2]!)();
    expect(order).toEqual([1, 2, 3]);
    expect(gate.waiting).toBe(0);
  });
  test("queued calls run in order of their original request, even after a crash", async () => {
    const order: string[] = [];
    const open: (() => void)[] = [];
    server = await newServer(({ body }, response) => {
      order.push(/call (\w+)/.exec(JSON.stringify(body))?.[1] ?? "");
      open.push(() => sendSse(response, sse(["ok"])));
    });
    const models = newModels({
      providers: memoryProviders([remoteProvider(server.url, { settings: { max_concurrency: 1 } })]),
      fetch: globalThis.fetch,
    });
    const call = (name: string, begunAt?: number) =>
      models.complete(ask(`call ${name}`, { run_id: name }), {
        ...newIo().io,
        ...(begunAt === undefined ? {} : { begunAt }),
      });
    const calls = [call("first")];
    await expect.poll(() => open).toHaveLength(1);
    calls.push(call("new1"), call("waited", 2_000), call("new2"), call("cut", 1_000));
    for (let k = 0; k < calls.length; k++) {
      await vi.waitFor(() => expect(open).toHaveLength(1), { timeout: 5_000 });
      open.splice(0)[0]?.();
    }
    await Promise.all(calls);
    expect(order).toEqual(["first", "cut", "waited", "new1", "new2"]);
  });
  test("a run whose clock was ahead waits no longer than usual", async () => {
    let now = 1_000;
    const gate = newRateLimiter(1, () => now);
    const { signal } = new AbortController();
    const order: string[] = [];
    const call = async (name: string, begunAt?: number) => {
      const leave = await gate.enter(signal, 0, begunAt);
      order.push(name);
      leave();
    };
    const leave = await gate.enter(signal);
    const calls = [call("ahead", 3_600_000)];
    now += 1;
    calls.push(call("later"));
    leave();
    await Promise.all(calls);
    expect(order).toEqual(["ahead", "later"]);
  });
  test("a cancelled call leaves the queue", async () => {
    const gate = newRateLimiter(1);
    const abort = new AbortController();
    const leave = await gate.enter(new AbortController().signal);
    const second = gate.enter(abort.signal);
    abort.abort(new Error("stop"));
    await expect(second).rejects.toThrow("stop");
    leave();
    await gate.enter(new AbortController().signal);
  });
  test("a provider's concurrency limit applies across runs, and is 1 for Ollama", async () => {
    // Answers only when told to, so that nothing depends on how fast this machine is.
    const open: (() => void)[] = [];
    server = await newServer((_request, response) => {
      open.push(() => sendSse(response, sse(["ok"])));
    });
    const came = (count: number) => vi.waitFor(() => expect(open).toHaveLength(count), { timeout: 5_000 });
    const models = newModels({
      providers: memoryProviders([remoteProvider(server.url, { settings: { max_concurrency: 3 } })]),
      fetch: globalThis.fetch,
    });
    const calls = [0, 1, 2, 3, 4].map((n) => models.complete(ask("Hi", { run_id: `run_${n}` }), newIo().io));
    await came(3);
    await pause(30);
    expect(open).toHaveLength(3);
    for (const answer of open.splice(0)) answer();
    await came(2);
    for (const answer of open.splice(0)) answer();
    await Promise.all(calls);

    const ollama = newModels({
      providers: memoryProviders([remoteProvider("http://127.0.0.1:11434/v1")]),
      fetch: (_input, init) => globalThis.fetch(`${server!.url}/chat/completions`, init),
    });
    const others = [1, 2].map(() => ollama.complete(ask("Hi"), newIo().io));
    await came(1);
    await pause(30);
    expect(open).toHaveLength(1);
    open.splice(0)[0]!();
    await came(1);
    open.splice(0)[0]!();
    await Promise.all(others);
  });
  test("a single 429 response makes all calls to the provider wait", async () => {
    const times: number[] = [];
    server = await newServer((_request, response) => {
      times.push(performance.now());
      if (times.length > 1) return sendSse(response, sse(["ok"]));
      response.writeHead(429, { "retry-after-ms": "150" }).end("{}");
    });
    const models = newModels({
      providers: memoryProviders([remoteProvider(server.url)]),
      fetch: globalThis.fetch,
    });
    expect((await failure(models.complete(ask("Hi"), newIo().io)))?.error.code).toBe("RATE_LIMIT");
    await Promise.all([models.complete(ask("Hi"), newIo().io), models.complete(ask("Hi"), newIo().io)]);
    expect(times[1]! - times[0]!).toBeGreaterThan(140);
  });
});

describe("model choice", () => {
  test("a model is chosen by name or default, and a missing provider is reported", async () => {
    const models = newModels({
      providers: memoryProviders([
        { ...offlineProvider },
        remoteProvider("https://api.openai.com/v1", { is_default: false }),
      ]),
    });
    expect(models.describe()).toEqual({
      provider_id: "offline",
      context_window: 128_000,
      name: offlineProvider.name,
      model: "offline-demo",
      simulated: true,
      price_known: true,
    });
    expect(models.describe({ provider_id: "remote", model: "gpt-4o-mini" })).toMatchObject({
      simulated: false,
      price_known: true,
    });
    expect(models.describe({ provider_id: "gone" })).toBeNull();
    expect(
      (await failure(models.complete(ask("Hi", { llm_config: { provider_id: "gone" } }), newIo().io)))?.error,
    ).toMatchObject({ code: "CONFIG", user_action: "settings" });
    expect((await models.complete(ask("Hi", { llm_config: { model: "gpt-4o" } }), newIo().io)).model).toBe(
      "offline-demo",
    );
  });
  test("a missing model or an unreadable API key fails the call", async () => {
    const providers = memoryProviders([remoteProvider("http://127.0.0.1:9/v1", { default_model: "" })]);
    const models = newModels({ providers, fetch: globalThis.fetch });
    expect((await failure(models.complete(ask("Hi"), newIo().io)))?.message).toMatch(/No model is set/);
    providers.keyOf = () => {
      throw new Error("damaged");
    };
    expect(
      (await failure(models.complete(ask("Hi", { llm_config: { model: "m" } }), newIo().io)))?.error.code,
    ).toBe("AUTH");
  });
});

describe("scripted test model", () => {
  test("the scripted model answers in order, records requests, and reports mismatches", async () => {
    const scripted = newScriptedModels([{ text: "one" }, { json: { a: 1 }, matches: /second/ }]);
    const { io, got } = newIo();
    expect((await scripted.complete(ask("first"), io)).content).toBe("one");
    expect(got.content).toBe("one");
    await expect(scripted.complete(ask("third"), io)).rejects.toThrow("not in the script");
    expect(() => scripted.assertComplete()).toThrow("1 scripted steps");
    expect((await scripted.complete(ask("second"), newIo().io)).content).toBe('{"a":1}');
    scripted.assertComplete();
    expect(scripted.calls).toHaveLength(3);
  });
});
