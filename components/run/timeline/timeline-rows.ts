import { lastOf, must } from "@/server/domain/base/must";
import type { RunEvent } from "@/server/domain/run/events";
import type { Names, Sentence } from "./sentence-parts";
import { sentenceOf } from "./sentences";

export type TimelineRow =
  | {
      kind: "group";
      key: string;
      activationId: string;
      nodeId: string;
      seq: number;
      ts: number;
      isClosed: boolean;
    }
  | {
      kind: "event";
      key: string;
      event: RunEvent;
      sentence: Sentence;
      /** Follows the heading of its node, with no other row in between. */
      isInside: boolean;
      /** The first event outside after a group of a node. */
      isAfterGroup: boolean;
      isOpen: boolean;
    };

export interface TimelineOptions {
  /** `story`: what people want to know; `all`: every event. */
  level: "story" | "all";
  /** Text that a sentence must contain. */
  query?: string | undefined;
  /** Collapsed activations, and expanded events. */
  closed?: ReadonlySet<string> | undefined;
  opened?: ReadonlySet<number> | undefined;
}

export const ROW = { group: 40, event: 28, twoLines: 46, open: 300 } as const;

/** Formats each event once. */
export function newEventFormatter(names: Names): (event: RunEvent) => Sentence {
  const cache = new WeakMap<RunEvent, Sentence>();
  return (event) => {
    const known = cache.get(event);
    if (known) return known;
    const sentence = sentenceOf(event, names);
    cache.set(event, sentence);
    return sentence;
  };
}

/**
 * The timeline of a run, in chronological order: each activation has a heading where it started, and its later events
 * appear among the others at the time they happened.
 */
export function timelineRows(
  events: readonly RunEvent[],
  formatEvent: (event: RunEvent) => Sentence,
  options: TimelineOptions,
): TimelineRow[] {
  const query = options.query?.trim().toLowerCase() ?? "";
  const headings = headingsOf(events);
  // A heading is shown even without events, since it says that the node ran; only a search hides those without a hit.
  const isHit = (event: RunEvent) => isShown(event, formatEvent, options, query);
  const hits = query === "" ? null : new Set(events.filter(isHit).map((event) => event.activation_id));
  const rows: TimelineRow[] = [];
  let inside: string | undefined;
  for (const event of events) {
    const id = event.activation_id;
    const isClosed = id !== undefined && options.closed?.has(id) === true;
    if (id !== undefined && headings.get(id) === event.seq && hits?.has(id) !== false) {
      rows.push(headingOf(id, event, isClosed));
      inside = id;
    }
    if (isClosed || !isHit(event)) continue;
    const isInside = id !== undefined && id === inside;
    const isAfterGroup = !isInside && inside !== undefined;
    if (!isInside) inside = undefined;
    rows.push({
      kind: "event",
      key: `e${event.seq}`,
      event,
      sentence: formatEvent(event),
      isInside,
      isAfterGroup,
      isOpen: options.opened?.has(event.seq) ?? false,
    });
  }
  return rows;
}

const headingOf = (id: string, { node_id, seq, ts }: RunEvent, isClosed: boolean): TimelineRow => ({
  kind: "group",
  key: id,
  activationId: id,
  nodeId: node_id ?? id.split("#")[0] ?? "",
  seq,
  ts,
  isClosed,
});

/** By activation, the event at which its heading appears: its start or, until it has started, its first event. */
function headingsOf(events: readonly RunEvent[]): Map<string, number> {
  const headings = new Map<string, number>();
  const started = new Set<string>();
  for (const { activation_id: id, type, seq } of events) {
    if (id === undefined || started.has(id)) continue;
    if (type === "node_started") started.add(id);
    if (type === "node_started" || !headings.has(id)) headings.set(id, seq);
  }
  return headings;
}

/** The top of each row and the bottom of the last one, in pixels; a sentence longer than `chars` takes two lines. */
export function rowOffsets(rows: readonly TimelineRow[], chars = Number.POSITIVE_INFINITY): number[] {
  const offsets = [0];
  for (const row of rows) offsets.push(lastOf(offsets) + heightOf(row, chars));
  return offsets;
}

function heightOf(row: TimelineRow, chars: number): number {
  if (row.kind === "group") return ROW.group;
  if (row.isOpen) return ROW.open;
  return row.sentence.text.length > chars ? ROW.twoLines : ROW.event;
}

/** The first row that ends below `y`, by binary search. */
export function rowAt(offsets: readonly number[], y: number): number {
  let low = 0;
  let high = Math.max(0, offsets.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (must(offsets, middle) <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

function isShown(
  event: RunEvent,
  formatEvent: (event: RunEvent) => Sentence,
  { level }: TimelineOptions,
  query: string,
): boolean {
  if (level === "all" && !query) return true;
  const sentence = formatEvent(event);
  if (level === "story" && sentence.level !== "story") return false;
  return !query || sentence.text.toLowerCase().includes(query) || event.type.includes(query);
}
