import { defineNode, type NodeBase, type SchemaParts } from "./define";

/** The reference implementation leaves its results in the state under names that begin like this. */
export const REPEATED = "final_output_";

/** Whether the node says what it gives; otherwise that is the whole state. */
const isChosen = (node: NodeBase): boolean =>
  node.input_keys.length > 0 || node.optional_input_keys.length > 0 || node.input_mapping !== undefined;

/** Where a run ends; its input keys become the run's output. */
export const end = defineNode({
  type: "end",
  title: "End",
  hint: "Ends the run",
  icon: "flag",
  group: "flow",
  hasExit: false,
  exits: () => [],
  config: ({ z }: SchemaParts) =>
    z
      .object({
        terminate: z.boolean().default(false),
        status: z.enum(["COMPLETED", "ERROR"]).default("COMPLETED"),
      })
      .prefault({}),
  fields: [
    {
      key: "status",
      label: "Run status",
      as: "choice",
      options: [
        { value: "COMPLETED", label: "Completed" },
        { value: "ERROR", label: "Failed" },
      ],
    },
    {
      key: "terminate",
      label: "Cancel other branches",
      as: "switch",
      hint: "Cancels branches that are still running; otherwise the run waits for them",
    },
  ],
  summary: (config, node) => {
    const what =
      node.input_keys.length > 0
        ? `Returns ${node.input_keys.join(", ")}`
        : isChosen(node)
          ? "Returns chosen values"
          : "Returns everything";
    return config.status === "ERROR" ? "Ends with an error" : what;
  },
  newConfig: () => ({ terminate: false, status: "COMPLETED" as const }),
  newNode: () => ({ name: "End" }),
  ends: (config, node) => ({ ...config, givesAll: !isChosen(node) }),
  *run(_config, ctx) {
    const named = isChosen(ctx.node);
    const output = named ? { ...ctx.input } : { ...ctx.state };
    const writes = named
      ? Object.fromEntries(
          Object.entries(output).map(([key, value]) => [`${REPEATED}${key}`.slice(0, 64), value]),
        )
      : {};
    return { output, writes };
  },
});
