"use client";

import { CirclePause } from "lucide-react";
import { useRun } from "@/components/run/run-context";
import { useRunPage } from "@/components/run/run-page-context";
import { Button } from "@/components/ui/button";
import { NARROW, useMedia } from "@/components/ui/use-media";
import { describePause, describePendingTools } from "./paused-text";
import { RunControls } from "./run-controls";
import { usePaused } from "./use-control";

/** Shown above the page while the run is paused: why, what comes next, and how to continue. */
export function PausedBar() {
  const paused = usePaused();
  const page = useRunPage();
  const text = useRun(
    ({ head }) =>
      head.run.paused_at
        ? describePause(
            head.run.paused_at,
            (id) => head.graph.nodes[id]?.name || id,
            head.activations[head.ready[0] ?? ""]?.node_id,
          )
        : "",
    "",
  );
  // What may change something outside is never broken off.
  const ending = useRun(({ head }) => describePendingTools(head), "");
  const nodeId = paused?.node_id;
  const isNarrow = useMedia(NARROW);
  return (
    <div role="status" aria-label="Where the run is paused" className={paused ? BAR : "sr-only"}>
      {paused ? (
        <>
          <CirclePause aria-hidden className="size-4 shrink-0 text-waiting" />
          <p className="min-w-0 flex-1 font-medium [overflow-wrap:anywhere]">
            {text}
            {ending ? <span className="font-normal text-ink-2"> {ending}</span> : null}
          </p>
          {nodeId && page ? (
            <Button size="sm" variant="ghost" onClick={() => page.openNode(nodeId)}>
              Show node
            </Button>
          ) : null}
          {isNarrow ? null : <RunControls isHeld={page?.held != null} />}
        </>
      ) : null}
    </div>
  );
}

const BAR =
  "flex shrink-0 flex-wrap items-center gap-x-2 gap-y-1.5 border-b border-waiting/40 bg-waiting/10 px-4 py-2 text-[13px]";
