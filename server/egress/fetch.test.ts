import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { reachOf } from "./addresses";
import { EgressError, isProviderAddress, providerFetch, publicFetch } from "./fetch";

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

describe("the public door", () => {
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
  test.each(spellings)("this machine as %s gets no visit", async (host) => {
    const result = await outcome(publicFetch(`http://${host}:${port}/`, {}, { ports: [port] }));
    expect(["ADDRESS_REFUSED", "BAD_URL"]).toContain(result);
    expect(hits).toEqual([]);
  });

  test("networks around it are refused by address", () => {
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

  test("addresses that are no web addresses, carry credentials or name odd ports", async () => {
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

describe("the door to model providers", () => {
  const url = () => `http://127.0.0.1:${port}/v1/models`;

  test("reaches this machine, by number and by name", async () => {
    expect(await outcome(providerFetch(url()))).toBe("hello");
    expect(await outcome(providerFetch(`http://localhost:${port}/`))).toBe("hello");
  });

  test("reaches private networks only where the operator listed the host, metadata services never", async () => {
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

  test("never follows a redirect, so that keys stay", async () => {
    answer = (_request, response) => void response.writeHead(302, { location: "/elsewhere" }).end();
    expect(await outcome(providerFetch(url(), { headers: { authorization: "Bearer key" } }))).toBe(
      "REDIRECT_REFUSED",
    );
    expect(hits).toHaveLength(1);
  });

  test("streams, and stops when asked to", async () => {
    answer = (_request, response) =>
      void response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    const abort = new AbortController();
    const response = await providerFetch(url(), { signal: abort.signal, method: "POST", body: "{}" });
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 1\n\n");
    abort.abort();
    await expect(reader?.read()).rejects.toThrow(/abort/i);
  });

  test("lets go of the connection when the reader does", async () => {
    let closed = false;
    answer = (_request, response) => {
      response.on("close", () => {
        closed = true;
      });
      response.write("x");
    };
    const response = await providerFetch(url());
    await response.body?.cancel();
    await vi.waitFor(() => expect(closed).toBe(true));
  });

  test("a body that swells when unpacked is cut off", async () => {
    const packed = gzipSync(Buffer.alloc(80 * 1024 * 1024));
    answer = (_request, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(packed);
    expect(await outcome(providerFetch(url()))).toBe("RESPONSE_TOO_LARGE");
  });
});
