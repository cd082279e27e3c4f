import type { Json } from "@/server/domain/base/values";
import { defineNode, NodeFailure, type SchemaParts } from "./define";

const MOST_ITEMS = 100_000;
const MOST_AT_ONCE = 256;

/** Runs a workflow, or a node or group of the same workflow, for each item of a list. */
export const map = defineNode({
  type: "map",
  title: "Map",
  hint: "Runs for each item",
  icon: "layers",
  group: "flow",
  config: ({ z, Expr, StateKey }: SchemaParts) =>
    z.object({
      items: Expr.default(""),
      workflow_id: z.string().max(100).optional(),
      node: z.string().max(100).optional(),
      input: z.record(StateKey, Expr).default({}),
      output: Expr.optional(),
      concurrency: z.number().int().min(1).max(MOST_AT_ONCE).default(8),
      on_item_error: z.enum(["fail", "skip", "collect"]).default("fail"),
    }),
  fields: [
    { key: "items", label: "Items", as: "expression", hint: "A list, for example state.tickets" },
    {
      key: "node",
      label: "Runs",
      as: "body",
      hint: "A node or group with no incoming connections",
      showIf: (config) => !config.workflow_id,
    },
    { key: "workflow_id", label: "Workflow", as: "workflow", showIf: (config) => !config.node },
    {
      key: "input",
      label: "Inputs",
      as: "assignments",
      hint: "For example, ticket = item. item is the current item, index its position",
    },
    {
      key: "on_item_error",
      label: "Failed items",
      as: "choice",
      options: [
        { value: "fail", label: "Fail this node" },
        { value: "skip", label: "Leave them out" },
        { value: "collect", label: "Return their errors" },
      ],
    },
    { key: "concurrency", label: "Concurrency", as: "number", min: 1, max: MOST_AT_ONCE },
    {
      key: "output",
      label: "Result per item",
      as: "expression",
      isRare: true,
      hint: "For example, output.summary. Empty: the whole output",
    },
  ],
  calls: ({ workflow_id }) => workflow_id || undefined,
  body: ({ node }) => node || undefined,
  summary: ({ items }) => (items ? `For each of ${items}` : "No items yet"),
  newConfig: () => ({
    items: "",
    input: {},
    concurrency: 8,
    on_item_error: "fail" as const,
  }),
  newNode: () => ({ name: "Map", output_keys: ["results"] }),
  validate: ({ items, workflow_id, node }) => [
    ...(items
      ? []
      : [{ severity: "error" as const, code: "E_ITEMS", message: "Enter a list of items.", field: "items" }]),
    ...(workflow_id || node
      ? []
      : [
          {
            severity: "error" as const,
            code: "E_WORKFLOW",
            message: "Choose a workflow, or a node or group of this workflow.",
            field: "node",
          },
        ]),
    ...(workflow_id && node
      ? [
          {
            severity: "error" as const,
            code: "E_WORKFLOW",
            message: "Choose either a workflow or a node of this one, not both.",
            field: "workflow_id",
          },
        ]
      : []),
  ],
  expressions: ({ items, input, output }) => [
    ...(items ? [{ field: "items", expression: items }] : []),
    ...Object.entries(input).map(([key, expression]) => ({ field: `input.${key}`, expression })),
    ...(output ? [{ field: "output", expression: output }] : []),
  ],
  *run({ items, workflow_id, node = "", input, output, concurrency, on_item_error }, ctx) {
    const list = ctx.evaluate(items);
    if (!Array.isArray(list)) throw new NodeFailure("STATE_INVALID", "The items of a map must be a list.");
    if (list.length > MOST_ITEMS)
      throw new NodeFailure(
        "TOO_LARGE",
        `A map takes at most ${MOST_ITEMS} items; this list has ${list.length}.`,
      );
    const outcomes = yield* ctx.map({
      items: list,
      target: workflow_id ? { workflow_id } : { body: node },
      input,
      output,
      concurrency,
      stopsAtFailure: on_item_error === "fail",
    });
    const failed = outcomes.filter(({ ok }) => !ok).length;
    if (failed > 0)
      ctx.warn(
        "ITEMS_FAILED",
        `${failed} of ${list.length} items failed${on_item_error === "skip" ? " and were left out" : ""}.`,
      );
    const results = outcomes.flatMap((outcome): Json[] => {
      if (outcome.ok) return [outcome.value];
      const { code, message } = outcome.error;
      return on_item_error === "skip" ? [] : [{ error: { code, message } }];
    });
    return { output: Object.fromEntries(ctx.node.output_keys.map((key) => [key, results])) };
  },
});
