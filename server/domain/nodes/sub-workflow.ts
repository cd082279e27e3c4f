import { must } from "@/server/domain/base/must";
import type { JsonObject } from "@/server/domain/base/values";
import { defineNode, NodeFailure, type SchemaParts } from "./define";

/** Runs another workflow, in the version saved when the run starts, and returns its output. */
export const subWorkflow = defineNode({
  type: "sub_workflow",
  title: "Sub-workflow",
  hint: "Runs another workflow",
  icon: "workflow",
  group: "flow",
  config: ({ z, Expr, StateKey }: SchemaParts) =>
    z.object({
      workflow_id: z.string().max(100).default(""),
      input: z.record(StateKey, Expr).default({}),
    }),
  fields: [
    { key: "workflow_id", label: "Workflow", as: "workflow" },
    { key: "input", label: "Inputs", as: "assignments", hint: "For example, topic = state.request" },
  ],
  calls: ({ workflow_id }) => workflow_id || undefined,
  summary: ({ workflow_id }) => (workflow_id ? "Runs another workflow" : "No workflow yet"),
  newConfig: () => ({ workflow_id: "", input: {} }),
  newNode: () => ({ name: "Sub-workflow", output_keys: ["result"] }),
  validate: ({ workflow_id }) =>
    workflow_id
      ? []
      : [{ severity: "error", code: "E_WORKFLOW", message: "Choose a workflow.", field: "workflow_id" }],
  expressions: ({ input }) =>
    Object.entries(input).map(([key, expression]) => ({ field: `input.${key}`, expression })),
  *run({ workflow_id, input }, ctx) {
    const given: JsonObject = {};
    for (const key of Object.keys(input)) given[key] = ctx.evaluate(must(input, key));
    const output = yield* ctx.callWorkflow(workflow_id, given);
    return { output: pickOutputs(output, ctx.node.output_keys) };
  },
});

/**
 * A value for each output key: the output of that name. A single key with another name gets the whole output. Throws
 * NodeFailure.
 */
function pickOutputs(output: JsonObject, keys: readonly string[]): JsonObject {
  const [only] = keys;
  if (keys.length === 1 && only !== undefined && !Object.hasOwn(output, only)) return { [only]: output };
  const missing = keys.find((key) => !Object.hasOwn(output, key));
  if (missing !== undefined)
    throw new NodeFailure("OUTPUT_INVALID", `The workflow returned no "${missing}".`);
  return Object.fromEntries(keys.map((key) => [key, must(output, key)]));
}
