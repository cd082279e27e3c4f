import { defineNode, type SchemaParts, toolOutputs } from "./define";

/** Runs a program of the workflow's author in the sandbox: no files, no network, nothing of the host. */
export const code = defineNode({
  type: "code",
  title: "Code",
  hint: "Runs JavaScript",
  icon: "braces",
  group: "data",
  config: ({ z }: SchemaParts) =>
    z.object({
      language: z.literal("javascript").default("javascript"),
      source: z.string().max(50_000).default(""),
    }),
  fields: [
    {
      key: "source",
      label: "JavaScript",
      as: "code",
      hint: "Function body: input holds the node's inputs; return its outputs",
    },
  ],
  uses: ({ source }) => [{ kind: "code", source }],
  summary: (config) => {
    const first = config.source.trim().split("\n")[0] ?? "";
    return first === "" ? "No code yet" : first;
  },
  newConfig: () => ({ language: "javascript" as const, source: "return input;" }),
  newNode: () => ({ name: "Code", output_keys: ["result"] }),
  validate: (config) =>
    config.source.trim() === ""
      ? [{ severity: "error", code: "E_CODE_EMPTY", message: "Add code to run.", field: "source" }]
      : [],
  *run(config, ctx) {
    const value = yield* ctx.code(config.source, { ...ctx.input });
    return { output: toolOutputs(value, ctx.node.output_keys) };
  },
});
