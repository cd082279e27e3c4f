import { type Detector, named, of, placeOf } from "./finding";

/** Members did not vote as they were to, or a vote came to no decision of the members. */
export const voteMissing: Detector = ({ events }) => {
  const forced = of(events, "vote_cast").filter(({ payload }) => payload.forced);
  const first = forced[0];
  const names = [...new Set(forced.map(({ payload }) => named(payload.agent_id)))];
  const without = of(events, "consensus_finalized").flatMap((event) =>
    event.payload.outcome === "no_quorum"
      ? [
          {
            kind: "vote_missing" as const,
            ...placeOf(event),
            said: "Too few members voted for a valid result.",
            advice: "Lower the quorum, or tell members when they can abstain.",
          },
        ]
      : [],
  );
  return [
    ...(first
      ? [
          {
            kind: "vote_missing" as const,
            ...placeOf(first),
            said: `${names.join(" and ")} cast no valid vote; a fallback was recorded for ${names.length > 1 ? "them" : "it"}.`,
            advice: "Choose a model that follows schemas for voting, or shorten the proposal.",
          },
        ]
      : []),
    ...without,
  ];
};
