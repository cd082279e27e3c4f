import { afterEach, expect, test, vi } from "vitest";
import { LIMITS } from "@/server/limits";
import type { Principal } from "../principal";
import { inStreamPlace, streamLimits, takeStream } from "./streams";

const places: { release(): void }[] = [];
afterEach(() => {
  for (const place of places.splice(0)) place.release();
  vi.unstubAllEnvs();
});
const person = (id: string): Principal => ({ kind: "session", id });
/** Takes so many places, and says how many there were. */
function take(who: Principal, times: number) {
  for (let n = 0; n < times; n++) {
    const place = takeStream(who);
    if (typeof place === "string") return n;
    places.push(place);
  }
  return times;
}
function ask(id: string, headers: Record<string, string> = { accept: "text/html, text/event-stream" }) {
  const abort = new AbortController();
  const request = new Request("http://127.0.0.1:3000/", { headers, signal: abort.signal });
  return { watcher: { principal: person(id), request }, leave: () => abort.abort() };
}
const free = (id: string) => {
  const place = takeStream(person(id), { perPrincipal: 1, perProcess: LIMITS.streams.perProcess });
  if (typeof place === "string") return false;
  place.release();
  return true;
};
const endless = async () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }));

test("a setting limits the streams per client", () => {
  vi.stubEnv("TROUPE_MAX_STREAMS", "3");
  expect(streamLimits()).toEqual({ perPrincipal: 3, perProcess: 1_000 });
});

test.each([
  ["at their own limit", "TROUPE_MAX_STREAMS", 429, "TOO_MANY_REQUESTS", -32029],
  ["at the server's limit", null, 503, "BAD_REQUEST", -32600],
])(
  "a client %s is rejected with the time to wait, and its handler isn't called",
  async (_what, setting, status, code, number) => {
    if (setting) {
      vi.stubEnv(setting, "2");
      expect(take(person("full"), 9)).toBe(2);
    } else for (let n = 0; n < 1_000; n++) take(person(`one of many ${n}`), 1);
    const answer = vi.fn(endless);
    const response = await inStreamPlace(ask("full").watcher, answer);
    expect(response.status).toEqual(status);
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await response.json()).toEqual({
      error: {
        code: number,
        message: "Too many pages are connected to this server. Close some and try again.",
        data: { code, httpStatus: status, detail: null },
      },
    });
    expect(answer).not.toHaveBeenCalled();
  },
);

test.each([{}, { accept: "application/json" }] as Record<string, string>[])(
  "a request that doesn't accept streams takes no slot (%j)",
  async (headers) => {
    const given = await endless();
    expect(await inStreamPlace(ask("reader", headers).watcher, async () => given)).toBe(given);
    expect(free("reader")).toBe(true);
  },
);

test("a response without a body releases its slot at once", async () => {
  const given = new Response(null, { status: 204 });
  expect(await inStreamPlace(ask("empty").watcher, async () => given)).toBe(given);
  expect(free("empty")).toBe(true);
});

test("a streamed response keeps its status and headers", async () => {
  const given = new Response("data: 1\n\n", {
    status: 202,
    statusText: "Soon",
    headers: { "x-run": "run_1" },
  });
  const got = await inStreamPlace(ask("whole").watcher, async () => given);
  expect(got.status).toBe(202);
  expect(got.statusText).toBe("Soon");
  expect(got.headers.get("x-run")).toBe("run_1");
  expect(await got.text()).toBe("data: 1\n\n");
});

test("a broken connection releases its slot", async () => {
  const { watcher, leave } = ask("gone");
  await inStreamPlace(watcher, endless);
  expect(free("gone")).toBe(false);
  leave();
  expect(free("gone")).toBe(true);
});

test("a failing stream releases its slot, and its reader gets the error", async () => {
  const failing = new ReadableStream({ pull: () => Promise.reject(new Error("lost")) });
  const got = await inStreamPlace(ask("failed").watcher, async () => new Response(failing));
  await expect(got.text()).rejects.toThrow("lost");
  expect(free("failed")).toBe(true);
});

test("a reader that disconnects cancels the source", async () => {
  const cancel = vi.fn();
  const got = await inStreamPlace(
    ask("left").watcher,
    async () => new Response(new ReadableStream({ cancel })),
  );
  await got.body?.cancel("enough");
  expect(cancel.mock.calls).toEqual([["enough"]]);
});

test("releasing a slot leaves the client's other slots taken", () => {
  vi.stubEnv("TROUPE_MAX_STREAMS", "2");
  expect(take(person("two"), 2)).toBe(2);
  places.pop()?.release();
  expect(free("two")).toBe(false);
  expect(take(person("two"), 2)).toBe(1);
});
