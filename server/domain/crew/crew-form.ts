import { choicesOf, type FormField, type FormPart } from "@/server/domain/base/form";
import { entriesOf } from "@/server/domain/base/guards";
import type { CrewConfig } from "./crew";
import { CREW_PROCESSES } from "./processes";

type Consensus = CrewConfig["consensus"];

/** Labels of what a crew does when one of its tasks fails. */
const TASK_FAILURES: Record<CrewConfig["on_task_failure"], string> = {
  stop: "Stop the crew",
  continue_independent: "Continue independent tasks",
  replan: "Replan",
  escalate: "Ask a person",
};

/** Labels of the rules that decide a vote. */
const VOTE_RULES: Record<Consensus["rule"], string | { label: string; hint: string }> = {
  majority: "Majority",
  two_thirds: "Two-thirds majority",
  unanimous: "Unanimous",
  weighted: { label: "Weighted majority", hint: "More than half of the total weight" },
};

/** Labels of what happens when a vote is tied. */
const TIES: Record<Consensus["tie"], string> = {
  human: "Ask a person",
  chair: "Chair decides",
  reject: "Reject",
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

const mayAllowHandoffs = goes("sequential", "parallel", "hierarchical", "custom");

const MAX_HANDOFFS: FormField<CrewConfig> = {
  key: "max_handoffs",
  label: "Max handoffs",
  as: "number",
  min: 0,
  max: 200,
  empty: 12,
};

const MOST_REPLANS: FormField<CrewConfig> = {
  key: "max_replans",
  label: "Max replans",
  as: "number",
  min: 0,
  max: 20,
  empty: 2,
};

/** The settings that matter for each process. */
const PROCESS_FORM: readonly FormPart<CrewConfig, CrewSlot>[] = [
  {
    key: "planning",
    label: "Plan first",
    as: "switch",
    hint: "A planner writes the plan, replacing any existing plan",
    showIf: byPlan,
  },
  {
    key: "on_task_failure",
    label: "On task failure",
    as: "choice",
    options: choicesOf(TASK_FAILURES),
    showIf: byPlan,
  },
  { ...MOST_REPLANS, showIf: (crew) => byPlan(crew) && crew.on_task_failure === "replan" },
  {
    key: "max_parallel",
    label: "Max parallel tasks",
    as: "number",
    hint: "Number of tasks that run at once",
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
    label: "Max rounds",
    as: "number",
    hint: "The manager sends one message per round",
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
        hint: "The manager replans after this many",
        min: 1,
        max: 50,
        empty: 3,
      },
      MOST_REPLANS,
    ],
  },

  {
    key: "entry_agent",
    label: "First agent",
    as: "choice",
    unset: "First in the list",
    showIf: goes("swarm"),
  },
  { ...MAX_HANDOFFS, showIf: goes("swarm") },

  {
    key: "consensus.rule",
    label: "Decision rule",
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
    label: "If undecided",
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
        label: "Quorum",
        as: "percent",
        hint: "Minimum share of members who vote",
        min: 0,
        max: 100,
        step: 5,
        empty: 0.5,
      },
      {
        key: "consensus.rounds",
        label: "Max voting rounds",
        as: "number",
        hint: "Members see each other's reasons between rounds",
        min: 1,
        max: 10,
        empty: 2,
      },
    ],
  },

  {
    key: "samples",
    label: "Samples",
    as: "number",
    hint: "Number of answers from the first agent; the most common one wins",
    min: 2,
    max: 15,
    empty: 5,
    showIf: goes("sample"),
  },

  { slot: "steps", showIf: goes("custom") },
  {
    key: "max_rounds",
    label: "Max steps",
    as: "number",
    hint: "Repeated steps count each time",
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
    label: "Process",
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
    key: "allow_handoffs",
    label: "Allow handoffs",
    as: "switch",
    hint: "Off: only agents whose roles list handoff can hand off",
    usual: () => false,
    showIf: mayAllowHandoffs,
  },
  { ...MAX_HANDOFFS, showIf: (crew) => mayAllowHandoffs(crew) && crew.allow_handoffs === true },
  {
    key: "delegate_tools",
    label: "Delegates keep tools",
    as: "switch",
    hint: "Off: delegates get only tools both roles allow",
    on: "own",
    off: "shared",
    usual: () => "own",
  },
  {
    key: "memory",
    label: "Memory",
    as: "switch",
    hint: "Off: no memory tools, even if roles list them",
  },
  { slot: "questions" },
];
