import { addUsage } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import type { RunEventOf } from "../events";
import type { ChildEvents } from "../events/child-events";
import { addInherited } from "../fork/forked";
import type { Inherited } from "../fork/lineage";
import { type ChildCounts, childKey, type RunState } from "../state";
import type { Handlers } from "./handlers";
import { setActivation } from "./patch";

const NONE: ChildCounts = { running: 0, done: 0, failed: 0 };

function count(s: RunState, activationId: string, add: Partial<ChildCounts>): void {
  const before = s.activations[activationId]?.children ?? NONE;
  setActivation(s, activationId, {
    children: {
      ...before,
      running: before.running + (add.running ?? 0),
      done: before.done + (add.done ?? 0),
      failed: before.failed + (add.failed ?? 0),
    },
  });
}

export const children: Handlers<keyof ChildEvents> = {
  map_started(s, event) {
    const id = must(event, "activation_id");
    // A further attempt keeps the runs that completed.
    let done = 0;
    for (const child of s.children.values())
      if (child.activation_id === id && child.status === "completed") done++;
    setActivation(s, id, { children: { total: event.payload.total, running: 0, done, failed: 0 } });
  },
  map_progressed(s, event) {
    count(s, must(event, "activation_id"), event.payload);
  },
  child_started(s, event) {
    const { run_id, item, budget } = event.payload;
    const activation_id = must(event, "activation_id");
    s.children.set(childKey(activation_id, item), {
      run_id,
      activation_id,
      status: "running",
      ...defined({ item, budget }),
    });
    count(s, activation_id, { running: 1 });
  },
  child_finished(s, event) {
    const { run_id, item, final_status, usage, cost_usd, unknown_cost_calls } = event.payload;
    const activation_id = must(event, "activation_id");
    const isDone = final_status === "COMPLETED";
    s.children.set(childKey(activation_id, item), {
      run_id,
      activation_id,
      status: isDone ? "completed" : "failed",
      ...defined({ item }),
    });
    count(s, activation_id, { running: -1, done: isDone ? 1 : 0, failed: isDone ? 0 : 1 });
    if (event.payload.reused) addInherited(s, { usage, cost_usd, unknown_cost_calls });
    else pay(s, event);
    if (event.payload.simulated && !s.run.simulated) s.run = { ...s.run, simulated: true };
    const sources = event.payload.taint_sources.filter((source) => !s.taint_sources.includes(source));
    if (sources.length > 0) s.taint_sources = [...s.taint_sources, ...sources];
  },
};

function pay(s: RunState, event: RunEventOf<"child_finished">): void {
  const { usage, cost_usd, unknown_cost_calls } = event.payload;
  const paid = (account: Inherited): Inherited => ({
    usage: addUsage(account.usage, usage),
    cost_usd: account.cost_usd + cost_usd,
    unknown_cost_calls: account.unknown_cost_calls + unknown_cost_calls,
  });
  s.totals = { ...s.totals, ...paid(s.totals) };
  const id = must(event, "activation_id");
  const activation = s.activations[id];
  if (activation) setActivation(s, id, paid(activation));
}
