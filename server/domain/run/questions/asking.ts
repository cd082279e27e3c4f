import type { RunState } from "../state";

/** Whether a question is open that keeps everything new from starting. */
export function isHeldByQuestion(s: Pick<RunState, "asking" | "interactions">): boolean {
  for (const id of s.asking) {
    const asked = s.interactions[id];
    if (asked?.status === "open" && asked.requested.mode === "sync") return true;
  }
  return false;
}
