import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { standIn } from "@/server/domain/tool/secret";
import { newPublicFetch, type PublicFetch } from "@/server/egress/fetch";
import { webTools } from "./builtin/web";
import type { ToolScope } from "./define";
import { ToolsRegistry } from "./registry";
import type { OpenSecret } from "./secrets";

const VALUE = "value-of-the-secret/1 +2";
let here: Server;
let other: Server;
let port = 0;
let got: { host: string; url: string; headers: IncomingMessage["headers"]; body: string }[] = [];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

const listen = (address: string, at: number) => {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      got.push({ host: address, url: request.url ?? "", headers: request.headers, body });
      answer(request, response);
    });
  });
  return once(server.listen(at, address), "listening").then(() => server);
};

beforeAll(async () => {
  here = await listen("127.0.0.1", 0);
  port = (here.address() as AddressInfo).port;
  other = await listen("127.0.0.2", port);
});
afterAll(() => {
  for (const server of [here, other]) {
    server.closeAllConnections();
    server.close();
  }
});
beforeEach(() => {
  got = [];
  answer = (_request, response) => void response.end("fine");
});

const open: OpenSecret = (name, { host }) =>
  host === "127.0.0.1"
    ? { value: VALUE }
    : { error: `The secret ${name} may only be sent to 127.0.0.1, not to ${host}.` };

function call(
  name: string,
  args: JsonObject,
  secrets: ToolScope["secrets"],
  openSecret: OpenSecret | undefined = open,
) {
  const door = newPublicFetch((address) => /^127\.0\.0\.[12]$/.test(address));
  const fetch: PublicFetch = (url, init, options) => door(url, init, { ...options, ports: [port] });
  const registry = new ToolsRegistry();
  registry.replace([], webTools({ fetch, openSecret }));
  const signal = AbortSignal.timeout(5_000);
  return registry.invoke(name, args, {
    signal,
    idempotencyKey: "k",
    run: null,
    agent: null,
    ...(secrets && { secrets }),
  });
}
const url = (path = "/", host = "127.0.0.1") => `http://${host}:${port}${path}`;
const KEY = standIn("KEY");
const use = (...at: string[]) => ({ at, names: ["KEY"] });

test("a secret is sent in a header, a query parameter and a body, and the response contains the URL without it", async () => {
  const read = await call(
    "http_request",
    { url: `${url("/a")}?key=${encodeURIComponent(KEY)}&q=1`, headers: { authorization: `Bearer ${KEY}` } },
    [use("headers", "authorization"), use("url", "key")],
  );
  expect(read).toMatchObject({
    status_code: 200,
    output: { url: `${url("/a")}?key=${encodeURIComponent(KEY)}&q=1` },
  });
  expect(got[0]?.headers.authorization).toBe(`Bearer ${VALUE}`);
  expect(new URL(got[0]?.url ?? "", url()).searchParams.get("key")).toBe(VALUE);
  await call("http_write", { url: url("/b"), body: { a: [KEY, "x"] } }, [use("body", "a", "0")]);
  expect(JSON.parse(got[1]?.body ?? "")).toEqual({ a: [VALUE, "x"] });
  await call("http_write", { url: url("/c"), body: `s=${KEY}` }, [use("body")]);
  expect(got[2]?.body).toBe(`s=${VALUE}`);
});

test("the text of a reference that no node's settings have is sent as it is", async () => {
  await call("http_write", { url: url(), headers: { "x-said": KEY }, body: { said: KEY } }, undefined);
  expect(got[0]?.headers["x-said"]).toBe(KEY);
  expect(JSON.parse(got[0]?.body ?? "")).toEqual({ said: KEY });
});

test("nothing is sent to a host that the secret isn't for", async () => {
  const refused = await call("http_request", { url: url("/", "127.0.0.2"), headers: { a: KEY } }, [
    use("headers", "a"),
  ]);
  expect(refused).toEqual({
    status_code: 403,
    error: "The secret KEY may only be sent to 127.0.0.1, not to 127.0.0.2.",
  });
  expect(got).toEqual([]);
});

test("a redirect to another host doesn't carry the secret, in whichever header it was", async () => {
  answer = (request, response) =>
    request.url?.startsWith("/away")
      ? void response.writeHead(307, { location: url("/end", "127.0.0.2") }).end()
      : void response.end("other");
  await call(
    "http_request",
    { url: `${url("/away")}?k=${encodeURIComponent(KEY)}`, headers: { accept: KEY, "x-key": KEY } },
    [use("headers", "accept"), use("headers", "x-key"), use("url", "k")],
  );
  expect(got.map(({ host }) => host)).toEqual(["127.0.0.1", "127.0.0.2"]);
  expect(got[0]?.headers["x-key"]).toBe(VALUE);
  expect(JSON.stringify(got[1])).not.toContain("value-of-the-secret");
  const written = await call("http_write", { url: url("/away"), body: KEY }, [use("body")]);
  expect(written.status_code).toBe(403);
  expect(got).toHaveLength(3);
});

test("a redirect within the site carries it", async () => {
  answer = (request, response) =>
    request.url === "/start" ? void response.writeHead(302, { location: "/end" }).end() : void response.end();
  await call("http_request", { url: url("/start"), headers: { "x-key": KEY } }, [use("headers", "x-key")]);
  expect(got.map(({ headers }) => headers["x-key"])).toEqual([VALUE, VALUE]);
});

test("tools that send no requests, other arguments and places without secrets are refused with a sentence", async () => {
  expect(await call("browse_url", { url: url() }, [use("url")])).toEqual({
    status_code: 400,
    error: "browse_url can't use secrets. Only http_request and http_write can.",
  });
  expect(await call("http_request", { url: url() }, [use("url")])).toMatchObject({ status_code: 400 });
  expect(
    await call("http_request", { url: url(), headers: { a: KEY } }, [use("headers", "a")], null as never),
  ).toEqual({
    status_code: 503,
    error: "Secrets can't be used here: only the server has them.",
  });
  expect(got).toEqual([]);
});

test("a value that a header can't contain is refused without quoting it", async () => {
  const refused = await call(
    "http_request",
    { url: url(), headers: { a: KEY } },
    [use("headers", "a")],
    () => ({
      value: "two\nlines-of-a-key",
    }),
  );
  expect(refused).toEqual({
    status_code: 400,
    error: "The secret KEY has line breaks or special characters, which a header can't contain.",
  });
});
