import { type RefObject, useEffect, useRef, useState } from "react";
import type { TimelineRow } from "./timeline-rows";

/** What of a scrolled box is in view. */
export function useWindow(box: RefObject<HTMLDivElement | null>) {
  const [seen, setSeen] = useState({ top: 0, height: 600, width: 420 });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let frame = 0;
    const update = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() =>
        setSeen({
          top: element.scrollTop,
          height: element.clientHeight,
          width: element.clientWidth,
        }),
      );
    };
    const observer = new ResizeObserver(update);
    observer.observe(element);
    element.addEventListener("scroll", update, { passive: true });
    update();
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      element.removeEventListener("scroll", update);
    };
  }, [box]);
  return seen;
}

/** Stays at the end while things are added, until a person scrolls up. */
export function useStickToEnd(box: RefObject<HTMLDivElement | null>, isLive: boolean): void {
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
  useEffect(() => {
    const element = box.current;
    if (!element?.firstElementChild || !isLive) return;
    // Measured once everything is laid out: reading the height earlier would force a second layout.
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) element.scrollTo({ top: element.scrollHeight });
    });
    observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [box, isLive]);
}

/** Brings the event under the cursor into view as the cursor moves. */
export function useRevealCursor(
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
