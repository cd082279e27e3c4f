import type { CrewProcess } from "./crew";

/** What each process is called, what happens in it, and how it reads behind "3 agents, …". */
export const CREW_PROCESSES: Record<CrewProcess, { title: string; sentence: string; how: string }> = {
  sequential: {
    title: "Sequential",
    sentence: "Tasks run in order and can use earlier results",
    how: "in sequence",
  },
  parallel: {
    title: "Parallel",
    sentence: "Independent tasks run at the same time",
    how: "in parallel",
  },
  hierarchical: {
    title: "Hierarchical",
    sentence: "A manager delegates one step at a time",
    how: "led by a manager",
  },
  swarm: {
    title: "Swarm (handoffs)",
    sentence: "Agents hand off the conversation to each other",
    how: "handing off to each other",
  },
  consensus: {
    title: "Consensus",
    sentence: "Members vote on a proposal",
    how: "deciding by vote",
  },
  sample: {
    title: "Sample and vote",
    sentence: "One agent answers several times; the most common answer wins",
    how: "sampling one agent",
  },
  custom: {
    title: "Custom steps",
    sentence: "Your own steps and outcomes",
    how: "with custom steps",
  },
};
