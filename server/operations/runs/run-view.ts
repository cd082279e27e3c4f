import type { z } from "zod";
import { present } from "@/server/domain/base/must";
import { knownCost, type Paid } from "@/server/domain/model/cost";
import { newRun, type RunState } from "@/server/domain/run";
import type { RunPlace } from "@/server/domain/run/engine-state";
import { DamagedLog } from "@/server/domain/run/quarantine";
import type { RunSummary as StoredRun } from "@/server/store/runs/runs";
import type { Services } from "../services";
import type { Run, RunNode, RunTask, WaitingFor } from "./run-schemas";

/**
 * The state that a run's log yields. A damaged log is read as far as possible: a quarantined run's row says why, an
 * ended run gets a warning. Throws DamagedLog for a running one: it is about to be quarantined.
 */
export function stateOf({ runs }: Pick<Services, "runs">, { id, status }: StoredRun): RunState | null {
  if (status === "held") return runs.state(id, true) ?? newRun(id);
  try {
    return runs.state(id);
  } catch (error) {
    if (status !== "finished" || !(error instanceof DamagedLog)) throw error;
    const state = runs.state(id, true) ?? newRun(id);
    const warning = `${error.message} Only the data that could still be read is shown.`;
    return { ...state, run: { ...state.run, warnings: [...state.run.warnings, warning] } };
  }
}

/** A run as the API returns it: its row, the state from its log, and where it executes. */
export function toRun(
  run: StoredRun,
  last_seq: number,
  state: RunState,
  place: RunPlace | null,
): z.input<typeof Run> {
  return {
    id: run.id,
    workflow_id: run.workflow_id,
    workflow_name: run.workflow_name,
    status: run.status,
    held: run.held,
    final_status: run.final_status,
    reason_code: run.reason_code,
    simulated: run.simulated,
    cost_usd: knownCost(state.totals),
    unknown_cost_calls: state.totals.unknown_cost_calls,
    input_tokens: state.totals.usage.input_tokens,
    output_tokens: state.totals.usage.output_tokens,
    trigger: run.trigger,
    created_at: run.created_at,
    started_at: run.started_at,
    finished_at: run.finished_at,
    input_excerpt: run.input_excerpt,
    outcome_excerpt: run.outcome_excerpt,
    waits_for: run.waits_for,
    wakes_at: run.wakes_at,
    origin: run.origin,
    parent: run.parent,
    workflow_version: run.workflow_version,
    trigger_id: run.trigger_id,
    started_by: run.started_by,
    inherited: state.run.inherited
      ? {
          cost_usd: knownCost(state.run.inherited),
          unknown_cost_calls: state.run.inherited.unknown_cost_calls,
          usage: state.run.inherited.usage,
        }
      : null,
    last_seq,
    error: state.run.error ?? null,
    warnings: [...state.run.warnings],
    resumable: [...(state.run.resumable ?? [])],
    input: state.input,
    state: state.state,
    output: state.run.output ?? null,
    usage: state.totals.usage,
    nodes: nodesOf(state),
    tasks: tasksOf(state),
    paused_at: state.run.paused_at ?? null,
    waiting_for: waitingFor(state),
    place,
  };
}

function nodesOf(state: RunState): Record<string, z.input<typeof RunNode>> {
  const spent = spentByNode(state);
  const nodes = Object.entries(state.nodes).map(([id, node]) => {
    const latest = node.activation === undefined ? undefined : state.activations[node.activation];
    return [
      id,
      {
        status: node.status,
        count: node.count,
        ...(node.attempt === undefined ? {} : { attempt: node.attempt }),
        output: latest?.output ?? null,
        error: latest?.error ?? null,
        ...(spent.get(id) ?? { tokens_used: 0, cost_usd: 0, unknown_cost_calls: 0 }),
      },
    ] as const;
  });
  return Object.fromEntries(nodes);
}

/** What the models of each node took, over all times that it ran. */
function spentByNode({ activations }: RunState): Map<string, Paid & { tokens_used: number }> {
  const spent = new Map<string, Paid & { tokens_used: number }>();
  for (const { node_id, usage, cost_usd, unknown_cost_calls } of Object.values(activations)) {
    const before = spent.get(node_id);
    spent.set(node_id, {
      tokens_used: (before?.tokens_used ?? 0) + usage.input_tokens + usage.output_tokens,
      cost_usd: (before?.cost_usd ?? 0) + cost_usd,
      unknown_cost_calls: (before?.unknown_cost_calls ?? 0) + unknown_cost_calls,
    });
  }
  for (const [id, paid] of spent) spent.set(id, { ...paid, cost_usd: knownCost(paid) });
  return spent;
}

/** The tasks of every crew's plan, in the order of the plan. */
function tasksOf(state: RunState): z.input<typeof RunTask>[] {
  return Object.entries(state.plans).flatMap(([activation_id, { tasks }]) =>
    tasks.map((task) => ({
      activation_id,
      node_id: state.activations[activation_id]?.node_id ?? "",
      task_id: task.task_id,
      description: task.description,
      status: task.status,
      assigned_agent: task.assigned_agent ?? null,
      required_role: task.required_role ?? null,
      output: task.output ?? null,
      error_message: task.error_message ?? null,
      tokens_used: task.tokens_used ?? 0,
      cost_usd: task.cost_usd === undefined ? 0 : task.cost_usd,
      started_at: task.metadata.started_at ?? null,
      completed_at: task.metadata.completed_at ?? null,
    })),
  );
}

const TIMES: Readonly<Record<string, "timer" | "retry">> = { timer: "timer", retry: "retry" };

/** Everything that a run waits for: people first, then limits, then times. */
export function waitingFor(state: RunState): z.input<typeof WaitingFor>[] {
  if (state.run.status !== "running" && (state.run.resumable ?? []).length === 0) return [];
  const people = [...state.asking].flatMap((id) => {
    const question = state.interactions[id];
    if (question?.status !== "open") return [];
    const { node_id, activation_id, requested } = question;
    const { interaction_id, kind, expires_at } = requested;
    return [{ for: "person" as const, node_id, activation_id, interaction_id, kind, until: expires_at }];
  });
  const limits = (state.run.resumable ?? []).map((limit) => ({ for: "limit" as const, limit }));
  const times = [...state.running].flatMap((id): z.input<typeof WaitingFor>[] => {
    const { node_id, waiting, status } = present(state.activations[id], "state.activations[id]");
    if (status === "waiting" && waiting?.for === "signal") {
      const { name = "", until } = waiting;
      return [
        {
          for: "signal" as const,
          node_id,
          activation_id: id,
          name,
          ...(until === undefined ? {} : { until }),
        },
      ];
    }
    if (status !== "waiting" || waiting?.until === undefined) return [];
    const kind = TIMES[waiting.for];
    if (!kind) return [];
    return [{ for: kind, node_id, activation_id: id, until: waiting.until }];
  });
  return [...people, ...limits, ...times];
}
