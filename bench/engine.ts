import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { z } from "zod";
import { newDisk } from "@/db/disk";
import { openDb } from "@/db/open";
import { RunConfig } from "@/server/domain/agent/outcome";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { findProblems } from "@/server/domain/problems/problems";
import type { Models } from "@/server/llm/model";
import { Host } from "@/server/runner/lifecycle/host";
import { newRunStore } from "@/server/store/runs/runs";
import { defineTool } from "@/server/tools/define";
import { newToolHost } from "@/server/tools/host";
import { ToolsRegistry } from "@/server/tools/registry";
import { bareCommitsPerSecond, bareRunsPerSecond, type RunRows } from "./bare-sqlite";
import { type Figure, median, medianOf } from "./table";

const noModels: Models = {
  complete: () => Promise.reject(new Error("The benchmark asks no model.")),
  describe: () => null,
};

/** The real executor on a database file of its own. */
function newBench() {
  const dir = mkdtempSync(path.join(os.tmpdir(), "troupe-bench-"));
  const db = openDb(path.join(dir, "bench.db"));
  const registry = new ToolsRegistry();
  registry.register(touch);
  const tools = newToolHost({
    registry,
    keep: () => "",
    forget: () => {},
    matches: () => Promise.resolve(null),
    runCode: () => Promise.resolve(null),
  });
  const disk = newDisk(db.$client);
  const host = new Host({
    store: newRunStore(db),
    effects: { models: noModels, tools },
    disk,
    maxRuns: 32,
    maxQueued: 200_000,
  });
  const start = (graph: WorkflowGraph, called?: WorkflowGraph) =>
    host.start({
      workflow_id: null,
      workflow_name: "bench",
      graph,
      roles: [],
      input: {},
      config: RunConfig.parse({ max_steps: 5_000, max_parallel_nodes: 256 }),
      trigger: "test",
      provider_summary: null,
      ...(called
        ? { workflows: { called: { name: "called", graph: called, roles: [], provider_summary: null } } }
        : {}),
    }).run_id;
  /** Milliseconds from the first start to the last end. */
  const run = (graph: WorkflowGraph, times = 1, called?: WorkflowGraph) =>
    new Promise<number>((resolve, reject) => {
      let left = times;
      const begun = new Set<string>();
      const stop = host.watchers.watch(({ run_id, status, final_status }) => {
        if (status !== "finished" || !begun.has(run_id)) return;
        if (final_status !== "COMPLETED") reject(new Error(`A run ended as ${final_status}.`));
        left -= 1;
        if (left > 0) return;
        stop();
        resolve(performance.now() - began);
      });
      const began = performance.now();
      for (let at = 0; at < times; at++) begun.add(start(graph, called));
    });
  /** The same for runs of which each begins when the one before it has ended. */
  const runInTurn = async (graph: WorkflowGraph, times: number) => {
    let took = 0;
    for (let at = 0; at < times; at++) took += await run(graph);
    return took;
  };
  const close = async () => {
    await host.drain(1_000);
    db.$client.close();
    rmSync(dir, { recursive: true, force: true });
  };
  /** The rows that one run leaves. */
  const rowsOf = async (graph: WorkflowGraph): Promise<RunRows> => {
    await run(graph);
    const last = "select * from runs order by created_at desc, id desc limit 1";
    const row = db.$client.prepare<[], RunRows["run"]>(last).get()!;
    const turns = db.$client.prepare<[unknown], RunRows["run"]>(
      "select * from run_turns where run_id = ? order by turn",
    );
    return { run: row, turns: turns.all(row.id) };
  };
  /** Megabytes that this process takes more once so many runs wait for a person. */
  const waiting = async (count: number) => {
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    const graph = graphOf(
      [
        { id: "start", node_type: "start", config: {} },
        { id: "w", node_type: "wait", config: { ms: 86_400_000 } },
        { id: "end", node_type: "end" },
      ],
      [
        ["start", "w"],
        ["w", "end"],
      ],
    );
    await new Promise<void>((resolve) => {
      let left = count;
      const stop = host.watchers.watch(({ status }) => {
        if (status !== "waiting" || --left > 0) return;
        stop();
        resolve();
      });
      const more = (at: number) => {
        const end = Math.min(count, at + 500);
        for (; at < end; at++) start(graph);
        if (at < count) setImmediate(() => more(at));
      };
      more(0);
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    globalThis.gc?.();
    return (process.memoryUsage().rss - before) / 1024 / 1024;
  };
  return { run, runInTurn, rowsOf, waiting, client: db.$client, close };
}

/** Stands for anything that touches the world: what it began and ended is on the disk before the next begins. */
const touch = defineTool({
  name: "touch",
  description: "Touches the world",
  input: z.object({}),
  source: "builtin",
  risk: "LOW",
  execute: () => null,
});

/** start, then stretches of nine transforms and a call of a tool, end. */
function mixedChain(length: number): WorkflowGraph {
  const names = Array.from({ length }, (_, at) => `n${at}`);
  const all = ["start", ...names, "end"];
  return graphOf(
    [
      { id: "start", node_type: "start", config: {} },
      ...names.map((id, at) =>
        at % 10 === 9
          ? { id, node_type: "tool_call", config: { tool_name: "touch" } }
          : { id, node_type: "transform", config: { set: { n: `${at} + 1` } }, output_keys: ["n"] },
      ),
      { id: "end", node_type: "end" },
    ],
    all.slice(1).map((id, at) => [all[at]!, id]),
  );
}

/** How much memory runs take that only wait. A part of its own: it starts a hundred thousand. */
export async function measureWaiting(): Promise<Figure[]> {
  const bench = newBench();
  try {
    await bench.run(chainOf(3), 100);
    const measured = await bench.waiting(100_000);
    return [{ name: "100,000 waiting runs, memory", measured, unit: "MB", target: { atMost: 300 } }];
  } finally {
    await bench.close();
  }
}

const graphOf = (nodes: ({ id: string } & Record<string, unknown>)[], edges: [string, string][]) =>
  WorkflowGraph.parse({
    graph_id: "bench",
    start_node_id: "start",
    nodes: Object.fromEntries(nodes.map((node) => [node.id, node])),
    edges: edges.map(([source_node_id, target_node_id], at) => ({
      id: `e${at}`,
      source_node_id,
      target_node_id,
    })),
  });

/** start, `length` transforms one after another, end. */
export function chainOf(length: number): WorkflowGraph {
  const names = Array.from({ length }, (_, at) => `t${at}`);
  const all = ["start", ...names, "end"];
  return graphOf(
    [
      { id: "start", node_type: "start", config: {} },
      ...names.map((id, at) => ({
        id,
        node_type: "transform",
        config: { set: { n: `${at} + 1` } },
        output_keys: ["n"],
      })),
      { id: "end", node_type: "end" },
    ],
    all.slice(1).map((id, at) => [all[at]!, id]),
  );
}

/** start, a map over that many numbers, end. `settings`: what it runs. */
function mapOver(items: number, settings: Record<string, unknown>): WorkflowGraph {
  return graphOf(
    [
      { id: "start", node_type: "start", config: {} },
      {
        id: "list",
        node_type: "transform",
        config: { set: { list: `"${"1 ".repeat(items).trim()}".split(" ")` } },
        output_keys: ["list"],
      },
      {
        id: "map",
        node_type: "map",
        config: { items: "state.list", input: { n: "index" }, concurrency: 32, ...settings },
        output_keys: ["results"],
      },
      { id: "double", node_type: "transform", config: { set: { m: "state.n * 2" } } },
      { id: "end", node_type: "end", input_keys: ["results"] },
    ],
    [
      ["start", "list"],
      ["list", "map"],
      ["map", "end"],
    ],
  );
}

/** Items per second of maps: computed in the run itself, and as child runs, next to the same runs started directly. */
export async function measureMaps(): Promise<Figure[]> {
  const bench = newBench();
  try {
    const pure = mapOver(900, { node: "double", output: "output.m" });
    const runs = mapOver(900, { workflow_id: "called" });
    const single = chainOf(1);
    await bench.run(pure, 3);
    const rates = { pure: [] as number[], children: [] as number[], direct: [] as number[] };
    for (let round = 0; round < 7; round++) {
      rates.pure.push(9_000 / ((await bench.run(pure, 10)) / 1_000));
      rates.children.push(900 / ((await bench.run(runs, 1, single)) / 1_000));
      rates.direct.push(900 / ((await bench.run(single, 900)) / 1_000));
    }
    const [children, direct] = [median(rates.children), median(rates.direct)];
    return [
      {
        name: "Map over a transform",
        measured: median(rates.pure),
        unit: "items/s",
        target: { atLeast: 5_000 },
      },
      {
        name: "Map over a workflow, of the same runs started directly",
        measured: children / direct,
        unit: "times",
        target: { atLeast: 0.4 },
        note: `${Math.round(children)} items/s, ${Math.round(direct)} runs/s`,
      },
    ];
  } finally {
    await bench.close();
  }
}

/** Branches that wait at the same time, joined at the end. */
function fanOut(branches: number, ms: number): WorkflowGraph {
  const names = Array.from({ length: branches }, (_, at) => `w${at}`);
  return graphOf(
    [
      { id: "start", node_type: "start", config: {} },
      ...names.map((id) => ({ id, node_type: "wait", config: { ms } })),
      { id: "end", node_type: "end" },
    ],
    names.flatMap((id): [string, string][] => [
      ["start", id],
      [id, "end"],
    ]),
  );
}

/** How long a drawing is examined while someone draws: each node reads what an earlier one writes. */
function problemFigures(): Figure[] {
  const drawing = (length: number) => {
    const names = Array.from({ length }, (_, at) => `n${at}`);
    const node = (id: string, at: number) => ({
      id,
      node_type: "agent_task",
      config: {
        required_role: "Writer",
        task_description_template: `${"With care. ".repeat(20)}{{k${Math.max(0, at - 2)}}}`,
      },
      input_keys: [`k${Math.max(0, at - 1)}`],
      output_keys: [`k${at}`, "shared"],
    });
    const all = ["start", ...names, "end"];
    return graphOf(
      [
        { id: "start", node_type: "start", output_keys: ["k0"] },
        ...names.map(node),
        { id: "end", node_type: "end" },
      ],
      [
        ...all.slice(1).map((id, at): [string, string] => [all[at]!, id]),
        ...names.slice(0, -5).map((id, at): [string, string] => [id, names[at + 4]!]),
      ],
    );
  };
  const [small, large] = [drawing(100), drawing(500)];
  const timeOf = (graph: WorkflowGraph) => {
    const began = performance.now();
    findProblems(graph, [{ name: "Writer", tools: [] }]);
    return performance.now() - began;
  };
  const times = Array.from({ length: 30 }, () => ({ small: timeOf(small), large: timeOf(large) }));
  const at500 = median(times.map(({ large }) => large));
  return [
    { name: "Examining a drawing of 500 nodes", measured: at500, unit: "ms", target: { atMost: 20 } },
    {
      name: "500 nodes against 100, per node (1 = linear)",
      measured: at500 / 5 / median(times.map(({ small }) => small)),
      unit: "",
      target: { atMost: 2 },
    },
  ];
}

/** The three figures of the design, through the real executor and store. */
export async function measureEngine(): Promise<Figure[]> {
  const bench = newBench();
  try {
    const short = chainOf(100);
    const long = chainOf(500);
    const bare: number[] = [];
    const rates = { short: [] as number[], long: [] as number[] };
    await bench.run(long, 20);
    // In turns, so that what else the machine does touches all of them alike; as many nodes of each.
    for (let round = 0; round < 15; round++) {
      bare.push(bareCommitsPerSecond(1_000));
      rates.short.push(1_000 / ((await bench.runInTurn(short, 10)) / 1_000));
      rates.long.push(1_000 / ((await bench.runInTurn(long, 2)) / 1_000));
    }
    const at100 = median(rates.short);
    const at500 = median(rates.long);
    const sqlite = median(bare);
    const fan = await medianOf(5, () => bench.run(fanOut(50, 200)));
    const five = chainOf(3);
    const rows = await bench.rowsOf(five);
    const bareRuns: number[] = [];
    const runs = await medianOf(5, async () => {
      bareRuns.push(bareRunsPerSecond(bench.client, rows, 1_000));
      return 1_000 / ((await bench.run(five, 1_000)) / 1_000);
    });
    const bareFive = median(bareRuns.slice(1));
    const mixed = mixedChain(100);
    const together = await medianOf(5, async () => (32 * 100) / ((await bench.run(mixed, 32)) / 1_000));
    return [
      { name: "Chain of 100 transform nodes", measured: at100, unit: "nodes/s", target: { atLeast: 5_000 } },
      { name: "Chain of 500 transform nodes", measured: at500, unit: "nodes/s", target: { atLeast: 5_000 } },
      { name: "500 against 100 (1 = linear)", measured: at500 / at100, unit: "", target: { atLeast: 0.9 } },
      {
        name: "Bare SQLite, one commit a node",
        measured: sqlite,
        unit: "commits/s",
      },
      {
        name: "Chain of 100, of bare SQLite's commits",
        measured: at100 / sqlite,
        unit: "times",
        target: { atLeast: 0.6 },
      },
      {
        name: "Chain of 500, of bare SQLite's commits",
        measured: at500 / sqlite,
        unit: "times",
        target: { atLeast: 0.6 },
      },
      {
        name: "32 runs side by side, each tenth node synced to disk",
        measured: together,
        unit: "nodes/s",
        target: { atLeast: 10_000 },
      },
      { name: "50 branches of 200 ms, joined", measured: fan, unit: "ms", target: { atMost: 215 } },
      ...problemFigures(),
      { name: "Five-node runs", measured: runs, unit: "runs/s", target: { atLeast: 1_000 } },
      {
        name: "Five-node runs, of bare SQLite with the same rows",
        measured: runs / bareFive,
        unit: "times",
        target: { atLeast: 0.5 },
        note: `bare ${Math.round(bareFive)} runs/s, ${rows.turns.length} records each`,
      },
    ];
  } finally {
    await bench.close();
  }
}
