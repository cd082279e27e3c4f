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
])("the hosts of the list %j", (list, hosts) => {
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
    "receivers of notices",
    newNoticeFetch,
    TO_LIST_NOTICES,
    "The receiver answered with a redirect. Enter the URL it redirects to.",
  ],
])("the door to %s", (_name, newDoor, hint, redirect) => {
  const site = (path = "/", host = "127.0.0.1") => `http://${host}:${port}${path}`;

  test("leads to this machine only where the host is listed, alone or with its port", async () => {
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

  test("leads to no metadata service, listed or not", async () => {
    expect(await refusalOf(newDoor("169.254.169.254")("http://169.254.169.254/"))).toBe(
      inside(hint, "169.254.169.254"),
    );
  });

  test("takes whole requests, and answers without a body", async () => {
    const door = newDoor("127.0.0.1");
    expect((await door(new Request(site("/none")))).status).toBe(204);
  });

  test("follows no redirect", async () => {
    expect(await refusalOf(newDoor("127.0.0.1")(site("/away")))).toBe(`REDIRECT_REFUSED: ${redirect}`);
  });
});

test.each(["not a url", "ftp://127.0.0.1/", "http://name@127.0.0.1/", "http://:word@127.0.0.1/"])(
  "no door leads to %s",
  async (url) => {
    for (const door of [newMcpFetch("127.0.0.1"), newNoticeFetch("127.0.0.1"), providerFetch])
      expect(await refusalOf(door(url))).toMatch(/^BAD_URL: /);
  },
);

test("an answer may be as large as the limit, and not a byte larger", async () => {
  const door = newGuardedFetch(() => true, { timeoutMs: 5_000, maxBytes: 10, hint: "", redirect: "" });
  answer = (request, response) => void response.end("x".repeat(Number(request.url?.slice(1))));
  expect(await (await door(`http://127.0.0.1:${port}/10`)).text()).toBe("xxxxxxxxxx");
  expect(await refusalOf(door(`http://127.0.0.1:${port}/11`).then((response) => response.text()))).toBe(
    "RESPONSE_TOO_LARGE: The response is larger than 10 bytes.",
  );
});

test("an address without a port is asked about with the usual one", async () => {
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
])("without a list, a model provider may be at %s: %s", (address, host, may) => {
  expect(isProviderAddress(address, host, "80")).toBe(may);
});

describe("redirects", () => {
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

  test("are followed three times", async () => {
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
  ])("with %i a %s goes on inside the site as is usual", async (status, method, expected) => {
    steps(status);
    expect(await (await ask("/1", { method, body: "words", headers })).json()).toEqual(expected);
  });

  test.each([
    ["get", ["GET", "", "text/x", "Bearer k"]],
    [undefined, ["GET", "", "text/x", "Bearer k"]],
  ])("a reading stays one, with its headers (%s)", async (method, expected) => {
    steps(302);
    expect(await (await ask("/1", { ...(method ? { method } : {}), headers })).json()).toEqual(expected);
  });

  test.each([304, 300, 305])("%i is an answer as it is", async (status) => {
    answer = (_request, response) => void response.writeHead(status, { location: "/elsewhere" }).end();
    expect((await ask("/1")).status).toBe(status);
  });

  test("without a place to go is an answer as it is", async () => {
    answer = (_request, response) => void response.writeHead(302).end("nowhere");
    expect(await (await ask("/1")).text()).toBe("nowhere");
  });

  test("say where they led when that is not where the request was meant for", async () => {
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
  ])("that lead to %s are refused", async (location, message) => {
    answer = (_request, response) => void response.writeHead(302, { location }).end();
    expect(await refusalOf(ask("/1"))).toBe(message);
  });

  test("an answer of the size that was asked for at most comes in", async () => {
    answer = (_request, response) => void response.end("12345");
    expect(await (await ask("/", {}, { maxBytes: 5 })).text()).toBe("12345");
    expect(await refusalOf(ask("/", {}, { maxBytes: 4 }).then((got) => got.text()))).toBe(
      "RESPONSE_TOO_LARGE: The response is larger than 4 bytes.",
    );
  });
});

describe("mail", () => {
  test.each([undefined, "localhost:1", "127.0.0.2"])(
    "a server on this machine is not dialled with the list %j",
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
  ])("a server at %s is dialled where the list says %s", async (host, listed) => {
    const socket = await newMailDial(listed === "PORT" ? `127.0.0.1:${port}` : listed)(host, port);
    expect([socket.remoteAddress, socket.remotePort, socket.timeout]).toEqual(["127.0.0.1", port, 0]);
    socket.destroy();
  });

  test("metadata services are not dialled, listed or not", async () => {
    expect(await refusalOf(newMailDial("169.254.169.254")("169.254.169.254", 25))).toBe(
      inside(TO_LIST_NOTICES, "169.254.169.254"),
    );
  });

  test("a server that is not there says so", async () => {
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

describe("knocking", () => {
  test("tells whether somebody listens", async () => {
    expect(await knock(`127.0.0.1:${port}`)).toBe("open");
    expect(await knock(`127.0.0.1:${await closedPort()}`)).toBe("refused");
    expect(await knock("no such address:x")).toBe("unknown");
  });

  test("takes addresses in brackets", async () => {
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

test("a worker asks its own server, and a redirect is the answer", async () => {
  const ask = newControlFetch(`http://127.0.0.1:${port}`);
  expect(await (await ask("/internal/a", { method: "POST", headers: {}, body: "{}" })).text()).toBe(
    "POST /internal/a",
  );
  expect((await ask("away", { method: "GET", headers: {} })).status).toBe(308);
});

test("the program at the terminal asks its own server, and goes nowhere else", async () => {
  const at = (path: string) => new URL(path, `http://127.0.0.1:${port}`);
  expect(await (await askOwnServer(at("/a"), { method: "PATCH" })).text()).toBe("PATCH /a");
  await expect(askOwnServer(at("/away"), {})).rejects.toThrow("fetch failed");
});
