import { describe, expect, test, vi } from "vitest";
import { JSON_LIMITS } from "@/server/domain/base/json-limits";
import { type GuardOptions, guard } from "./guard";
import type { Principal, Recognition } from "./principal";
import { isOwnHost, isOwnOrigin } from "./requests/hosts";
import { takeFromRateLimit } from "./requests/rate-limit";

const HOST = "127.0.0.1:3000";
let people = 0;

/** Recognises one session and one token, each test's own, so that tests do not use up each other's turns. */
function guardOptions(
  authScheme: GuardOptions["authScheme"],
  extra: Partial<GuardOptions> = {},
): GuardOptions {
  const id = String(people++);
  const recognition: Recognition = {
    sessionOf: (request): Principal | null =>
      request.headers.get("cookie") === "s=1" ? { kind: "session", id } : null,
    tokenOf: (request): Principal | null =>
      request.headers.get("authorization") === "Bearer t" ? { kind: "token", id } : null,
  };
  return { authScheme, recognition, ...extra };
}

function request(headers: Record<string, string>, body?: string | ReadableStream, method?: string): Request {
  const length = typeof body === "string" ? { "content-length": String(Buffer.byteLength(body)) } : {};
  return new Request(`http://${HOST}/api/trpc/x`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { host: HOST, ...length, ...headers },
    body: body || undefined,
    ...(typeof body === "object" ? { duplex: "half" } : {}),
  } as RequestInit);
}

const JSON_TYPE = { "content-type": "application/json" };
const FROM_APP = { ...JSON_TYPE, cookie: "s=1", origin: `http://${HOST}`, "sec-fetch-site": "same-origin" };
const FROM_PROGRAM = { ...JSON_TYPE, authorization: "Bearer t" };

/** The status that a request is refused with, or "passed". */
async function outcome(asked: Request, options: GuardOptions): Promise<number | "passed"> {
  const result = await guard(asked, options as GuardOptions & { authScheme: "app" });
  return result instanceof Response ? result.status : "passed";
}

describe("allowed requests", () => {
  const cases: [
    string,
    GuardOptions["authScheme"],
    Record<string, string>,
    string | undefined,
    number | "passed",
  ][] = [
    ["a read from the app", "app", { cookie: "s=1", "sec-fetch-site": "same-origin" }, undefined, "passed"],
    ["a write from the app", "app", FROM_APP, "{}", "passed"],
    [
      "a browser that sends Origin only",
      "app",
      { ...JSON_TYPE, cookie: "s=1", origin: `http://${HOST}` },
      "{}",
      "passed",
    ],
    ["a request without a session", "app", { "sec-fetch-site": "same-origin" }, undefined, 401],
    ["a token in place of a session", "app", { authorization: "Bearer t" }, undefined, 401],
    ["a write from another site", "app", { ...FROM_APP, origin: "https://evil.example" }, "{}", 403],
    ["a write from a sandboxed frame", "app", { ...FROM_APP, origin: "null" }, "{}", 403],
    ["a write from another port", "app", { ...FROM_APP, "sec-fetch-site": "same-site" }, "{}", 403],
    ["a write with another Origin port", "app", { ...FROM_APP, origin: "http://127.0.0.1:4000" }, "{}", 403],
    ["a read from another site", "app", { cookie: "s=1", "sec-fetch-site": "cross-site" }, undefined, 403],
    ["a write without an Origin", "app", { ...JSON_TYPE, cookie: "s=1" }, "{}", 403],
    ["a form sent as text", "app", { ...FROM_APP, "content-type": "text/plain" }, "{}", 415],
    [
      "a form with files",
      "app",
      { ...FROM_APP, "content-type": "multipart/form-data; boundary=x" },
      "--x--",
      415,
    ],
    ["a type that resembles JSON", "app", { ...FROM_APP, "content-type": "application/jsonp" }, "{}", 415],
    ["an empty write without a type", "app", { cookie: "s=1", origin: `http://${HOST}` }, "", 415],
    ["a server action", "app", { ...FROM_APP, "next-action": "abc" }, "{}", 405],
    ["a compressed body", "app", { ...FROM_APP, "content-encoding": "gzip" }, "{}", 415],
    ["a foreign host name", "app", { ...FROM_APP, host: "evil.example" }, "{}", 421],
    ["a foreign host name with our port", "app", { ...FROM_APP, host: "evil.example:3000" }, "{}", 421],
    ["a program with a token", "api", FROM_PROGRAM, "{}", "passed"],
    [
      "a program on a page of another site",
      "api",
      { ...FROM_PROGRAM, origin: "https://tool.example" },
      "{}",
      "passed",
    ],
    ["a program's write without a body", "api", { authorization: "Bearer t" }, "", "passed"],
    [
      "an empty write from a program, declared as a form",
      "api",
      { authorization: "Bearer t", "content-type": "application/x-www-form-urlencoded" },
      "",
      415,
    ],
    ["a program's body without a type", "api", { authorization: "Bearer t" }, "{}", 415],
    [
      "an empty write from the app, which another site could also send",
      "app",
      { cookie: "s=1", origin: `http://${HOST}`, "sec-fetch-site": "same-origin" },
      "",
      415,
    ],
    ["text from a program", "api", { authorization: "Bearer t", "content-type": "text/plain" }, "x", 415],
    ["an API request without a token", "api", JSON_TYPE, "{}", 401],
    ["a session in place of a token", "api", FROM_APP, "{}", 401],
    ["a wrong token", "api", { ...FROM_PROGRAM, authorization: "Bearer u" }, "{}", 401],
    [
      "a token and a cookie from another site",
      "api",
      { ...FROM_PROGRAM, cookie: "s=1", origin: "https://evil.example" },
      "{}",
      403,
    ],
    ["a program under a foreign host", "api", { ...FROM_PROGRAM, host: "evil.example" }, "{}", 421],
    ["a public read without a session", "public", {}, undefined, "passed"],
    ["a sign-in from another site", "public", { ...JSON_TYPE, origin: "https://evil.example" }, "{}", 403],
  ];
  test.each(cases)("the guard passes or rejects %s", async (_what, who, headers, body, expected) => {
    expect(await outcome(request(headers, body), guardOptions(who))).toBe(expected);
  });

  test("headers that proxies and frameworks trust don't bypass the guard", async () => {
    const tricks = [
      "x-middleware-subrequest",
      "x-middleware-next",
      "x-nextjs-data",
      "x-matched-path",
      "x-forwarded-host",
      "x-original-url",
      "rsc",
    ];
    for (const name of tricks)
      expect([name, await outcome(request({ [name]: "1" }), guardOptions("app"))]).toEqual([name, 401]);
    expect(
      await outcome(request({ host: "evil.example", "x-forwarded-host": HOST }), guardOptions("app")),
    ).toBe(421);
  });
});

describe("request bodies", () => {
  const limit = 1_000;
  const send = (body: string | ReadableStream, headers: Record<string, string> = {}) =>
    outcome(request({ ...FROM_APP, ...headers }, body), guardOptions("app", { maxBytes: limit }));

  test("a body that is too long, by its header or its actual length, is rejected", async () => {
    expect(await send(`"${"x".repeat(limit)}"`)).toBe(413);
    expect(await send(`"${"x".repeat(limit)}"`, { "content-length": "10" })).toBe(413);
    expect(await send("{}", { "content-length": "99999999999" })).toBe(413);
    expect(await send("{}", { "content-length": "-1" })).toBe(400);
  });

  test("a body without a length is rejected", async () => {
    const stream = new Response("{}").body ?? "";
    expect(await send(stream)).toBe(411);
    expect(await send("{}", { "transfer-encoding": "chunked" })).toBe(411);
  });

  test("an endless body is read no further than the limit", async () => {
    let pulled = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(100));
      },
    });
    expect(await send(endless, { "content-length": "10" })).toBe(413);
    expect(pulled).toBeLessThan(20);
  });

  test("a JSON body must be UTF-8, in its header and its bytes", async () => {
    const typed = (type: string) => send("{}", { "content-type": type });
    for (const type of [
      "application/json; charset=utf-8",
      'Application/JSON;charset="UTF-8"',
      "application/json; v=1",
    ])
      expect(await typed(type), type).toBe("passed");
    for (const charset of ["utf-16", "iso-8859-1", '"utf-7"', "", "utf-8; charset=utf-16"])
      expect(await typed(`application/json; charset=${charset}`), charset).toBe(415);
    for (const type of ["application/json ; charset=utf8", "application/json;"])
      expect(await typed(type), type).toBe("passed");
    for (const type of [
      "x-application/json",
      "application/json x",
      "application/json; charset=xutf-8",
      "application/json; charset=utf-88",
    ])
      expect(await typed(type), type).toBe(415);
    const bytes = new Response(new Uint8Array([0x22, 0xe4, 0x22])).body ?? "";
    expect(await send(bytes, { "content-length": "3" })).toBe(400);
  });

  test("a body that passed the guard can still be read", async () => {
    const body = JSON.stringify({ words: 'with "quotes" and \\ [brackets] {in} them' });
    const passed = await guard(
      request(FROM_APP, body),
      guardOptions("app") as GuardOptions & { authScheme: "app" },
    );
    expect(passed instanceof Response ? passed.status : await passed.request.json()).toEqual(
      JSON.parse(body),
    );
  });

  test("a JSON bomb is rejected before it is parsed", async () => {
    const parse = vi.spyOn(JSON, "parse");
    const bomb = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    const options = () => guardOptions("app");
    const tried = async (body: string) => outcome(request(FROM_APP, body), options());
    expect(await tried(bomb(JSON_LIMITS.depth))).toBe("passed");
    expect(await tried(bomb(JSON_LIMITS.depth + 1))).toBe(400);
    expect(await tried(bomb(100_000))).toBe(400);
    expect(await tried("[".repeat(2_000_000))).toBe(400);
    expect(await tried(`{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":1`).join()}}`)).toBe(400);
    expect(await tried(`{"${"k".repeat(200)}":1}`)).toBe(400);
    const edges = (count: number) => `{"nodes":{},"edges":[${Array(count).fill(1).join()}]}`;
    expect(await tried(edges(JSON_LIMITS.values - 5))).toBe("passed");
    expect(await tried(edges(900_000))).toBe(400);
    expect(await tried(`{"text":"${",".repeat(900_000)}"}`)).toBe("passed");
    expect(await tried(`{"text":"${'[{\\"'.repeat(1_000)}"}`)).toBe("passed");
    expect(parse).not.toHaveBeenCalled();
  });

  test("a query's input is checked like a body", async () => {
    const deep = encodeURIComponent("[".repeat(200));
    const asked = new Request(`http://${HOST}/api/trpc/x?input=${deep}`, {
      headers: { host: HOST, cookie: "s=1" },
    });
    expect(await outcome(asked, guardOptions("app"))).toBe(400);
  });
});

test("a rejected app request has an error body that tRPC's client can read", async () => {
  const result = await guard(request({}), guardOptions("app") as GuardOptions & { authScheme: "app" });
  expect(await (result as Response).json()).toEqual({
    error: {
      code: -32001,
      message: "Sign in first.",
      data: { code: "UNAUTHORIZED", httpStatus: 401, detail: null },
    },
  });
});

test("only this server's own host names and origins are accepted", () => {
  const local = { PORT: "3100" };
  for (const host of ["127.0.0.1:3100", "localhost:3100", "LOCALHOST:3100", "[::1]:3100"])
    expect([host, isOwnHost(host, local)]).toEqual([host, true]);
  for (const host of [
    "127.0.0.1",
    "127.0.0.1:3000",
    "evil.example:3100",
    "127.0.0.1.evil.example:3100",
    "",
    "localhost:3100.evil.example",
    "127.0.0.1:3100@evil",
  ])
    expect([host, isOwnHost(host, local)]).toEqual([host, false]);
  expect(isOwnHost("localhost", { PORT: "80" })).toBe(true);
  expect(isOwnHost("192.168.0.7:3000", { HOST: "192.168.0.7" })).toBe(true);
  expect(isOwnHost("example.org:3000", { HOST: "0.0.0.0" })).toBe(false);

  const open = { TROUPE_PUBLIC_URL: "https://troupe.example.org/" };
  expect(isOwnHost("troupe.example.org", open)).toBe(true);
  expect(isOwnOrigin("https://troupe.example.org", open)).toBe(true);
  expect(isOwnOrigin("https://troupe.example.org.evil.example", open)).toBe(false);
  expect(isOwnOrigin("null", open)).toBe(false);
  expect(isOwnOrigin("http://localhost:3000", open)).toBe(true);
});

test("a rate-limited call waits and then continues", () => {
  const rate = { perSecond: 10, burst: 3 };
  const at = (now: number) => takeFromRateLimit("someone", rate, now);
  expect([at(0), at(0), at(0), at(0)]).toEqual([0, 0, 0, 1]);
  expect([at(100), at(100)]).toEqual([0, 1]);
});
