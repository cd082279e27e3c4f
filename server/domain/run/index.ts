import type { EventType, RunEvent, RunEventOf } from "./events";
import { agents } from "./reducer/agents";
import { children } from "./reducer/children";
import { control } from "./reducer/control";
import { crews } from "./reducer/crews";
import { edges } from "./reducer/edges";
import type { Handlers } from "./reducer/handlers";
import { modelCalls } from "./reducer/model-calls";
import { nodes } from "./reducer/nodes";
import { people } from "./reducer/people";
import { plans } from "./reducer/plans";
import { runs } from "./reducer/runs";
import { stateValues } from "./reducer/state-values";
import { tools } from "./reducer/tools";
import { newRun, type RunState } from "./state";

export type * from "./crew-state";
export * from "./state";

const handlers: Handlers<EventType> = {
  ...runs,
  ...stateValues,
  ...nodes,
  ...edges,
  ...agents,
  ...modelCalls,
  ...children,
  ...tools,
  ...people,
  ...crews,
  ...plans,
  ...control,
};
// So that a type which is not known here is never mistaken for something that every object has.
Object.setPrototypeOf(handlers, null);

const handle = <T extends EventType>(s: RunState, event: RunEventOf<T>): void =>
  // Events without a handler come from a newer version: the fold ignores them.
  handlers[event.type]?.(s, event);

/**
 * Folds one event into the state, in constant time. It depends on nothing but its arguments.
 *
 * The state belongs to the caller: containers are changed in place, the records in them are replaced. So a view
 * can compare leaves (`state.nodes[id]`) by identity, and a long run costs no more per event than a short one.
 */
export function evolve(s: RunState, event: RunEvent): RunState {
  s.seq = event.seq;
  handle(s, event);
  heedSender(s, event);
  return s;
}

/** Text from an untrusted sender is untrusted content wherever it is stored. */
function heedSender(s: RunState, { payload }: RunEvent): void {
  if (!("untrusted" in payload) || !payload.untrusted) return;
  const { by } = payload;
  if (s.untrusted_senders.includes(by)) return;
  s.untrusted_senders = [...s.untrusted_senders, by];
  s.taint_sources = [...new Set([...s.taint_sources, by])];
}

/** Folds a whole log. */
export function foldRun(id: string, events: Iterable<RunEvent>): RunState {
  const state = newRun(id);
  for (const event of events) evolve(state, event);
  return state;
}
