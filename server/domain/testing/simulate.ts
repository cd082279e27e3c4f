import { RunConfig } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { JsonObject } from "@/server/domain/base/values";
import { analyse } from "@/server/domain/graph/analysis";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { NewEvent, RunEvent } from "@/server/domain/run/events";
import { complete } from "@/server/domain/run/schedule/outcomes";
import { begin, decide } from "@/server/domain/run/schedule/tokens";
import { getNodeKind } from "../nodes";
import { evolve, newRun, type RunState } from "../run";

/** A source of numbers in [0, 1) that a seed always repeats. */
export function seeded(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface Simulation {
  state: RunState;
  events: RunEvent[];
  /** How often tokens had to be forced on. */
  ties: number;
  /** Event counts at the batch boundaries: where a crash may cut. */
  cuts: number[];
}

/**
 * Runs the scheduler alone: nodes finish at once or later, in an order that `timing` decides, or as long as `takes`
 * says that the k-th activation takes. `labels` says what a router chooses at its k-th activation. `resume` continues from a state folded out of an earlier log.
 */
export function simulate(
  graph: WorkflowGraph,
  options: {
    timing?: () => number;
    takes?: (node: string, k: number) => number;
    parallel?: number;
    labels?: (node: string, k: number) => string[];
    output?: (node: string, k: number) => JsonObject;
    maxSteps?: number;
    maxLoop?: number;
    resume?: readonly RunEvent[];
  } = {},
): Simulation {
  const { timing = () => 0, parallel = 4, maxSteps = 400 } = options;
  const a = analyse(graph);
  const events: RunEvent[] = [];
  const cuts: number[] = [];
  const state = newRun("sim");
  const apply = (event: NewEvent) => {
    const placed = { ...event, seq: state.seq + 1, ts: state.seq };
    events.push(placed);
    evolve(state, placed);
  };
  if (options.resume)
    for (const event of options.resume) {
      events.push(event);
      evolve(state, event);
    }
  else {
    const config = RunConfig.parse({
      max_parallel_nodes: parallel,
      max_steps: 5000,
      ...defined({ max_loop_iterations: options.maxLoop || undefined }),
    });
    apply({
      type: "run_created",
      payload: {
        graph,
        roles: [],
        workflow_id: null,
        workflow_name: "sim",
        input: {},
        config,
        trigger: "test",
        provider_summary: null,
      },
    });
    apply({ type: "run_started", payload: {} });
    for (const event of begin(a, state)) apply(event);
  }
  let ties = 0;
  let clock = 0;
  const due = new Map<string, number>();
  const nextOf = (running: string[]): string => {
    if (!options.takes) return running[Math.floor(timing() * running.length)]!;
    const first = running.reduce((x, y) => (due.get(y)! < due.get(x)! ? y : x));
    clock = due.get(first)!;
    return first;
  };
  for (;;) {
    for (let next = decide(a, state); next.length > 0; next = decide(a, state))
      for (const event of next) apply(event);
    for (const id of [...state.ready]) {
      if (state.running.size >= parallel || state.totals.steps >= maxSteps) break;
      const { node_id } = state.activations[id]!;
      if ([...state.running].some((other) => state.activations[other]!.node_id === node_id)) continue;
      apply({ type: "node_started", node_id, activation_id: id, payload: { attempt: 1, input: {} } });
      due.set(id, clock + (options.takes?.(node_id, kOf(id)) ?? 0));
    }
    cuts.push(events.length);
    const running = [...state.running];
    if (running.length === 0) {
      if (state.ready.length > 0 || state.failing || state.parked.size === 0) break;
      const forced = decide(a, state, true);
      if (forced.length === 0) break;
      ties++;
      for (const event of forced) apply(event);
      continue;
    }
    const id = nextOf(running);
    const { node_id } = state.activations[id]!;
    const k = kOf(id);
    const routes = getNodeKind(graph.nodes[node_id]!.node_type).routes;
    for (const event of complete(a, state, id, {
      output: options.output?.(node_id, k) ?? {},
      ...defined({ labels: routes ? (options.labels?.(node_id, k) ?? []) : undefined }),
    }))
      apply(event);
  }
  return { state, events, ties, cuts };
}

const kOf = (id: string) => Number(id.slice(id.lastIndexOf("#") + 1));

/** How often each node ran. */
export const counts = (state: RunState): Record<string, number> =>
  Object.fromEntries(
    Object.entries(state.nodes)
      .filter(([, view]) => view.count > 0)
      .map(([id, view]) => [id, view.count]),
  );
