import { Pin } from "lucide-react";
import type { CardTry } from "./tried-context";

const BEFORE: Readonly<Record<CardTry["status"], string>> = {
  running: "Running by itself…",
  waiting: "Waits for an answer; open the run to give it",
  completed: "Tried: ",
  failed: "Failed: ",
  pinned: "Pinned: ",
};

/** The slip under a card whose node was run by itself, or whose output is pinned. */
export function TriedSlip({ tried }: { tried: CardTry }) {
  const words = `${BEFORE[tried.status]}${tried.said}`;
  return (
    <div className="node-slip node-tried" data-failed={tried.status === "failed" || undefined}>
      <p className="node-said" title={words}>
        {words}
      </p>
      {tried.stale && (
        <p className="node-stale" title={tried.stale}>
          Stale: {tried.stale}
        </p>
      )}
    </div>
  );
}

/** On the corner of a card: its output is pinned. */
export function PinMark({ isStale }: { isStale: boolean }) {
  return (
    <span className="node-pin" data-stale={isStale || undefined} title="Its output is pinned">
      <Pin aria-hidden size={13} />
      <span className="sr-only">Its output is pinned</span>
    </span>
  );
}
