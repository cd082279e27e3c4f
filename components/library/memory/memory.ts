import type { Answers } from "@/components/trpc";

/** A memory as the page lists it. */
export type MemoryListed = Answers["memories"]["list"]["memories"][number];

/** How far a memory reaches, in words. */
export const SCOPE_WORDS: Record<MemoryListed["scope"], string> = {
  task: "One task",
  agent: "One agent",
  run: "One run",
  workflow: "One workflow",
  project: "This project",
  global: "Everywhere",
};
