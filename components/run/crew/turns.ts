import type { CrewExchange, Proposal } from "@/server/domain/run";

type Vote = Proposal["votes"][number];

/** The vote of an agent in the round before, if it has changed since. */
export function changedFrom(
  votes: readonly Vote[],
  { agent_id, round, vote }: Vote,
): Vote["vote"] | undefined {
  const before = votes
    .filter((other) => other.agent_id === agent_id && other.round < round)
    .reduce<Vote | undefined>((last, one) => (last && last.round > one.round ? last : one), undefined);
  return before && before.vote !== vote ? before.vote : undefined;
}

/** How many changed their vote in each round after the first, in the order of the rounds. */
export function changesByRound(votes: readonly Vote[]): { round: number; changed: number; of: number }[] {
  const rounds = [...new Set(votes.map(({ round }) => round))].toSorted((a, b) => a - b);
  return rounds.slice(1).map((round) => {
    const roundVotes = votes.filter((vote) => vote.round === round);
    return {
      round,
      changed: roundVotes.filter((vote) => changedFrom(votes, vote) !== undefined).length,
      of: roundVotes.length,
    };
  });
}

/** The number of messages per round; messages outside of rounds don't count. */
export function messagesByRound(exchanges: readonly CrewExchange[]): { round: number; count: number }[] {
  const counts = new Map<number, number>();
  for (const { round } of exchanges) if (round > 0) counts.set(round, (counts.get(round) ?? 0) + 1);
  return [...counts].map(([round, count]) => ({ round, count })).toSorted((a, b) => a.round - b.round);
}
