import { z } from "zod";

/** How far a memory reaches; "run" and before end with the run. */
export const MemoryScope = z.enum(["task", "agent", "run", "workflow", "project", "global"]);
export type MemoryScope = z.infer<typeof MemoryScope>;

/** What each scope is called, and which memories it holds. */
export const MEMORY_SCOPES: Record<MemoryScope, { title: string; sentence: string }> = {
  task: { title: "One task", sentence: "Memories of one task" },
  agent: { title: "One agent", sentence: "Memories of one agent" },
  run: { title: "One run", sentence: "Memories of one run" },
  workflow: { title: "One workflow", sentence: "Memories of this workflow" },
  project: { title: "This project", sentence: "Memories of the project" },
  global: { title: "Global", sentence: "Memories shared by all workflows" },
};
