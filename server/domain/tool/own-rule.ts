import { z } from "zod";

/** A rule that a workflow brings along: written at one router, named by any of its routers. */
export const OwnRule = z.object({
  description: z.string().max(500).default(""),
  /** `cel`: an expression over `state`; `javascript`: the body of a function of `state`, run in the sandbox. */
  language: z.enum(["cel", "javascript"]).default("cel"),
  /** What answers one label, or a list of labels. */
  source: z.string().max(50_000).default(""),
});
export type OwnRule = z.infer<typeof OwnRule>;
