import type { EventType, RunEventOf } from "../events";
import type { RunState } from "../state";

/**
 * What an event does to the state: containers are changed in place, the records in them are replaced. Nothing but its
 * arguments goes into it, and it costs the same in a long run as in a short one.
 */
export type Handler<T extends EventType> = (s: RunState, event: RunEventOf<T>) => void;

/** One handler for each of these types of events, no more and no fewer. */
export type Handlers<T extends EventType> = { readonly [K in T]: Handler<K> };

/** For what is only told: the log keeps it, and the state is the same without it. */
export const noChange = (): void => {};
