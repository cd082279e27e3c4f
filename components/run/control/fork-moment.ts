import type { RunViewStore } from "@/components/run/run-view-store";
import { newNames } from "@/components/run/timeline/sentence-words";
import { sentenceOf } from "@/components/run/timeline/sentences";
import type { JsonObject } from "@/server/domain/base/values";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { costInWords } from "@/server/domain/model/cost";
import type { AgentView, CrewRun, RunState } from "@/server/domain/run";
import { isOpen } from "@/server/domain/run/commands/plan-edit";

/** A moment of a run as it stood when it was asked for: the run may go on meanwhile. */
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
  hasEnded: boolean;
  /** The conversations that go on in the fork. */
  agents: readonly AgentView[];
  /** Plans with something left to do, with their crews. */
  plans: readonly { crew: CrewRun; plan: ExecutionPlan }[];
}

/** The moment that the page looks at; null before anything has happened. */
export function momentNow(store: RunViewStore): ForkedMoment | null {
  const { state, events, head } = store.view.getState();
  const event = events[state.seq - 1];
  if (!event) return null;
  const { totals, run } = state;
  const hasEnded = run.status === "finished";
  return {
    seq: state.seq,
    text: sentenceOf(
      event,
      newNames(head.graph, () => head.plans),
    ).text,
    state: { ...state.state },
    input: { ...state.input },
    graph: state.graph,
    config: run.config,
    workflowId: run.workflow_id,
    cost: costInWords({
      cost_usd: totals.cost_usd + (run.inherited?.cost_usd ?? 0),
      unknown_cost_calls: totals.unknown_cost_calls + (run.inherited?.unknown_cost_calls ?? 0),
    }),
    hasEnded,
    agents: Object.values(state.agents).filter(
      ({ status, messages }) => status === "running" && messages.length > 0,
    ),
    plans: Object.values(state.crews).flatMap((crew) => {
      const plan = state.plans[crew.activation_id];
      return crew.status === "running" && plan?.tasks.some(isOpen) ? [{ crew, plan }] : [];
    }),
  };
}
