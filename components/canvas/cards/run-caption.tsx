import { CirclePause } from "lucide-react";
import { useEffect, useState } from "react";
import { formatDuration } from "@/components/display/format";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import type { ChildCounts } from "@/server/domain/run";
import { type NodeRunView, useNodePeek } from "../canvas-run-context";
import { progressOf } from "./child-progress";

/*
 * The caption under a card in a run: what its node returned, streams or waits for. It is below the card, so that nothing
 * moves when it appears.
 */

/** The result or activity of a node in a run; nothing if the run did not reach it. */
export function RunCaption({
  node,
  run,
  isBrief = false,
}: {
  node: WorkflowNode;
  run: NodeRunView;
  isBrief?: boolean;
}) {
  if (run.isPausedHere)
    return (
      <p className="node-slip node-paused">
        <CirclePause aria-hidden size={14} /> Paused here
      </p>
    );
  const isOver = run.status === "completed" || run.status === "failed";
  if (run.children && (isBrief || !isOver)) return <Progress counts={run.children} />;
  if (run.status === "waiting") return <Waiting run={run} />;
  if (run.status === "running") return <Writing nodeId={node.id} />;
  const items = run.children?.total === undefined ? undefined : run.children;
  const hasFailures = items !== undefined && items.failed > 0;
  const facts = [
    run.durationMs === undefined ? "" : formatDuration(run.durationMs),
    run.cost ?? "",
    items && !hasFailures ? progressOf(items).text : "",
  ].filter(Boolean);
  const text = run.error ?? run.summary;
  if (!text && facts.length === 0) return null;
  return (
    <div className="node-slip" data-failed={run.error ? true : undefined}>
      {hasFailures && <Counts counts={items} />}
      {text && (
        <p className="node-said" title={text}>
          {text}
        </p>
      )}
      {facts.length > 0 && <p className="node-facts">{facts.join("  ·  ")}</p>}
    </div>
  );
}

/** How far a node is with the runs and items that it started. */
function Progress({ counts }: { counts: ChildCounts }) {
  const { share } = progressOf(counts);
  return (
    <div className="node-slip">
      <Counts counts={counts} />
      {share === null || share === 1 ? null : (
        <span aria-hidden className="node-progress">
          <span style={{ width: `${share * 100}%` }} />
        </span>
      )}
    </div>
  );
}

/** How many items are over, and how many of them failed. */
function Counts({ counts }: { counts: ChildCounts }) {
  const { text, failed } = progressOf(counts);
  return (
    <p className="node-facts">
      {text}
      {failed ? <span className="node-failures">{`  ·  ${failed}`}</span> : null}
    </p>
  );
}

/** Who is running, and the end of the streamed text. */
function Writing({ nodeId }: { nodeId: string }) {
  const peek = useNodePeek(nodeId);
  if (!peek) return null;
  return (
    <div className="node-slip" data-live aria-hidden>
      {peek.who && <p className="node-facts">{peek.who}</p>}
      {/* The end is what is new: it is the beginning that is cut off. */}
      {peek.text && (
        <p className="node-said node-writing">
          <span>{peek.text}</span>
        </p>
      )}
    </div>
  );
}

/** What a waiting node waits for, also in a quarantined run. */
export function Waiting({ run: { waiting, isHeld } }: { run: NodeRunView }) {
  const until = isHeld || waiting?.until === undefined ? null : new Date(waiting.until).getTime();
  const left = useSecondsUntil(until);
  if (isHeld) return <p className="node-slip">Quarantined: retry or cancel the run</p>;
  if (left === null) return waiting ? <p className="node-slip">Waiting: {waiting.for}</p> : null;
  return <p className="node-slip">{left > 0 ? `Resumes in ${clock(left)}` : "Resuming…"}</p>;
}

function useSecondsUntil(until: number | null): number | null {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (until === null) return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [until]);
  return until === null ? null : Math.max(0, Math.ceil((until - now) / 1000));
}

function clock(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} min`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
