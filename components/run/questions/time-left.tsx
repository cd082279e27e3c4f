import { useTimeLeft } from "@/components/run/live/elapsed";
import type { Interaction } from "@/server/domain/run";
import { whenSilent } from "@/server/domain/run/questions/question-text";

/** How long a question is still open, and what happens if no one answers. */
export function TimeLeft({ ask: { requested, escalated = [] } }: { ask: Interaction }) {
  const left = useTimeLeft(requested.expires_at);
  const what = whenSilent(requested, escalated.length);
  if (requested.mode === "advisory") return <span>Leaving it unanswered {what}.</span>;
  return (
    <span className="tabular-nums">
      {left === null ? "The time to answer has run out." : `No answer within ${left} ${what}.`}
    </span>
  );
}
