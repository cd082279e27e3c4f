import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressOf, refusesRequest } from "./request-filter";

// Raw bytes on a socket: clients that people use would not send most of this.

let port: number;
const server = createServer((request, response) => {
  if (!refusesRequest(request, response, { PORT: String(port) }))
    response.end(`on: ${request.url} ${Object.keys(request.headers).join(" ")}`);
});
beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

const own = () => `127.0.0.1:${port}`;

/** Sends lines as they are; answers with status and body. */
async function send(
  line: string,
  ...headers: string[]
): Promise<{ status: number; body: string; head: string }> {
  const socket = connect(port, "127.0.0.1");
  socket.end(`${[`${line} HTTP/1.1`, ...headers, "Connection: close"].join("\r\n")}\r\n\r\n`);
  const text = Buffer.concat(await socket.toArray()).toString("latin1");
  const [head = "", body = ""] = text.split(/\r\n\r\n([\s\S]*)/);
  return { status: Number(head.split(" ")[1]), body, head };
}
const status = async (line: string, ...headers: string[]) => (await send(line, ...headers)).status;

describe("host names", () => {
  test.each(["/", "/theme.js", "/icon.svg", "/_next/static/a.js", "/api/v1/health", "/nowhere"])(
    "%s is rejected for foreign hosts, even with headers that bypass the proxy",
    async (where) => {
      for (const header of [
        "X-Other: 1",
        "x-middleware-prefetch: 1",
        "RSC: 1",
        "x-middleware-subrequest: proxy",
      ])
        expect(await status(`GET ${where}`, "Host: evil.example", header), header).toBe(421);
      expect(await status(`GET ${where}`, `Host: ${own()}`)).toBe(200);
    },
  );

  test("a request must have exactly one Host header", async () => {
    expect(await status("GET /", `Host: ${own()}`, "Host: evil.example")).toBe(400);
    expect(await status("GET /", "Host: evil.example", `Host: ${own()}`)).toBe(400);
    expect(await status("GET /", `Host: ${own()}`, `hOST: ${own()}`)).toBe(400);
    expect(await status("GET /")).toBe(400);
  });

  test("an absolute request target is accepted only if it and the Host header name this server", async () => {
    expect((await send(`GET http://${own()}/a?b=c`, `Host: ${own()}`)).body).toMatch(/^on: \/a\?b=c /);
    expect((await send(`GET http://${own()}?b=c`, `Host: ${own()}`)).body).toMatch(/^on: \/\?b=c /);
    const foreign = await send("GET http://evil.example/a", `Host: ${own()}`);
    expect([foreign.status, foreign.head]).toEqual([421, expect.not.stringMatching(/location|evil/i)]);
    expect(await status(`GET http://${own()}/a`, "Host: evil.example")).toBe(421);
    expect(await status(`GET http://localhost:${port}/a`, `Host: ${own()}`)).toBe(400);
    for (const odd of [`http://u@${own()}/`, `ftp://${own()}/`, "*", "a", `http:///a`])
      expect([400, 421], odd).toContain(await status(`GET ${odd}`, `Host: ${own()}`));
  });
});

describe("methods and paths", () => {
  test.each(["TRACE", "PROPFIND", "LINK", "PURGE"])(
    "the method %s is rejected with the list of allowed methods",
    async (method) => {
      const { status, head } = await send(`${method} /`, `Host: ${own()}`);
      expect(status).toBe(405);
      expect(head).toEqual(expect.stringMatching(/^allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS/im));
    },
  );

  test.each([
    "/api/v1/roles/%ED%A0%80",
    "/api/v1/roles/%zz",
    "/api/v1/runs/%E0%A4%A",
    "/api/v1/runs/a%00b",
    "/api/x%0a",
  ])("the malformed path %s is rejected as a bad request in JSON", async (where) => {
    const { status, body } = await send(`GET ${where}`, `Host: ${own()}`);
    expect(status).toBe(400);
    expect(JSON.parse(body)).toEqual({
      error: { code: "bad_request", message: expect.stringContaining("percent-encoded") },
    });
  });

  test("a well-formed URL passes unchanged", async () => {
    for (const where of ["/api/v1/roles/%C3%A4%20b", "/a//b?x=%zz", "/login?next=%2F"])
      expect((await send(`GET ${where}`, `Host: ${own()}`)).body).toContain(`on: ${where} `);
  });
});

test("only build files are served under /_next", async () => {
  for (const where of [
    "/_next/image?url=%2Fa&w=640&q=75",
    "/_next/data/x.json",
    "/_next",
    "/_next/",
    "/_next/webpack-hmr",
  ])
    expect(await status(`GET ${where}`, `Host: ${own()}`), where).toBe(404);
});

test("internal headers of Next.js are removed from requests", async () => {
  const names = [
    "x-middleware-prefetch",
    "x-middleware-subrequest",
    "x-nextjs-data",
    "x-matched-path",
    "x-invoke-path",
    "next-resume",
  ];
  const { body } = await send("GET /", `Host: ${own()}`, ...names.map((name) => `${name}: 1`), "RSC: 1");
  expect(body).toBe("on: / host rsc connection x-forwarded-for");
});

test.each([
  ["replaced without a proxy", {}, "127.0.0.1"],
  ["kept from a proxy", { TROUPE_PUBLIC_URL: "https://troupe.example" }, "203.0.113.7"],
])("the address that a request is forwarded for is %s", (_name, env, address) => {
  const headers: Record<string, string> = {
    host: "127.0.0.1:3000",
    "x-forwarded-for": "10.1.1.1, 203.0.113.7",
  };
  const request = {
    ...{ url: "/", method: "GET", headers, rawHeaders: ["host", headers.host] },
    socket: { remoteAddress: "127.0.0.1" },
  };
  expect(refusesRequest(request as never, {} as never, { PORT: "3000", ...env })).toBe(false);
  expect(addressOf(new Headers(headers))).toBe(address);
});
