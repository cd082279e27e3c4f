import { expect, test } from "vitest";
import type { CrewExchange, Proposal } from "@/server/domain/run";
import { changedFrom, changesByRound, messagesByRound } from "./turns";

const vote = (agent_id: string, round: number, choice: "approve" | "reject" | "abstain") =>
  ({
    proposal_id: "p",
    agent_id,
    round,
    vote: choice,
    reasoning: "",
    confidence: null,
  }) as Proposal["votes"][number];

test("a vote that differs from the agent's previous vote counts as changed", () => {
  const votes = [
    vote("a", 1, "approve"),
    vote("b", 1, "reject"),
    vote("a", 2, "approve"),
    vote("b", 2, "approve"),
  ];
  expect(votes.map((one) => changedFrom(votes, one))).toEqual([undefined, undefined, undefined, "reject"]);
  expect(changesByRound(votes)).toEqual([{ round: 2, changed: 1, of: 2 }]);
  expect(changesByRound(votes.slice(0, 2))).toEqual([]);
});

test("messages are counted by round", () => {
  const exchanges = [0, 1, 1, 2].map(
    (round, seq) => ({ seq, round, kind: "post" }) as unknown as CrewExchange,
  );
  expect(messagesByRound(exchanges)).toEqual([
    { round: 1, count: 2 },
    { round: 2, count: 1 },
  ]);
});
