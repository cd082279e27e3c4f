import { expect, test } from "vitest";
import { endServersWithTests, type Handler, newServer, sendSse, sse, type TestServer } from "../testing";
import { checkProvider, describeModels, findOllama } from "./check";

endServersWithTests();
let server: TestServer | undefined;

const models = (...ids: string[]) => JSON.stringify({ object: "list", data: ids.map((id) => ({ id })) });
async function check(
  handler: Handler,
  more: { default_model?: string; path?: string; key?: string | null } = {},
) {
  server = await newServer(handler);
  const base_url = more.path === undefined ? server.url : server.url.replace("/v1", more.path);
  return checkProvider(
    {
      name: "Mine",
      kind: "openai-compatible",
      base_url,
      default_model: more.default_model ?? "big-1",
      key: more.key === undefined ? "sk-wrong-123456" : more.key,
    },
    globalThis.fetch,
  );
}
const good: Handler = ({ url }, response) => {
  if (url === "/v1/models")
    response.writeHead(200, { "content-type": "application/json" }).end(models("big-1", "big-2", "small"));
  else if (url === "/v1/chat/completions") sendSse(response, sse(["OK"]));
  else response.writeHead(404).end("not found");
};
const refusing =
  (status: number, message: string): Handler =>
  (_request, response) =>
    void response
      .writeHead(status, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message } }));

test("a provider check reports success and the response time", async () => {
  expect(await check(good)).toMatchObject({
    ok: true,
    message: expect.stringMatching(/^It works: big-1 answered in \d\.\d s\.$/) as string,
    models: ["big-1", "big-2", "small"],
  });
});
test("a failed provider check explains the problem", async () => {
  const cases: [Handler, RegExp, { default_model?: string; path?: string; key?: string | null }?][] = [
    [refusing(401, "Incorrect API key provided: sk-wrong-123456"), /^Mine rejected the API key\./],
    [refusing(401, "no key"), /^Mine requires an API key\./, { key: null }],
    [good, /has no model “big-3”\. Available models include: big-1, big-2\./, { default_model: "big-3" }],
    [good, /^Found 3 models\. Choose one/, { default_model: "" }],
    [
      (_q, r) => void r.writeHead(200, { "content-type": "text/html" }).end("<html>"),
      /web page instead of a model's response/,
    ],
    [
      (_q, r) => void r.writeHead(200, { "content-type": "application/json" }).end('{"hello": 1}'),
      /something else instead of a model's response/,
    ],
    [good, /there is one at http:\/\/127\.0\.0\.1:\d+\/v1\. Use that URL\./, { path: "" }],
    [(_q, r) => void r.writeHead(404).end("nothing"), /No model service at/],
    [
      ({ url }, r) => void (url === "/v1/models" ? r.writeHead(404).end("no list") : sendSse(r, sse(["OK"]))),
      /^It works/,
    ],
    [
      ({ url }, r) =>
        void (url === "/v1/models"
          ? r.writeHead(200, { "content-type": "application/json" }).end(models("big-1"))
          : r.writeHead(402).end("{}")),
      /no credit left/,
    ],
    [
      (_q, r) => void r.writeHead(302, { location: "https://other.example/" }).end(),
      /redirects to another URL/,
    ],
  ];
  for (const [handler, message, more] of cases) {
    const result = await check(handler, more);
    expect(result.message).toMatch(message);
    expect(result.ok).toBe(/^It works|^Found \d+ models/.test(result.message));
    expect(result.message).not.toContain("sk-wrong-123456");
    await server!.close();
  }
});
test("a provider check reports a server that can't be reached", async () => {
  server = await newServer(good);
  const { url } = server;
  await server.close();
  const result = await checkProvider(
    { name: "Mine", kind: "openai-compatible", base_url: url, default_model: "m", key: null },
    globalThis.fetch,
  );
  expect(result).toMatchObject({
    ok: false,
    message: expect.stringContaining("Can't connect to 127.0.0.1:") as string,
  });
});
test("the demo provider passes without a request, and model names lose their folder", async () => {
  expect(
    await checkProvider({ name: "x", kind: "offline", base_url: "", default_model: "", key: null }),
  ).toMatchObject({ ok: true, models: ["offline-demo"] });
  server = await newServer((_q, response) => void response.end(models("models/gemini")));
  const { models: listed } = await describeModels(
    { name: "x", kind: "openai-compatible", base_url: server.url, default_model: "", key: null },
    globalThis.fetch,
  );
  expect(listed).toEqual([{ name: "gemini", facts: {} }]);
});
test("Ollama is detected, and other servers are not", async () => {
  server = await newServer(
    ({ url }, response) =>
      void response.end(
        url === "/api/version" ? '{"version":"0.12"}' : '{"models":[{"name":"llama3.2:latest"}]}',
      ),
  );
  const address = server.url.replace("/v1", "");
  expect(await findOllama(globalThis.fetch, address)).toEqual({
    base_url: `${address}/v1`,
    models: ["llama3.2:latest"],
  });
  await server.close();
  expect(await findOllama(globalThis.fetch, address)).toBeNull();
  server = await newServer((_q, response) => void response.end("{}"));
  expect(await findOllama(globalThis.fetch, server.url.replace("/v1", ""))).toBeNull();
  await server.close();
  server = await newServer(() => undefined);
  expect(await findOllama(globalThis.fetch, server.url.replace("/v1", ""))).toBeNull();
});
