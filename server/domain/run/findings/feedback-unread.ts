import type { RunEvent } from "../events";
import { type Detector, type Finding, named, of, placeOf, plain } from "./finding";

/** Outcomes that send work back. */
const SENT_BACK: ReadonlySet<string> = new Set([
  "reject",
  "rejected",
  "revise",
  "changes_requested",
  "fail",
  "failed",
]);

/** Work was sent back with feedback, and its author repeated the same output or never got another turn. */
export const feedbackUnread: Detector = ({ activations }) =>
  [...activations.values()].flatMap((own) => {
    const ended = of(own, "crew_finished").at(-1);
    return of(own, "post_sent").flatMap((post): Finding[] => {
      const { from, to, kind, outcome } = post.payload;
      if (kind !== "feedback" && !SENT_BACK.has(outcome ?? "")) return [];
      if (to.toLowerCase() === "user") return [];
      const before = answersOf(own, to)
        .filter(({ seq }) => seq < post.seq)
        .at(-1);
      const after = answersOf(own, to).find(({ seq }) => seq > post.seq);
      if (!after && ended?.payload.status === "completed")
        return [
          {
            kind: "feedback_unread",
            ...placeOf(post),
            said: `${named(from)} sent the work back to ${named(to)}, who had no turns left.`,
            advice: "Route the feedback back to its recipient, with enough rounds.",
          },
        ];
      if (before && after && before.text !== "" && before.text === after.text)
        return [
          {
            kind: "feedback_unread",
            ...placeOf(after.event),
            said: `${named(from)} sent the work back, and ${named(to)} gave the same answer again.`,
            advice: "Check its prompt at that point: does it contain the feedback?",
          },
        ];
      return [];
    });
  });

const answersOf = (own: readonly RunEvent[], agent: string) =>
  of(own, "llm_call_completed").flatMap((event) =>
    event.agent_id === agent ? [{ seq: event.seq, event, text: plain(event.payload.content) }] : [],
  );
