import { createStore, type StoreApi } from "zustand/vanilla";
import type { LiveFrame } from "@/server/domain/base/durable";
import { newRecord } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import { evolve, newRun, type RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { newHistory } from "./state-history";

/** Text of a model call on its way. `from`: characters before it that this reader missed. */
export interface LiveText {
  content: string;
  reasoning: string;
  from: number;
}

/** How the page hears of the run. `resting`: closed because the tab is hidden; `ended`: all there is was read. */
export type Connection = "connecting" | "live" | "reconnecting" | "resting" | "ended" | "failed";

/**
 * What the page shows of a run. `state` is the run as of the cursor: its records change in place and their
 * leaves are replaced, so select a leaf (`s.state.nodes[id]?.status`), never a record.
 */
export interface RunView {
  /** Grows with every change; for what depends on everything. */
  version: number;
  events: readonly RunEvent[];
  lastSeq: number;
  /** Null: live. Otherwise the seq of the last event that is taken into account. */
  cursor: number | null;
  /** The cursor is advancing: the run is played back. */
  isPlaying: boolean;
  state: RunState;
  /** The newest state, wherever the cursor is. */
  head: RunState;
  live: Readonly<Record<string, LiveText>>;
  /** For each event: how many ms the run had only waited by then, since its start; grows in place. */
  waited: readonly number[];
  connection: Connection;
  /** Why the run cannot be shown, where the connection failed. */
  connectionError?: string | undefined;
}

export interface RunViewStore {
  readonly view: StoreApi<RunView>;
  /** Takes in events. False: some are missing before these, so read on again after `expected()`. */
  apply(events: readonly RunEvent[]): boolean;
  applyLive(frames: readonly LiveFrame[]): void;
  /** The seq of the last event taken in, shown already or not. */
  received(): number;
  goTo(cursor: number | null): void;
  setPlaying(isPlaying: boolean): void;
  setConnection(connection: Connection, connectionError?: string): void;
  /** Shows what was taken in; happens by itself once in a frame. */
  flush(): void;
}

const FRAME_MS = 16;

/**
 * Runs work immediately after an idle period, so that an event need not wait for a frame, and once per frame during a
 * stream of events. A hidden page gets no frames, so a timer is used there.
 */
function newPacer(): (work: () => void) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (work) => {
    const run = () => {
      last = performance.now();
      work();
    };
    if (typeof document === "undefined" || document.hidden) setTimeout(run, 50);
    else if (performance.now() - last < FRAME_MS) requestAnimationFrame(run);
    else queueMicrotask(run);
  };
}

/** The store of one opened run: events go in, the run's state as of a cursor comes out. */
export function newRunViewStore(schedule: (work: () => void) => void = newPacer()): RunViewStore {
  const events: RunEvent[] = [];
  const waited: number[] = [];
  const history = newHistory();
  let head = newRun();
  let folded = 0;
  let received = 0;
  let frames: LiveFrame[] = [];
  let isScheduled = false;

  const view = createStore<RunView>(() => ({
    version: 0,
    events,
    lastSeq: 0,
    cursor: null,
    isPlaying: false,
    state: head,
    head,
    live: newRecord<LiveText>(),
    waited,
    connection: "connecting",
  }));

  function wake(): void {
    if (isScheduled) return;
    isScheduled = true;
    schedule(() => {
      isScheduled = false;
      flush();
    });
  }

  function flush(): void {
    if (folded === events.length && frames.length === 0) return;
    const before = view.getState();
    const live = withFrames(before.live, frames, head);
    frames = [];
    const ended = new Set<string>();
    while (folded < events.length) {
      const event = must(events, folded);
      const gap = isIdle(head) ? event.ts - (events[folded - 1]?.ts ?? event.ts) : 0;
      const isStart = event.type === "run_started" || event.type === "run_forked";
      waited.push(isStart ? 0 : (waited[folded - 1] ?? 0) + gap);
      folded++;
      head = evolve(head, event);
      if (event.call_id && event.type !== "llm_call_started") ended.add(event.call_id);
    }
    view.setState({
      version: before.version + 1,
      lastSeq: events.length,
      head,
      state: before.cursor === null ? head : before.state,
      live: without(live, ended, head),
    });
  }

  return {
    view,
    received: () => received,
    apply(batch) {
      for (const event of batch) {
        if (event.seq <= received) continue;
        if (event.seq !== received + 1) {
          wake();
          return false;
        }
        received = event.seq;
        events.push(event);
      }
      wake();
      return true;
    },
    applyLive(more) {
      frames.push(...more);
      wake();
    },
    goTo(cursor) {
      flush();
      const at = cursor === null ? null : Math.max(1, Math.min(cursor, events.length));
      const { version, cursor: before } = view.getState();
      if (at === before) return;
      view.setState({
        version: version + 1,
        cursor: at,
        state: at === null ? head : history.stateAt(events, at),
      });
    },
    setPlaying: (isPlaying) => view.setState({ isPlaying }),
    setConnection(connection, connectionError) {
      const before = view.getState();
      if (before.connection !== connection || before.connectionError !== connectionError)
        view.setState({ connection, connectionError });
    },
    flush,
  };
}

/** Whether a started run is only waiting: for a person, a time or a signal, or because it is paused. */
export function isIdle({ run, running, ready, activations }: RunState): boolean {
  if (run.status === "finished" || run.paused_at) return true;
  if (running.size === 0 || ready.length > 0) return false;
  for (const id of running) if (activations[id]?.status !== "waiting") return false;
  return true;
}

/** Adds streamed text; a frame that begins later than what is known leaves a gap and says so. */
function withFrames(
  live: Readonly<Record<string, LiveText>>,
  frames: readonly LiveFrame[],
  head: RunState,
): Readonly<Record<string, LiveText>> {
  if (frames.length === 0) return live;
  const next = newRecord<LiveText>(live);
  for (const { call_id, channel, offset, text } of frames) {
    if (channel === "tool_args" || isOver(head, call_id)) continue;
    const known = next[call_id] ?? { content: "", reasoning: "", from: channel === "content" ? offset : 0 };
    if (channel === "reasoning") {
      next[call_id] = { ...known, reasoning: known.reasoning.slice(0, offset) + text };
      continue;
    }
    const isFirst = known.content === "";
    const from = isFirst || offset < known.from ? offset : known.from;
    const kept = isFirst ? "" : known.content.slice(0, Math.max(0, offset - known.from));
    next[call_id] = { ...known, from, content: kept + text };
  }
  return next;
}

const isOver = (head: RunState, callId: string) => {
  const call = head.calls[callId];
  return (call !== undefined && call.status !== "running") || head.run.status === "finished";
};

/** Drops the text of calls that are over: their events hold it now. */
function without(
  live: Readonly<Record<string, LiveText>>,
  touched: ReadonlySet<string>,
  head: RunState,
): Readonly<Record<string, LiveText>> {
  const gone = Object.keys(live).filter(
    (id) => (touched.has(id) || head.run.status === "finished") && isOver(head, id),
  );
  if (gone.length === 0) return live;
  const next = newRecord<LiveText>(live);
  for (const id of gone) delete next[id];
  return next;
}
