import { defineNode, type SchemaParts } from "./define";

/** Words for people on the canvas; never part of a run. */
export const note = defineNode({
  type: "note",
  title: "Note",
  hint: "A comment on the canvas",
  icon: "sticky-note",
  group: "notes",
  hasEntry: false,
  hasExit: false,
  executes: false,
  exits: () => [],
  config: ({ z }: SchemaParts) =>
    z.object({
      /** Markdown. */
      text: z.string().max(8000).default(""),
      color: z.enum(["yellow", "pink", "green", "blue", "grey"]).optional(),
    }),
  fields: [
    { key: "text", label: "Text", as: "multiline", hint: "Markdown: # heading, **bold**, - list" },
    {
      key: "color",
      label: "Color",
      as: "choice",
      options: [
        { value: "yellow", label: "Yellow" },
        { value: "pink", label: "Pink" },
        { value: "green", label: "Green" },
        { value: "blue", label: "Blue" },
        { value: "grey", label: "Gray" },
      ],
    },
  ],
  noteText: (config) => config.text,
  summary: (config) => config.text,
  newConfig: () => ({ text: "" }),
});
