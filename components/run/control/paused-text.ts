import { breakpointLimits } from "@/components/run/breakpoints/breakpoint-labels";
import type { RunState } from "@/server/domain/run";
import { describePausedPlace } from "@/server/domain/run/commands/control-labels";
import type { Paused } from "./use-control";

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
    case "breakpoint": {
      if (paused.breakpoint?.once) return `Paused${place}`;
      const limits = paused.breakpoint ? breakpointLimits(paused.breakpoint) : "";
      const where = paused.point === "node_start" ? ` on${place.slice(" before".length)}` : place;
      return `Paused at the breakpoint${where}${limits ? ` (${limits})` : ""}`;
    }
    case "step":
      return `Stepping.${place.startsWith(" before ") || !place ? "" : ` Paused${place}.`}${then}`;
    case "question":
      return `Paused${place}: a question needs an answer`;
    case "person":
      return `Paused by ${paused.by === "user" ? "you" : paused.by}${then && `.${then}`}`;
  }
}

/** The tool calls that a paused run still waits for; empty if there are none. */
export function describePendingTools({
  calling,
  tool_calls,
}: Pick<RunState, "calling" | "tool_calls">): string {
  const tools = [...new Set([...calling].flatMap((id) => tool_calls[id]?.tool_name ?? []))];
  return tools.length > 0 ? `Waiting for ${tools.join(", ")} to end.` : "";
}
