import { brief, type Detector, type Finding, named, of, placeOf } from "./finding";

/** A person did not answer in time, or one member asked another and never got an answer. */
export const questionUnanswered: Detector = ({ events, activations, state }) => {
  const titles = new Map(
    of(events, "interaction_requested").map(({ payload }) => [payload.interaction_id, payload.title]),
  );
  const found: Finding[] = of(events, "interaction_answered").flatMap((event) =>
    event.payload.answer === "expired"
      ? [
          {
            kind: "question_unanswered" as const,
            ...placeOf(event),
            said: `“${brief(titles.get(event.payload.interaction_id) ?? "A question", 100)}” was not answered in time.`,
            advice: "Give people more time, notify someone, or set what happens without an answer.",
          },
        ]
      : [],
  );
  if (state.run.status !== "finished") return found;
  for (const own of activations.values())
    for (const asked of of(own, "post_sent")) {
      const { from, to, kind, message } = asked.payload;
      if (kind !== "question" || to.toLowerCase() === "user") continue;
      const isAnswered = of(own, "post_sent").some(
        ({ seq, payload }) => seq > asked.seq && payload.from === to && payload.to === from,
      );
      if (!isAnswered)
        found.push({
          kind: "question_unanswered",
          ...placeOf(asked),
          said: `${named(from)} asked ${named(to)} “${brief(message, 100)}” and never got an answer.`,
          advice: `Give ${named(to)} a turn after the question, or let ${named(from)} ask an active member.`,
        });
    }
  return found;
};
