import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newControlFetch } from "@/server/egress/control";
import type { SegmentProgress } from "@/server/runner/lifecycle/segment-progress";
import { registerSecret } from "@/server/secrets/redact";
import { type ControlSide, newControlSide, TOKEN } from "./testing";
import { ControlAway, ControlRejected, newControlClient } from "./worker/control-client";

let side: ControlSide;
beforeEach(async () => {
  side = newControlSide();
  await side.start();
});
afterEach(() => side.stop());

const ask = (path: string, init: RequestInit = {}) => fetch(`${side.url}${path}`, init);
const asWorker = (path: string, body: unknown, token = TOKEN) =>
  ask(path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

const news: SegmentProgress = {
  run_id: "run_a",
  stretch: 2,
  worker: "north",
  turns: [
    {
      turn: 3,
      key: "k",
      result: { ok: true, value: "the key is hunter2hunter2" },
      at: 5,
      lastSeq: 9,
      inlined: 0,
      events: [],
      timers: [],
    },
  ],
  end: { kind: "rested", signals: 1 },
};

describe("requests without the worker token", () => {
  const paths = [
    "/turns",
    "/journal?run=run_a&stretch=2",
    "/stretch/taken",
    "/line/ask",
    "/heartbeat",
    "/tools/invoke",
    "/providers",
    "/nowhere",
  ];
  test.each([
    ["no token", {}],
    ["another token", { authorization: "Bearer a-token-that-server-and-workers-have-not" }],
    ["a longer token", { authorization: `Bearer ${TOKEN}${TOKEN}` }],
    ["another scheme", { authorization: `Basic ${btoa(`:${TOKEN}`)}` }],
  ])("a request with %s gets the same rejection at every path", async (_what, headers: HeadersInit) => {
    const answers = await Promise.all(
      paths.flatMap((path) => [
        ask(path, { headers }),
        ask(path, { method: "POST", headers, body: JSON.stringify(news) }),
      ]),
    );
    const responses = await Promise.all(
      answers.map(async (answer) => [answer.status, [...answer.headers.keys()].sort(), await answer.text()]),
    );
    expect(new Set(responses.map((one) => JSON.stringify(one)))).toEqual(
      new Set([
        JSON.stringify([
          401,
          ["cache-control", "connection", "content-length", "content-type", "date"],
          '{"error":{"code":"UNAUTHORIZED","message":"Unauthorized."}}',
        ]),
      ]),
    );
    expect(side.heard).toEqual({ news: [], live: [] });
    // Once, however often it tries.
    expect(side.logged).toEqual(["A request without the worker token reached the workers' port."]);
  });

  test("a worker with the wrong token gets an error that names the setting", async () => {
    const unauthorizedClient = newControlClient({ fetch: newControlFetch(side.url), token: "x".repeat(32) });
    await expect(unauthorizedClient.report(news)).rejects.toThrow(
      "The server rejects this worker: set TROUPE_WORKER_TOKEN to the same value as on the server.",
    );
  });
});

describe("worker requests", () => {
  test("a worker reports turns, and known secrets in them are redacted", async () => {
    registerSecret("hunter2hunter2");
    await side.client().report(news);
    expect(side.heard.news).toEqual([
      { ...news, turns: [{ ...news.turns[0], result: { ok: true, value: "the key is [hidden]" } }] },
    ]);
  });

  test("a worker forwards partial output of models", async () => {
    const frame = { type: "llm_delta", call_id: "c", channel: "content", offset: 0, text: "Hel" } as const;
    await side.client().live({ run_id: "run_a", frames: [frame] });
    expect(side.heard.live).toEqual([{ run_id: "run_a", frames: [frame] }]);
  });

  test("a worker gets the log of an active segment and null for others", async () => {
    const client = side.client();
    expect(await client.journal("run_a", 2)).toEqual({ turns: [], timers: [] });
    expect(await client.journal("run_a", 1)).toBeNull();
  });

  test("a worker claims a segment and can check whether it still has it", async () => {
    const client = side.client();
    const hold = { run_id: "run_a", stretch: 2, worker: "holder" };
    await client.taken(hold, new AbortController().signal);
    expect(side.heard.news).toEqual([{ taken: hold }]);
    expect([await client.isHeld(hold), await client.isHeld({ ...hold, worker: "other" })]).toEqual([
      true,
      false,
    ]);
  });

  test("an invalid request is rejected with the field", async () => {
    const responseTo = async (path: string, body: unknown) => {
      const answer = await asWorker(path, body);
      return [answer.status, await answer.json()];
    };
    expect(await responseTo("/turns", { ...news, stretch: 0 })).toEqual([
      400,
      { error: { code: "BAD_REQUEST", message: expect.stringMatching(/^stretch: /) } },
    ]);
    expect(await responseTo("/turns", "{")).toEqual([
      400,
      { error: { code: "BAD_REQUEST", message: "The body is not JSON." } },
    ]);
    expect(await responseTo("/learn", " ".repeat(1024 * 1024 + 1))).toEqual([
      413,
      { error: { code: "TOO_LARGE", message: "The body is larger than 1048576 bytes." } },
    ]);
    expect(await responseTo("/nowhere", {})).toEqual([
      404,
      { error: { code: "NOT_FOUND", message: "No such endpoint: POST /nowhere." } },
    ]);
    expect(side.heard.news).toEqual([]);
    await expect(side.client().ask("turns", {})).rejects.toThrow(ControlRejected);
  });

  test("a worker detects that the server is unavailable and repeats its request until it returns", async () => {
    const client = side.client();
    await side.stop();
    await expect(client.report(news)).rejects.toThrow(ControlAway);
    const asked = client.insist("tools/withdrawn", { role: "Writer", tool: "file_write" });
    await side.start();
    expect(await asked).toBeNull();
  });

  test("a worker stops repeating a request once it is aborted", async () => {
    const client = side.client();
    await side.stop();
    const abort = new AbortController();
    const asked = client.insist("tools/specs", {}, { signal: abort.signal });
    abort.abort(new Error("cancelled"));
    await expect(asked).rejects.toThrow();
    await side.start();
  });
});
