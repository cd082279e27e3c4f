"use client";

import clsx from "clsx";
import { ChevronRight, History } from "lucide-react";
import { formatDuration } from "@/components/display/format";
import { type Status, StatusMark } from "@/components/display/status-mark";
import { CopyButton } from "@/components/ui/json-view";
import type { RunEvent } from "@/server/domain/run/events";
import { zeroOf } from "../live/elapsed";
import { describeCost } from "../live/paid";
import { useRun, useRunActivation, useRunViewStore } from "../run-context";
import type { Sentence } from "./sentence-parts";
import type { TimelineRow } from "./timeline-rows";

/** The line above what happened in one activation: it folds, and leads to its node. */
export function GroupRow({
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
  const zero = useRun(zeroOf, 0);
  const end = useRun(({ head, events }) => head.run.finished_at ?? events.at(-1)?.ts ?? 0, 0);
  const cost = useRun(
    ({ state }) => (activation && activation.calls.length > 0 ? describeCost(state, activation) : ""),
    "",
  );
  const share = (ms: number) => `${Math.min(100, (Math.max(0, ms) / Math.max(1, end - zero)) * 100)}%`;
  return (
    <div
      className={clsx(
        "relative flex h-full items-center gap-2 border-t border-line px-4 transition-opacity",
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
      <span className="ml-auto shrink-0 text-xs text-ink-3 tabular-nums">{cost}</span>
      <span className={TIME}>
        {activation?.started_at !== undefined && activation.finished_at !== undefined
          ? formatDuration(activation.finished_at - activation.started_at)
          : null}
      </span>
      <span className={TIME}>{formatDuration(Math.max(0, row.ts - zero))}</span>
      {activation?.started_at === undefined ? null : (
        <span aria-hidden className="absolute inset-x-4 bottom-1 h-0.5">
          <span
            className={clsx("absolute h-full min-w-0.5 rounded-full", DOT[status])}
            style={{
              left: share(activation.started_at - zero),
              width: share((activation.finished_at ?? end) - activation.started_at),
            }}
          />
        </span>
      )}
    </div>
  );
}

/** Events after the cursor: paler, but readable. */
const FUTURE = "[&_button]:!font-normal [&_button]:!text-ink-3 [&_svg]:opacity-45";

/** A column of times, as its heading is. */
const TIME = "w-14 shrink-0 text-right text-xs text-ink-3 tabular-nums";

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

/** One event as a sentence; expanded, with its payload. */
export function EventRow({
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
  const zero = useRun(zeroOf, event.ts);
  // Away from the node's heading, prefix the node's name unless the sentence contains it.
  const node = useRun(({ head }) => head.graph.nodes[event.node_id ?? ""]?.name, undefined);
  const text =
    row.isInside || !event.activation_id || !node || sentence.text.includes(node)
      ? sentence.text
      : `${node}: ${sentence.text}`;
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
      <div className={clsx("flex min-h-7 shrink-0 items-start gap-2 pr-4", row.isInside ? "pl-6" : "pl-4")}>
        <span aria-hidden className={clsx("mt-[11px] size-1.5 shrink-0 rounded-full", DOT[sentence.tone])} />
        <button
          type="button"
          aria-expanded={row.isOpen}
          onClick={() => onToggle(event.seq)}
          title={text}
          className={clsx(
            "mt-1 line-clamp-2 min-w-0 flex-1 text-left text-[13px] leading-[18px] [overflow-wrap:anywhere] hover:text-ink",
            row.isOpen && "line-clamp-1",
            sentence.tone === "failed"
              ? "text-failed"
              : sentence.level === "story"
                ? "text-ink"
                : "text-ink-2",
          )}
        >
          {text}
        </button>
        <button
          type="button"
          onClick={() => store?.goTo(event.seq)}
          className="mt-1.5 inline-flex w-14 shrink-0 items-center justify-end gap-1 rounded text-xs text-ink-3 tabular-nums hover:bg-ink/6 hover:text-accent"
        >
          <span className="sr-only">Go to this point: {sentence.text}, </span>
          <History aria-hidden className="size-3 opacity-0 group-hover/row:opacity-100" />
          {formatDuration(Math.max(0, event.ts - zero))}
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
        <CopyButton text={text} label="Copy event" />
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
