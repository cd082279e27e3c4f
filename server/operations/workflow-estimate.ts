import { z } from "zod";
import { ASSUMPTIONS, estimateRun, totalOf } from "@/server/domain/library/estimate";
import { withLibrary } from "@/server/domain/library/library";
import { operation } from "./operation";
import { ById, workflowOf } from "./stored-workflow";

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

export const estimateWorkflow = operation({
  kind: "query",
  name: "estimateWorkflow",
  summary: "Says what a run will roughly take",
  about:
    "A range from the sizes of prompts, the rounds of crews and today's prices, with what it was counted from. `cost_usd` is null where a price is unknown.",
  tag: "Workflows",
  input: ById,
  output: WorkflowEstimate,
  problems: ["not_found"],
  http: {
    method: "GET",
    path: "/workflows/{id}/estimate",
    success: "Calls, tokens and cost, each as a range",
  },
  run(services, { id }) {
    const graph = withLibrary(workflowOf(services, id).graph, services.library);
    const roles = new Map(services.roles.all().map((role) => [role.name, role]));
    const parts = estimateRun(graph, (name) => roles.get(name));
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
