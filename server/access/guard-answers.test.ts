import { expect, test } from "vitest";
import { LIMITS } from "../limits";
import { type GuardOptions, guard, refuse } from "./guard";

const HOST = "127.0.0.1:3000";
const JSON_TYPE = { "content-type": "application/json" };
const FROM_PROGRAM = { ...JSON_TYPE, authorization: "Bearer t" };
let people = 0;

/** Somebody who is known, by a session and by a token; each test's own. */
function known(authScheme: GuardOptions["authScheme"], more: Partial<GuardOptions> = {}): GuardOptions {
  const id = `guard answers ${people++}`;
  return {
    authScheme,
    recognition: {
      sessionOf: ({ headers }) => (headers.has("cookie") ? { kind: "session", id } : null),
      tokenOf: ({ headers }) => (headers.has("authorization") ? { kind: "token", id } : null),
    },
    ...more,
  };
}
const post = (headers: Record<string, string>, body: BodyInit | null = "{}") =>
  new Request(`http://${HOST}/api/v1/runs`, {
    method: "POST",
    headers: {
      host: HOST,
      ...(typeof body === "string" ? { "content-length": String(Buffer.byteLength(body)) } : {}),
      ...headers,
    },
    body,
    ...(typeof body === "string" ? {} : { duplex: "half" }),
  });
const read = (headers: Record<string, string>, query = "") =>
  new Request(`http://${HOST}/api/v1/runs${query}`, { headers: { host: HOST, ...headers } });

async function answered(request: Request, options: GuardOptions) {
  const result = await guard(request, options);
  if (!(result instanceof Response)) return "passed";
  const { error } = (await result.json()) as { error: { code: string; message: string } };
  expect(error.message).toMatch(/^[A-Z].*\.$/);
  return [result.status, error.code];
}
const api = (more: Partial<GuardOptions> = {}) => known("api", more);

test.each<[string, Request, GuardOptions, unknown]>([
  ["a foreign host name", read({ host: "evil.example" }), api(), [421, "wrong_host"]],
  ["a server action", post({ ...FROM_PROGRAM, "next-action": "a" }), api(), [405, "method_not_allowed"]],
  [
    "another site",
    post({ ...FROM_PROGRAM, cookie: "s=1", "sec-fetch-site": "cross-site" }),
    api(),
    [403, "cross_site"],
  ],
  ["no token", read({}), api(), [401, "unauthorized"]],
  [
    "a chunked body",
    post({ ...FROM_PROGRAM, "transfer-encoding": "chunked" }),
    api(),
    [411, "length_required"],
  ],
  [
    "a compressed body",
    post({ ...FROM_PROGRAM, "content-encoding": "gzip" }),
    api(),
    [415, "unsupported_media_type"],
  ],
  ["the identity encoding", post({ ...FROM_PROGRAM, "content-encoding": " Identity" }), api(), "passed"],
  [
    "a length that isn't a number",
    post({ ...FROM_PROGRAM, "content-length": "2x" }),
    api(),
    [400, "bad_request"],
  ],
  [
    "a length of sixteen digits",
    post({ ...FROM_PROGRAM, "content-length": "0000000000000002" }),
    api(),
    [400, "bad_request"],
  ],
  [
    "a length of fifteen digits",
    post({ ...FROM_PROGRAM, "content-length": "000000000000002" }),
    api(),
    "passed",
  ],
  ["a body of the maximum size", post(FROM_PROGRAM, '"four"'), api({ maxBytes: 6 }), "passed"],
  ["a body one byte larger", post(FROM_PROGRAM, '"fours"'), api({ maxBytes: 6 }), [413, "payload_too_large"]],
  [
    "a body longer than its header says",
    post({ ...FROM_PROGRAM, "content-length": "2" }, "[1,2,3,4]"),
    api({ maxBytes: 8 }),
    [413, "payload_too_large"],
  ],
  [
    "a body of the maximum size and a wrong length",
    post({ ...FROM_PROGRAM, "content-length": "2" }, "[1,2,34]"),
    api({ maxBytes: 8 }),
    "passed",
  ],
  [
    "a body too large for signing in",
    post(FROM_PROGRAM, `"${"x".repeat(LIMITS.body.login)}"`),
    api({ maxBytes: LIMITS.body.login }),
    [413, "payload_too_large"],
  ],
  [
    "a body over the default limit",
    post({ ...FROM_PROGRAM, "content-length": "3000000" }),
    api(),
    [413, "payload_too_large"],
  ],
  [
    "a body over 1 MiB",
    post({ ...FROM_PROGRAM, "content-length": "3000000" }),
    api({ maxBytes: 1024 * 1024 }),
    [413, "payload_too_large"],
  ],
  [
    "a body that isn't JSON",
    post({ ...FROM_PROGRAM, "content-type": "text/plain" }),
    api(),
    [415, "unsupported_media_type"],
  ],
  [
    "an empty body as plain text",
    post({ authorization: "Bearer t", "content-type": "text/plain", "content-length": "0" }, null),
    api(),
    [415, "unsupported_media_type"],
  ],
  ["an empty body", post({ authorization: "Bearer t", "content-length": "0" }, null), api(), "passed"],
  [
    "an empty body from the app",
    post({ cookie: "s=1", origin: `http://${HOST}`, "content-length": "0" }, null),
    known("app"),
    [415, -32015],
  ],
  [
    "an interrupted body",
    post(
      { ...FROM_PROGRAM, "content-length": "9" },
      new ReadableStream({ pull: () => Promise.reject(new Error("lost")) }),
    ),
    api(),
    [400, "bad_request"],
  ],
  [
    "a body that isn't UTF-8",
    post({ ...FROM_PROGRAM, "content-length": "3" }, new Uint8Array([0x22, 0xe4, 0x22])),
    api(),
    [400, "bad_request"],
  ],
  ["an input in the query", read(FROM_PROGRAM, "?input=%7B%7D"), api(), "passed"],
  ["no input in the query", read(FROM_PROGRAM, "?other=1"), api(), "passed"],
])(
  "a request with %s passes or is rejected with its status and code",
  async (_what, request, options, expected) => {
    expect(await answered(request, options)).toEqual(expected);
  },
);

test.each(["GET", "HEAD"])("a %s request from the app needs no Origin header", async (method) => {
  const request = new Request(`http://${HOST}/`, { method, headers: { host: HOST, cookie: "s=1" } });
  expect(await answered(request, known("app"))).toBe("passed");
});

test.each<[Record<string, string>, GuardOptions["authScheme"], unknown]>([
  [{}, "public", 403],
  [{ origin: `http://${HOST}` }, "public", "passed"],
  [{ "sec-fetch-site": "same-origin" }, "public", "passed"],
  [{ "sec-fetch-site": "none" }, "public", 403],
  [{ "sec-fetch-site": "same-site" }, "public", 403],
  [{ "sec-fetch-site": "same-origin", origin: "null" }, "public", 403],
  [{ authorization: "Bearer t" }, "public", 403],
  [{ authorization: "Bearer t" }, "api", "passed"],
  [{ authorization: "Bearer t", "sec-fetch-site": "cross-site" }, "api", "passed"],
  [{ authorization: "Bearer t", cookie: "a=b", "sec-fetch-site": "cross-site" }, "api", 403],
  [{ authorization: "Bearer t", cookie: "a=b" }, "api", "passed"],
  [{ "sec-fetch-site": "cross-site" }, "api", 403],
  [{}, "api", 401],
])("a write with headers %j under the scheme %s is checked", async (headers, scheme, expected) => {
  const got = await answered(post({ ...JSON_TYPE, ...headers }), known(scheme));
  expect(Array.isArray(got) ? got[0] : got).toBe(expected);
});

test("a request that passes carries its principal and is otherwise unchanged", async () => {
  const passed = await guard(post(FROM_PROGRAM, '{"ä":1}'), api());
  if (passed instanceof Response) return expect.fail(`refused with ${passed.status}`);
  expect(passed.principal).toEqual({ kind: "token", id: `guard answers ${people - 1}` });
  const { method, url, headers } = passed.request;
  expect(method).toBe("POST");
  expect(url).toBe(`http://${HOST}/api/v1/runs`);
  expect(headers.get("authorization")).toBe("Bearer t");
  expect(await passed.request.text()).toBe('{"ä":1}');
});

test("a body in several chunks is read in order, and an empty body stays empty", async () => {
  const parts = ["[1,", "2,", "3]"];
  const stream = new ReadableStream({
    pull(out) {
      const part = parts.shift();
      if (part === undefined) out.close();
      else out.enqueue(new TextEncoder().encode(part));
    },
  });
  const passed = await guard(post({ ...FROM_PROGRAM, "content-length": "7" }, stream), api());
  expect(passed instanceof Response ? passed.status : await passed.request.json()).toEqual([1, 2, 3]);
  const nothing = new ReadableStream({ pull: (out) => out.close() });
  const empty = await guard(post(FROM_PROGRAM, nothing), api());
  expect(empty instanceof Response ? empty.status : empty.request.body).toBeNull();
});

test("the public scheme requires no principal", async () => {
  const passed = await guard(read({}), known("public"));
  expect(passed instanceof Response ? passed.status : passed.principal).toBeNull();
});

test("a rate-limited request is rejected with the time to wait", async () => {
  const options = known("app");
  const turns = LIMITS.rate.app.burst * 3;
  let rejected: Response | undefined;
  for (let n = 0; n < turns && !rejected; n++) {
    const result = await guard(read({ cookie: "s=1" }), options);
    if (result instanceof Response) rejected = result;
  }
  expect(rejected?.status).toBe(429);
  expect(rejected?.headers.get("retry-after")).toBe("1");
  expect(await rejected?.json()).toEqual({
    error: {
      code: -32029,
      message: "Too many requests. Try again in 1 s.",
      data: { code: "TOO_MANY_REQUESTS", httpStatus: 429, detail: null },
    },
  });
});

test.each([
  [400, -32600, "BAD_REQUEST"],
  [401, -32001, "UNAUTHORIZED"],
  [403, -32003, "FORBIDDEN"],
  [405, -32005, "METHOD_NOT_SUPPORTED"],
  [411, -32600, "BAD_REQUEST"],
  [413, -32013, "PAYLOAD_TOO_LARGE"],
  [415, -32015, "UNSUPPORTED_MEDIA_TYPE"],
  [421, -32600, "BAD_REQUEST"],
  [429, -32029, "TOO_MANY_REQUESTS"],
])("a rejection with status %i is readable by the app and by programs", async (status, code, name) => {
  const refusal = { status, code: "OUR_WORD", message: "No.", headers: { "retry-after": "5" } };
  const app = refuse(refusal, "app");
  expect(await app.json()).toEqual({
    error: { code, message: "No.", data: { code: name, httpStatus: status, detail: null } },
  });
  for (const authScheme of ["api", "public"] as const) {
    const response = refuse(refusal, authScheme);
    expect(await response.json()).toEqual({ error: { code: "our_word", message: "No." } });
    expect(response.status).toEqual(status);
    expect(Object.fromEntries(response.headers)).toEqual({
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
      "content-type": "application/json",
      "retry-after": "5",
      "x-content-type-options": "nosniff",
    });
  }
});
