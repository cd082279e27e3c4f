import type { CrewConfig } from "./crew";

export interface Ballot {
  agent_id: string;
  vote: "approve" | "reject" | "abstain";
}
export interface Tally {
  /** null: neither side has enough, and another round may change that. */
  outcome: "approved" | "rejected" | "tie" | "no_quorum" | null;
  approve: number;
  reject: number;
  abstain: number;
  /** Share of the members that did not abstain, 0 to 1. */
  turnout: number;
}

/** Shares are compared with this much room for rounding: 2 of 3 must count as two thirds. */
const ROUNDING = 1e-9;
const NEEDED = { majority: 0.5, two_thirds: 2 / 3, unanimous: 1, weighted: 0.5 } as const;

/**
 * Counts the ballots of one round by the rule. Majority and weighted need more than half of what was cast, two thirds
 * at least that share, unanimity all. Weights count under the rule "weighted" only; a member without one weighs 1.
 */
export function tally(ballots: readonly Ballot[], members: number, rules: CrewConfig["consensus"]): Tally {
  const weight = ({ agent_id }: Ballot) =>
    rules.rule === "weighted" ? Math.max(0, rules.weights[agent_id] ?? 1) : 1;
  const sum = (vote: Ballot["vote"]) =>
    ballots.filter((ballot) => ballot.vote === vote).reduce((total, ballot) => total + weight(ballot), 0);
  const [approve, reject] = [sum("approve"), sum("reject")];
  const cast = ballots.filter(({ vote }) => vote !== "abstain").length;
  const turnout = members === 0 ? 0 : cast / members;
  const count = { approve, reject, abstain: members - cast, turnout };
  if (cast === 0 || turnout + ROUNDING < rules.quorum) return { outcome: "no_quorum", ...count };
  const enough = (votes: number) => {
    const share = votes / (approve + reject);
    const needed = NEEDED[rules.rule];
    return needed === 0.5 ? share > 0.5 + ROUNDING : share + ROUNDING >= needed;
  };
  if (approve + reject <= 0) return { outcome: "no_quorum", ...count };
  if (enough(approve)) return { outcome: "approved", ...count };
  if (enough(reject)) return { outcome: "rejected", ...count };
  return { outcome: Math.abs(approve - reject) < ROUNDING ? "tie" : null, ...count };
}
