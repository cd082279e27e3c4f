import { NO_USAGE } from "@/server/domain/agent/outcome";
import { withVersions } from "@/server/domain/base/changes";
import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import { endActivation, finishWork, takeFromReady } from "../endings";
import type { NodeEvents } from "../events";
import type { Activation, RunState } from "../state";
import type { Handlers } from "./handlers";
import { setActivation, warn } from "./patch";
import { takeTokens } from "./tokens";

export const nodes: Handlers<keyof NodeEvents> = {
  node_ready(s, event) {
    const node_id = must(event, "node_id");
    const id = must(event, "activation_id");
    const { consumes, back, fired, iteration, rounds } = event.payload;
    const causes = takeTokens(s, back ? s.backbox : s.inbox, node_id, consumes);
    if (fired) s.fired.add(node_id);
    const activation: Activation = {
      id,
      node_id,
      order: s.totals.activations,
      causes,
      status: "ready",
      attempt: 0,
      usage: NO_USAGE,
      cost_usd: 0,
      unknown_cost_calls: 0,
      calls: [],
    };
    if (iteration !== undefined) activation.iteration = iteration;
    if (rounds) activation.rounds = rounds;
    s.activations[id] = activation;
    s.totals.activations++;
    s.ready.push(id);
    s.work.set(node_id, (s.work.get(node_id) ?? 0) + 1);
    const before = s.nodes[node_id];
    const round = iteration ?? before?.iteration;
    const node: RunState["nodes"][string] = {
      status: before?.status === "running" ? "running" : "ready",
      count: (before?.count ?? 0) + 1,
      activation: id,
    };
    if (round !== undefined) node.iteration = round;
    s.nodes[node_id] = node;
  },
  node_started(s, event) {
    const id = must(event, "activation_id");
    const { attempt, from_state } = event.payload;
    takeFromReady(s, id);
    s.running.add(id);
    if (attempt === 1) s.totals.steps++;
    setActivation(s, id, {
      status: "running",
      attempt,
      input: withVersions(event.payload.input, s.versions, from_state),
      started_at: s.activations[id]?.started_at ?? event.ts,
      waiting: undefined,
      error: undefined,
    });
  },
  node_waiting(s, event) {
    const { until, name } = event.payload;
    setActivation(s, must(event, "activation_id"), {
      status: "waiting",
      waiting: {
        for: event.payload.for,
        ...defined({ until, name: name || undefined }),
      },
    });
  },
  timer_fired(s, event) {
    setActivation(s, must(event, "activation_id"), {
      status: "running",
      waiting: undefined,
    });
  },
  router_decided(s, event) {
    setActivation(s, must(event, "activation_id"), { decided: event.payload });
  },
  node_completed(s, event) {
    const id = must(event, "activation_id");
    const node_id = must(event, "node_id");
    const { labels, from_state, pinned } = event.payload;
    const output = withVersions(event.payload.output, s.versions, from_state);
    setActivation(s, id, {
      status: "completed",
      output,
      finished_at: event.ts,
      waiting: undefined,
      ...defined({ labels, pinned }),
    });
    s.outputs[node_id] = { output };
    endActivation(s, id, event.ts, "completed");
    finishWork(s, id, node_id);
  },
  node_failed(s, event) {
    const id = must(event, "activation_id");
    const { error, next } = event.payload;
    endActivation(s, id, event.ts, "failed");
    if (next === "retry") {
      setActivation(s, id, { status: "waiting", error, waiting: { for: "retry" } });
      return;
    }
    setActivation(s, id, { status: "failed", error, finished_at: event.ts, waiting: undefined });
    finishWork(s, id, must(event, "node_id"));
    if (next === "fail_run") {
      setActivation(s, id, { ends_run: true });
      s.failing ??= error;
    } else warn(s, error.message);
  },
  node_retry_scheduled(s, event) {
    setActivation(s, must(event, "activation_id"), {
      waiting: { for: "retry", until: event.ts + event.payload.delay_ms },
    });
  },
  node_skipped(s, event) {
    const id = must(event, "node_id");
    const { activation_id, ts } = event;
    if (activation_id) {
      takeFromReady(s, activation_id);
      setActivation(s, activation_id, { status: "skipped", finished_at: ts });
      finishWork(s, activation_id, id);
    } else s.nodes[id] = { ...(s.nodes[id] ?? { count: 0 }), status: "skipped" };
  },
  node_cancelled(s, event) {
    const id = must(event, "activation_id");
    setActivation(s, id, { status: "cancelled", finished_at: event.ts, waiting: undefined });
    // A run paused before a node that no longer starts is paused at no node.
    const { paused_at } = s.run;
    if (paused_at?.point === "node_start" && paused_at.activation_id === id) {
      const { reason, by, since } = paused_at;
      s.run = { ...s.run, paused_at: { point: "anywhere", reason, by, since } };
    }
    endActivation(s, id, event.ts, "stopped");
    takeFromReady(s, id);
    finishWork(s, id, must(event, "node_id"));
  },
};
