import { must } from "@/server/domain/base/must";
import { defineNode, type SchemaParts } from "./define";

/** Where a run begins: what it asks for, and the defaults of what was not given. */
export const start = defineNode({
  type: "start",
  title: "Start",
  hint: "Starts the run",
  icon: "play",
  group: "flow",
  hasEntry: false,
  begins: true,
  config: ({ z, Json, JsonSchema }: SchemaParts) =>
    z.object({ input_schema: JsonSchema.optional() }).catchall(Json).default({}),
  fields: [{ key: "input_schema", label: "Inputs", as: "schema", hint: "Values to enter when a run starts" }],
  summary: (_config, node) =>
    node.output_keys.length > 0 ? `Asks for ${node.output_keys.join(", ")}` : "No inputs",
  presets: ({ input_schema: _schema, ...presets }) => presets,
  newConfig: () => ({}),
  newNode: () => ({ name: "Start", output_keys: ["user_request"] }),
  *run(_config, ctx) {
    const output = Object.fromEntries(
      ctx.node.output_keys
        .filter((key) => Object.hasOwn(ctx.state, key))
        .map((key) => [key, must(ctx.state, key)]),
    );
    return { output };
  },
});
