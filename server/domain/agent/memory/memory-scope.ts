import { z } from "zod";

/** How far a memory reaches; "run" and before end with the run. */
export const MemoryScope = z.enum(["task", "agent", "run", "workflow", "project", "global"]);
export type MemoryScope = z.infer<typeof MemoryScope>;

/** What each scope is called, and which memories it holds. */
export const MEMORY_SCOPES: Record<MemoryScope, { title: string; sentence: string }> = {
  task: { title: "Task", sentence: "Memories of one task" },
  agent: { title: "Agent", sentence: "Memories of one agent" },
  run: { title: "Run", sentence: "Memories of one run" },
  workflow: { title: "Workflow", sentence: "Memories of one workflow" },
  project: { title: "Project", sentence: "Memories of one project" },
  global: { title: "Global", sentence: "Memories shared by all workflows" },
};
