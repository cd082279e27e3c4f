import { afterEach, expect, test } from "vitest";
import { OFFLINE } from "@/server/domain/model/provider";
import { newServer, type TestServer } from "@/server/llm/testing";
import { expectSchema, newApi } from "../http-api/testing";

let service: TestServer | undefined;
afterEach(() => service?.close());

const [OLD, NEW, HEADER] = ["canary-old-key-0001", "canary-new-key-0002", "canary-header-0003"];
const added = (api: ReturnType<typeof newApi>, base_url = "http://127.0.0.1:9/v1") =>
  api.providers.save({ name: "Ours", base_url, default_model: "m", key: OLD }).id;
const form = { name: "Ours", base_url: "http://127.0.0.1:9/v1", default_model: "m" };

test("the API replaces a provider's key and headers, and no response or audit entry contains them", async () => {
  const api = newApi();
  const id = added(api);
  const put = await api.ask("PUT", `/providers/${id}`, {
    ...form,
    key: NEW,
    headers: [{ name: "X-Team", value: HEADER }],
    settings: { max_concurrency: 2 },
  });
  expect(put).toMatchObject({ status: 200, body: { id } });
  expect(api.providers.keyOf(id)).toBe(NEW);
  expect(api.providers.headersOf(id)).toEqual({ "X-Team": HEADER });
  const list = await api.ask("GET", "/providers");
  expectSchema("listProviders", list.body);
  expect(list.body.providers).toContainEqual(
    expect.objectContaining({
      id,
      has_key: true,
      header_names: ["X-Team"],
      settings: { max_concurrency: 2 },
    }),
  );
  const odd = await api.ask("PUT", `/providers/${id}`, { ...form, key: `${NEW}\u200b` });
  const host = await api.ask("PUT", `/providers/${id}`, {
    ...form,
    headers: [{ name: "Host", value: HEADER }],
  });
  const unknown = await api.ask("PUT", `/providers/${id}`, { ...form, secret: NEW });
  expect([odd, host, unknown].map(({ body }) => body.error.code)).toEqual([
    "bad_request",
    "bad_request",
    "unknown_field",
  ]);
  expect(api.audit.list()).toMatchObject([
    { kind: "provider_changed", who: expect.stringContaining("token:"), detail: { key: "replaced" } },
  ]);
  const description = await api.ask("GET", "/openapi.json");
  const bodies = [put, list, odd, host, unknown, description].map(({ body }) => body);
  const all = JSON.stringify([bodies, api.audit.list()]);
  for (const part of [OLD, NEW, HEADER, "key_hint"]) expect(all).not.toContain(part);
});

test("the API can't add a provider or use a stored key at another address", async () => {
  const api = newApi();
  const id = added(api);
  const otherAddress = { ...form, base_url: "http://127.0.0.1:10/v1" };
  const ask = async (method: string, path: string, body?: object) =>
    (await api.ask(method, path, body)).body?.error?.code;
  expect(await ask("PUT", `/providers/${id}`, otherAddress)).toBe("person_only");
  expect(await ask("POST", `/providers/${id}/test`, { base_url: otherAddress.base_url })).toBe("person_only");
  expect(await ask("POST", "/providers", form)).toBe("method_not_allowed");
  expect(await ask("PUT", "/providers/none", form)).toBe("not_found");
  expect(await ask("PUT", `/providers/${OFFLINE.id}`, form)).toBe("fixed");
  expect(api.providers.find(id)).toMatchObject({ base_url: form.base_url, has_key: true });
  expect(api.audit.list()).toEqual([]);
});

test("the API tests a provider and lists its models, and redacts a key the provider repeats", async () => {
  service = await newServer(({ url }, response) => {
    if (url === "/v1/models")
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ data: [{ id: "m" }] }));
    else
      response
        .writeHead(401, { "content-type": "application/json" })
        .end(JSON.stringify({ error: { message: `Not with ${OLD}` } }));
  });
  const api = newApi();
  const id = added(api, service.url);
  const tested = await api.ask("POST", `/providers/${id}/test`);
  expectSchema("testProvider", tested.body);
  expect(tested.body).toMatchObject({ ok: false });
  expect(JSON.stringify(tested.body)).not.toContain(OLD);
  expect((await api.ask("GET", `/providers/${id}/models`)).body).toEqual({ models: ["m"] });
  expect((await api.ask("POST", "/providers/none/test")).body.error.code).toBe("not_found");
  await service.close();
  const failed = await api.ask("GET", `/providers/${id}/models`);
  expect(failed).toMatchObject({ status: 422, body: { error: { code: "provider_failed" } } });
});

test("the API sets the default provider, removes one, and forgets learned model capabilities", async () => {
  const api = newApi();
  const id = added(api);
  api.providers.observe(id, "m", { native_tools: false });
  const lesson = { model: "m", lesson: "native_tools" };
  expect((await api.ask("POST", `/providers/${id}/forget`, lesson)).status).toBe(204);
  expect(api.providers.find(id)?.settings.capabilities?.m?.native_tools).toBeUndefined();
  expect((await api.ask("POST", "/providers/none/forget", lesson)).body.error.code).toBe("not_found");
  expect((await api.ask("POST", `/providers/${id}/default`)).status).toBe(204);
  expect(api.providers.findDefault()?.id).toBe(id);
  expect((await api.ask("DELETE", `/providers/${id}`)).body.error.code).toBe("bad_request");
  expect((await api.ask("DELETE", `/providers/${id}?next=${OFFLINE.id}`)).status).toBe(204);
  expect((await api.ask("DELETE", `/providers/${id}`)).body.error.code).toBe("not_found");
  expect((await api.ask("POST", "/providers/none/default")).body.error.code).toBe("not_found");
  expect(api.audit.list().map(({ kind }) => kind)).toEqual([
    "provider_removed",
    "provider_chosen",
    "provider_chosen",
  ]);
});
