import { breakpointLimits } from "@/components/run/breakpoints/breakpoint-words";
import { pausedPlaceInWords } from "@/server/domain/run/control-words";
import type { Paused } from "./use-control";

/** Where a run is held and why: "Paused before Review: breakpoint if state.n == 2". */
export function pausedInWords(paused: Paused, nodeName: (id: string) => string): string {
  const place = paused.point === "anywhere" ? "" : ` ${pausedPlaceInWords(paused, nodeName)}`;
  return `Paused${place}${whyInWords(paused)}`;
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
