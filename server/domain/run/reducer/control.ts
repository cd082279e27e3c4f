import type { Breakpoint } from "@/server/domain/agent/breakpoint/breakpoint";
import type { RunConfig, RunError } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { canonicalJson } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { waitersFor } from "../commands/signals";
import { endActivation, takeFromReady } from "../endings";
import type { ControlEvents } from "../events/control-events";
import type { RunState } from "../state";
import type { Handlers } from "./handlers";
import { getReady, setActivation } from "./patch";
import { writeValue } from "./state-values";
import { dropToken } from "./tokens";

export const control: Handlers<keyof ControlEvents> = {
  run_paused(s, { payload: { by, reason, at }, ts }) {
    s.run = { ...s.run, paused_at: { ...at, reason, by, since: ts }, ...withoutSpent(s, at.breakpoint) };
  },
  run_continued(s, { payload: { as, granularity = "node" } }) {
    const { paused_at: _p, stepping: _s, ...rest } = s.run;
    s.run = as === "step" ? { ...rest, stepping: granularity } : rest;
  },
  breakpoints_set(s, { payload: { breakpoints } }) {
    s.run = { ...s.run, breakpoints };
  },
  state_edited(s, { payload: { set, remove, words, untrusted } }) {
    for (const key of remove) {
      for (const record of [s.state, s.versions, s.writer, s.merged]) delete record[key];
    }
    for (const key of Object.keys(set)) {
      delete s.merged[key];
      writeValue(s, key, "person", { before: null, make: () => must(set, key) });
    }
    if (!untrusted) s.told = [...s.told, ...words];
  },
  node_retried(s, event) {
    const id = must(event, "activation_id");
    const node_id = must(event, "node_id");
    const before = must(s.activations, id);
    if (s.running.has(id) && before.waiting?.for !== "retry") endActivation(s, id, event.ts, "stopped");
    // An activation that waits for its next attempt still counts as running.
    if (!s.running.delete(id)) s.work.set(node_id, (s.work.get(node_id) ?? 0) + 1);
    getReady(s, before);
    s.ready.unshift(id);
    if (s.failing?.activation_id === id) s.failing = otherFailure(s);
  },
  next_overridden(s, event) {
    const id = must(event, "activation_id");
    const { to, agent_id, takes_back } = event.payload;
    for (const { id: edge, target_node_id } of takes_back ?? []) {
      dropToken(s, target_node_id, edge, id);
      const count = (s.edges[edge]?.count ?? 1) - 1;
      s.edges[edge] = { status: count > 0 ? "taken" : "skipped", count };
    }
    const activation = s.activations[id];
    if (to !== undefined && activation) s.activations[id] = { ...activation, next: to };
    const crew = s.crews[id];
    if (agent_id !== undefined && crew) s.crews[id] = { ...crew, next_agent: agent_id };
  },
  next_agent_taken(s, { activation_id }) {
    const crew = s.crews[activation_id ?? ""];
    if (crew) s.crews[crew.activation_id] = { ...crew, next_agent: undefined };
  },
  signal_received(s, { payload: { name, data, by } }) {
    if (waitersFor(s, name).length > 0) return;
    s.signals[name] = [...(s.signals[name] ?? []), { data, by }];
  },
  signal_taken(s, { payload: { name } }) {
    s.signals[name] = (s.signals[name] ?? []).slice(1);
  },
  instruction_injected(s, { payload, ts }) {
    const number = s.instructions.length + 1;
    s.instructions = [...s.instructions, { ...payload, number, at: ts, read_by: [] }];
    if (!payload.untrusted) s.told = [...s.told, payload.text];
  },
  node_skipped_by(s, event) {
    const id = must(event, "activation_id");
    takeFromReady(s, id);
    s.running.add(id);
    setActivation(s, id, { status: "running", waiting: undefined, error: undefined });
  },
};

/** One that was to hold the run once is gone then. */
function withoutSpent({ run }: RunState, held: Breakpoint | undefined): Partial<RunState["run"]> {
  if (!held?.once || !run.breakpoints) return {};
  const text = canonicalJson(held);
  return { breakpoints: run.breakpoints.filter((one) => canonicalJson(one) !== text) };
}

/** The failure that ends the run besides the one being retried; null if there is none. */
function otherFailure({ activations }: RunState): RunError | null {
  return Object.values(activations).find(({ ends_run }) => ends_run)?.error ?? null;
}

/** The breakpoints that a run begins with: its config's, and in the modes that heed them those of its nodes. */
function firstBreakpoints({ nodes }: WorkflowGraph, config: RunConfig): Breakpoint[] {
  const { breakpoints = [], stop_at } = config;
  const given: Breakpoint[] =
    stop_at === undefined
      ? breakpoints
      : [...breakpoints, { on: "node_start", node_id: stop_at, once: true }];
  if (config.mode !== "breakpoint" && config.mode !== "hitl") return given;
  const own = Object.values(nodes).flatMap(({ id, breakpoint }): Breakpoint[] =>
    breakpoint === undefined ? [] : [{ on: breakpoint === "after" ? "node_end" : "node_start", node_id: id }],
  );
  return [...given, ...own];
}

/** Where a run with these settings pauses. `can_hold`: whether its mode applies. */
export function holding({
  graph,
  config,
  can_hold,
}: {
  graph: WorkflowGraph;
  config: RunConfig;
  can_hold?: true | undefined;
}): Pick<RunState["run"], "can_hold" | "stepping" | "breakpoints"> {
  const mode = can_hold ? config.mode : "continuous";
  const breakpoints = firstBreakpoints(graph, { ...config, mode });
  return {
    ...defined({
      can_hold,
      stepping: mode === "step" ? ("node" as const) : undefined,
      breakpoints: breakpoints.length > 0 ? breakpoints : undefined,
    }),
  };
}
