import type { Answers } from "@/components/trpc";

/** A memory as the page lists it. */
export type MemoryListed = Answers["memories"]["list"]["memories"][number];
