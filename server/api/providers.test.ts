import { afterEach, expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { newServer, sendSse, sse, type TestServer } from "@/server/llm/testing";
import { newServices } from "@/server/services";
import { appRouter } from "./root";

let server: TestServer | undefined;
afterEach(() => server?.close());

const LEGS = sse(['{"legs": 8}']);
const CALL = sse(['TOOL_CALL: {"tool_name": "note_word", "args": {"word": "ready"}}']);

/** A service that knows no functions and tells how much its model reads. */
const serve = () =>
  newServer(({ url, body }, response) => {
    if (url === "/v1/models") {
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ data: [{ id: "test-model", max_model_len: 16_384 }] }));
      return;
    }
    const prompt = JSON.stringify(body.messages);
    if (body.tools) {
      response
        .writeHead(400, { "content-type": "application/json" })
        .end(JSON.stringify({ error: { message: "This model does not support tools" } }));
      return;
    }
    sendSse(response, prompt.includes("spider") ? LEGS : prompt.includes("note_word") ? CALL : sse(["OK"]));
  });

test("the findings of a provider test are stored when the provider is saved or tested again", async () => {
  server = await serve();
  const troupe = newServices(emptyDb(), { dataDir: null });
  const ask = appRouter.createCaller({ troupe, principal: { kind: "session", id: "ses_1" } }).providers;
  const entered = { base_url: server.url, default_model: "test-model" };
  const tested = await ask.test(entered);
  expect(tested).toMatchObject({ ok: true, models: ["test-model"] });
  expect(tested.found).toContain("The context window is 16,384 tokens.");
  expect(tested).not.toHaveProperty("findings");
  const { id } = await ask.save({ name: "Mine", ...entered });
  const learned = () => troupe.providers.find(id)?.settings.capabilities?.["test-model"];
  expect(learned()).toMatchObject({ native_tools: false, response_format: "strict" });
  expect(troupe.providers.reported(id, "test-model")).toEqual({ context_window: 16_384 });
  expect(troupe.models.describe({ provider_id: id })?.context_window).toBe(16_384);

  // Another provider at the same address learns nothing of a test that was used already.
  const { id: other } = await ask.save({ name: "Other", ...entered });
  expect(troupe.providers.find(other)?.settings.capabilities).toBeUndefined();
  await ask.test({ id: other });
  expect(troupe.providers.find(other)?.settings.capabilities?.["test-model"]).toEqual(learned());
});

test("listing models also stores their context windows", async () => {
  server = await serve();
  const troupe = newServices(emptyDb(), { dataDir: null });
  const ask = appRouter.createCaller({ troupe, principal: { kind: "session", id: "ses_1" } }).providers;
  const { id } = await ask.save({ name: "Mine", base_url: server.url, default_model: "test-model" });
  expect(await ask.models({ id })).toEqual(["test-model"]);
  expect(troupe.providers.reported(id, "test-model")).toEqual({ context_window: 16_384 });
});

test("an entered key is redacted from a provider's response in every encoding", async () => {
  const key = "typed-in-only-5c6d7e8f";
  const bytes = Buffer.from(key);
  const spellings = [key, bytes.toString("base64"), bytes.toString("base64url"), bytes.toString("hex")];
  server = await newServer(
    (_request, response) =>
      void response
        .writeHead(401, { "content-type": "application/json" })
        .end(JSON.stringify({ error: { message: `Not with ${spellings.join(" or ")}` } })),
  );
  const troupe = newServices(emptyDb(), { dataDir: null });
  const ask = appRouter.createCaller({ troupe, principal: { kind: "session", id: "ses_1" } }).providers;
  const output = JSON.stringify(await ask.test({ base_url: server.url, default_model: "m", key }));
  expect(output).toContain("[hidden]");
  expect(spellings.filter((spelling) => output.includes(spelling))).toEqual([]);
});
