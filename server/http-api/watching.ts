import { z } from "zod";
import packageJson from "@/package.json";
import { EngineState, StalledRun, WorkerState } from "@/server/domain/run/engine-state";
import type { Services } from "@/server/operations/services";
import { endpoint } from "./endpoint";
import { exposition, METRICS_TYPE, type Metric } from "./prometheus";

const { version } = packageJson;

/** For how long an answer holds that everybody may ask for, in milliseconds. */
const HEALTH_HOLDS_MS = 1_000;

const EngineHealth = z.object({
  kind: EngineState.shape.kind,
  ok: z.boolean().meta({ description: "Whether the engine works normally" }),
  workers: z.int().meta({ description: "Number of workers that accept runs" }),
  outbox_age_ms: z.int().nullable().meta({
    description: "How long the oldest message has been waiting for the engine; null if none is",
  }),
});

const RunsHealth = z.object({
  quarantined: z.int().meta({ description: "Number of quarantined runs (status `held`)" }),
  next_retry_at: z.int().nullable().meta({
    description:
      "When the next quarantined run is retried automatically, in Unix milliseconds; null if none is",
  }),
});

const Health = z.object({
  status: z.literal("ok"),
  version: z.string(),
  engine: EngineHealth,
  runs: RunsHealth,
});

const healths = new WeakMap<Services["engine"], { at: number; health: z.output<typeof Health> }>();

/** How engine and runs stand, for anybody: no names and no addresses. Looked at once a second at most, however many ask. */
function healthOf({ engine, runs }: Pick<Services, "engine" | "runs">): z.output<typeof Health> {
  const now = Date.now();
  const last = healths.get(engine);
  if (last && now >= last.at && now - last.at < HEALTH_HOLDS_MS) return last.health;
  const { kind, ok, workers, outbox } = engine.state();
  const health = {
    status: "ok" as const,
    version,
    engine: {
      kind,
      ok,
      workers: workers.filter(({ state }) => state === "working").length,
      outbox_age_ms: outbox.oldest_at === null ? null : since(outbox.oldest_at, now),
    },
    runs: runs.quarantine(),
  };
  healths.set(engine, { at: now, health });
  return health;
}

const since = (at: number, now: number) => Math.max(0, now - at);

/** For monitoring: health and metrics. */
export const watchingEndpoints = [
  endpoint({
    method: "GET",
    path: "/health",
    name: "getHealth",
    summary: "Check the health of the server and its engine",
    tag: "Server",
    needs: "public",
    success: {
      status: 200,
      about: "The server works; `engine.ok` shows whether the engine does",
      schema: Health,
    },
    answer: ({ services }) => ({ body: healthOf(services) }),
  }),

  endpoint({
    method: "GET",
    path: "/metrics",
    name: "getMetrics",
    summary: "Get metrics for Prometheus",
    about:
      "Prometheus text format 0.0.4: runs by status, the engine and its workers, and the memory and CPU usage of the process. In Prometheus, set the token as `credentials`.",
    tag: "Server",
    needs: "read",
    success: { status: 200, about: "The metrics, as text/plain" },
    answer: ({ services }) =>
      new Response(exposition(metricsOf(services)), { headers: { "content-type": METRICS_TYPE } }),
  }),
];

const metricsOf = ({ runs, engine }: Pick<Services, "runs" | "engine">): Metric[] => [
  one("troupe_info", "Running version", { labels: { version }, value: 1 }),
  {
    name: "troupe_runs",
    help: "Stored runs by status; runs in the trash count as finished",
    type: "gauge",
    samples: Object.entries(runs.counts()).map(([status, value]) => ({ labels: { status }, value })),
  },
  ...engineMetrics(engine.state(), Date.now()),
  ...processMetrics(),
];

function engineMetrics(state: EngineState, now: number): Metric[] {
  const { kind, ok, workers, at_work, outbox, troubled } = state;
  const there = workers.filter((worker) => worker.state !== "gone");
  const sum = (what: "running" | "limit") => there.reduce((all, worker) => all + worker[what], 0);
  return [
    one("troupe_engine_info", "Where new runs execute", { labels: { kind }, value: 1 }),
    one("troupe_engine_ok", "1 if the engine works normally", { value: ok ? 1 : 0 }),
    {
      name: "troupe_engine_workers",
      help: "Workers by state",
      type: "gauge",
      samples: WorkerState.shape.state.options.map((name) => ({
        labels: { state: name },
        value: workers.filter((worker) => worker.state === name).length,
      })),
    },
    one("troupe_engine_worker_runs", "Active runs on connected workers", { value: sum("running") }),
    one("troupe_engine_worker_places", "Maximum number of concurrent runs on connected workers", {
      value: sum("limit"),
    }),
    one("troupe_engine_runs_elsewhere", "Active runs outside this server", { value: at_work }),
    one("troupe_engine_outbox_waiting", "Messages waiting for the engine", { value: outbox.waiting }),
    one(
      "troupe_engine_outbox_age_seconds",
      "How long the oldest message has been waiting for the engine; 0 if none is",
      {
        value: seconds(outbox.oldest_at, now),
      },
    ),
    one("troupe_engine_away_seconds", "How long the engine has been unresponsive; 0 if it is responding", {
      value: seconds(outbox.away_since, now),
    }),
    {
      name: "troupe_engine_troubled_runs",
      help: "Runs that the engine can't advance, by state",
      type: "gauge",
      samples: StalledRun.shape.state.options.map((name) => ({
        labels: { state: name },
        value: troubled.filter((run) => run.state === name).length,
      })),
    },
  ];
}

const seconds = (at: number | null, now: number) => (at === null ? 0 : since(at, now) / 1_000);

/** By the names that Prometheus' own client libraries use. */
function processMetrics(): Metric[] {
  const { rss, heapUsed, heapTotal } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    {
      name: "process_cpu_seconds_total",
      help: "CPU time of the server process",
      type: "counter",
      samples: [{ value: (user + system) / 1e6 }],
    },
    one("process_resident_memory_bytes", "Resident memory of the server process", { value: rss }),
    one("process_start_time_seconds", "Start time of the server process, in Unix seconds", {
      value: Math.round(performance.timeOrigin) / 1_000,
    }),
    one("nodejs_heap_size_used_bytes", "Used JavaScript heap", { value: heapUsed }),
    one("nodejs_heap_size_total_bytes", "JavaScript heap", { value: heapTotal }),
  ];
}

const one = (name: string, help: string, sample: Metric["samples"][number]): Metric => ({
  name,
  help,
  type: "gauge",
  samples: [sample],
});
