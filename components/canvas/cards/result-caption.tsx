import { Pin } from "lucide-react";
import type { CardTry } from "./tried-context";

const LABELS: Readonly<Record<CardTry["from"], string>> = { pin: "Pinned", try: "Tried", run: "Last run" };

/** Labels a result by its source or its status. */
export function resultLabel({ from, status }: Pick<CardTry, "from" | "status">): string {
  if (status === "running") return "Running…";
  if (status === "waiting") return "Waiting for an answer (open the run)";
  return status === "failed" ? (from === "run" ? "Failed in the last run" : "Failed") : LABELS[from];
}

/** The slip under a card in the editor: the last result of its node. */
export function ResultCaption({ tried }: { tried: CardTry }) {
  return (
    <div
      className="node-slip node-tried"
      data-failed={tried.status === "failed" || undefined}
      data-stale={tried.stale !== null || undefined}
    >
      <p className="node-said">
        <span className="node-from">
          {resultLabel(tried)}
          {tried.summary ? ":" : ""}
        </span>{" "}
        {tried.summary}
      </p>
      {tried.stale && <p className="node-stale">May be out of date: {tried.stale}</p>}
    </div>
  );
}

/** On the corner of a card: its output is pinned. */
export function PinMark({ isStale }: { isStale: boolean }) {
  return (
    <span className="node-pin" data-stale={isStale || undefined} title="Output pinned">
      <Pin aria-hidden size={13} />
      <span className="sr-only">Output pinned</span>
    </span>
  );
}
