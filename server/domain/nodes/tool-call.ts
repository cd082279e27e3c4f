import { z } from "zod";
import { Expr, Json, type JsonObject } from "../values";
import { defineNode, type NodeContext, toolOutputs } from "./define";

/** An argument: a value as it stands, or the value of an expression. */
export const ToolArgument = z.union([z.strictObject({ $expr: Expr }), Json]);
export type ToolArgument = z.infer<typeof ToolArgument>;

/** Calls one tool, without any model. */
export const toolCall = defineNode({
  type: "tool_call",
  title: "Tool",
  hint: "Calls one tool",
  icon: "wrench",
  group: "data",
  config: z.object({
    tool_name: z.string().max(200).default(""),
    args: z.record(z.string().max(200), ToolArgument).default({}),
  }),
  fields: [
    { key: "tool_name", label: "Tool", as: "tool" },
    {
      key: "args",
      label: "Arguments",
      as: "arguments",
      hint: 'Each is an expression: state.topic, or "a fixed text" in quotes',
    },
  ],
  summary: (config) => (config.tool_name ? `Calls ${config.tool_name}` : "No tool yet"),
  newConfig: () => ({ tool_name: "", args: {} }),
  newNode: () => ({ name: "Tool", output_keys: ["tool_result"] }),
  faults: (config) =>
    config.tool_name
      ? []
      : [{ severity: "error", code: "E_TOOL", message: "Choose the tool to call.", field: "tool_name" }],
  expressions: (config) =>
    Object.entries(config.args).flatMap(([name, value]) =>
      expressionOf(value) === null ? [] : [{ field: `args.${name}`, expression: expressionOf(value)! }],
    ),
  *run(config, ctx) {
    const output = yield* ctx.tool(config.tool_name, valuesOf(config.args, ctx));
    return { output: toolOutputs(output, ctx.node.output_keys) };
  },
});

function valuesOf(args: Readonly<Record<string, ToolArgument>>, ctx: NodeContext): JsonObject {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const expression = expressionOf(value);
      return [name, expression === null ? value : ctx.evaluate(expression)];
    }),
  );
}

/** The expression behind an argument; null for a value that stands for itself. */
export function expressionOf(value: ToolArgument): string | null {
  return value !== null &&
    typeof value === "object" &&
    !Array.isArray(value) &&
    typeof value.$expr === "string"
    ? value.$expr
    : null;
}
