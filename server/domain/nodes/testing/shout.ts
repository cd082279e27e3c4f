import { defineNode, type SchemaParts } from "../define";

/** Turns a text into capitals. */
export const shout = defineNode({
  type: "shout",
  title: "Shout",
  hint: "Turns a text into capitals",
  icon: "wrench",
  group: "data",
  config: ({ z }: SchemaParts) => z.object({ key: z.string().default("text") }),
  fields: [{ key: "key", label: "Which value", as: "text" }],
  newConfig: () => ({ key: "text" }),
  summary: ({ key }) => `Shouts ${key}`,
  writes: ({ key }) => [key],
  *run({ key }, ctx) {
    const text = ctx.state[key];
    return { output: { [key]: typeof text === "string" ? text.toUpperCase() : null } };
  },
});
