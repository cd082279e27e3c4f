import { must } from "@/server/domain/base/must";
import type { JsonObject } from "@/server/domain/base/values";
import { defineNode, type SchemaParts } from "./define";

/** Computes values from the state with CEL. */
export const transform = defineNode({
  type: "transform",
  title: "Transform",
  hint: "Sets values with expressions",
  icon: "function-square",
  group: "data",
  isPure: true,
  config: ({ z, Expr, StateKey }: SchemaParts) => z.object({ set: z.record(StateKey, Expr).default({}) }),
  fields: [
    {
      key: "set",
      label: "Set",
      as: "assignments",
      hint: "For example, count = state.count + 1",
    },
  ],
  summary: (config) => {
    const keys = Object.keys(config.set);
    return keys.length === 0 ? "No values yet" : `Sets ${keys.join(", ")}`;
  },
  newConfig: () => ({ set: {} }),
  newNode: () => ({ name: "Transform" }),
  validate: (config) =>
    Object.keys(config.set).length === 0
      ? [
          {
            severity: "warning",
            code: "W_EMPTY_TRANSFORM",
            message: "Add at least one value.",
            field: "set",
          },
        ]
      : [],
  writes: (config, node) => [...new Set([...Object.keys(config.set), ...node.output_keys])],
  expressions: (config) =>
    Object.entries(config.set).map(([key, expression]) => ({ field: `set.${key}`, expression })),
  *run(config, ctx) {
    const output: JsonObject = {};
    for (const key of Object.keys(config.set)) output[key] = ctx.evaluate(must(config.set, key));
    return { output };
  },
});
