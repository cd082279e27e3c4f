"use client";

import clsx from "clsx";
import { Pause, Play, Radio } from "lucide-react";
import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { formatDuration } from "@/components/display/format";
import { useHelpSection } from "@/components/page/page-commands";
import { isTyping } from "@/components/page/typing";
import { IconButton } from "@/components/ui/icon-button";
import type { RunEvent } from "@/server/domain/run/events";
import { nextOccurrence, nextStop, type StepUnit } from "@/server/domain/run/past/steps";
import { ForkButton } from "../fork/fork-button";
import { RunElapsed, zeroOf } from "../live/elapsed";
import { INITIAL_PLAYBACK, type PlaybackSettings, StepBar } from "../past/step-bar";
import { TIME_HELP, type TimeCommand, timeCommandOf } from "../past/time-keys";
import { useRun, useRunViewStore } from "../run-context";
import { type Span, spansOf } from "./scrubber-lanes";
import { newNames } from "./sentence-parts";
import { sentenceOf } from "./sentences";

const NO_EVENTS: readonly RunEvent[] = [];

/** Moves the cursor through the run: drag, arrow keys, play. The last position is the present. */
export function Scrubber() {
  const store = useRunViewStore();
  const lastSeq = useRun((view) => view.lastSeq, 0);
  const cursor = useRun((view) => view.cursor, null);
  const isPlaying = useRun((view) => view.isPlaying, false);
  const setPlaying = (next: boolean) => store?.setPlaying(next);
  const [playback, setPlayback] = useState(INITIAL_PLAYBACK);
  usePlaying(isPlaying, playback, () => setPlaying(false));
  const at = cursor ?? lastSeq;
  // Each event moves all strips, so the cards on the canvas take precedence.
  const drawn = useDeferredValue(lastSeq);

  const goTo = (seq: number) => {
    setPlaying(false);
    store?.goTo(seq >= lastSeq ? null : seq);
  };
  const togglePlaying = () => {
    if (!isPlaying && cursor === null) store?.goTo(1);
    setPlaying(!isPlaying);
  };
  const step = (direction: 1 | -1) => {
    const next = nextStop(store?.view.getState().events ?? NO_EVENTS, at, playback.unit, direction);
    if (next !== null) goTo(next);
  };
  const seek = (direction: 1 | -1) => {
    if (!playback.sought) return;
    const next = nextOccurrence(store?.view.getState().events ?? NO_EVENTS, at, playback.sought, direction);
    if (next !== null) goTo(next);
  };
  useTimeKeys({
    back: () => step(-1),
    forward: () => step(1),
    previous: () => seek(-1),
    next: () => seek(1),
    play: togglePlaying,
    unit: () => setPlayback({ ...playback, unit: NEXT_UNIT[playback.unit] }),
    now: () => goTo(lastSeq),
  });

  return (
    <>
      {cursor === null ? null : (
        <StepBar playback={playback} onPlaybackChange={setPlayback} onStep={step} onSeek={seek} />
      )}
      <section
        aria-label="Timeline"
        className="flex h-14 shrink-0 items-center gap-2 border-t border-line bg-surface px-2 sm:gap-3 sm:px-3"
      >
        <IconButton
          label={isPlaying ? "Pause" : cursor === null ? "Play from the start" : "Play from here"}
          icon={isPlaying ? <Pause aria-hidden /> : <Play aria-hidden />}
          onClick={togglePlaying}
          disabled={lastSeq < 2}
        />
        <div className="relative h-10 min-w-0 flex-1">
          <Lanes lastSeq={drawn} at={cursor ?? drawn} />
          <Slider at={at} onStep={step} onGoTo={goTo} />
        </div>
        <Moment at={at} />
        <ForkButton />
        <NowButton isNow={cursor === null} onClick={() => goTo(lastSeq)} />
      </section>
    </>
  );
}

function Slider({
  at,
  onStep,
  onGoTo,
}: {
  at: number;
  onStep: (direction: 1 | -1) => void;
  onGoTo: (seq: number) => void;
}) {
  const lastSeq = useRun((view) => view.lastSeq, 0);
  const moment = useMomentText(at);
  return (
    <input
      type="range"
      aria-label="Timeline position"
      aria-valuetext={moment}
      className="scrubber absolute inset-0 size-full"
      min={Math.min(1, lastSeq)}
      max={Math.max(1, lastSeq)}
      value={at}
      disabled={lastSeq < 2}
      onChange={(event) => onGoTo(Number(event.target.value))}
      onKeyDown={(event) => {
        const direction = ARROWS[event.key];
        if (direction === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        onStep(direction);
      }}
    />
  );
}

/** Goes to the newest event. */
function NowButton({ isNow, onClick }: { isNow: boolean; onClick: () => void }) {
  const isFinished = useRun((view) => view.head.run.status === "finished", false);
  return (
    <button
      type="button"
      onClick={onClick}
      aria-pressed={isNow}
      className={clsx(
        "inline-flex h-7 w-18 shrink-0 items-center justify-center gap-1.5 rounded-full border text-xs font-medium transition-colors pointer-coarse:h-9",
        isNow
          ? "border-transparent bg-transparent text-ink-2"
          : "border-accent bg-accent-soft text-accent hover:bg-accent hover:text-accent-ink",
      )}
    >
      <Radio aria-hidden className="size-3.5" />
      {isFinished ? "End" : "Live"}
    </button>
  );
}

const ARROWS: Readonly<Record<string, 1 | -1>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
};
const NEXT_UNIT: Readonly<Record<StepUnit, StepUnit>> = { event: "turn", turn: "node", node: "event" };

/** The keys of the time controls work on the whole page, except in text fields. */
function useTimeKeys(commands: Record<TimeCommand, () => void>): void {
  useHelpSection(TIME_HELP);
  const newest = useRef(commands);
  useEffect(() => {
    newest.current = commands;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isSlider = event.target instanceof HTMLInputElement && event.target.type === "range";
      if (event.defaultPrevented || (isTyping(event.target) && !isSlider)) return;
      const command = timeCommandOf(event);
      if (command === null) return;
      event.preventDefault();
      newest.current[command]();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}

/** When the nodes were running, as thin strips behind the slider. */
function Lanes({ lastSeq, at }: { lastSeq: number; at: number }) {
  const store = useRunViewStore();
  const { spans, lanes } = useMemo(() => {
    const events = store?.view.getState().events ?? NO_EVENTS;
    return spansOf(events.slice(0, lastSeq));
  }, [store, lastSeq]);
  const span = Math.max(1, lastSeq - 1);
  const x = (seq: number) => ((seq - 1) / span) * 100;
  return (
    <svg
      aria-hidden
      preserveAspectRatio="none"
      viewBox="0 0 100 40"
      className="absolute inset-x-2 inset-y-0 h-full w-[calc(100%-1rem)] overflow-visible"
    >
      {spans.map((item) => (
        <rect
          key={item.id}
          x={x(item.from)}
          width={Math.max(0.3, x(item.to ?? lastSeq) - x(item.from))}
          y={20 - (lanes * 5) / 2 + item.lane * 5}
          height={3.5}
          rx={0.3}
          className={clsx("transition-opacity", FILL[item.end], item.from > at && "opacity-30")}
        />
      ))}
    </svg>
  );
}

const FILL: Record<Span["end"], string> = {
  completed: "fill-completed/45",
  failed: "fill-failed/60",
  cancelled: "fill-ink-3/40",
  running: "fill-running/60",
  waiting: "fill-waiting/60",
};

function Moment({ at }: { at: number }) {
  const ts = useRun((view) => Math.max(0, (view.events[at - 1]?.ts ?? 0) - zeroOf(view)), 0);
  const lastSeq = useRun((view) => view.lastSeq, 0);
  // While the run is running, this clock ticks with the one in the header.
  const isLive = useRun(({ cursor, head }) => cursor === null && head.run.status === "running", false);
  return (
    <p className="w-24 shrink-0 whitespace-nowrap text-right text-xs leading-4 text-ink-3 tabular-nums max-sm:hidden">
      <span className="block font-medium text-ink-2">{isLive ? <RunElapsed /> : formatDuration(ts)}</span>
      <span className="block">
        {at} of {lastSeq}
      </span>
    </p>
  );
}

function useMomentText(at: number): string {
  const store = useRunViewStore();
  const graph = useRun((view) => view.head.graph, null);
  const event = useRun((view) => view.events[at - 1] ?? null, null);
  const lastSeq = useRun((view) => view.lastSeq, 0);
  const names = useMemo(() => newNames(graph, () => store?.view.getState().head.plans ?? {}), [graph, store]);
  return event ? `Event ${at} of ${lastSeq}: ${sentenceOf(event, names).text}` : "No events yet";
}

const QUICKEST_MS = 30;
const SLOWEST_MS = 700;
/** A run plays back in about this time, however long it took; node events may add up to half of it. */
const WHOLE_MS = 15_000;
/** How long each start and end of a node stays in view, if there are few. */
const NODE_MS = 500;
const NODE_EVENTS: ReadonlySet<string> = new Set(["node_started", "node_completed", "node_failed"]);

/**
 * Moves the cursor forward at the run's own rhythm, with pauses shortened; from turn to turn or node to node evenly.
 */
function usePlaying(isPlaying: boolean, { unit, speed }: PlaybackSettings, onEnd: () => void): void {
  const store = useRunViewStore();
  const end = useRef(onEnd);
  useEffect(() => {
    end.current = onEnd;
  });
  useEffect(() => {
    if (!isPlaying || !store) return;
    let timer: ReturnType<typeof setTimeout>;
    const nodeEvents = store.view.getState().events.filter(({ type }) => NODE_EVENTS.has(type)).length;
    const nodePause = Math.min(NODE_MS, WHOLE_MS / 2 / nodeEvents);
    const tick = () => {
      const { cursor, events, lastSeq } = store.view.getState();
      if (cursor === null) {
        end.current();
        return;
      }
      const stride = Math.max(1, Math.ceil((lastSeq * QUICKEST_MS) / WHOLE_MS));
      const next = unit === "event" ? cursor + stride : (nextStop(events, cursor, unit, 1) ?? lastSeq);
      if (next >= lastSeq) {
        store.goTo(null);
        end.current();
        return;
      }
      const took = (events[next - 1]?.ts ?? 0) - (events[cursor - 1]?.ts ?? 0);
      store.goTo(next);
      const least = NODE_EVENTS.has(events[next - 1]?.type ?? "") ? nodePause : QUICKEST_MS;
      const pause = unit === "event" ? Math.min(SLOWEST_MS, Math.max(least, took)) : SLOWEST_MS;
      timer = setTimeout(tick, pause / speed);
    };
    timer = setTimeout(tick, QUICKEST_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, store, unit, speed]);
}
