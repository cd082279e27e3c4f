import type { CrewProcess } from "./crew";

/** What each process is called, what happens in it, and how it reads behind "3 agents, …". */
export const CREW_PROCESSES: Record<CrewProcess, { title: string; sentence: string; how: string }> = {
  sequential: {
    title: "One after another",
    sentence: "Tasks of a plan, each with what came before",
    how: "one after another",
  },
  parallel: {
    title: "In parallel",
    sentence: "Tasks of a plan, at once where none waits for another",
    how: "in parallel",
  },
  hierarchical: {
    title: "Led by a manager",
    sentence: "A manager gives one step at a time to one member",
    how: "led by a manager",
  },
  swarm: {
    title: "Handing over",
    sentence: "One at a time, who hands the conversation on",
    how: "handing over to each other",
  },
  consensus: {
    title: "By vote",
    sentence: "All members vote on one proposal",
    how: "deciding by vote",
  },
  sample: {
    title: "Sample and vote",
    sentence: "One agent answers several times; what most answers agree on stands",
    how: "by samples of one agent",
  },
  custom: {
    title: "By steps of its own",
    sentence: "Steps, each with what follows which outcome",
    how: "by steps of its own",
  },
};
