import { History } from "lucide-react";
import { createContext, use } from "react";

const NONE: ReadonlyMap<string, string> = new Map();

/** Why what nodes gave in the run that is shown may be another now, by their ids. */
export const StaleContext = createContext<ReadonlyMap<string, string>>(NONE);

export const useStaleReason = (nodeId: string): string | undefined => use(StaleContext).get(nodeId);

/** On the corner of a card: its output may be out of date, and why. */
export function StaleMark({ reason }: { reason: string }) {
  const label = `May be out of date: ${reason}`;
  return (
    <span className="node-stale-mark" title={label}>
      <History aria-hidden size={13} />
      <span className="sr-only">{label}</span>
    </span>
  );
}
