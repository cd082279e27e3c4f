import type { z } from "zod";
import type { JsonObject } from "@/server/domain/base/values";
import { SECRET_ARGUMENTS, SECRET_TOOLS, type SecretUse } from "@/server/domain/tool/secret";
import { defineNode, type NodeContext, type SchemaParts, toolOutputs } from "./define";
import { renderWritten, writtenValue } from "./secret-texts";

/** An argument: the value of an expression, a text with values in double braces, or a value as it stands. */
const Argument = ({ z, Expr, Json, Template }: SchemaParts) =>
  z.union([z.strictObject({ $expr: Expr }), z.strictObject({ $template: Template }), Json]);
export type ToolArgument = z.infer<ReturnType<typeof Argument>>;

/** Calls one tool, without any model. */
export const toolCall = defineNode({
  type: "tool_call",
  title: "Tool",
  hint: "Calls a tool",
  icon: "wrench",
  group: "data",
  config: (parts: SchemaParts) =>
    parts.z.object({
      tool_name: parts.z.string().max(200).default(""),
      args: parts.z.record(parts.z.string().max(200), Argument(parts)).default({}),
    }),
  fields: [
    { key: "tool_name", label: "Tool", as: "tool" },
    { key: "args", label: "Arguments", as: "arguments" },
  ],
  uses: ({ tool_name, args }) => (tool_name ? [{ kind: "tool", name: tool_name, args }] : []),
  summary: (config) => (config.tool_name ? `Calls ${config.tool_name}` : "No tool yet"),
  newConfig: () => ({ tool_name: "", args: {} }),
  newNode: () => ({ name: "Tool", output_keys: ["tool_result"] }),
  validate: (config) =>
    config.tool_name
      ? []
      : [{ severity: "error", code: "E_TOOL", message: "Choose a tool.", field: "tool_name" }],
  expressions: (config) =>
    Object.entries(config.args).flatMap(([name, value]) => {
      const expression = expressionOf(value);
      return expression === null ? [] : [{ field: `args.${name}`, expression }];
    }),
  templates: (config) =>
    Object.entries(config.args).flatMap(([name, value]) => {
      const template = templateOf(value);
      return template === null ? [] : [{ field: `args.${name}`, template }];
    }),
  secretPlaces: ({ tool_name, args }) =>
    Object.entries(args).flatMap(([name, value]) =>
      SECRET_TOOLS.includes(tool_name) && SECRET_ARGUMENTS.has(name) && expressionOf(value) === null
        ? [{ field: `args.${name}`, value: templateOf(value) ?? value }]
        : [],
    ),
  *run(config, ctx) {
    const { args, secrets } = valuesOf(config.args, ctx);
    const output = yield* ctx.tool(config.tool_name, args, secrets);
    return { output: toolOutputs(output, ctx.node.output_keys) };
  },
});

function valuesOf(args: Readonly<Record<string, ToolArgument>>, ctx: NodeContext) {
  const secrets: SecretUse[] = [];
  const values: JsonObject = {};
  for (const [name, value] of Object.entries(args)) {
    const expression = expressionOf(value);
    const template = templateOf(value);
    if (expression !== null) values[name] = ctx.evaluate(expression);
    else {
      const written = template === null ? writtenValue(value) : renderWritten(template, ctx);
      values[name] = written.value;
      secrets.push(...written.uses.map(({ at, names }) => ({ at: [name, ...at], names })));
    }
  }
  return { args: values, secrets };
}

/** The expression behind an argument; null where there is none. */
export const expressionOf = (value: ToolArgument): string | null => behind(value, "$expr");

/** The text with values in double braces behind an argument; null where there is none. */
export const templateOf = (value: ToolArgument): string | null => behind(value, "$template");

/** The text in an object of this one key: any other object is a value that stands for itself. */
function behind(value: ToolArgument, key: "$expr" | "$template"): string | null {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  const entries = Object.entries(value);
  const text = entries.length === 1 && entries[0]?.[0] === key ? entries[0][1] : null;
  return typeof text === "string" ? text : null;
}
