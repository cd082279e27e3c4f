import type { NodeEvents, RunEvent } from "@/server/domain/run/events";

/** A segment of the log in which a node was running. */
export interface Span {
  id: string;
  nodeId: string;
  lane: number;
  from: number;
  /** Null: still running. */
  to: number | null;
  end: "completed" | "failed" | "cancelled" | "running" | "waiting";
}

/** More lanes can't be told apart on a screen. */
const MOST_SPANS = 400;
const MOST_LANES = 5;

/** The activations of a run as stretches of its events, on as few lanes as keep them apart. */
export function spansOf(events: readonly RunEvent[]): { spans: Span[]; lanes: number } {
  const open = new Map<string, Span>();
  const spans: Span[] = [];
  const busy: (string | null)[] = [];
  for (const event of events) {
    const id = event.activation_id;
    if (!id || !event.node_id) continue;
    const span = open.get(id);
    if (event.type === "node_started" && !span) {
      if (spans.length >= MOST_SPANS) return { spans: [], lanes: 0 };
      const free = busy.indexOf(null);
      const lane = free >= 0 ? free : busy.length;
      busy[lane] = id;
      const begun: Span = {
        id,
        nodeId: event.node_id,
        lane: Math.min(lane, MOST_LANES - 1),
        from: event.seq,
        to: null,
        end: "running",
      };
      open.set(id, begun);
      spans.push(begun);
    } else if (span) {
      span.end = statusAfter(event) ?? span.end;
      if (span.end === "running" || span.end === "waiting") continue;
      span.to = event.seq;
      open.delete(id);
      busy[busy.indexOf(id)] = null;
    }
  }
  return { spans, lanes: Math.min(MOST_LANES, Math.max(1, busy.length)) };
}

/** How node events end a segment; null: it stays the same. */
const STATUS_AFTER: Readonly<Record<keyof NodeEvents, Span["end"] | null>> = {
  node_ready: null,
  node_started: "running",
  node_waiting: "waiting",
  timer_fired: "running",
  router_decided: null,
  node_completed: "completed",
  node_failed: "failed",
  node_retry_scheduled: null,
  node_skipped: null,
  node_cancelled: "cancelled",
};

const isOfNode = (type: string): type is keyof NodeEvents => Object.hasOwn(STATUS_AFTER, type);

function statusAfter(event: RunEvent): Span["end"] | null {
  if (event.type === "node_failed" && event.payload.next === "retry") return null;
  return isOfNode(event.type) ? STATUS_AFTER[event.type] : null;
}
