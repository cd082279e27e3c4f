import { defineNode, type SchemaParts } from "../define";

/** Converts a text to upper case. */
export const shout = defineNode({
  type: "shout",
  title: "Shout",
  hint: "Converts a text to upper case",
  icon: "wrench",
  group: "data",
  config: ({ z }: SchemaParts) => z.object({ key: z.string().default("text") }),
  fields: [{ key: "key", label: "State key", as: "text" }],
  newConfig: () => ({ key: "text" }),
  summary: ({ key }) => `${key} in upper case`,
  writes: ({ key }) => [key],
  *run({ key }, ctx) {
    const text = ctx.state[key];
    return { output: { [key]: typeof text === "string" ? text.toUpperCase() : null } };
  },
});
