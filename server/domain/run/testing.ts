// What tests of runs make logs and states of.

import { NO_USAGE, RunConfig } from "@/server/domain/agent/outcome";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { asJson } from "@/server/domain/base/json";
import type { JsonObject } from "@/server/domain/base/values";
import type { CrewProcess } from "@/server/domain/crew/crew";
import { analyse } from "@/server/domain/graph/analysis";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { foldRun, type RunState } from ".";
import type { NewEvent, Payloads, RunEvent, RunEventOf } from "./events";

/** The beginning of a run of that drawing. */
export const created = (
  graph: WorkflowGraph,
  { config = {}, ...more }: Partial<Omit<Payloads["run_created"], "config">> & { config?: JsonObject } = {},
): NewEvent => ({
  type: "run_created",
  payload: {
    graph,
    roles: [],
    workflow_id: null,
    workflow_name: "Test",
    input: {},
    trigger: "test",
    provider_summary: null,
    ...more,
    config: RunConfig.parse(config),
  },
});

/** Events with their places in a log, ten milliseconds after each other. */
export const logOf = (events: readonly NewEvent[]): RunEvent[] =>
  events.map((event, at) => ({ ...event, seq: at + 1, ts: at * 10 }));
export const fold = (...events: NewEvent[]): RunState => foldRun("r", logOf(events));

/** An event of a node's first activation. */
export const of = <T extends NewEvent["type"]>(
  id: string,
  type: T,
  payload: Payloads[T],
  more: Partial<RunEventOf<T>> = {},
): NewEvent => {
  const activation_id = id.includes("#") ? id : `${id}#1`;
  return { type, node_id: activation_id.split("#")[0], activation_id, ...more, payload } as NewEvent;
};
export const ready = (id: string, more: Partial<Payloads["node_ready"]> = {}) =>
  of(id, "node_ready", { consumes: [], ...more });
export const started = (id: string) => of(id, "node_started", { attempt: 1, input: {} });
export const completed = (id: string, output: JsonObject = {}) =>
  of(id, "node_completed", { output, written_keys: [] });
export const failedWith = (id: string, next: Payloads["node_failed"]["next"]) =>
  of(id, "node_failed", {
    attempt: 1,
    error: {
      code: "CONFIG",
      message: "It failed.",
      retryable: false,
      user_action: "edit_graph",
      activation_id: id.includes("#") ? id : `${id}#1`,
    },
    next,
  });
export const paused: NewEvent = {
  type: "run_paused",
  payload: { by: "ann", reason: "person", at: { point: "anywhere" } },
};
export const over = (more: Partial<Payloads["run_finished"]> = {}): NewEvent => ({
  type: "run_finished",
  payload: { final_status: "COMPLETED", reason_code: "END_REACHED", output: {}, warnings: [], ...more },
});

/** A run with a crew at its node `crew`, of these members: `ann: Writer`. */
export function crewRun({
  members,
  plan,
  roles = [],
  config = {},
  process = "sequential",
  ...crew
}: {
  members: Record<string, string>;
  process?: CrewProcess;
  entry_agent?: string;
  planning?: boolean;
  collaboration_patterns?: JsonObject[];
  plan?: { tasks: object[] };
  roles?: RoleDefinition[];
  config?: JsonObject;
}) {
  const agents = Object.entries(members).map(([agent_id, role_name]) => ({ agent_id, role_name }));
  const graph = draw("start > crew > end", {
    crew: {
      node_type: "crew_task",
      name: "Crew",
      config: asJson({
        plan_description_template: "Do it",
        crew: { agents, process, ...crew },
        ...defined({ plan }),
      }),
    },
  });
  return {
    graph,
    a: analyse(graph),
    begin: [created(graph, { roles, config }), ready("crew")],
    running: [
      created(graph, { roles, config }),
      ready("crew"),
      started("crew"),
      of("crew", "crew_started", {
        process,
        goal: "it",
        members: agents,
        ...defined({ manager: process === "hierarchical" ? (agents[0]?.agent_id ?? "") : undefined }),
      }),
    ],
  };
}

export const agentStarted = (agent_id: string, role_name: string, task_id?: string) =>
  of(
    "crew",
    "agent_started",
    { role_name, output_keys: [], limits: { max_iterations: 3 } },
    { agent_id, ...defined({ task_id: task_id || undefined }) },
  );
export const agentFinished = (agent_id: string, task_id?: string) =>
  of(
    "crew",
    "agent_finished",
    { status: "completed", usage: NO_USAGE, cost_usd: 0 },
    { agent_id, ...defined({ task_id: task_id || undefined }) },
  );
