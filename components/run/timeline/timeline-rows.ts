import { must, present } from "@/server/domain/base/must";
import type { RunEvent } from "@/server/domain/run/events";
import type { Names, Sentence } from "./sentence-words";
import { sentenceOf } from "./sentences";

/** A line of the timeline; `height` in pixels, known beforehand so that a long list can be drawn in part. */
export type TimelineRow =
  | {
      kind: "group";
      key: string;
      height: number;
      activationId: string;
      nodeId: string;
      seq: number;
      isClosed: boolean;
    }
  | {
      kind: "event";
      key: string;
      height: number;
      event: RunEvent;
      sentence: Sentence;
      isInside: boolean;
      /** It stands by itself again after a node's part. */
      isAfterGroup: boolean;
      isOpen: boolean;
    };

export interface TimelineOptions {
  /** `story`: what people want to know; `all`: every event. */
  level: "story" | "all";
  /** Words that a sentence must contain. */
  query?: string | undefined;
  /** Activations folded away, and events folded open. */
  closed?: ReadonlySet<string> | undefined;
  opened?: ReadonlySet<number> | undefined;
}

export const ROW = { group: 40, event: 28, open: 300 } as const;

const INSIDE = { isInside: true, isAfterGroup: false };

/** Says each event once, however often the list is drawn. */
export function newTeller(names: Names): (event: RunEvent) => Sentence {
  const said = new WeakMap<RunEvent, Sentence>();
  return (event) => {
    const known = said.get(event);
    if (known) return known;
    const sentence = sentenceOf(event, names);
    said.set(event, sentence);
    return sentence;
  };
}

/** The timeline of a run: the events of one activation of a node stand together, where it began. */
export function timelineRows(
  events: readonly RunEvent[],
  tell: (event: RunEvent) => Sentence,
  options: TimelineOptions,
): TimelineRow[] {
  const groups = new Map<string, { nodeId: string; shown: RunEvent[]; seq: number }>();
  const order: (string | RunEvent)[] = [];
  const query = options.query?.trim().toLowerCase() ?? "";
  for (const event of events) {
    if (!event.activation_id) {
      if (isShown(event, tell, options, query)) order.push(event);
      continue;
    }
    let group = groups.get(event.activation_id);
    if (!group) {
      group = { nodeId: event.node_id ?? event.activation_id.split("#")[0] ?? "", shown: [], seq: event.seq };
      groups.set(event.activation_id, group);
      order.push(event.activation_id);
    }
    if (isShown(event, tell, options, query)) group.shown.push(event);
  }

  const rows: TimelineRow[] = [];
  for (const item of order) {
    if (typeof item !== "string") {
      const before = rows.at(-1);
      const isAfterGroup = before !== undefined && (before.kind === "group" || before.isInside);
      rows.push(eventRow(item, tell, options, { isInside: false, isAfterGroup }));
      continue;
    }
    const group = must(groups, item);
    // The heading alone tells that a node ran; only a search leaves out those without a hit.
    if (group.shown.length === 0 && query !== "") continue;
    const isClosed = options.closed?.has(item) ?? false;
    rows.push({
      kind: "group",
      key: item,
      height: ROW.group,
      activationId: item,
      nodeId: group.nodeId,
      seq: group.seq,
      isClosed,
    });
    if (!isClosed) for (const event of group.shown) rows.push(eventRow(event, tell, options, INSIDE));
  }
  return rows;
}

/** Where each row begins, and where the last one ends. */
export function rowOffsets(rows: readonly TimelineRow[]): number[] {
  const offsets = [0];
  for (const { height } of rows) offsets.push(present(offsets.at(-1), "offsets.at(-1)") + height);
  return offsets;
}

/** The first row that reaches below a place; rows are found by halving. */
export function rowAt(offsets: readonly number[], y: number): number {
  let low = 0;
  let high = Math.max(0, offsets.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (present(offsets[middle], "offsets[middle]") <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

function isShown(
  event: RunEvent,
  tell: (event: RunEvent) => Sentence,
  { level }: TimelineOptions,
  query: string,
): boolean {
  if (level === "all" && !query) return true;
  const sentence = tell(event);
  if (level === "story" && sentence.level !== "story") return false;
  return !query || sentence.text.toLowerCase().includes(query) || event.type.includes(query);
}

function eventRow(
  event: RunEvent,
  tell: (event: RunEvent) => Sentence,
  { opened }: TimelineOptions,
  place: { isInside: boolean; isAfterGroup: boolean },
): TimelineRow {
  const isOpen = opened?.has(event.seq) ?? false;
  return {
    kind: "event",
    key: `e${event.seq}`,
    height: isOpen ? ROW.open : ROW.event,
    event,
    sentence: tell(event),
    ...place,
    isOpen,
  };
}
