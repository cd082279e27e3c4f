import type { Json, JsonObject } from "@/server/domain/base/values";
import { withLibrary } from "@/server/domain/library/library";
import { type Activation, evolve, newRun, type RunState } from "@/server/domain/run";
import { staleOutputs } from "@/server/domain/run/stale";
import { shownOf } from "@/server/runner/lifecycle/redact-events";
import type { Services } from "../services";
import { stateOf } from "./run-view";

/** A node's result in a run. */
export interface NodeResult {
  run_id: string;
  /** Its state in that run; `none`: the run hasn't reached it, or ended without reaching it. */
  status: Activation["status"] | "none";
  is_over: boolean;
  input: JsonObject;
  output: JsonObject | null;
  labels: readonly string[] | null;
  error: string | null;
  finished_at: number | null;
}

/** How many runs are searched for one that reached the node. */
const LOOKED_THROUGH = 8;

interface Wanted {
  workflow_id: string;
  node_id: string;
  /** Absent: the newest run that reached the node. */
  run_id?: string | undefined;
  /** State keys to add to the input, with their values when the node started. */
  keys?: readonly string[] | undefined;
}

/** From one run, else from the newest that reached the node; null if none of the last few did. */
export function nodeResult(services: Pick<Services, "runs">, wanted: Wanted): NodeResult | null {
  const { workflow_id, run_id } = wanted;
  const runs =
    run_id === undefined
      ? services.runs.list({ workflow_id, limit: LOOKED_THROUGH })
      : [services.runs.find(run_id)].filter((run) => run?.workflow_id === workflow_id);
  for (const run of runs) {
    const state = run && stateOf(services, run);
    if (!run || !state) continue;
    const node = state.nodes[wanted.node_id];
    const activation = node?.activation === undefined ? undefined : state.activations[node.activation];
    if (!activation && run_id === undefined) continue;
    const result = resultIn(services, state, activation, wanted.keys ?? []);
    return shownOf(services.runs, run.id)({ run_id: run.id, ...result });
  }
  return null;
}

function resultIn(
  services: Pick<Services, "runs">,
  { run }: RunState,
  activation: Activation | undefined,
  keys: readonly string[],
): Omit<NodeResult, "run_id"> {
  const read = activation && keys.length > 0 ? stateAtStart(services, run.id, activation.id) : {};
  return {
    status: activation?.status ?? "none",
    is_over: run.status === "finished",
    input: { ...pick(read, keys), ...activation?.input },
    output: activation?.output ?? null,
    labels: activation?.labels ?? null,
    error: activation?.error?.message ?? run.error?.message ?? null,
    finished_at: activation?.finished_at ?? null,
  };
}

/**
 * The results of a workflow's nodes in the newest runs that finished them, except runs of a single node. Long texts are cut.
 * `stale`: why a node might return something else now.
 */
export function lastResults(
  services: Pick<Services, "runs" | "workflows" | "library" | "roles">,
  workflowId: string,
) {
  const workflow = services.workflows.find(workflowId);
  if (!workflow) return [];
  const now = { graph: withLibrary(workflow.graph, services.library), roles: services.roles.all() };
  const missing = new Set(Object.keys(now.graph.nodes));
  return services.runs.list({ workflow_id: workflowId, limit: LOOKED_THROUGH }).flatMap((run) => {
    const state = missing.size > 0 ? stateOf(services, run) : null;
    if (!state || state.run.only_node !== undefined) return [];
    const shown = shownOf(services.runs, run.id);
    const stale = new Map(staleOutputs(state, now).map(({ node_id, reason }) => [node_id, reason]));
    return [...missing].flatMap((node_id) => {
      const { status, output, labels, error, finished_at } =
        state.activations[state.nodes[node_id]?.activation ?? ""] ?? {};
      if (status !== "completed" && status !== "failed") return [];
      missing.delete(node_id);
      const text = JSON.stringify(shown(output ?? null), (_key, value: Json) =>
        typeof value === "string" ? value.slice(0, KEPT) : value,
      );
      return {
        node_id,
        run_id: run.id,
        status,
        output: JSON.parse(text) as JsonObject | null,
        labels,
        error: shown(error?.message),
        finished_at: finished_at ?? run.created_at,
        stale: stale.get(node_id) ?? null,
      };
    });
  });
}

/** Maximum characters of each text in a last result. */
const KEPT = 600;

/** The state that an activation read when it first started. */
function stateAtStart({ runs }: Pick<Services, "runs">, runId: string, activationId: string): JsonObject {
  const state = newRun(runId);
  for (const event of runs.events(runId, 0, Number.MAX_SAFE_INTEGER, true)) {
    evolve(state, event);
    if (event.type === "node_started" && event.activation_id === activationId) break;
  }
  return state.state;
}

const pick = (from: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])));
