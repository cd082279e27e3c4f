import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { openDb } from "@/db/open";
import { WorkflowGraph } from "@/server/domain/graph";
import { RunConfig } from "@/server/domain/outcome";
import { findProblems } from "@/server/domain/problems";
import type { Models } from "@/server/llm/model";
import { Host } from "@/server/runner/host";
import { newRunStore } from "@/server/store/runs";
import { bareCommitsPerSecond } from "./bare-sqlite";
import { type Figure, median, medianOf } from "./table";

const noModels: Models = {
  complete: () => Promise.reject(new Error("The benchmark asks no model.")),
  describe: () => null,
};

/** The real executor on a database file of its own. */
export function newBench() {
  const dir = mkdtempSync(path.join(os.tmpdir(), "troupe-bench-"));
  const db = openDb(path.join(dir, "bench.db"));
  const host = new Host({ store: newRunStore(db), effects: { models: noModels }, maxQueued: 5_000 });
  const start = (graph: WorkflowGraph) =>
    host.start({
      workflow_id: null,
      workflow_name: "bench",
      graph,
      roles: [],
      input: {},
      config: RunConfig.parse({ max_steps: 5_000, max_parallel_nodes: 256 }),
      trigger: "test",
      provider_summary: null,
    }).run_id;
  /** Milliseconds from the first start to the last end. */
  const run = (graph: WorkflowGraph, times = 1) =>
    new Promise<number>((resolve, reject) => {
      let left = times;
      const stop = host.watch(({ status, final_status }) => {
        if (status !== "finished") return;
        if (final_status !== "COMPLETED") reject(new Error(`A run ended as ${final_status}.`));
        left -= 1;
        if (left > 0) return;
        stop();
        resolve(performance.now() - began);
      });
      const began = performance.now();
      for (let at = 0; at < times; at++) start(graph);
    });
  const close = async () => {
    await host.drain(1_000);
    db.$client.close();
    rmSync(dir, { recursive: true, force: true });
  };
  return { run, close };
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
    await bench.run(long, 3);
    // In turns, so that what else the machine does touches all of them alike.
    for (let round = 0; round < 9; round++) {
      bare.push(bareCommitsPerSecond(1_000));
      rates.short.push(100 / ((await bench.run(short)) / 1_000));
      rates.long.push(500 / ((await bench.run(long)) / 1_000));
    }
    const at100 = median(rates.short);
    const at500 = median(rates.long);
    const sqlite = median(bare);
    const fan = await medianOf(5, () => bench.run(fanOut(50, 200)));
    const five = chainOf(3);
    const runs = await medianOf(5, async () => 1_000 / ((await bench.run(five, 1_000)) / 1_000));
    return [
      { name: "Chain of 100 transform nodes", measured: at100, unit: "nodes/s", target: { atLeast: 5_000 } },
      { name: "Chain of 500 transform nodes", measured: at500, unit: "nodes/s", target: { atLeast: 5_000 } },
      { name: "500 against 100 (1 = linear)", measured: at500 / at100, unit: "", target: { atLeast: 0.9 } },
      {
        name: "Bare SQLite, one commit a node",
        measured: sqlite,
        unit: "commits/s",
        note: `the chain reaches ${Math.round((100 * at500) / sqlite)} % of it`,
      },
      { name: "50 branches of 200 ms, joined", measured: fan, unit: "ms", target: { atMost: 215 } },
      ...problemFigures(),
      { name: "Five-node runs", measured: runs, unit: "runs/s", target: { atLeast: 1_000 } },
    ];
  } finally {
    await bench.close();
  }
}
