import { Badge } from "@/components/ui/badge";

/** How an item in a file compares to the local one of the same name. */
export type InFileState = "new" | "same" | "differs";

const STATES = { new: "New", same: "Unchanged", differs: "Differs from existing" } as const;

export function InFileBadge({ state }: { state: InFileState }) {
  return <Badge tone={state === "differs" ? "waiting" : "neutral"}>{STATES[state]}</Badge>;
}
