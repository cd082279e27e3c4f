import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import OpenAI, { AuthenticationError } from "openai";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { serveOffline } from "./offline";

const recognition = {
  sessionOf: () => null,
  tokenOf: (request: Request) =>
    request.headers.get("authorization") === "Bearer good"
      ? ({ kind: "token", id: "program" } as const)
      : null,
};

/** The handler behind a real socket, as a program elsewhere meets it. */
const server = createServer((incoming, outgoing) => {
  const parts: Buffer[] = [];
  incoming.on("data", (part: Buffer) => parts.push(part));
  incoming.on("end", () => {
    const { method = "GET" } = incoming;
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method,
      headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]),
      ...(method === "GET" ? {} : { body: Buffer.concat(parts) }),
    });
    void serveOffline(request, recognition).then((response) => {
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      if (response.body) Readable.fromWeb(response.body as ReadableStream).pipe(outgoing);
      else outgoing.end();
    });
  });
});
let baseURL = "";
beforeAll(async () => {
  vi.stubEnv("TROUPE_OFFLINE_SPEED", "0");
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // The door refuses requests for any other server.
  vi.stubEnv("PORT", String((server.address() as AddressInfo).port));
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/offline/v1`;
});
afterAll(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
});
const client = (apiKey: string) => new OpenAI({ apiKey, baseURL, maxRetries: 0 });

test("other programs use the demo model with an API token, streamed and with tools", async () => {
  const models = await client("good").models.list();
  expect(models.data.map(({ id }) => id)).toEqual(["offline-demo"]);
  const stream = client("good").chat.completions.stream({
    model: "offline-demo",
    messages: [{ role: "user", content: '[[offline: tool search {"q": "sea"}]]' }],
    tools: [{ type: "function", function: { name: "search", parameters: {} } }],
  });
  const answer = await stream.finalChatCompletion();
  expect(answer.choices[0]).toMatchObject({
    finish_reason: "tool_calls",
    message: { tool_calls: [{ function: { name: "search", arguments: '{"q":"sea"}' } }] },
  });
});

test("the demo model requires a valid API token", async () => {
  await expect(client("wrong").models.list()).rejects.toBeInstanceOf(AuthenticationError);
  const response = await fetch(`${baseURL}/chat/completions`, { method: "POST" });
  expect(response.status).toBe(401);
});

test("responses have unique ids, the model is listed, and n > 1 is rejected with a message", async () => {
  const client = new OpenAI({ apiKey: "good", baseURL, maxRetries: 0 });
  const body = { model: "offline-demo", messages: [{ role: "user" as const, content: "Hi" }] };
  const ids = [await client.chat.completions.create(body), await client.chat.completions.create(body)].map(
    ({ id }) => id,
  );
  expect(new Set(ids).size).toBe(2);
  expect((await client.models.retrieve("offline-demo")).id).toBe("offline-demo");
  await expect(client.models.retrieve("gpt-4o")).rejects.toThrow(/There is no model gpt-4o/);
  await expect(client.chat.completions.create({ ...body, n: 2 })).rejects.toThrow(/one answer at a time/);
});
