import { z } from "zod";
import { ASSUMPTIONS, type EstimatedPart, estimateRun, totalOf } from "@/server/domain/library/estimate";
import { withLibrary } from "@/server/domain/library/library";
import type { StoredWorkflow } from "@/server/store/workflows";
import { operationsOf } from "../operation";
import type { Services } from "../services";
import { ById, workflowOf } from "./stored-workflow";

const { query } = operationsOf("Workflows");

const LeastAndMost = z.array(z.number()).length(2);
const WorkflowEstimate = z.object({
  calls: LeastAndMost,
  input_tokens: LeastAndMost,
  output_tokens: LeastAndMost,
  cost_usd: LeastAndMost.nullable(),
  /** What each node's part was counted from. */
  basis: z.array(z.string()),
  /** What was taken for all of them. */
  assumptions: z.string(),
});

export const estimateWorkflow = query({
  name: "estimateWorkflow",
  summary: "Estimate a run's calls, tokens and cost",
  about:
    "Based on the workflow's last runs if it hasn't changed since; otherwise, calculated from prompt sizes, crew rounds and current prices. `basis` says what the estimate is based on. `cost_usd` is null if a price is unknown.",
  needs: "read",
  input: ById,
  output: WorkflowEstimate,
  http: { route: "GET /workflows/{id}/estimate", success: "Calls, tokens and cost, each as a range" },
  run(services, { id }) {
    const workflow = workflowOf(services, id);
    const graph = withLibrary(workflow.graph, services.library);
    const roles = new Map(services.roles.all().map((role) => [role.name, role]));
    const parts = estimateRun(graph, (name) => roles.get(name));
    const measured = measuredOf(services, workflow, parts);
    if (measured) return measured;
    const costs = [0, 1].map((at) =>
      parts.map(({ choice, input_tokens, output_tokens }) =>
        services.models.priceOf?.(choice, {
          input_tokens: input_tokens[at] ?? 0,
          output_tokens: output_tokens[at] ?? 0,
        }),
      ),
    );
    const [least, most] = costs.map((each) =>
      each.reduce<number | null>((sum, cost) => (sum === null || cost == null ? null : sum + cost), 0),
    );
    const { calls, input_tokens, output_tokens } = totalOf(parts);
    return {
      calls: [...calls],
      input_tokens: [...input_tokens],
      output_tokens: [...output_tokens],
      cost_usd: least == null || most == null ? null : [least, most],
      basis: parts.map(({ node_id = "", basis }) => `${graph.nodes[node_id]?.name || node_id}: ${basis}`),
      assumptions: ASSUMPTIONS,
    };
  },
});

/** How many recent runs an estimate is based on. */
const MEASURED = 3;

/** Usage of the last completed runs that used the same kind of models as the next run would, real or demo; null if there are none. */
function measuredOf(
  { runs, models }: Pick<Services, "runs" | "models">,
  { id, updated_at }: StoredWorkflow,
  parts: readonly Pick<EstimatedPart, "choice">[],
): z.input<typeof WorkflowEstimate> | null {
  const isDemo = parts.every(({ choice }) => models.describe(choice)?.simulated);
  const last = runs
    .list({ workflow_id: id, final_status: "COMPLETED", since: updated_at, limit: 4 * MEASURED })
    .filter(({ simulated, trigger, origin }) => simulated === isDemo && trigger !== "test" && origin === null)
    .slice(0, MEASURED);
  if (last.length === 0) return null;
  const range = (values: readonly number[]) => [Math.min(...values), Math.max(...values)];
  const isPriced = last.every(({ unknown_cost_calls }) => unknown_cost_calls === 0);
  return {
    calls: range(last.map((run) => Object.keys(runs.state(run.id)?.calls ?? {}).length)),
    input_tokens: range(last.map(({ input_tokens }) => input_tokens)),
    output_tokens: range(last.map(({ output_tokens }) => output_tokens)),
    cost_usd: isPriced ? range(last.map(({ cost_usd }) => cost_usd ?? 0)) : null,
    basis: [last.length === 1 ? "Based on the last run" : `Based on the last ${last.length} runs`],
    assumptions: "Other inputs may cost more or less.",
  };
}
