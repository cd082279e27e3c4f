import { describe, expect, test } from "vitest";
import type { LlmConfig } from "@/server/domain/agent/role";
import { newModels } from "./models";
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
} from "./testing";

// Every setting of a model reaches the wire, and a service that refuses one is asked without it.

endServersWithTests();
let server: TestServer | undefined;

async function serve(rejectionFor: (body: Record<string, unknown>) => string | null = () => null) {
  const own = await newServer(({ body }, response) => {
    const why = rejectionFor(body);
    if (why === null) return sendSse(response, sse(["OK"]));
    response
      .writeHead(400, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message: why } }));
  });
  server = own;
  const models = newModels({
    providers: memoryProviders([remoteProvider(own.url)]),
    fetch: globalThis.fetch,
  });
  return {
    models,
    bodies: () => own.requests.map(({ body }) => body),
    complete: (llm_config: LlmConfig) => models.complete(ask("Hi", { llm_config }), newIo().io),
  };
}

const SETTINGS: LlmConfig = {
  model: "other-model",
  temperature: 0.3,
  top_p: 0.9,
  max_tokens: 321,
  seed: 7,
  stop: ["END", ""],
  reasoning_effort: "low",
  extra_body: { top_k: 40 },
};
const SENT = {
  model: "other-model",
  temperature: 0.3,
  top_p: 0.9,
  max_tokens: 321,
  seed: 7,
  stop: ["END"],
  reasoning_effort: "low",
  top_k: 40,
};

describe("settings", () => {
  test("all settings are sent under the service's field names", async () => {
    const { complete, bodies } = await serve();
    await complete(SETTINGS);
    expect(bodies()).toMatchObject([SENT]);
  });

  test("unset settings are not sent", async () => {
    const { complete, bodies } = await serve();
    await complete({});
    expect(Object.keys(bodies()[0]!).sort()).toEqual(["messages", "model", "stream", "stream_options"]);
  });

  test("extra fields can't replace the conversation, the model or streaming", async () => {
    const { complete, bodies } = await serve();
    await complete({ extra_body: { messages: [], model: "another", stream: false } });
    expect(bodies()[0]).toMatchObject({ model: "test-model", stream: true, messages: [{ content: "Hi" }] });
  });

  test.each(["temperature", "top_p", "seed", "stop", "reasoning_effort"])(
    "a service that rejects %s is called without it from then on",
    async (field) => {
      const { complete, bodies } = await serve((body) =>
        field in body ? `Unsupported parameter: '${field}'` : null,
      );
      expect((await complete(SETTINGS)).content).toBe("OK");
      expect((await complete(SETTINGS)).content).toBe("OK");
      const { [field as "seed"]: _removed, ...rest } = SENT;
      expect(bodies()).toHaveLength(3);
      for (const body of bodies().slice(1)) {
        expect(body).not.toHaveProperty(field);
        expect(body).toMatchObject(rest);
      }
    },
  );

  test("the user's response format is sent as configured", async () => {
    const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
    const { models, bodies } = await serve();
    for (const structured_output of ["json_schema", "json_object", "prompt"] as const)
      await models.complete(ask("Hi", { schema, llm_config: { structured_output } }), newIo().io);
    expect(
      bodies().map(({ response_format }) => (response_format as { type?: string } | undefined)?.type),
    ).toEqual(["json_schema", "json_object", undefined]);
  });

  test("a service that is idle or too slow in total times out", async () => {
    server = await newServer((_q, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(["Hm"], { finish: null, done: false, usage: false }));
      const timer = setInterval(() => response.write(": still here\n\n"), 10);
      response.on("close", () => clearInterval(timer));
    });
    const models = newModels({
      providers: memoryProviders([remoteProvider(server.url)]),
      fetch: globalThis.fetch,
    });
    await expect(
      models.complete(ask("Hi", { llm_config: { timeout_ms: 150 } }), newIo().io),
    ).rejects.toMatchObject({
      error: { code: "TIMEOUT", message: expect.stringContaining("didn't finish its response") as string },
    });
    await server.close();
    server = await newServer((_q, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(["Hm"], { finish: null, done: false, usage: false }));
    });
    const silent = newModels({
      providers: memoryProviders([remoteProvider(server.url)]),
      fetch: globalThis.fetch,
    });
    await expect(
      silent.complete(ask("Hi", { llm_config: { idle_timeout_ms: 100 } }), newIo().io),
    ).rejects.toMatchObject({
      error: { code: "TIMEOUT", message: expect.stringContaining("paused its response") as string },
    });
  });
});
