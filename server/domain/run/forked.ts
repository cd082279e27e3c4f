import { addUsage, NO_USAGE, type Usage } from "@/server/domain/agent/outcome";
import type { RunEvents } from "./events";
import type { Handlers } from "./handlers";
import type { MessagePatch } from "./lineage";
import type { RunState } from "./state";
import { editState } from "./state-values";

/** As whose doing a value shows that a fork began with. */
export const forkWriter = (by: string): string => `person:${by}`;

/** The run goes its own way from here: what was spent is another's, and what was changed counts. */
export const run_forked: Handlers<keyof Pick<RunEvents, "run_forked">>["run_forked"] = (
  s,
  { payload: { patches, by }, ts },
) => {
  const { usage, cost_usd, unknown_cost_calls } = s.totals;
  addInherited(s, { usage, cost_usd, unknown_cost_calls });
  s.totals = { ...s.totals, usage: NO_USAGE, cost_usd: 0, unknown_cost_calls: 0 };
  const { forks, forked = 0 } = s.run;
  s.run = { ...s.run, started_at: ts, forked: forked + 1 };
  const { latest, without_pins } = forks?.[forked] ?? {};
  if (without_pins) delete s.run.pins;
  if (latest) {
    s.graph = latest.graph;
    s.roles = latest.roles;
  }
  if (patches.state) editState(s, patches.state, forkWriter(by));
  for (const patch of patches.messages ?? []) editMessage(s, patch);
};

function editMessage(s: RunState, { agent: key, at, content }: MessagePatch): void {
  const agent = s.agents[key];
  const message = agent?.messages[at];
  if (!agent || !message) return;
  s.agents[key] = { ...agent, messages: agent.messages.with(at, { ...message, content }) };
}

/** Adds the price of an answer that another run had paid. */
export function inherit(s: RunState, paid: { usage: Usage; cost_usd: number | null }): void {
  const { usage, cost_usd } = paid;
  addInherited(s, { usage, cost_usd: cost_usd ?? 0, unknown_cost_calls: cost_usd === null ? 1 : 0 });
}

function addInherited(s: RunState, more: NonNullable<RunState["run"]["inherited"]>): void {
  const before = s.run.inherited ?? { usage: NO_USAGE, cost_usd: 0, unknown_cost_calls: 0 };
  s.run = {
    ...s.run,
    inherited: {
      usage: addUsage(before.usage, more.usage),
      cost_usd: before.cost_usd + more.cost_usd,
      unknown_cost_calls: before.unknown_cost_calls + more.unknown_cost_calls,
    },
  };
}
