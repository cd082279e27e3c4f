"use client";

import clsx from "clsx";
import { ChevronRight, History, Search } from "lucide-react";
import dynamic from "next/dynamic";
import { type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { formatDuration } from "@/components/display/format";
import { type Status, StatusMark } from "@/components/display/status-mark";
import { CopyButton } from "@/components/ui/json-view";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { TextField } from "@/components/ui/text-field";
import type { RunEvent } from "@/server/domain/run/events";
import { useRun, useRunActivation, useRunViewStore } from "./run-context";
import { newNames, type Sentence } from "./sentence-words";
import { newTeller, rowAt, rowOffsets, type TimelineRow, timelineRows } from "./timeline-rows";

/** With the parser of expressions, which a run's page does not need to open. */
const WhenSearch = dynamic(() => import("./past/when-search").then((module) => module.WhenSearch), {
  ssr: false,
});

const NO_EVENTS: readonly RunEvent[] = [];
const OVERSCAN = 400;

/** How the timeline is looked at; kept by whoever shows it, so that it outlives a change of tabs. */
export interface TimelineLook {
  level: "story" | "all";
  query: string;
  closed: ReadonlySet<string>;
  opened: ReadonlySet<number>;
}
export const FIRST_LOOK: TimelineLook = { level: "story", query: "", closed: new Set(), opened: new Set() };

/** Everything that happened, in sentences; what lies after the cursor is dimmed. */
export function Timeline({
  look,
  onLook,
  onSelectNode,
}: {
  look: TimelineLook;
  onLook: (look: TimelineLook) => void;
  onSelectNode: (nodeId: string, activationId: string) => void;
}) {
  const { level, query, closed, opened } = look;
  const { rows, lastSeq } = useRows({ level, query, closed, opened });
  const hasEvents = lastSeq > 0;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <SegmentedControl
          label="How much to show"
          size="sm"
          value={level}
          onValueChange={(next) => onLook({ ...look, level: next })}
          options={[
            { value: "story", label: "Story" },
            { value: "all", label: "Everything" },
          ]}
        />
        <TextField
          label="Filter events"
          hideLabel
          placeholder="Filter"
          icon={<Search aria-hidden />}
          value={query}
          onValueChange={(next) => onLook({ ...look, query: next })}
          fieldClassName="min-w-24 flex-1"
          className="!h-7 text-[13px] pointer-coarse:!h-9"
        />
      </div>
      <div className="border-b border-line px-4 py-2">
        <WhenSearch />
      </div>
      {rows.length === 0 ? null : (
        <p
          title="How long a node took, and how long after the start of the run something happened"
          className="flex justify-end gap-2 border-b border-line px-4 py-1 text-[11px] text-ink-3"
        >
          <span className="w-16 text-right">Took</span>
          <span className="w-16 text-right">At</span>
        </p>
      )}
      {rows.length === 0 ? (
        <p className="p-6 text-center text-[13px] text-ink-3">
          {hasEvents ? "No event is like that." : "Nothing has happened yet."}
        </p>
      ) : (
        <Rows
          rows={rows}
          onToggleGroup={(id) => onLook({ ...look, closed: toggled(closed, id) })}
          onToggleEvent={(seq) => onLook({ ...look, opened: toggled(opened, seq) })}
          onSelectNode={onSelectNode}
        />
      )}
    </div>
  );
}

function useRows(options: Parameters<typeof timelineRows>[2]) {
  const store = useRunViewStore();
  const lastSeq = useRun((view) => view.lastSeq, 0);
  const graph = useRun((view) => view.head.graph, null);
  const tell = useMemo(
    () => newTeller(newNames(graph, () => store?.view.getState().head.plans ?? {})),
    [graph, store],
  );
  const { level, query, closed, opened } = options;
  // The list of events grows in place: its length is what says that it changed.
  const rows = useMemo(() => {
    const events = store?.view.getState().events ?? NO_EVENTS;
    return timelineRows(events.slice(0, lastSeq), tell, { level, query, closed, opened });
  }, [store, lastSeq, tell, level, query, closed, opened]);
  return { rows, lastSeq };
}

interface RowsProps {
  rows: readonly TimelineRow[];
  onToggleGroup: (activationId: string) => void;
  onToggleEvent: (seq: number) => void;
  onSelectNode: (nodeId: string, activationId: string) => void;
}

function Rows({ rows, onToggleGroup, onToggleEvent, onSelectNode }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const offsets = useMemo(() => rowOffsets(rows), [rows]);
  const { top, height } = useWindow(box);
  const cursor = useRun((view) => view.cursor, null);
  useStickToEnd(box, offsets.at(-1) ?? 0, cursor === null);
  useRevealCursor(box, rows, offsets, cursor);
  const first = rowAt(offsets, Math.max(0, top - OVERSCAN));
  const last = Math.min(rows.length, rowAt(offsets, top + height + OVERSCAN) + 1);
  return (
    <section
      ref={box}
      tabIndex={0}
      aria-label="Events"
      className="min-h-0 flex-1 overflow-y-auto overscroll-contain"
    >
      <ol className="relative" style={{ height: offsets.at(-1) }}>
        {rows.slice(first, last).map((row, at) => (
          <li
            key={row.key}
            aria-setsize={rows.length}
            aria-posinset={first + at + 1}
            className="absolute inset-x-0 overflow-hidden"
            style={{ top: offsets[first + at], height: row.height }}
          >
            {row.kind === "group" ? (
              <GroupRow
                row={row}
                isFuture={cursor !== null && row.seq > cursor}
                onToggle={onToggleGroup}
                onSelectNode={onSelectNode}
              />
            ) : (
              <EventRow row={row} cursor={cursor} onToggle={onToggleEvent} />
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function GroupRow({
  row,
  isFuture,
  onToggle,
  onSelectNode,
}: {
  row: Extract<TimelineRow, { kind: "group" }>;
  isFuture: boolean;
  onToggle: (activationId: string) => void;
  onSelectNode: (nodeId: string, activationId: string) => void;
}) {
  const activation = useRunActivation(row.activationId);
  const name = useRun((view) => view.head.graph.nodes[row.nodeId]?.name || row.nodeId, row.nodeId);
  const turn = Number(row.activationId.split("#")[1] ?? 1);
  const status: Status = activation?.status ?? "idle";
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  const began = useRun((view) => view.events[0]?.ts ?? 0, 0);
  return (
    <div
      className={clsx(
        "flex h-full items-center gap-2 border-t border-line px-4 transition-opacity",
        isFuture && FUTURE,
      )}
    >
      <button
        type="button"
        aria-expanded={!row.isClosed}
        aria-label={`${row.isClosed ? "Unfold" : "Fold"} ${name}`}
        onClick={() => onToggle(row.activationId)}
        className="-ml-2 inline-flex size-6 shrink-0 items-center justify-center rounded text-ink-3 hover:bg-ink/6 hover:text-ink pointer-coarse:size-9"
      >
        <ChevronRight
          aria-hidden
          className={clsx("size-3.5 transition-transform", !row.isClosed && "rotate-90")}
        />
      </button>
      <StatusMark status={status} size="sm" isPast={isPast} />
      <button
        type="button"
        onClick={() => onSelectNode(row.nodeId, row.activationId)}
        className="min-w-0 truncate text-[13px] font-semibold text-ink hover:text-accent"
      >
        {name}
      </button>
      {turn > 1 ? <span className="shrink-0 text-xs text-ink-3 tabular-nums">×{turn}</span> : null}
      <span className={clsx(TIME, "ml-auto")}>
        {activation?.started_at !== undefined && activation.finished_at !== undefined
          ? formatDuration(activation.finished_at - activation.started_at)
          : null}
      </span>
      <span className={TIME}>
        {activation?.started_at === undefined ? null : formatDuration(activation.started_at - began)}
      </span>
    </div>
  );
}

/** What comes after the moment that is looked at: paler, and still to be read. */
const FUTURE = "[&_button]:!font-normal [&_button]:!text-ink-3 [&_svg]:opacity-45";

/** A column of times, as its heading is. */
const TIME = "w-16 shrink-0 text-right text-xs text-ink-3 tabular-nums";

const DOT: Record<Sentence["tone"], string> = {
  plain: "bg-line-strong",
  idle: "bg-line-strong",
  ready: "bg-queued",
  running: "bg-running",
  waiting: "bg-waiting",
  warning: "bg-waiting",
  completed: "bg-completed",
  failed: "bg-failed",
  skipped: "bg-line-strong",
  cancelled: "bg-ink-3",
};

function EventRow({
  row,
  cursor,
  onToggle,
}: {
  row: Extract<TimelineRow, { kind: "event" }>;
  cursor: number | null;
  onToggle: (seq: number) => void;
}) {
  const store = useRunViewStore();
  const { event, sentence } = row;
  const began = useRun((view) => view.events[0]?.ts ?? event.ts, event.ts);
  const isFuture = cursor !== null && event.seq > cursor;
  const isHere = cursor === event.seq;
  return (
    <div
      className={clsx(
        "group/row flex h-full flex-col transition-opacity",
        isFuture && FUTURE,
        isHere && "bg-accent-soft",
        row.isAfterGroup && "border-t border-line",
      )}
    >
      <div className={clsx("flex h-7 shrink-0 items-center gap-2 pr-4", row.isInside ? "pl-6" : "pl-4")}>
        <span aria-hidden className={clsx("size-1.5 shrink-0 rounded-full", DOT[sentence.tone])} />
        <button
          type="button"
          aria-expanded={row.isOpen}
          onClick={() => onToggle(event.seq)}
          title={sentence.text}
          className={clsx(
            "min-w-0 flex-1 truncate text-left text-[13px] hover:text-ink",
            sentence.tone === "failed"
              ? "text-failed"
              : sentence.level === "story"
                ? "text-ink"
                : "text-ink-2",
          )}
        >
          {sentence.text}
        </button>
        <button
          type="button"
          onClick={() => store?.goTo(event.seq)}
          className="inline-flex w-16 shrink-0 items-center justify-end gap-1 rounded text-xs text-ink-3 tabular-nums hover:bg-ink/6 hover:text-accent"
        >
          <span className="sr-only">Go to this moment: {sentence.text}, </span>
          <History aria-hidden className="size-3 opacity-0 group-hover/row:opacity-100" />
          {formatDuration(event.ts - began)}
        </button>
      </div>
      {row.isOpen ? <EventDetail event={event} sentence={sentence} /> : null}
    </div>
  );
}

function EventDetail({ event, sentence }: { event: RunEvent; sentence: Sentence }) {
  const text = JSON.stringify(event, null, 2);
  const time = new Date(event.ts).toLocaleTimeString("en-GB", { hour12: false });
  return (
    <div className="mx-4 mb-2 flex min-h-0 flex-1 flex-col overflow-hidden rounded-lg border border-line bg-sunken">
      <div className="flex items-start gap-2 border-b border-line px-3 py-1.5">
        <p className="max-h-20 min-w-0 flex-1 overflow-y-auto text-[13px] leading-5">
          {sentence.text}
          <span className="ml-2 text-xs text-ink-3 tabular-nums">
            event {event.seq}, {time}
          </span>
        </p>
        <CopyButton text={text} label="Copy this event" />
      </div>
      <pre
        tabIndex={0}
        className="min-h-0 flex-1 overflow-auto px-3 py-2 font-mono text-[11px] leading-4 text-ink-2"
      >
        {text}
      </pre>
    </div>
  );
}

/** What of a scrolled box is in view. */
function useWindow(box: RefObject<HTMLDivElement | null>): { top: number; height: number } {
  const [seen, setSeen] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let frame = 0;
    const look = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => setSeen({ top: element.scrollTop, height: element.clientHeight }));
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [box]);
  return seen;
}

/** Stays at the end while things are added, until a person scrolls up. */
function useStickToEnd(box: RefObject<HTMLDivElement | null>, total: number, isLive: boolean): void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const note = () => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
    };
    element.addEventListener("scroll", note, { passive: true });
    return () => element.removeEventListener("scroll", note);
  }, [box]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element && isLive && isAtEnd.current && total > 0) element.scrollTo({ top: element.scrollHeight });
  }, [box, total, isLive]);
}

/** Brings the event under the cursor into view as the cursor moves. */
function useRevealCursor(
  box: RefObject<HTMLDivElement | null>,
  rows: readonly TimelineRow[],
  offsets: readonly number[],
  cursor: number | null,
): void {
  // Only a move of the cursor scrolls; new rows must not.
  const drawn = useRef({ rows, offsets });
  useEffect(() => {
    drawn.current = { rows, offsets };
  }, [rows, offsets]);
  useEffect(() => {
    const element = box.current;
    if (!element || cursor === null) return;
    const at = lastRowUpTo(drawn.current.rows, cursor);
    const y = drawn.current.offsets[at] ?? 0;
    const isSeen = y >= element.scrollTop && y + 28 <= element.scrollTop + element.clientHeight;
    if (!isSeen) element.scrollTo({ top: Math.max(0, y - element.clientHeight / 2) });
  }, [box, cursor]);
}

function lastRowUpTo(rows: readonly TimelineRow[], seq: number): number {
  let best = 0;
  let bestSeq = 0;
  rows.forEach((row, at) => {
    const rowSeq = row.kind === "group" ? row.seq : row.event.seq;
    if (rowSeq <= seq && rowSeq >= bestSeq) {
      best = at;
      bestSeq = rowSeq;
    }
  });
  return best;
}

function toggled<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}
