import { choicesOf, type FormField, type FormPart } from "@/server/domain/base/form";
import { entriesOf } from "@/server/domain/base/guards";
import type { CrewConfig } from "./crew";
import { CREW_PROCESSES } from "./processes";

type Consensus = CrewConfig["consensus"];

/** Labels of what a crew does when one of its tasks fails. */
const TASK_FAILURES: Record<CrewConfig["on_task_failure"], string> = {
  stop: "Stop the crew",
  continue_independent: "Go on with what does not need it",
  replan: "Plan anew",
  escalate: "Ask a person",
};

/** Labels of the rules that decide a vote. */
const VOTE_RULES: Record<Consensus["rule"], string | { label: string; hint: string }> = {
  majority: "More than half",
  two_thirds: "Two thirds",
  unanimous: "All",
  weighted: { label: "Weights", hint: "More than half of the weights" },
};

/** Labels of what happens when a vote is tied. */
const TIES: Record<Consensus["tie"], string> = {
  human: "Ask a person",
  chair: "The chair decides",
  reject: "It is rejected",
};

/** What no field can express: who is in it, what it takes, who leads, groups and steps, on which terms it asks. */
export type CrewSlot =
  | "agents"
  | "estimate"
  | "planner"
  | "manager"
  | "chair"
  | "weights"
  | "groups"
  | "steps"
  | "unfollowed"
  | "questions";

const goes =
  (...processes: CrewConfig["process"][]) =>
  ({ process }: CrewConfig) =>
    processes.includes(process);
const byPlan = goes("sequential", "parallel");

const MOST_REPLANS: FormField<CrewConfig> = {
  key: "max_replans",
  label: "Most new plans",
  as: "number",
  min: 0,
  max: 20,
  empty: 2,
};

/** The settings that matter for each process. */
const PROCESS_FORM: readonly FormPart<CrewConfig, CrewSlot>[] = [
  {
    key: "planning",
    label: "Plan the work first",
    as: "switch",
    hint: "The planner writes a plan, also where one is given",
    showIf: byPlan,
  },
  {
    key: "on_task_failure",
    label: "When a task fails",
    as: "choice",
    options: choicesOf(TASK_FAILURES),
    showIf: byPlan,
  },
  { ...MOST_REPLANS, showIf: (crew) => byPlan(crew) && crew.on_task_failure === "replan" },
  {
    key: "max_parallel",
    label: "At the same time",
    as: "number",
    hint: "At most so many tasks run at once",
    min: 1,
    max: 16,
    empty: 3,
    showIf: goes("parallel"),
  },
  {
    as: "box",
    title: "More",
    showIf: byPlan,
    parts: [{ slot: "planner" }, { slot: "groups", showIf: goes("parallel") }],
  },

  { slot: "manager", showIf: goes("hierarchical") },
  {
    key: "max_rounds",
    label: "Most rounds",
    as: "number",
    hint: "In each round the manager sends one message",
    min: 1,
    max: 200,
    empty: 12,
    showIf: goes("hierarchical"),
  },
  {
    as: "box",
    title: "More",
    showIf: goes("hierarchical"),
    parts: [
      {
        key: "max_stalls",
        label: "Rounds without progress",
        as: "number",
        hint: "After so many, the manager makes a new plan",
        min: 1,
        max: 50,
        empty: 3,
      },
      MOST_REPLANS,
    ],
  },

  {
    key: "entry_agent",
    label: "Begins with",
    as: "choice",
    unset: "The first agent",
    showIf: goes("swarm"),
  },
  {
    key: "max_handoffs",
    label: "Most handovers",
    as: "number",
    min: 0,
    max: 200,
    empty: 12,
    showIf: goes("swarm"),
  },

  {
    key: "consensus.rule",
    label: "It is decided by",
    as: "choice",
    options: choicesOf(VOTE_RULES),
    showIf: goes("consensus"),
  },
  {
    slot: "weights",
    showIf: (crew) => goes("consensus")(crew) && crew.consensus.rule === "weighted",
  },
  {
    key: "consensus.tie",
    label: "When it stays open",
    as: "choice",
    options: choicesOf(TIES),
    showIf: goes("consensus"),
  },
  {
    as: "box",
    title: "More",
    showIf: goes("consensus"),
    parts: [
      { slot: "chair" },
      {
        key: "consensus.quorum",
        label: "Who must vote",
        as: "percent",
        hint: "At least this share, so that the vote counts",
        min: 0,
        max: 100,
        step: 5,
        empty: 0.5,
      },
      {
        key: "consensus.rounds",
        label: "Rounds of voting",
        as: "number",
        hint: "After each that decides nothing, all see the reasons",
        min: 1,
        max: 10,
        empty: 2,
      },
    ],
  },

  {
    key: "samples",
    label: "Answers",
    as: "number",
    hint: "So often the first agent answers; what most answers agree on stands",
    min: 2,
    max: 15,
    empty: 5,
    showIf: goes("sample"),
  },

  { slot: "steps", showIf: goes("custom") },
  {
    key: "max_rounds",
    label: "Most steps",
    as: "number",
    hint: "Steps that come round again count each time",
    min: 1,
    max: 500,
    empty: 12,
    showIf: goes("custom"),
  },
];

/** How a crew is set, part by part, as data: what the form shows, reads and writes; some parts only for some processes. */
export const CREW_FORM: readonly FormPart<CrewConfig, CrewSlot>[] = [
  {
    key: "process",
    label: "How they work",
    as: "choice",
    options: entriesOf(CREW_PROCESSES).map(([value, { title, sentence }]) => ({
      value,
      label: title,
      hint: sentence,
    })),
  },
  { slot: "estimate" },
  { slot: "agents" },
  ...PROCESS_FORM,
  { slot: "unfollowed" },
  {
    key: "delegate_tools",
    label: "Delegates keep their tools",
    as: "switch",
    hint: "Off: who works for another has only the tools that both roles may use",
    on: "own",
    off: "shared",
  },
  {
    key: "memory",
    label: "May remember",
    as: "switch",
    hint: "Off: without the memory tools, though roles name them",
  },
  { slot: "questions" },
];
