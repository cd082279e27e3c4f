import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { reachOf } from "./addresses";
import { EgressError, isProviderAddress, newPublicFetch, providerFetch, publicFetch } from "./fetch";

let canary: Server;
let port = 0;
let hits: { url: string; headers: IncomingMessage["headers"] }[] = [];
let answer = (_request: IncomingMessage, response: ServerResponse) => void response.end("hello");

beforeAll(async () => {
  canary = createServer((request, response) => {
    hits.push({ url: request.url ?? "", headers: request.headers });
    answer(request, response);
  });
  await once(canary.listen(0, "127.0.0.1"), "listening");
  port = (canary.address() as AddressInfo).port;
});
afterAll(() => {
  canary.closeAllConnections();
  canary.close();
});
afterEach(() => {
  hits = [];
  answer = (_request, response) => void response.end("hello");
  vi.unstubAllEnvs();
});

/** The code that a fetch was refused with, or its text. */
async function outcome(sent: Promise<{ text(): Promise<string> }>): Promise<string> {
  try {
    return await (await sent).text();
  } catch (error) {
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
      if (cause instanceof EgressError) return cause.code;
    throw error;
  }
}

describe("public fetch", () => {
  const spellings = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "0",
    "0.0.0.0",
    "localhost",
    "127.255.255.254",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
  ];
  test.each(spellings)("public fetch rejects this machine spelled as %s", async (host) => {
    const result = await outcome(publicFetch(`http://${host}:${port}/`, {}, { ports: [port] }));
    expect(["ADDRESS_REFUSED", "BAD_URL"]).toContain(result);
    expect(hits).toEqual([]);
  });

  test("public fetch rejects private and reserved networks", () => {
    const inside = [
      "10.0.0.5",
      "172.16.0.1",
      "192.168.1.1",
      "169.254.169.254",
      "100.64.0.1",
      "198.18.0.1",
      "192.0.2.1",
      "224.0.0.1",
      "255.255.255.255",
      "168.63.129.16",
      "fd00:ec2::254",
      "fe80::1",
      "fe80::1%eth0",
      "ff02::1",
      "::ffff:10.0.0.5",
      "::a00:5",
      "64:ff9b::a00:5",
      "4000::1",
      "2001:db8::1",
      "words",
      "",
    ];
    expect(inside.filter((address) => reachOf(address) === "public")).toEqual([]);
    expect(["93.184.216.34", "2606:4700::1111", "[2606:4700::1111]", "::ffff:8.8.8.8"].map(reachOf)).toEqual(
      Array(4).fill("public"),
    );
  });

  test("public fetch rejects other schemes, credentials and unusual ports", async () => {
    for (const url of [
      "file:///etc/passwd",
      "ftp://example.org",
      "data:text/plain,x",
      "not a url",
      "http://a:b@example.org",
      "http://example.org:22/",
    ])
      expect([url, await outcome(publicFetch(url))]).toEqual([url, "BAD_URL"]);
  });
});

describe("redirects of public fetch", () => {
  // Stands for a site on the internet: this one server is let through, under one of its names, and nothing else.
  const fromSite = newPublicFetch(
    (_address, hostname, at) => hostname === "127.0.0.1" && at === String(port),
  );
  const site = (path = "/") => `http://127.0.0.1:${port}${path}`;
  const ask = (path: string, init: Parameters<typeof fromSite>[1] = {}, sameOrigin = false) =>
    outcome(fromSite(site(path), init, { ports: [port], sameOrigin }));
  const redirectTo = (location: string, status = 302) => {
    answer = (request, response) =>
      request.url === "/start"
        ? void response.writeHead(status, { location }).end()
        : void response.end(`${request.method} ${request.url}`);
  };

  test("redirects within a site are followed, and the response has the final URL", async () => {
    redirectTo("/end");
    const response = await fromSite(site("/start"), {}, { ports: [port] });
    expect([response.url, await response.text()]).toEqual([site("/end"), "GET /end"]);
  });

  test.each(["127.0.0.2", "localhost", "[::1]", "2130706434", "0x7f000002", "169.254.169.254", "10.0.0.5"])(
    "redirects to %s are rejected",
    async (host) => {
      for (const status of [302, 307]) {
        redirectTo(`http://${host}:${port}/inside`, status);
        expect(await ask("/start")).toBe("ADDRESS_REFUSED");
      }
      expect(hits.map(({ url }) => url)).toEqual(["/start", "/start"]);
    },
  );

  test("redirects to other schemes or ports and redirect loops are rejected", async () => {
    for (const location of ["file:///etc/passwd", "ftp://127.0.0.1/", `http://127.0.0.1:${port + 1}/`]) {
      redirectTo(location);
      expect([location, await ask("/start")]).toEqual([location, "BAD_URL"]);
    }
    redirectTo("/start");
    expect(await ask("/start")).toBe("TOO_MANY_REDIRECTS");
  });

  test("redirects change POST to GET or repeat it, but never to another origin if that is forbidden", async () => {
    const post = { method: "POST", body: "x" };
    redirectTo("/end", 303);
    expect(await ask("/start", post)).toBe("GET /end");
    redirectTo("/end", 307);
    expect(await ask("/start", post, true)).toBe("POST /end");
    redirectTo("http://example.org/", 307);
    expect(await ask("/start", post, true)).toBe("REDIRECT_REFUSED");
  });

  test("redirects to another site drop all credentials and custom headers", async () => {
    const anywhere = newPublicFetch((address) => address === "127.0.0.1" || address === "127.0.0.2");
    redirectTo(`http://127.0.0.2:${port}/end`);
    const headers = {
      authorization: "Bearer k",
      cookie: "k",
      "x-api-key": "k",
      "x-site-token": "k",
      accept: "text/html",
    };
    const other = createServer((request, response) => {
      hits.push({ url: "other", headers: request.headers });
      response.end("other");
    });
    await once(other.listen(port, "127.0.0.2"), "listening");
    try {
      expect(await outcome(anywhere(site("/start"), { headers }, { ports: [port] }))).toBe("other");
    } finally {
      other.closeAllConnections();
      other.close();
    }
    expect(hits[0]?.headers).toMatchObject(headers);
    const sentHeaders = JSON.stringify(hits[1]?.headers);
    expect([hits[1]?.headers.accept, /"k"|Bearer/.test(sentHeaders)]).toEqual(["text/html", false]);
  });

  test("public fetch cuts off a body that is too large when decompressed", async () => {
    const packed = gzipSync(Buffer.alloc(8 * 1024 * 1024));
    answer = (_request, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(packed);
    expect(await ask("/")).toBe("RESPONSE_TOO_LARGE");
  });
});

describe("provider fetch", () => {
  const url = () => `http://127.0.0.1:${port}/v1/models`;

  test("provider fetch reaches this machine by address and by name", async () => {
    expect(await outcome(providerFetch(url()))).toBe("hello");
    expect(await outcome(providerFetch(`http://localhost:${port}/`))).toBe("hello");
  });

  test("provider fetch reaches private networks only on hosts the operator listed, and never metadata services", async () => {
    expect(await outcome(providerFetch("http://10.255.255.1:11434/"))).toBe("ADDRESS_REFUSED");
    expect(await outcome(providerFetch("http://169.254.169.254/latest"))).toBe("ADDRESS_REFUSED");
    // From here on nothing is dialled.
    vi.stubEnv("LLM_ALLOWED_HOSTS", "169.254.169.254, 10.255.255.1:11434, models.lan");
    vi.stubEnv("OPENAI_BASE_URL", "http://192.168.7.7:8000/v1");
    expect(isProviderAddress("169.254.169.254", "169.254.169.254", "80")).toBe(false);
    expect(isProviderAddress("10.255.255.1", "10.255.255.1", "80")).toBe(false);
    expect(isProviderAddress("10.255.255.1", "10.255.255.1", "11434")).toBe(true);
    expect(isProviderAddress("10.1.1.1", "models.lan", "8000")).toBe(true);
    expect(isProviderAddress("10.1.1.1", "other.lan", "8000")).toBe(false);
    expect(isProviderAddress("192.168.7.7", "192.168.7.7", "8000")).toBe(true);
  });

  test("provider fetch follows no redirects, so that keys aren't forwarded", async () => {
    answer = (_request, response) => void response.writeHead(302, { location: "/elsewhere" }).end();
    expect(await outcome(providerFetch(url(), { headers: { authorization: "Bearer key" } }))).toBe(
      "REDIRECT_REFUSED",
    );
    expect(hits).toHaveLength(1);
  });

  test("provider fetch streams the response and can be aborted", async () => {
    answer = (_request, response) =>
      void response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    const abort = new AbortController();
    const response = await providerFetch(url(), { signal: abort.signal, method: "POST", body: "{}" });
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 1\n\n");
    abort.abort();
    await expect(reader?.read()).rejects.toThrow(/abort/i);
  });

  test("provider fetch closes the connection when the reader cancels", async () => {
    let closed = false;
    answer = (_request, response) => {
      response.on("close", () => {
        closed = true;
      });
      response.write("x");
    };
    const response = await providerFetch(url());
    await response.body?.cancel();
    await expect.poll(() => closed).toBe(true);
  });

  test("provider fetch cuts off a body that is too large when decompressed", async () => {
    const packed = gzipSync(Buffer.alloc(80 * 1024 * 1024));
    answer = (_request, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(packed);
    expect(await outcome(providerFetch(url()))).toBe("RESPONSE_TOO_LARGE");
  });
});
