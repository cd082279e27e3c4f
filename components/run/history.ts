import type { RunEvent } from "@/server/domain/events";
import { evolve, newRun, type RunState } from "@/server/domain/run";

/** How many events lie between two kept states: going back folds at most this many again. */
const EVERY = 500;

/** The state of a run after any of its events, for going back in time. */
export interface History {
  stateAt(events: readonly RunEvent[], seq: number): RunState;
}

/**
 * Remembers a state every so many events, and the one it gave last: forward steps fold on from there.
 * The state it gives is its own and changes in place with the next call.
 */
export function newHistory(every = EVERY): History {
  const kept = new Map<number, RunState>();
  let last: { seq: number; state: RunState } | null = null;

  function nearest(seq: number): { seq: number; state: RunState } {
    if (last && last.seq <= seq) return last;
    for (let at = seq - (seq % every); at > 0; at -= every) {
      const state = kept.get(at);
      if (state) return { seq: at, state: copyState(state) };
    }
    return { seq: 0, state: newRun() };
  }

  return {
    stateAt(events, wanted) {
      const seq = Math.max(0, Math.min(wanted, events.length));
      let { seq: at, state } = nearest(seq);
      while (at < seq) {
        state = evolve(state, events[at]!);
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
  for (const key of Object.keys(copy) as (keyof RunState)[]) copyContainer(copy, key);
  return copy;
}

function copyContainer<K extends keyof RunState>(state: RunState, key: K): void {
  const value: unknown = state[key];
  // The boxes of tokens are changed in place down to their last array.
  const isDeep = key === "inbox" || key === "backbox";
  const copied = isDeep
    ? structuredClone(value)
    : value instanceof Set
      ? new Set(value)
      : value instanceof Map
        ? new Map(value)
        : Array.isArray(value)
          ? value.slice()
          : typeof value === "object" && value !== null && key !== "graph"
            ? Object.assign(Object.create(Object.getPrototypeOf(value)), value)
            : value;
  state[key] = copied as RunState[K];
}
