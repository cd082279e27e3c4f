import { z } from "zod";
import { defineNode } from "./define";

/** Words for people on the canvas; never part of a run. */
export const note = defineNode({
  type: "note",
  title: "Note",
  hint: "Words for people",
  icon: "sticky-note",
  group: "notes",
  hasEntry: false,
  hasExit: false,
  executes: false,
  exits: () => [],
  config: z.object({ text: z.string().max(8000).default("") }),
  fields: [{ key: "text", label: "Text", as: "multiline" }],
  noteText: (config) => config.text,
  summary: (config) => config.text,
  newConfig: () => ({ text: "" }),
});
