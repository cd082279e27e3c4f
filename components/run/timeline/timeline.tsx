"use client";

import { Search } from "lucide-react";
import dynamic from "next/dynamic";
import { useDeferredValue, useMemo, useRef } from "react";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { TextField } from "@/components/ui/input/text-field";
import type { RunEvent } from "@/server/domain/run/events";
import { useRun, useRunViewStore } from "../run-context";
import { newNames } from "./sentence-parts";
import { EventRow, GroupRow } from "./timeline-row-views";
import { newEventFormatter, rowAt, rowOffsets, type TimelineRow, timelineRows } from "./timeline-rows";
import { useRevealCursor, useStickToEnd, useWindow } from "./timeline-scroll";

/** With the parser of expressions, which a run's page does not need to open. */
const WhenSearch = dynamic(() => import("../past/when-search").then((module) => module.WhenSearch), {
  ssr: false,
});

const NO_EVENTS: readonly RunEvent[] = [];
const OVERSCAN = 400;
/** Of a row, in pixels: everything next to its sentence, and an average character. */
const BESIDE_TEXT = 126;
const CHAR_WIDTH = 6.6;

/** The view settings of the timeline; kept by the parent, so that they survive a change of tabs. */
export interface TimelineView {
  level: "story" | "all";
  query: string;
  closed: ReadonlySet<string>;
  opened: ReadonlySet<number>;
}
export const INITIAL_TIMELINE_VIEW: TimelineView = {
  level: "story",
  query: "",
  closed: new Set(),
  opened: new Set(),
};

/** Everything that happened, in sentences; what lies after the cursor is dimmed. */
export function Timeline({
  view,
  onViewChange,
  onSelectNode,
}: {
  view: TimelineView;
  onViewChange: (view: TimelineView) => void;
  onSelectNode: (nodeId: string, activationId: string) => void;
}) {
  const { level, query, closed, opened } = view;
  const { rows, lastSeq } = useRows({ level, query, closed, opened });
  const hasEvents = lastSeq > 0;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <SegmentedControl
          label="Detail level"
          size="sm"
          value={level}
          onValueChange={(next) => onViewChange({ ...view, level: next })}
          options={[
            { value: "story", label: "Summary" },
            { value: "all", label: "All events" },
          ]}
        />
        <TextField
          label="Filter events"
          hideLabel
          placeholder="Filter"
          icon={<Search aria-hidden />}
          value={query}
          onValueChange={(next) => onViewChange({ ...view, query: next })}
          fieldClassName="min-w-24 flex-1"
          className="!h-7 text-[13px] pointer-coarse:!h-9"
        />
      </div>
      <div className="border-b border-line px-4 py-2">
        <WhenSearch />
      </div>
      {rows.length === 0 ? null : (
        <p
          title="Cost, duration, elapsed time"
          className="flex justify-end gap-2 border-b border-line px-4 py-1 text-[11px] text-ink-3"
        >
          <span>Cost</span>
          <span className="w-14 text-right">Duration</span>
          <span className="w-14 text-right">Elapsed</span>
        </p>
      )}
      {rows.length === 0 ? (
        <p className="p-6 text-center text-[13px] text-ink-3">
          {hasEvents ? "No matching events." : "No events yet."}
        </p>
      ) : (
        <Rows
          rows={rows}
          onToggleGroup={(id) => onViewChange({ ...view, closed: toggled(closed, id) })}
          onToggleEvent={(seq) => onViewChange({ ...view, opened: toggled(opened, seq) })}
          onSelectNode={onSelectNode}
        />
      )}
    </div>
  );
}

function useRows(options: Parameters<typeof timelineRows>[2]) {
  const store = useRunViewStore();
  // The cards on the canvas take precedence.
  const lastSeq = useDeferredValue(useRun((view) => view.lastSeq, 0));
  const graph = useRun((view) => view.head.graph, null);
  const formatEvent = useMemo(
    () => newEventFormatter(newNames(graph, () => store?.view.getState().head.plans ?? {})),
    [graph, store],
  );
  const { level, query, closed, opened } = options;
  // The list of events grows in place, so its length is the dependency.
  const rows = useMemo(() => {
    const events = store?.view.getState().events ?? NO_EVENTS;
    return timelineRows(events.slice(0, lastSeq), formatEvent, { level, query, closed, opened });
  }, [store, lastSeq, formatEvent, level, query, closed, opened]);
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
  const { top, height, width } = useWindow(box);
  const offsets = useMemo(() => rowOffsets(rows, (width - BESIDE_TEXT) / CHAR_WIDTH), [rows, width]);
  const cursor = useRun((view) => view.cursor, null);
  useStickToEnd(box, cursor === null);
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
            style={{
              top: offsets[first + at],
              height: (offsets[first + at + 1] ?? 0) - (offsets[first + at] ?? 0),
            }}
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

function toggled<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}
