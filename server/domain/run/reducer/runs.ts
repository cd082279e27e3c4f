import { defined } from "@/server/domain/base/defined";
import { endActivation } from "../endings";
import type { RunEvents } from "../events";
import { run_forked } from "../fork/forked";
import { isTaintedBy } from "../started-by";
import type { RunState } from "../state";
import { holding } from "./control";
import { type Handlers, noChange } from "./handlers";
import { getReady, setActivation, warn } from "./patch";

export const runs: Handlers<keyof RunEvents> = {
  run_created(s, { payload, ts }) {
    s.graph = payload.graph;
    s.roles = payload.roles;
    s.input = payload.input;
    s.run = {
      ...s.run,
      workflow_id: payload.workflow_id,
      workflow_name: payload.workflow_name,
      provider_summary: payload.provider_summary,
      // Calls tell: what the settings pointed to at the start may not be what answered.
      simulated: false,
      ...defined({
        context_windows: payload.context_windows,
        past_work: payload.past_work,
        installation: payload.installation,
        foreign: payload.foreign,
        pins: payload.pins,
        only_node: payload.only_node,
        people: payload.people,
        forks: payload.forks,
        edition: payload.edition || undefined,
        prompt_seed: payload.prompt_seed || undefined,
        parent: payload.parent,
        workflows: payload.workflows,
        origin: payload.origin,
        workflow_version: payload.workflow_version,
        variables: payload.variables,
      }),
      config: payload.config,
      created_at: ts,
      ...holding(payload),
    };
    const { origin, parent } = payload;
    if (parent) s.taint_sources = parent.taint_sources;
    if (origin && isTaintedBy(origin, payload.input))
      s.taint_sources = [...new Set([...s.taint_sources, origin.kind])];
  },
  run_started(s, { ts }) {
    s.run = { ...s.run, status: "running", started_at: ts };
  },
  run_forked,
  run_limit_raised(s, { payload: { limit, to } }) {
    const config = { ...s.run.config };
    if (limit === "max_cost_usd" || limit === "max_total_tokens")
      config.budget = { ...config.budget, [limit]: to };
    else config[limit] = to;
    s.run = { ...s.run, config };
  },
  run_recovered(s, { payload: { installation } }) {
    if (installation) s.run = { ...s.run, installation };
  },
  run_resumed(s) {
    const {
      final_status: ended,
      reason_code: _r,
      error: _e,
      output: _o,
      resumable: _l,
      finished_at: _t,
      ...rest
    } = s.run;
    s.run = {
      ...rest,
      status: "running",
      // Its work was counted when the error seemed final.
      ...defined({ counted_to: ended === "ERROR" ? s.seq - 1 : undefined }),
    };
    resumeRemaining(s);
    for (const id of s.running)
      if (s.activations[id]?.waiting?.for === "limit")
        setActivation(s, id, { status: "running", waiting: undefined });
  },
  run_finished(s, { payload, ts }) {
    const { final_status, reason_code, error, output, resumable, warnings, active_ms } = payload;
    const { paused_at: _p, ...run } = s.run;
    s.run = {
      ...run,
      status: "finished",
      final_status,
      reason_code,
      output,
      finished_at: ts,
      warnings: warnings.length > 0 ? warnings : s.run.warnings,
      ...defined({ error, resumable, active_ms }),
    };
    // A run that stopped at a limit can be resumed: its active work waits.
    if (final_status === "ERROR") s.left = { ready: [...s.ready], parked: [...s.parked] };
    if (final_status !== "INCOMPLETE") cancelTheRest(s, ts);
  },
  warning(s, { payload }) {
    warn(s, payload.message);
  },
  run_cancel_requested: noChange,
  clock_jumped: noChange,
  budget_warning: noChange,
  budget_exceeded: noChange,
};

/** What a run that failed had yet to do is to be done again. */
function resumeRemaining(s: RunState): void {
  for (const id of s.left?.ready ?? []) {
    const activation = s.activations[id];
    if (!activation) continue;
    getReady(s, activation);
    s.ready.push(id);
    s.work.set(activation.node_id, (s.work.get(activation.node_id) ?? 0) + 1);
  }
  for (const id of s.left?.parked ?? []) s.parked.add(id);
  s.left = null;
}

function cancelTheRest(s: RunState, at: number): void {
  for (const id of [...s.ready, ...s.running]) {
    setActivation(s, id, { status: "cancelled", finished_at: at, waiting: undefined });
    endActivation(s, id, at, "stopped");
  }
  s.ready = [];
  s.running.clear();
  s.work.clear();
  s.parked.clear();
}
