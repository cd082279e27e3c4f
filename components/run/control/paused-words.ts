import { breakpointLimits } from "@/components/run/breakpoints/breakpoint-words";
import type { RunState } from "@/server/domain/run";
import { pausedPlaceInWords } from "@/server/domain/run/commands/control-words";
import type { Paused } from "./use-control";

/** Where a run is held and why: "Paused before Review: breakpoint if state.n == 2". */
export function pausedInWords(paused: Paused, nodeName: (id: string) => string): string {
  const place = paused.point === "anywhere" ? "" : ` ${pausedPlaceInWords(paused, nodeName)}`;
  return `Paused${place}${whyInWords(paused)}`;
}

/** The tools that are still at work in a paused run, whose end it waits for; empty where there are none. */
export function endingInWords({ calling, tool_calls }: Pick<RunState, "calling" | "tool_calls">): string {
  const tools = [...new Set([...calling].flatMap((id) => tool_calls[id]?.tool_name ?? []))];
  return tools.length > 0 ? `Waiting for ${tools.join(", ")} to end.` : "";
}

function whyInWords({ reason, by, breakpoint }: Paused): string {
  switch (reason) {
    case "breakpoint": {
      const limits = breakpoint ? breakpointLimits(breakpoint) : "";
      return `: breakpoint${limits ? ` ${limits}` : ""}`;
    }
    case "step":
      return ": one step further";
    case "question":
      return ": a question waits for an answer";
    case "person":
      return by === "user" ? " by you" : ` by ${by}`;
  }
}
