import { defined } from "@/server/domain/base/defined";
import { agentKey, evolve, newRun, type RunState } from "..";
import type { EventType, RunEvent, RunEventOf } from "../events";

/** Known failures of crews and workflows that events alone prove. */
export const FINDING_KINDS = {
  repeated_step: "Repeated step",
  history_lost: "Lost context",
  input_cut: "Input partly read",
  work_overwritten: "Work overwritten",
  end_not_noticed: "Missed stop condition",
  not_verified: "Result not verified",
  verified_too_early: "Verified too early",
  check_passed_over: "Failed check ignored",
  wrong_tool: "Tool not permitted",
  wrong_worker: "Wrong assignee",
  plan_not_done: "Plan not completed",
  ping_pong: "Ping-pong without progress",
  feedback_unread: "Feedback without effect",
  wrong_form: "Wrong output format",
  budget_eaten: "Uneven budget use",
  question_unanswered: "Unanswered question",
  vote_missing: "Missing votes",
  failure_passed_over: "Failure ignored",
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
