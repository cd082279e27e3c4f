import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { SearchBackend } from "@/server/domain/tool/search-backend";
import type { ToolOutput } from "@/server/domain/tool/tool";
import { newPublicFetch, type PublicFetch, providerFetch, publicFetch } from "@/server/egress/fetch";
import { ToolsRegistry } from "../registry";
import { searchTools } from "./search";
import { readPage, webTools } from "./web";

let server: Server;
let port = 0;
let hits: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[] = [];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      hits.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
      answer(request, response);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  hits = [];
  reply("text/plain", "hello");
});
const reply = (type: string, body: string | Buffer, head: Record<string, string> = {}, status = 200) => {
  answer = (_request, response) =>
    void response.writeHead(status, { "content-type": type, ...head }).end(body);
};

// This one server stands for the internet; the real door is asked where something must be refused.
const site = newPublicFetch((_address, hostname, at) => hostname === "127.0.0.1" && at === String(port));
const toSite: PublicFetch = (url, init, options) => site(url, init, { ...options, ports: [port] });
const atRealDoor: PublicFetch = (url, init, options) => publicFetch(url, init, { ...options, ports: [port] });

function call(
  name: string,
  args: Json,
  options: {
    fetch?: PublicFetch;
    backend?: SearchBackend | null;
    signal?: AbortSignal;
    originalKey?: string;
  } = {},
): Promise<ToolOutput> {
  const registry = new ToolsRegistry();
  const tools = [
    ...webTools({ fetch: options.fetch ?? toSite }),
    ...searchTools({ backendFor: () => options.backend ?? null, fetch: providerFetch }),
  ];
  for (const tool of tools) registry.register(tool);
  return registry.invoke(name, args, {
    signal: options.signal ?? new AbortController().signal,
    idempotencyKey: "call-1",
    ...(options.originalKey === undefined ? {} : { originalKey: options.originalKey }),
    run: null,
    agent: null,
  });
}
const at = (path = "/") => `http://127.0.0.1:${port}${path}`;
const outputOf = async (result: Promise<ToolOutput>) => (await result).output as JsonObject;

describe("http_request", () => {
  test("http_request names a host that can't be found", async () => {
    const unknown = Object.assign(new Error("getaddrinfo"), {
      code: "ENOTFOUND",
      hostname: "booking.example",
    });
    const result = await call(
      "http_request",
      { url: "https://booking.example/health" },
      { fetch: () => Promise.reject(unknown) },
    );
    expect(result).toMatchObject({
      status_code: 503,
      error: "Can't find host booking.example. Check the address.",
    });
  });

  test("http_request returns the status, harmless headers and parsed JSON", async () => {
    reply(
      "application/json; charset=utf-8",
      '{"a":[1,2]}',
      { "set-cookie": "s=1", "x-secret": "1", etag: '"x"' },
      404,
    );
    const { headers, ...rest } = await outputOf(
      call("http_request", { url: at("/x"), headers: { "x-api-key": "k" } }),
    );
    expect(rest).toEqual({ url: at("/x"), status: 404, body: { a: [1, 2] } });
    expect(Object.keys(headers as JsonObject).sort()).toEqual(["content-type", "date", "etag"]);
    expect(hits[0]).toMatchObject({ method: "GET", headers: { "x-api-key": "k", "user-agent": "Troupe" } });
  });

  test("http_request decodes other charsets and only describes images", async () => {
    reply("text/plain; charset=iso-8859-1", Buffer.from([0x67, 0xfc, 0x6e]));
    expect((await outputOf(call("http_request", { url: at() }))).body).toBe("gün");
    reply("text/plain; charset=no-such-thing", "plain");
    expect((await outputOf(call("http_request", { url: at() }))).body).toBe("plain");
    reply("image/png", Buffer.from([1, 2, 3]));
    expect(await outputOf(call("http_request", { url: at() }))).toMatchObject({
      body: null,
      note: "3 bytes of image/png, which is not text.",
    });
  });

  test("deeply nested JSON stays text", async () => {
    const bomb = "[".repeat(100_000) + "]".repeat(100_000);
    reply("application/json", bomb);
    expect((await outputOf(call("http_request", { url: at() }))).body).toBe(bomb);
  });

  test("http_request only reads and rejects connection and identity headers", async () => {
    const wrong: JsonObject[] = [
      { method: "POST" },
      { method: "TRACE" },
      { headers: { host: "internal" } },
      { headers: { Cookie: "a=b" } },
      { headers: { "X-Forwarded-For": "127.0.0.1" } },
      { headers: { "transfer-encoding": "chunked" } },
      { headers: { a: "x\r\nb: y" } },
      { headers: { "a b": "x" } },
    ];
    for (const args of wrong)
      expect([args, (await call("http_request", { url: at(), ...args })).status_code]).toEqual([args, 400]);
    expect(hits).toEqual([]);
  });

  test.each([
    "127.0.0.1",
    "[::1]",
    "169.254.169.254",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "[::ffff:127.0.0.1]",
    "localhost",
    "10.0.0.5",
  ])("every tool rejects requests to %s", async (host) => {
    for (const name of ["http_request", "http_write", "browse_url"])
      expect((await call(name, { url: `http://${host}:${port}/` }, { fetch: atRealDoor })).status_code).toBe(
        403,
      );
    expect(hits).toEqual([]);
  });

  test("a redirect to a private network is rejected", async () => {
    reply("text/plain", "", { location: "http://169.254.169.254/latest/meta-data" }, 302);
    for (const name of ["http_request", "browse_url"])
      expect((await call(name, { url: at() })).status_code).toBe(403);
    expect(hits).toHaveLength(2);
  });

  test("other rejections and failures have their own statuses", async () => {
    expect((await call("http_request", { url: "file:///etc/passwd" })).status_code).toBe(400);
    expect((await call("http_request", { url: "http://127.0.0.1:22/" })).status_code).toBe(400);
    reply("text/plain", gzipSync(Buffer.alloc(6 * 1024 * 1024)), { "content-encoding": "gzip" });
    expect((await call("http_request", { url: at() })).status_code).toBe(413);
    answer = (request) => void request.socket.destroy();
    expect((await call("http_request", { url: at() })).status_code).toBe(503);
    const stop = new AbortController();
    answer = () => stop.abort();
    expect((await call("http_request", { url: at() }, { signal: stop.signal })).status_code).toBe(408);
  });
});

describe("http_write", () => {
  test("http_write sends JSON or text with an idempotency key", async () => {
    const result = await outputOf(call("http_write", { url: at("/items"), body: { name: "x" } }));
    expect(result).toMatchObject({ status: 200, body: "hello" });
    await call("http_write", { url: at("/items/1"), method: "PUT", body: "plain" });
    await call("http_write", { url: at("/items/1"), method: "DELETE" });
    expect(hits.map(({ method, body, headers }) => [method, body, headers["content-type"]])).toEqual([
      ["POST", '{"name":"x"}', "application/json"],
      ["PUT", "plain", "text/plain; charset=utf-8"],
      ["DELETE", "", undefined],
    ]);
    expect(hits.every(({ headers }) => headers["idempotency-key"] === "call-1")).toBe(true);
    expect(hits.every(({ headers }) => headers["original-idempotency-key"] === undefined)).toBe(true);
  });

  test("in a fork, http_write also sends the original call's idempotency key", async () => {
    await call("http_write", { url: at("/items") }, { originalKey: "call-0" });
    expect(hits.map(({ headers }) => headers["original-idempotency-key"])).toEqual(["call-0"]);
  });

  test("http_write doesn't forward its body to another site", async () => {
    reply("text/plain", "", { location: "http://example.org/" }, 307);
    expect(await call("http_write", { url: at(), body: "secret" })).toMatchObject({
      status_code: 403,
      error: expect.stringContaining("example.org"),
    });
  });
});

describe("browse_url", () => {
  const PAGE = `<!doctype html><html><head><title>Tides &amp; more</title><style>p{}</style>
    <script>alert("CANARY")</script></head><body><nav><a href="/home">Home</a></nav>
    <main><h1>Tides</h1><p>The <b>moon</b> pulls. See <a href="/tables?x=1">tables</a>.</p>
    <p hidden>CANARY hidden</p><div aria-hidden="true">CANARY too</div><ul><li>ebb</li><li>flow</li></ul>
    <img src="http://x/CANARY.png"><table><tr><th>Port</th><th>Time</th></tr><tr><td>Hull</td><td>9:00</td></tr></table>
    </main><footer>CANARY</footer></body></html>`;

  test("browse_url returns the title and the main text with link addresses", async () => {
    reply("text/html; charset=utf-8", PAGE);
    const { text, ...rest } = await outputOf(call("browse_url", { url: at("/page") }));
    expect(rest).toEqual({ url: at("/page"), status: 200, title: "Tides & more" });
    expect(text).toContain("Tides\n");
    expect(text).toContain(`The moon pulls. See tables [${at("/tables?x=1")}].`);
    expect(text).toMatch(/\* ebb\n \* flow/);
    expect(text).toMatch(/Port +Time\n+Hull +9:00/);
    expect(text).not.toMatch(/CANARY|Home|<|alert/);
  });

  test("pages without a main part are read whole, text stays text, other types are rejected", async () => {
    expect(await readPage("<p>one</p><p>two", at())).toEqual({ title: "", text: "one\n\ntwo" });
    reply("text/markdown", "# Title\n<b>");
    expect(await outputOf(call("browse_url", { url: at() }))).toMatchObject({ text: "# Title\n<b>" });
    reply("application/pdf", "%PDF");
    expect(await call("browse_url", { url: at() })).toMatchObject({
      status_code: 400,
      error: "The URL returned application/pdf, not a readable page.",
    });
  });

  test("hostile pages are read in bounded time or rejected", async () => {
    for (const deep of ["<div>", "<title", "<a href='", "<b><p>"])
      await expect(readPage(deep.repeat(50_000), at())).rejects.toThrow(/nested deeper/);
    for (const html of [
      "<p>x</p>".repeat(50_000),
      "<p>".repeat(50_000),
      `<table>${"<tr><td>x".repeat(2_000)}`,
      "<!--".repeat(100_000),
      "&".repeat(3_000_000),
    ])
      expect((await readPage(html, at())).text.length).toBeLessThanOrEqual(1_000_000);
  });
});

describe("search", () => {
  const backend = (kind: SearchBackend["kind"], key: string | null = null): SearchBackend => ({
    kind,
    base_url: at("").replace(/\/$/, ""),
    key,
  });
  const search = (name: string, service: SearchBackend) =>
    call(name, { query: "tide & moon", count: 2 }, { backend: service });

  test("SearXNG is queried in its own format, and a JSON rejection names the required setting", async () => {
    const results = [1, 2, 3].map((n) => ({
      title: `T${n}`,
      url: `https://e.org/${n}`,
      content: "words",
      engine: "x",
    }));
    reply("application/json", JSON.stringify({ results }));
    expect((await search("web_search", backend("searxng"))).output).toEqual({
      query: "tide & moon",
      results: [1, 2].map((n) => ({ title: `T${n}`, url: `https://e.org/${n}`, text: "words" })),
    });
    expect(hits[0]?.url).toBe("/search?q=tide+%26+moon&format=json");
    reply("text/html", "Forbidden", {}, 403);
    expect((await search("web_search", backend("searxng"))).error).toMatch(/search\.formats/);
  });

  test("Brave is queried with its key, and markup is removed from its results", async () => {
    const results = [
      { title: "The <strong>tide</strong>", url: "https://e.org/", description: "<strong>x</strong> y" },
    ];
    reply("application/json", JSON.stringify({ web: { results } }));
    expect((await outputOf(search("web_search", backend("brave", "key-1")))).results).toEqual([
      { title: "The tide", url: "https://e.org/", text: "x y" },
    ]);
    expect(hits[0]).toMatchObject({
      url: "/res/v1/web/search?q=tide+%26+moon&count=2",
      headers: { "x-subscription-token": "key-1" },
    });
  });

  test("GitHub is queried for code, and its fragments become the text", async () => {
    const items = [
      {
        path: "src/a.ts",
        html_url: "https://github.com/o/r/blob/main/src/a.ts",
        repository: { full_name: "o/r" },
        text_matches: [{ fragment: "tide()" }, { fragment: "moon()" }],
      },
    ];
    reply("application/json", JSON.stringify({ items }));
    expect((await outputOf(search("code_search", backend("github", "key-2")))).results).toEqual([
      { title: "o/r: src/a.ts", url: "https://github.com/o/r/blob/main/src/a.ts", text: "tide()\n…\nmoon()" },
    ]);
    expect(hits[0]?.headers.authorization).toBe("Bearer key-2");
  });

  test("service rejections are reported without the service's text, which may contain the key", async () => {
    const cases: [number, Record<string, string>, number, RegExp][] = [
      [429, { "retry-after": "7" }, 429, /wait 7 s/],
      [403, { "x-ratelimit-remaining": "0" }, 429, /wait before/],
      [401, {}, 503, /rejected the key/],
      [422, {}, 400, /query/],
      [500, {}, 503, /500/],
    ];
    for (const [status, head, expected, message] of cases) {
      reply("application/json", '{"error":"bad key key-3"}', head, status);
      const output = await search("code_search", backend("github", "key-3"));
      expect([output.status_code, output.error]).toEqual([expected, expect.stringMatching(message)]);
      expect(JSON.stringify(output)).not.toContain("key-3");
    }
    reply("application/json", "", { location: "http://example.org/" }, 302);
    expect((await search("code_search", backend("github", "key-3"))).status_code).toBe(403);
  });

  test("an unexpected search response gives no results instead of an error", async () => {
    for (const body of ["null", "[]", '{"results":{}}', '{"results":[1,null,{"title":5}]}', "<html>"]) {
      reply("application/json", body);
      expect((await search("web_search", backend("searxng"))).status_code).toBe(200);
    }
  });

  test("a key that can't be decrypted makes only its search tools unavailable", () => {
    const fail = () => {
      throw new Error("Enter the key again.");
    };
    const specs = searchTools({ backendFor: fail, fetch: providerFetch }).map(({ spec }) => spec.unavailable);
    expect(specs).toEqual(["Enter the key again.", "Enter the key again."]);
  });

  test("the demo search returns bundled texts marked as made up, without network access", async () => {
    const demo: SearchBackend = { kind: "demo", base_url: "", key: null };
    const web = await call("web_search", { query: "how do teams review code?", count: 1 }, { backend: demo });
    expect(web).toMatchObject({
      status_code: 200,
      simulated: true,
      output: { results: [{ title: "How teams review code", url: "https://demo.example/code-review" }] },
    });
    const code = await call("code_search", { query: "retry" }, { backend: demo });
    expect(code).toMatchObject({
      simulated: true,
      output: { results: [{ title: "demo/retry: src/retry.ts" }] },
    });
    expect(hits).toEqual([]);
  });

  test("the demo search has stable pages for any query and can open them", async () => {
    const demo: SearchBackend = { kind: "demo", base_url: "", key: null };
    const find = (query: string) => outputOf(call("web_search", { query }, { backend: demo }));
    const { results, note } = (await find("Why do octopuses change their colour?")) as {
      results: { title: string; url: string; text: string }[];
      note: string;
    };
    expect(note).toMatch(/^Simulated: /);
    expect(results).toHaveLength(5);
    for (const { title, text } of results)
      expect(`${title} ${text}`.toLowerCase()).toContain("octopuses change colour");
    expect(await find("Why do octopuses change their colour?")).toMatchObject({ results });
    const [first] = results;
    expect(await call("browse_url", { url: first!.url })).toMatchObject({
      status_code: 200,
      simulated: true,
      output: { title: first!.title, note },
    });
    // What was written for a topic comes first, and its page says more than the excerpt.
    const bees = (await find("Do bees do better in cities than in the countryside?")) as {
      results: typeof results;
    };
    expect(bees.results[0]).toMatchObject({ title: "Bees in cities and in the countryside" });
    const page = await outputOf(call("browse_url", { url: bees.results[0]!.url }));
    expect(page.text).toContain(bees.results[0]!.text);
    expect(JSON.stringify(page.text).length).toBeGreaterThan(bees.results[0]!.text.length + 50);
    expect(await call("browse_url", { url: "https://demo.example/nowhere" })).toMatchObject({
      status_code: 404,
    });
    expect(hits).toEqual([]);
  });
});
