import { createStore } from "zustand/vanilla";
import type { LiveFrame } from "@/server/domain/base/durable";
import { newRecord } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import { evolve, newRun, type RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { newHistory } from "./state-history";

/** Streamed text of a model call. `from`: the characters before it that this reader missed. */
export interface LiveText {
  content: string;
  reasoning: string;
  from: number;
}

/** `resting`: closed because the tab is hidden; `ended`: all events were read. */
export type Connection = "connecting" | "live" | "reconnecting" | "resting" | "ended" | "failed";

/**
 * What the page shows of a run. `state` is the run at the cursor: its records change in place and their leaves are
 * replaced, so select a leaf (`s.state.nodes[id]?.status`), never a record.
 */
export interface RunView {
  /** Grows with every change, for what depends on the whole run. */
  version: number;
  events: readonly RunEvent[];
  lastSeq: number;
  /** The seq of the last event to consider; null: live. */
  cursor: number | null;
  /** The run is being played back. */
  isPlaying: boolean;
  state: RunState;
  /** The newest state, wherever the cursor is. */
  head: RunState;
  live: Readonly<Record<string, LiveText>>;
  /** Since when it only waits for a child run that is paused, in Unix milliseconds; null if it doesn't. */
  pausedBelow: number | null;
  /** For each event, how long the run had only waited by then, in ms; grows in place. */
  waited: readonly number[];
  connection: Connection;
  /** Why the run cannot be shown, where the connection failed. */
  connectionError?: string | undefined;
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

/** The store of one opened run: takes in events, and provides the run's state at the cursor. */
export class RunViewStore {
  private readonly events: RunEvent[] = [];
  private readonly waited: number[] = [];
  private readonly history = newHistory();
  private head = newRun();
  /** How many events are part of `head`. */
  private folded = 0;
  private frames: LiveFrame[] = [];
  private isScheduled = false;

  readonly view = createStore<RunView>(() => ({
    version: 0,
    events: this.events,
    lastSeq: 0,
    cursor: null,
    isPlaying: false,
    state: this.head,
    head: this.head,
    live: newRecord<LiveText>(),
    pausedBelow: null,
    waited: this.waited,
    connection: "connecting",
  }));

  /** `schedule`: when to show what was taken in; by default once per frame. */
  constructor(private readonly schedule: (work: () => void) => void = newPacer()) {}

  /** Takes in events. False: some are missing before these, so read on after `received()`. */
  apply(batch: readonly RunEvent[]): boolean {
    let isGapless = true;
    for (const event of batch) {
      if (event.seq <= this.received()) continue;
      isGapless = event.seq === this.received() + 1;
      if (!isGapless) break;
      this.events.push(event);
    }
    this.wake();
    return isGapless;
  }

  applyLive(frames: readonly LiveFrame[]): void {
    this.frames.push(...frames);
    this.wake();
  }

  /** The seq of the last event taken in, shown already or not. */
  received(): number {
    return this.events.length;
  }

  goTo(cursor: number | null): void {
    this.flush();
    const { events, view } = this;
    const at = cursor === null ? null : Math.max(1, Math.min(cursor, events.length));
    const { version, cursor: before } = view.getState();
    if (at === before) return;
    view.setState({
      version: version + 1,
      cursor: at,
      state: at === null ? this.head : this.history.stateAt(events, at),
    });
  }

  setPlaying(isPlaying: boolean): void {
    this.view.setState({ isPlaying });
  }

  setPausedBelow(pausedBelow: number | null): void {
    if (this.view.getState().pausedBelow !== pausedBelow) this.view.setState({ pausedBelow });
  }

  setConnection(connection: Connection, connectionError?: string): void {
    const before = this.view.getState();
    if (before.connection !== connection || before.connectionError !== connectionError)
      this.view.setState({ connection, connectionError });
  }

  /** Shows what was taken in. */
  flush(): void {
    const { events, waited } = this;
    if (this.folded === events.length && this.frames.length === 0) return;
    const before = this.view.getState();
    const live = withFrames(before.live, this.frames, this.head);
    this.frames = [];
    const ended = new Set<string>();
    while (this.folded < events.length) {
      const event = must(events, this.folded);
      const gap = isIdle(this.head) ? event.ts - (events[this.folded - 1]?.ts ?? event.ts) : 0;
      const isStart = event.type === "run_started" || event.type === "run_forked";
      waited.push(isStart ? 0 : (waited[this.folded - 1] ?? 0) + gap);
      this.folded++;
      this.head = evolve(this.head, event);
      if (event.call_id && event.type !== "llm_call_started") ended.add(event.call_id);
    }
    this.view.setState({
      version: before.version + 1,
      lastSeq: events.length,
      head: this.head,
      state: before.cursor === null ? this.head : before.state,
      live: without(live, ended, this.head),
    });
  }

  private wake(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.schedule(() => {
      this.isScheduled = false;
      this.flush();
    });
  }
}

/**
 * Whether a started run is only waiting: for a person, a time or a signal, or because it is paused or finished. A run that
 * waits for another one is working.
 */
export function isIdle({ run, running, ready, activations }: RunState): boolean {
  if (run.status === "finished" || run.paused_at) return true;
  if (running.size === 0 || ready.length > 0) return false;
  for (const id of running) {
    const activation = activations[id];
    if (activation?.status !== "waiting" || activation.waiting?.for === "run") return false;
  }
  return true;
}

/** Adds streamed text; a frame that begins after the known text sets `from` to the gap. */
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

/** Drops the text of finished calls: their events contain it now. */
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
