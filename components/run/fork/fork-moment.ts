import type { RunViewStore } from "@/components/run/live/run-view-store";
import { newHistory } from "@/components/run/live/state-history";
import { newNames } from "@/components/run/timeline/sentence-parts";
import { sentenceOf } from "@/components/run/timeline/sentences";
import type { JsonObject } from "@/server/domain/base/values";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { formatCost } from "@/server/domain/model/cost";
import { getNodeKind } from "@/server/domain/nodes";
import type { AgentView, CrewRun, RunState } from "@/server/domain/run";
import { isOpen } from "@/server/domain/run/commands/plan-edit";

/** A snapshot of a run at one moment; the run may continue meanwhile. */
export interface ForkedMoment {
  seq: number;
  /** What happened then. */
  text: string;
  state: JsonObject;
  input: JsonObject;
  graph: WorkflowGraph;
  config: RunState["run"]["config"];
  workflowId: string | null;
  cost: string;
  /** The conversations that continue in the fork. */
  agents: readonly AgentView[];
  /** Plans with something left to do, with their crews. */
  plans: readonly { crew: CrewRun; plan: ExecutionPlan }[];
}

/** A moment at which a run can be forked: just before a node started, or the one that the page shows. */
export interface ForkChoice {
  seq: number;
  label: string;
  nodeId?: string;
  activationId?: string | undefined;
}

/** The moments of a run in order. The end of a finished run is not one of them: nothing could continue there. */
export function choicesIn(store: RunViewStore): ForkChoice[] {
  const { state, events, head } = store.view.getState();
  const times = new Map<string, number>();
  const choices = events.flatMap(({ type, payload, node_id, activation_id, seq }): ForkChoice[] => {
    if (type !== "node_started" || payload.attempt > 1 || node_id === undefined) return [];
    const time = (times.get(node_id) ?? 0) + 1;
    times.set(node_id, time);
    const name = head.graph.nodes[node_id]?.name || node_id;
    return [
      {
        seq: seq - 1,
        label: `Before ${name}${time > 1 ? `, run ${time}` : ""}`,
        nodeId: node_id,
        activationId: activation_id,
      },
    ];
  });
  if (state.run.status === "finished") return choices;
  return [{ seq: state.seq, label: "This point" }, ...choices.filter(({ seq }) => seq !== state.seq)];
}

/**
 * The most likely moment: the one that the page shows, else before the selected node, else before the last agent, else
 * before the last step.
 */
export function likelyChoice(choices: readonly ForkChoice[], graph: WorkflowGraph, selected: string | null) {
  const kindOf = (id: string | undefined) => {
    const node = id === undefined ? undefined : graph.nodes[id];
    return node && getNodeKind(node.node_type);
  };
  return (
    choices.find(({ nodeId }) => nodeId === undefined) ??
    choices.findLast(({ nodeId }) => nodeId === selected) ??
    choices.findLast(({ nodeId }) => kindOf(nodeId)?.works !== undefined) ??
    choices.findLast(({ nodeId }) => kindOf(nodeId)?.hasExit !== false)
  );
}

/** State and limits of a run after an event; null if there is no such event. */
export function momentAt(store: RunViewStore, seq: number): ForkedMoment | null {
  const { events, head } = store.view.getState();
  const event = events[seq - 1];
  if (!event) return null;
  const state = newHistory().stateAt(events, seq);
  const { totals, run } = state;
  return {
    seq,
    text: sentenceOf(
      event,
      newNames(head.graph, () => head.plans),
    ).text,
    state: { ...state.state },
    input: { ...state.input },
    graph: state.graph,
    config: run.config,
    workflowId: run.workflow_id,
    cost: formatCost({
      cost_usd: totals.cost_usd + (run.inherited?.cost_usd ?? 0),
      unknown_cost_calls: totals.unknown_cost_calls + (run.inherited?.unknown_cost_calls ?? 0),
    }),
    agents: Object.values(state.agents).filter(
      ({ status, messages }) => status === "running" && messages.length > 0,
    ),
    plans: Object.values(state.crews).flatMap((crew) => {
      const plan = state.plans[crew.activation_id];
      return crew.status === "running" && plan?.tasks.some(isOpen) ? [{ crew, plan }] : [];
    }),
  };
}
