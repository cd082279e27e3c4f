import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { knock, newControlFetch } from "./control";
import {
  EgressError,
  hostsIn,
  isProviderAddress,
  newGuardedFetch,
  newMcpFetch,
  newPublicFetch,
  providerFetch,
} from "./fetch";
import { newMailDial, newNoticeFetch } from "./notices";
import { askOwnServer } from "./own-server";

let server: Server;
let port = 0;
const usual = (request: IncomingMessage, response: ServerResponse) => {
  if (request.url === "/away") return void response.writeHead(308, { location: "/" }).end("moved");
  if (request.url === "/none") return void response.writeHead(204).end();
  response.writeHead(201, "Made", { "x-one": "1" }).end(`${request.method} ${request.url}`);
};
let answer = usual;
beforeAll(async () => {
  server = createServer((request, response) => answer(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  answer = usual;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const refusalOf = (sent: Promise<unknown>) =>
  sent.then(
    () => "no refusal",
    (error: unknown) => (error instanceof EgressError ? `${error.code}: ${error.message}` : String(error)),
  );
const inside = (hint: string, host = "127.0.0.1") =>
  `ADDRESS_REFUSED: Connecting to ${host} is not allowed: the address is on a private network.${hint}`;
const TO_LIST_MCP = " The admin can add it to TROUPE_MCP_ALLOWED_HOSTS.";
const TO_LIST_NOTICES = " The admin can add it to TROUPE_NOTICE_ALLOWED_HOSTS.";

test.each([
  [undefined, []],
  ["", []],
  [" , ", []],
  ["192.168.1.20:11434, gpu.lan,[::1]:80 ,[fd00::1]", ["192.168.1.20:11434", "gpu.lan", "::1:80", "fd00::1"]],
])("the host list %j is parsed", (list, hosts) => {
  expect(hostsIn(list)).toEqual(hosts);
});

describe.each([
  [
    "MCP servers",
    newMcpFetch,
    TO_LIST_MCP,
    "The MCP server answered with a redirect, which would send the authorization elsewhere. Enter the URL it redirects to.",
  ],
  [
    "notification receivers",
    newNoticeFetch,
    TO_LIST_NOTICES,
    "The receiver answered with a redirect. Enter the URL it redirects to.",
  ],
])("the fetch for %s", (_name, newDoor, hint, redirect) => {
  const site = (path = "/", host = "127.0.0.1") => `http://${host}:${port}${path}`;

  test("this machine is reached only if its host is listed, with or without the port", async () => {
    for (const listed of [undefined, "127.0.0.2", `127.0.0.1:${port + 1}`, "localhost"])
      expect(await refusalOf(newDoor(listed)(site())), listed).toBe(inside(hint));
    for (const listed of ["127.0.0.1", `a.lan, 127.0.0.1:${port}`]) {
      const response = await newDoor(listed)(site("/a"), { method: "PUT" });
      expect(response.status).toBe(201);
      expect(response.statusText).toBe("Made");
      expect(response.headers.get("x-one")).toBe("1");
      expect(await response.text()).toBe("PUT /a");
    }
    expect(await (await newDoor("localhost")(site("/", "localhost"))).text()).toBe("GET /");
  });

  test("metadata services are never reached, listed or not", async () => {
    expect(await refusalOf(newDoor("169.254.169.254")("http://169.254.169.254/"))).toBe(
      inside(hint, "169.254.169.254"),
    );
  });

  test("Request objects and responses without a body are supported", async () => {
    const door = newDoor("127.0.0.1");
    expect((await door(new Request(site("/none")))).status).toBe(204);
  });

  test("redirects are not followed", async () => {
    expect(await refusalOf(newDoor("127.0.0.1")(site("/away")))).toBe(`REDIRECT_REFUSED: ${redirect}`);
  });
});

test.each(["not a url", "ftp://127.0.0.1/", "http://name@127.0.0.1/", "http://:word@127.0.0.1/"])(
  "no outbound fetch accepts %s",
  async (url) => {
    for (const door of [newMcpFetch("127.0.0.1"), newNoticeFetch("127.0.0.1"), providerFetch])
      expect(await refusalOf(door(url))).toMatch(/^BAD_URL: /);
  },
);

test("a response may be as large as the limit, but not one byte larger", async () => {
  const door = newGuardedFetch(() => true, { timeoutMs: 5_000, maxBytes: 10, hint: "", redirect: "" });
  answer = (request, response) => void response.end("x".repeat(Number(request.url?.slice(1))));
  expect(await (await door(`http://127.0.0.1:${port}/10`)).text()).toBe("xxxxxxxxxx");
  expect(await refusalOf(door(`http://127.0.0.1:${port}/11`).then((response) => response.text()))).toBe(
    "RESPONSE_TOO_LARGE: The response is larger than 10 bytes.",
  );
});

test("a URL without a port is checked with its default port", async () => {
  const asked: string[][] = [];
  const door = newGuardedFetch((...target) => asked.push(target) < 0, {
    timeoutMs: 1_000,
    maxBytes: 1,
    hint: " Ask.",
    redirect: "",
  });
  expect(await refusalOf(door("https://127.0.0.1/"))).toBe(inside(" Ask."));
  expect(await refusalOf(door("http://[::1]/"))).toBe(inside(" Ask.", "::1"));
  expect(await refusalOf(door("http://127.0.0.1:81/"))).toBe(inside(" Ask."));
  expect(asked).toEqual([
    ["127.0.0.1", "127.0.0.1", "443"],
    ["::1", "::1", "80"],
    ["127.0.0.1", "127.0.0.1", "81"],
  ]);
});

test.each([
  ["8.8.8.8", "dns.example", true],
  ["127.0.0.1", "localhost", true],
  ["10.0.0.1", "gpu.lan", false],
  ["169.254.169.254", "meta.example", false],
])("without a host list, a model provider is allowed or rejected at %s: %s", (address, host, may) => {
  expect(isProviderAddress(address, host, "80")).toBe(may);
});

describe("public redirects", () => {
  const door = newPublicFetch(() => true);
  const ask = (
    path: string,
    init: Parameters<typeof door>[1] = {},
    options: Parameters<typeof door>[2] = {},
  ) => door(`http://127.0.0.1:${port}${path}`, init, { ports: [port], ...options });
  /** /n leads to /n-1 and so on; /0 tells what came. */
  const steps = (status: number) => {
    answer = (request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) return void response.writeHead(status, { location: `/${left - 1}` }).end();
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const { "content-type": type, authorization } = request.headers;
        response.end(
          JSON.stringify([
            request.method,
            Buffer.concat(parts).toString(),
            type ?? null,
            authorization ?? null,
          ]),
        );
      });
    };
  };

  test("redirects are followed three times", async () => {
    steps(302);
    const response = await ask("/3");
    expect(response.url).toBe(`http://127.0.0.1:${port}/0`);
    expect(await response.json()).toEqual(["GET", "", null, null]);
    expect(await refusalOf(ask("/4"))).toBe(
      `TOO_MANY_REDIRECTS: 127.0.0.1:${port} redirects more than 3 times.`,
    );
  });

  const headers = { "content-type": "text/x", authorization: "Bearer k" };
  test.each([
    [301, "POST", ["GET", "", null, "Bearer k"]],
    [303, "PUT", ["GET", "", null, "Bearer k"]],
    [307, "POST", ["POST", "words", "text/x", "Bearer k"]],
    [308, "DELETE", ["DELETE", "words", "text/x", "Bearer k"]],
  ])("redirects with status %i handle %s as the standard says", async (status, method, expected) => {
    steps(status);
    expect(await (await ask("/1", { method, body: "words", headers })).json()).toEqual(expected);
  });

  test.each([
    ["get", ["GET", "", "text/x", "Bearer k"]],
    [undefined, ["GET", "", "text/x", "Bearer k"]],
  ])("redirected GET requests keep their method and headers (%s)", async (method, expected) => {
    steps(302);
    expect(await (await ask("/1", { ...(method ? { method } : {}), headers })).json()).toEqual(expected);
  });

  test.each([304, 300, 305])("status %i is returned and not followed", async (status) => {
    answer = (_request, response) => void response.writeHead(status, { location: "/elsewhere" }).end();
    expect((await ask("/1")).status).toBe(status);
  });

  test("redirects without a location are returned as they are", async () => {
    answer = (_request, response) => void response.writeHead(302).end("nowhere");
    expect(await (await ask("/1")).text()).toBe("nowhere");
  });

  test("redirects to another origin are rejected with its host if that is forbidden", async () => {
    answer = (_request, response) => void response.writeHead(302, { location: "http://example.org/" }).end();
    expect(await refusalOf(ask("/1", {}, { sameOrigin: true }))).toBe(
      `REDIRECT_REFUSED: 127.0.0.1:${port} redirects to example.org, which isn't allowed for this request.`,
    );
  });

  test.each([
    ["http://a b/", "BAD_URL: That isn't a web URL."],
    ["ftp://a/", "BAD_URL: Only http and https URLs can be fetched."],
    ["http://a:b@c/", "BAD_URL: A URL can't contain a user name and password."],
    ["http://a:23/", "BAD_URL: Port 23 is not allowed."],
  ])("redirects to %s are rejected", async (location, message) => {
    answer = (_request, response) => void response.writeHead(302, { location }).end();
    expect(await refusalOf(ask("/1"))).toBe(message);
  });

  test("a response may be as large as the requested limit", async () => {
    answer = (_request, response) => void response.end("12345");
    expect(await (await ask("/", {}, { maxBytes: 5 })).text()).toBe("12345");
    expect(await refusalOf(ask("/", {}, { maxBytes: 4 }).then((got) => got.text()))).toBe(
      "RESPONSE_TOO_LARGE: The response is larger than 4 bytes.",
    );
  });
});

describe("mail connections", () => {
  test.each([undefined, "localhost:1", "127.0.0.2"])(
    "a mail server on this machine is rejected with the host list %j",
    async (listed) => {
      expect(await refusalOf(newMailDial(listed)("127.0.0.1", port))).toBe(inside(TO_LIST_NOTICES));
      expect(await refusalOf(newMailDial(listed)("localhost", port))).toBe(
        inside(TO_LIST_NOTICES, "localhost"),
      );
    },
  );

  test.each([
    ["127.0.0.1", "127.0.0.1"],
    ["127.0.0.1", "PORT"],
    ["localhost", "localhost"],
  ])("a mail server at %s is reached if the list contains %s", async (host, listed) => {
    const socket = await newMailDial(listed === "PORT" ? `127.0.0.1:${port}` : listed)(host, port);
    expect([socket.remoteAddress, socket.remotePort, socket.timeout]).toEqual(["127.0.0.1", port, 0]);
    socket.destroy();
  });

  test("mail connections never reach metadata services, listed or not", async () => {
    expect(await refusalOf(newMailDial("169.254.169.254")("169.254.169.254", 25))).toBe(
      inside(TO_LIST_NOTICES, "169.254.169.254"),
    );
  });

  test("a mail server that isn't running is reported", async () => {
    expect(await refusalOf(newMailDial("127.0.0.1")("127.0.0.1", await closedPort()))).toContain(
      "ECONNREFUSED",
    );
  });
});

async function closedPort() {
  const closing = createSocketServer();
  await once(closing.listen(0, "127.0.0.1"), "listening");
  const { port: free } = closing.address() as AddressInfo;
  await new Promise((resolve) => closing.close(resolve));
  return free;
}

describe("port probes", () => {
  test("a probe reports whether a port is open", async () => {
    expect(await knock(`127.0.0.1:${port}`)).toBe("open");
    expect(await knock(`127.0.0.1:${await closedPort()}`)).toBe("refused");
    expect(await knock("no such address:x")).toBe("unknown");
  });

  test("a probe accepts IPv6 addresses in brackets", async () => {
    const other = createSocketServer((socket) => socket.end());
    const isThere = await new Promise((resolve) => {
      other.once("error", () => resolve(false));
      other.listen(0, "::1", () => resolve(true));
    });
    if (!isThere) return;
    expect(await knock(`[::1]:${(other.address() as AddressInfo).port}`)).toBe("open");
    other.close();
  });
});

test("the control fetch only reaches the worker's server and returns redirects as they are", async () => {
  const ask = newControlFetch(`http://127.0.0.1:${port}`);
  expect(await (await ask("/internal/a", { method: "POST", headers: {}, body: "{}" })).text()).toBe(
    "POST /internal/a",
  );
  expect((await ask("away", { method: "GET", headers: {} })).status).toBe(308);
});

test("the command line only reaches its own server and follows no redirects", async () => {
  const at = (path: string) => new URL(path, `http://127.0.0.1:${port}`);
  expect(await (await askOwnServer(at("/a"), { method: "PATCH" })).text()).toBe("PATCH /a");
  await expect(askOwnServer(at("/away"), {})).rejects.toThrow("fetch failed");
});
