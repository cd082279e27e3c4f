import { isList, keysOf } from "@/server/domain/base/guards";
import { newRecord } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import { evolve, newRun, type RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";

/** How many events lie between two kept states: going back folds at most this many again. */
const EVERY = 500;

/** The state of a run after any of its events, for going back in time. */
export interface StateHistory {
  stateAt(events: readonly RunEvent[], seq: number): RunState;
}

/**
 * Remembers a state every so many events, and the one it gave last: forward steps fold on from there.
 * The state it gives is its own and changes in place with the next call.
 */
export function newHistory(every = EVERY): StateHistory {
  const kept = new Map<number, RunState>();
  let last: { seq: number; state: RunState } | null = null;

  function nearest(seq: number): { seq: number; state: RunState } {
    const before = last && last.seq <= seq ? last : { seq: 0, state: newRun() };
    if (seq - before.seq < every) return before;
    for (let at = seq - (seq % every); at > before.seq; at -= every) {
      const state = kept.get(at);
      if (state) return { seq: at, state: copyState(state) };
    }
    return before;
  }

  return {
    stateAt(events, wanted) {
      const seq = Math.max(0, Math.min(wanted, events.length));
      let { seq: at, state } = nearest(seq);
      while (at < seq) {
        state = evolve(state, must(events, at));
        at++;
        if (at % every === 0 && !kept.has(at)) kept.set(at, copyState(state));
      }
      last = { seq, state };
      return state;
    },
  };
}

/** Leaves are replaced, never changed, so a copy shares them; only the containers are made anew. */
function copyState(state: RunState): RunState {
  const copy = { ...state };
  for (const key of keysOf(copy)) copyContainer(copy, key);
  return copy;
}

function copyContainer<K extends keyof RunState>(state: RunState, key: K): void {
  // A copy has the type of its source; the compiler can't follow that by key.
  state[key] = copied(key, state[key]) as RunState[K];
}

function copied(key: keyof RunState, value: unknown): unknown {
  // The boxes of tokens are changed in place down to their last array; the graph never is.
  if (key === "inbox" || key === "backbox") return structuredClone(value);
  if (key === "graph" || typeof value !== "object" || value === null) return value;
  if (value instanceof Set) return new Set<unknown>(value);
  if (value instanceof Map) return new Map<unknown, unknown>(value);
  return isList(value) ? [...value] : newRecord(Object.entries(value));
}
