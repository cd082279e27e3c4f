import { expect, test, vi } from "vitest";
import packageJson from "@/package.json";
import { engineOf, workerOf } from "@/server/domain/testing/engine";
import { expectSchema, newApi } from "./testing";

const UNHEALTHY = engineOf({
  ok: false,
  message:
    "Restate does not answer. Runs keep their position and continue when the engine is available again.",
  workers: [
    workerOf("worker-1", { running: 5 }),
    workerOf("worker-2", { state: "draining", running: 2 }),
    workerOf("worker-3", { state: "gone", running: 9 }),
  ],
  at_work: 7,
  outbox: { waiting: 4, oldest_at: 1_000, away_since: 3_000 },
  troubled: [{ run_id: "run_x", state: "paused", tries: 3, cause: "No worker was reachable." }],
});

test("health shows the version and status without authentication, and no names or addresses", async () => {
  const api = newApi();
  const anybody = { authorization: "" };
  const { status, body } = await api.ask("GET", "/health", undefined, anybody);
  expect([status, body]).toEqual([
    200,
    {
      status: "ok",
      version: packageJson.version,
      engine: { kind: "embedded", ok: true, workers: 0, outbox_age_ms: null },
      runs: { quarantined: 0, next_retry_at: null },
    },
  ]);
  expectSchema("getHealth", body);

  const clustered = newApi();
  vi.spyOn(clustered.engine, "state").mockReturnValue(UNHEALTHY);
  vi.useFakeTimers({ toFake: ["Date"], now: 10_000 });
  try {
    const { body: health } = await clustered.ask("GET", "/health", undefined, anybody);
    expect(health.engine).toEqual({ kind: "restate", ok: false, workers: 1, outbox_age_ms: 9_000 });
    expectSchema("getHealth", health);
  } finally {
    vi.useRealTimers();
  }
});

test("health requests check the engine at most once per second", async () => {
  const api = newApi();
  const stateSpy = vi.spyOn(api.engine, "state");
  vi.useFakeTimers({ toFake: ["Date"], now: 10_000 });
  try {
    for (const at of [10_000, 10_400, 10_999, 11_000, 11_500]) {
      vi.setSystemTime(at);
      await api.ask("GET", "/health");
    }
    expect(stateSpy).toHaveBeenCalledTimes(2);
  } finally {
    vi.useRealTimers();
  }
});

/** The samples of a scrape, by what stands before the number. */
const samplesOf = (text: string) =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => {
        const cut = line.lastIndexOf(" ");
        return [line.slice(0, cut), Number(line.slice(cut + 1))] as const;
      }),
  );

test("metrics require a token", async () => {
  expect((await newApi().ask("GET", "/metrics", undefined, { authorization: "" })).status).toBe(401);
});

test("metrics show runs by status, the engine and the process", async () => {
  const api = newApi();
  const { body } = await api.ask("POST", `/workflows/${api.addApproval()}/runs`, {
    input: { user_request: "May I leave?" },
  });
  await api.host.settled(body.run_id);
  vi.spyOn(api.engine, "state").mockReturnValue(UNHEALTHY);
  vi.useFakeTimers({ toFake: ["Date"], now: 10_000 });
  const response = await api.send("GET", "/metrics");
  vi.useRealTimers();
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const { process_cpu_seconds_total, ...samples } = samplesOf(await response.text());
  expect(process_cpu_seconds_total).toBeGreaterThan(0);
  const ofProcess = Object.keys(samples).filter((name) => !name.startsWith("troupe_"));
  expect(ofProcess).toEqual([
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "nodejs_heap_size_used_bytes",
    "nodejs_heap_size_total_bytes",
  ]);
  for (const name of ofProcess) {
    expect(samples[name]).toBeGreaterThan(0);
    delete samples[name];
  }
  expect(samples).toEqual({
    [`troupe_info{version="${packageJson.version}"}`]: 1,
    'troupe_runs{status="queued"}': 0,
    'troupe_runs{status="running"}': 0,
    'troupe_runs{status="waiting"}': 0,
    'troupe_runs{status="paused"}': 0,
    'troupe_runs{status="held"}': 0,
    'troupe_runs{status="finished"}': 1,
    'troupe_engine_info{kind="restate"}': 1,
    troupe_engine_ok: 0,
    'troupe_engine_workers{state="working"}': 1,
    'troupe_engine_workers{state="draining"}': 1,
    'troupe_engine_workers{state="gone"}': 1,
    troupe_engine_worker_runs: 7,
    troupe_engine_worker_places: 32,
    troupe_engine_runs_elsewhere: 7,
    troupe_engine_outbox_waiting: 4,
    troupe_engine_outbox_age_seconds: 9,
    troupe_engine_away_seconds: 7,
    'troupe_engine_troubled_runs{state="tried_again"}': 0,
    'troupe_engine_troubled_runs{state="paused"}': 1,
  });
});
