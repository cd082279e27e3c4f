import {
  addUsage,
  type ForkSettings,
  NO_USAGE,
  type Usage,
  withForkSettings,
} from "@/server/domain/agent/outcome";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { forkedChildId } from "../child-id";
import type { RunEvents } from "../events";
import { holding } from "../reducer/control";
import type { Handlers } from "../reducer/handlers";
import { editState } from "../reducer/state-values";
import type { RunState } from "../state";
import type { MessagePatch } from "./lineage";

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
  // The fork continues active children as its own runs.
  for (const [key, child] of s.children)
    if (child.status === "running")
      s.children.set(key, { ...child, run_id: forkedChildId(s.run.id, child.run_id) });
  const { latest, without_pins, config } = forks?.[forked] ?? {};
  if (without_pins) delete s.run.pins;
  if (latest) {
    s.graph = latest.graph;
    const { foreign } = latest;
    const texts = [...(s.run.foreign?.texts ?? []), ...(foreign?.texts ?? [])];
    if (foreign) s.run = { ...s.run, foreign: { ...foreign, texts } };
    s.roles = [...latest.roles, ...broughtRoles(s, latest.roles)];
    if (latest.workflows) s.run = { ...s.run, workflows: latest.workflows };
    const { workflow_version: _left, ...run } = s.run;
    s.run = { ...run, ...defined({ workflow_version: latest.workflow_version }) };
  }
  if (config) setSettings(s, config);
  if (patches.state) editState(s, patches.state, forkWriter(by));
  for (const patch of patches.messages ?? []) editMessage(s, patch);
};

/** Roles of crew members that people added during the run, if the other workflow version doesn't name them. */
function broughtRoles(s: RunState, known: readonly RoleDefinition[]): RoleDefinition[] {
  const changes = Object.values(s.team_changes).flatMap((team) => Object.values(team));
  const wanted = new Set(changes.flatMap((change) => (change ? [change.agent.role_name] : [])));
  return s.roles.filter(({ name }) => wanted.has(name) && !known.some((role) => role.name === name));
}

/** What a fork has otherwise counts from here; where it stops only if something of that was said. */
function setSettings(s: RunState, settings: ForkSettings): void {
  const config = withForkSettings(s.run.config, settings);
  const { mode, breakpoints, stop_at } = settings;
  if (mode === undefined && breakpoints === undefined && stop_at === undefined) {
    s.run = { ...s.run, config };
    return;
  }
  const { can_hold: could, stepping: _s, breakpoints: _b, ...run } = s.run;
  const can_hold = mode === undefined ? could : mode === "continuous" ? undefined : true;
  s.run = { ...run, ...holding({ graph: s.graph, config, can_hold }), config };
}

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

/** Adds what other runs had paid. */
export function addInherited(s: RunState, more: NonNullable<RunState["run"]["inherited"]>): void {
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
