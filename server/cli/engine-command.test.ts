import { expect, test, vi } from "vitest";
import { engineOf, workerOf } from "@/server/domain/testing/engine";
import { newApi } from "@/server/http-api/testing";
import { engineCommand, engineLines } from "./engine-command";

function newTerminal() {
  const api = newApi();
  const printed: string[] = [];
  const messages: string[] = [];
  const call = (...argv: string[]) =>
    engineCommand(["engine", ...argv], {
      async send(url, { method }) {
        const answer = await api.ask(method ?? "GET", url.pathname.replace("/api/v1", ""));
        return new Response(JSON.stringify(answer.body), { status: answer.status });
      },
      env: {},
      print: (line) => printed.push(line),
      log: (line) => messages.push(line),
      wait: () => Promise.resolve(),
    });
  return { api, call, printed, told: messages };
}

test("a server that carries out its runs itself says so in one line, and nothing is amiss", async () => {
  const { call, printed } = newTerminal();
  expect(await call()).toBe(0);
  expect(printed).toEqual(["Carried out by: This server"]);
});

test("what is amiss makes the exit code, and JSON has all of it", async () => {
  const { api, call, printed } = newTerminal();
  const state = engineOf({ ok: false, message: "No worker is there.", workers: [] });
  vi.spyOn(api.engine, "state").mockReturnValue(state);
  expect(await call("--json")).toBe(1);
  expect(JSON.parse(printed.join("\n"))).toEqual(state);
});

test("what cannot be asked is told with its reason", async () => {
  const { api, call, told: messages } = newTerminal();
  vi.spyOn(api, "ask").mockResolvedValue({ status: 401, body: {}, headers: new Headers() });
  expect(await call()).toBe(2);
  expect(messages).toEqual([
    "The server does not know this token: set TROUPE_API_TOKEN to one of its tokens.",
  ]);
  await expect(call("worker-1")).rejects.toThrow('"worker-1" is one too many.');
});

test("engine and workers are told line by line", () => {
  const now = 10_000_000;
  const state = engineOf({
    message: "Restate does not answer.",
    workers: [
      workerOf("gpu-1", { labels: ["gpu", "eu-west"], seen_at: now - 2_000 }),
      workerOf("old", { state: "gone", version: "0.9.0", seen_at: now - 9_000_000 }),
    ],
    at_work: 1,
    outbox: { waiting: 4, oldest_at: now - 180_000, away_since: null },
  });
  const stalledRun = { run_id: "run_1", state: "tried_again", tries: 7, cause: "No worker." } as const;
  const stalledRuns = [{ ...stalledRun, workflow_id: null, workflow_name: "Approval" }];
  expect(engineLines({ ...state, troubled: stalledRuns }, now)).toEqual([
    "Carried out by: 1 worker over Restate",
    "Restate does not answer.",
    "At work there: 1 run",
    "Outbox: 4 messages wait for the engine; the oldest came 3 min ago",
    "Workers:",
    "  gpu-1: Working; 3 of 16 runs; 210 MB; Troupe 1.0.0; last heard of 2 s ago; gpu, eu-west",
    "  old: Gone: nothing is heard of it; Troupe 0.9.0; last heard of 3 h ago",
    "Runs that do not get on:",
    "  run_1 (Approval): No worker. It is tried again by itself; 7 tries so far.",
  ]);
});
