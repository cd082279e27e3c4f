import { Badge } from "@/components/ui/badge";

/** How a thing in a file stands to the one of the same name here. */
export type InFileState = "new" | "same" | "differs";

const STATES = { new: "New", same: "Same as yours", differs: "Differs from yours" } as const;

export function InFileBadge({ state }: { state: InFileState }) {
  return <Badge tone={state === "differs" ? "waiting" : "neutral"}>{STATES[state]}</Badge>;
}
