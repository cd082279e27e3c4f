// What it costs to carry runs out on Restate beside carrying them out in the server: the same runs, in one process and on
// workers, in turns. Prints its figures as one line of JSON; bench/cluster.ts shows them.
import { readFileSync } from "node:fs";
import process from "node:process";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { newStage } from "@/server/runner/testing";
import { type Figure, median, percentile } from "../../bench/table";
import { newCluster } from "./testing/cluster";
import { act, newWorld, ROLES, type WorldCall } from "./testing/world";

type Stage = ReturnType<typeof newStage>;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const names = (count: number, prefix: string) => Array.from({ length: count }, (_, k) => `${prefix}${k}`);
const agent = {
  node_type: "agent_task",
  config: { required_role: "Worker", task_description_template: "Help {{who}}." },
};

/** How many steps each has, that is to say nodes. */
const WORK: Record<string, { graph: WorkflowGraph; steps: number; times: number }> = {
  "Chain of 200 transforms": {
    graph: draw(`start > ${names(200, "t").join(" > ")} > end`),
    steps: 200,
    times: 10,
  },
  "Fan-out of 20 calls": {
    graph: draw(
      names(20, "b")
        .map((at) => `start > ${at} > end`)
        .join("; "),
      Object.fromEntries(names(20, "b").map((at) => [at, act(at)])),
    ),
    steps: 20,
    times: 5,
  },
  "Agents with tools, 10 steps": {
    graph: draw(
      `start > ${names(5, "a")
        .map((at, k) => `${at} > c${k}`)
        .join(" > ")} > end`,
      Object.fromEntries([
        ...names(5, "a").map((at) => [at, agent] as const),
        ...names(5, "c").map((at) => [at, act(at)] as const),
      ]),
    ),
    steps: 10,
    times: 20,
  },
};

/** Milliseconds from the first start to the last end. */
async function timeOf({ host, start }: Stage, graph: WorkflowGraph, times: number): Promise<number> {
  const began = performance.now();
  const ids = new Set<string>();
  const over = new Promise<void>((resolve, reject) => {
    const stop = host.watchers.watch(({ run_id, status, final_status }) => {
      if (status !== "finished") return;
      if (final_status !== "COMPLETED") reject(new Error(`A run ended as ${final_status}.`));
      ids.add(run_id);
      if (ids.size < times) return;
      stop();
      resolve();
    });
  });
  for (let k = 0; k < times; k++)
    start(graph, { roles: ROLES, input: { who: `run ${k}` }, config: { max_steps: 5_000 } });
  await over;
  return performance.now() - began;
}

/** Processor time of a process so far in milliseconds, and its memory in MB; not a number where the system does not tell. */
function usageOf(pid: number | undefined): { cpu: number; memory: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
    return { cpu: (Number(fields[11]) + Number(fields[12])) * 10, memory: (pages * 4096) / 1024 / 1024 };
  } catch {
    return { cpu: Number.NaN, memory: Number.NaN };
  }
}

type Cluster = Awaited<ReturnType<typeof newCluster>>;
const parts = ({ restate, workers }: Cluster) => ({
  server: usageOf(process.pid),
  engine: usageOf(restate.pid()),
  workers: workers.map(({ pid }) => usageOf(pid())),
});
const cpuOf = (cluster: Cluster) => {
  const { server, engine, workers } = parts(cluster);
  const atWorkers = workers.reduce((sum, { cpu }) => sum + cpu, 0);
  return {
    server: server.cpu,
    engine: engine.cpu,
    workers: atWorkers,
    all: server.cpu + engine.cpu + atWorkers,
  };
};

interface Measured {
  here: number[];
  there: number[];
}

/** The same work in one process and on workers, in turns, so that what else the machine does touches both alike. */
async function costs(cluster: Cluster, embedded: Stage): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, { graph, steps, times }] of Object.entries(WORK)) {
    const rates: Measured = { here: [], there: [] };
    const cpu: Measured = { here: [], there: [] };
    for (let round = 0; round < 5; round++) {
      const before = usageOf(process.pid).cpu;
      const here = await timeOf(embedded, graph, times);
      const between = usageOf(process.pid).cpu;
      const began = cpuOf(cluster).all;
      const there = await timeOf(cluster.stage, graph, times);
      const spent = cpuOf(cluster).all - began;
      // The first of each warms up.
      if (round === 0) continue;
      rates.here.push((steps * times * 1_000) / here);
      rates.there.push((steps * times * 1_000) / there);
      cpu.here.push((between - before) / (steps * times));
      cpu.there.push(spent / (steps * times));
    }
    figures.push(
      {
        name: `${name}: in the server`,
        measured: median(rates.here),
        unit: "steps/s",
        note: `${median(cpu.here).toFixed(2)} ms of processor a step`,
      },
      {
        name: `${name}: on two workers`,
        measured: median(rates.there),
        unit: "steps/s",
        note: `${median(cpu.there).toFixed(2)} ms of processor a step, server, engine and workers together`,
      },
      {
        name: `${name}: processor time against the server alone`,
        measured: median(cpu.there) / median(cpu.here),
        unit: "times",
      },
    );
  }
  return figures;
}

/** How long a step that was under way waits until it runs again, after its worker was killed. */
async function resumes(cluster: Cluster, kills: number): Promise<Figure[]> {
  const { workers, calls, stage } = cluster;
  const graph = draw(
    `start > ${names(40, "s").join(" > ")} > end`,
    Object.fromEntries(names(40, "s").map((at) => [at, act(at)])),
  );
  const runs = new Map<string, string>();
  let running = 0;
  let count = 0;
  let isOver = false;
  const stop = stage.host.watchers.watch(({ status }) => {
    if (status === "finished") running--;
    keep();
  });
  const keep = () => {
    while (running < 8 && !isOver) {
      running++;
      const who = `run ${++count}`;
      runs.set(who, stage.start(graph, { roles: ROLES, input: { who } }));
    }
  };
  keep();
  await pause(1_500);
  const waited: number[] = [];
  const again = { inLog: 0, justEnded: 0 };
  for (let k = 0; k < kills; k++) {
    const worker = workers[k % workers.length];
    if (!worker) break;
    const from = calls.length;
    await pause(400);
    await worker.kill();
    const at = Date.now();
    const cut = new Map<string, number>();
    const ended = new Map<string, WorldCall>();
    for (const call of calls.slice(from > 200 ? from - 200 : 0)) {
      const key = `${call.who} ${call.call}`;
      if (call.worker !== worker.name) continue;
      if (call.what === "begins") cut.set(key, call.at);
      else {
        cut.delete(key);
        ended.set(key, call);
      }
    }
    const isInLog = ({ who, call }: WorldCall) =>
      stage.store
        .events(runs.get(who) ?? "", 0, 1e6)
        .some((event) => event.type === "node_completed" && event.node_id === call);
    const inLog = new Set([...ended].filter(([, call]) => isInLog(call)).map(([key]) => key));
    const seen = calls.length;
    await worker.start();
    await pause(1_200);
    for (const call of calls.slice(seen)) {
      const key = `${call.who} ${call.call}`;
      if (call.what !== "begins") continue;
      if (cut.delete(key)) waited.push(call.at - at);
      else if (inLog.has(key)) again.inLog++;
      else if (ended.has(key)) again.justEnded++;
    }
  }
  isOver = true;
  stop();
  return [
    {
      name: `A step runs again after kill -9 of its worker (${kills} kills)`,
      measured: median(waited),
      unit: "ms",
      target: { atMost: 2_000 },
      note: `${waited.length} steps, 95 % within ${percentile(waited, 95).toFixed(0)} ms, the last after ${Math.max(...waited)} ms`,
    },
    { name: "Steps in the log that ran again", measured: again.inLog, unit: "", target: { atMost: 0 } },
    {
      name: "Calls that had just ended and were made again",
      measured: again.justEnded,
      unit: "",
      note: "their outcome had not left the worker, or not reached the engine",
    },
  ];
}

/** What runs cost that only wait: rows, and nothing in the engine. */
async function waiting(cluster: Cluster, count: number): Promise<Figure[]> {
  const graph = draw("start > w > end", { w: { node_type: "wait", config: { ms: 86_400_000 } } });
  globalThis.gc?.();
  const before = parts(cluster);
  const began = performance.now();
  let left = count;
  const all = new Promise<void>((resolve) => {
    const stop = cluster.stage.host.watchers.watch(({ status }) => {
      if (status !== "waiting" || --left > 0) return;
      stop();
      resolve();
    });
  });
  for (let k = 0; k < count; k += 500) {
    for (let at = k; at < Math.min(count, k + 500); at++) cluster.stage.start(graph);
    await pause(0);
    while (Math.min(count, k + 500) - (count - left) > 400) await pause(5);
  }
  await all;
  const took = performance.now() - began;
  await pause(2_000);
  globalThis.gc?.();
  const after = parts(cluster);
  const cpu = cpuOf(cluster).all;
  await pause(5_000);
  const idle = cpuOf(cluster).all - cpu;
  return [
    {
      name: `${count.toLocaleString("en")} waiting runs: memory of the server`,
      measured: after.server.memory - before.server.memory,
      unit: "MB",
      note: "with its database, which is in memory here",
    },
    {
      name: `${count.toLocaleString("en")} waiting runs: memory of the engine`,
      measured: after.engine.memory - before.engine.memory,
      unit: "MB",
    },
    {
      name: `${count.toLocaleString("en")} waiting runs: processor time of all in 5 s`,
      measured: idle,
      unit: "ms",
    },
    { name: "Runs begun and brought to rest", measured: (count * 1_000) / took, unit: "runs/s" },
  ];
}

/** How much more is done by more workers on this machine. */
async function byWorkers(): Promise<{ figures: Figure[]; perTurn: { server: number; engine: number } }> {
  const { graph, steps } = WORK["Agents with tools, 10 steps"] ?? { graph: draw("start > end"), steps: 1 };
  const figures: Figure[] = [];
  const perTurn = { server: Number.NaN, engine: Number.NaN };
  for (const count of [2, 4, 8]) {
    const cluster = await newCluster(count, { callMs: 0 });
    await timeOf(cluster.stage, graph, 40);
    const before = cpuOf(cluster);
    const times = 120;
    const took = await timeOf(cluster.stage, graph, times);
    const after = cpuOf(cluster);
    const turns = steps * times;
    if (count === 2) {
      perTurn.server = (after.server - before.server) / turns;
      perTurn.engine = (after.engine - before.engine) / turns;
    }
    figures.push({
      name: `${count} workers on this machine`,
      measured: (turns * 1_000) / took,
      unit: "steps/s",
      note: `processor time: server ${((after.server - before.server) / turns).toFixed(2)}, engine ${((after.engine - before.engine) / turns).toFixed(2)}, workers ${((after.workers - before.workers) / turns).toFixed(2)} ms a step`,
    });
    await cluster.stop();
  }
  return { figures, perTurn };
}

/** What these figures would mean for many more, on paper. */
function paper({ server, engine }: { server: number; engine: number }, perWaiting: number): Figure[] {
  const asked = 1_000 * 16;
  return [
    {
      name: "On paper: steps a second that one server process takes in",
      measured: 1_000 / server,
      unit: "steps/s",
      note: "the first ceiling",
    },
    {
      name: "On paper: steps a second of 1,000 workers, 16 runs each, one step a second in each",
      measured: asked,
      unit: "steps/s",
      note: `${Math.ceil((asked * server) / 1_000)} cores for the server's side, which is one process: runs would have to be shared among ${Math.ceil((asked * server) / 1_000)} of them; ${Math.ceil((asked * engine) / 1_000)} cores for the engine`,
    },
    {
      name: "On paper: memory for 1,000,000 waiting runs, with the database in memory",
      measured: (perWaiting * 1_000_000) / 1024,
      unit: "GB",
    },
  ];
}

const WAITING = 10_000;
const cluster = await newCluster(2, { callMs: 0 });
const embedded = newStage({ ...newWorld("server", () => {}, 0), maxRuns: 100 });
const figures = await costs(cluster, embedded);
figures.push(...(await waiting(cluster, WAITING)));
const perWaiting =
  (figures.find(({ name }) => name.endsWith("memory of the server"))?.measured ?? Number.NaN) / WAITING;
await cluster.stop();
const killed = await newCluster(2);
figures.push(...(await resumes(killed, 30)));
await killed.stop();
const more = await byWorkers();
figures.push(...more.figures, ...paper(more.perTurn, perWaiting));
process.stdout.write(`${JSON.stringify(figures)}\n`);
process.exit(0);
