import { defined } from "@/server/domain/base/defined";
import { agentKey, evolve, newRun, type RunState } from "..";
import type { EventType, RunEvent, RunEventOf } from "../events";

/** Known failures of crews and workflows that events alone prove. */
export const FINDING_KINDS = {
  repeated_step: "The same step again and again",
  history_lost: "What was known got lost",
  input_cut: "Somebody read only a part of what they were given",
  work_overwritten: "Somebody's work was dropped",
  end_not_noticed: "Nobody noticed that it was time to end",
  not_verified: "The result was not checked",
  verified_too_early: "The check came too early",
  check_passed_over: "A check failed, and it went on all the same",
  wrong_tool: "A tool that is not theirs",
  wrong_worker: "The task went to the wrong one",
  plan_not_done: "It says done, and the plan says otherwise",
  ping_pong: "Back and forth without work",
  feedback_unread: "Feedback that changed nothing",
  wrong_form: "Answers not in the form that was asked for",
  budget_eaten: "One member used up the budget",
  question_unanswered: "A question that nobody answered",
  vote_missing: "Votes that nobody gave",
  failure_passed_over: "A failure was passed over",
} as const;
export type FindingKind = keyof typeof FINDING_KINDS;

/** A diagnostic about a run: where, what went wrong, and what to do about it. */
export interface Finding {
  kind: FindingKind;
  /** The event at which it shows. */
  seq: number;
  node_id?: string;
  activation_id?: string;
  agent_id?: string;
  task_id?: string;
  /** What happened, a sentence. */
  said: string;
  /** What to do, a sentence. */
  advice: string;
}

/** A run to search for findings. */
export interface Looked {
  events: readonly RunEvent[];
  /** After the last event. */
  state: RunState;
  /** The events of each agent per task, by `agentKey`. */
  agents: ReadonlyMap<string, readonly RunEvent[]>;
  /** The events of each activation. */
  activations: ReadonlyMap<string, readonly RunEvent[]>;
}

/** Finds one kind of failure. It never guesses: it reports only what the events prove. */
export type Detector = (run: Looked) => Finding[];

/** Sorts a run's events for detectors. */
export function indexEvents(events: readonly RunEvent[]): Looked {
  const state = newRun();
  const agents = new Map<string, RunEvent[]>();
  const activations = new Map<string, RunEvent[]>();
  for (const event of events) {
    evolve(state, event);
    const { activation_id, agent_id, task_id } = event;
    if (!activation_id) continue;
    add(activations, activation_id, event);
    if (agent_id) add(agents, agentKey(activation_id, agent_id, task_id), event);
  }
  return { events, state, agents, activations };
}

function add<V>(map: Map<string, V[]>, key: string, value: V): void {
  const those = map.get(key);
  if (those) those.push(value);
  else map.set(key, [value]);
}

/** The events of one type, in their order. */
export const of = <T extends EventType>(events: readonly RunEvent[], type: T): RunEventOf<T>[] =>
  events.filter((event): event is RunEvent & RunEventOf<T> => event.type === type);

/** Where an event is. */
export function placeOf({
  seq,
  node_id,
  activation_id,
  agent_id,
  task_id,
}: RunEvent): Omit<Finding, "kind" | "said" | "advice"> {
  return {
    seq,
    ...defined({
      node_id: node_id || undefined,
      activation_id: activation_id || undefined,
      agent_id: agent_id || undefined,
      task_id: task_id || undefined,
    }),
  };
}

export const named = (id: string | undefined): string => (id ?? "an agent").replaceAll("_", " ");

/** A text for comparison: without differences in spaces and case. */
export const plain = (text: string): string => text.replace(/\s+/g, " ").trim().toLowerCase();

/** A text shortened to one line, for use in a sentence. */
export const brief = (text: string, most = 120): string => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1).trimEnd()}…`.toWellFormed() : line;
};
