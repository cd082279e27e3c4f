"use client";

import { CirclePause } from "lucide-react";
import { breakpointLimits } from "@/components/run/breakpoints/breakpoint-labels";
import { useRun } from "@/components/run/run-context";
import { useRunPage } from "@/components/run/run-page-context";
import { Button } from "@/components/ui/button";
import { NARROW, useMedia } from "@/components/ui/use-media";
import type { RunState } from "@/server/domain/run";
import { describePausedPlace } from "@/server/domain/run/commands/control-labels";
import { RunControls } from "./run-controls";
import { type Paused, usePaused } from "./use-control";

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
  // Tools that may change something outside are never interrupted.
  const ending = useRun(({ head }) => describePendingTools(head), "");
  const nodeId = paused?.node_id;
  const isNarrow = useMedia(NARROW);
  return (
    <div role="status" aria-label="Pause status" className={paused ? BAR : "sr-only"}>
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

/**
 * Why a run is paused, and what comes next: "Stepping. Next: Review", "Paused at the breakpoint on Review".
 * `next`: the node that is ready to start, unless the run is paused just before one.
 */
export function describePause(
  paused: Paused,
  nodeName: (id: string) => string,
  next: string | null = null,
): string {
  const place = paused.point === "anywhere" ? "" : ` ${describePausedPlace(paused, nodeName)}`;
  const coming = place.startsWith(" before ")
    ? place.slice(" before ".length)
    : next === null
      ? ""
      : nodeName(next);
  const then = coming ? ` Next: ${coming}` : "";
  switch (paused.reason) {
    case "breakpoint":
      return describeBreakpointPause(paused, place);
    case "step":
      return `Stepping.${place.startsWith(" before ") || !place ? "" : ` Paused${place}.`}${then}`;
    case "question":
      return `Paused${place}: a question needs an answer`;
    case "person":
      return `Paused by ${paused.by === "user" ? "you" : paused.by}${then && `.${then}`}`;
  }
}

function describeBreakpointPause({ breakpoint, point }: Paused, place: string): string {
  if (breakpoint?.once) return `Paused${place}`;
  const limits = breakpoint ? breakpointLimits(breakpoint) : "";
  const where = point === "node_start" ? ` on${place.slice(" before".length)}` : place;
  return `Paused at the breakpoint${where}${limits ? ` (${limits})` : ""}`;
}

/** The tool calls that a paused run still waits for; empty if there are none. */
export function describePendingTools({
  calling,
  tool_calls,
}: Pick<RunState, "calling" | "tool_calls">): string {
  const tools = [...new Set([...calling].flatMap((id) => tool_calls[id]?.tool_name ?? []))];
  return tools.length > 0 ? `Waiting for ${tools.join(", ")} to finish.` : "";
}
