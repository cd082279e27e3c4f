import { describe, expect, test } from "vitest";
import { agent, of } from "@/server/conformance/stage";
import { answersTo, runTalk } from "./testing";

const agents = ["ann", "bob", "cid"].map((name) => agent(name));
const propose = (stakeholders?: string[]) =>
  [
    "propose_decision",
    { decision: "ship it", rationale: "it is ready", ...(stakeholders ? { stakeholders } : {}) },
  ] as const;
const vote = (choice: string, proposal_id = "proposal_1") =>
  ["vote_on_proposal", { proposal_id, vote: choice, reasoning: `${choice}, so` }] as const;
const finalize = (proposal_id = "proposal_1") => ["finalize_consensus", { proposal_id }] as const;

describe("proposals", () => {
  test("a proposal goes to all members, or once to each member that it names", async () => {
    const { events, state } = await runTalk(
      [["ann", propose(), propose(["BOB", "bob", "cid"]), propose(["bob", "dan", "eve"])]],
      { agents },
    );
    expect(of(events, "proposal_created")).toEqual([
      {
        proposal_id: "proposal_1",
        decision: "ship it",
        rationale: "it is ready",
        by: "ann",
        stakeholders: ["ann", "bob", "cid"],
      },
      {
        proposal_id: "proposal_2",
        decision: "ship it",
        rationale: "it is ready",
        by: "ann",
        stakeholders: ["bob", "cid"],
      },
    ]);
    expect(answersTo(state, "ann")).toEqual([
      [200, '{"proposal_id":"proposal_1"}'],
      [200, '{"proposal_id":"proposal_2"}'],
      [404, "Unknown agent: dan, eve."],
    ]);
  });

  test("a vote on an unknown proposal fails and lists the open ones", async () => {
    const { events, state } = await runTalk([["ann", vote("approve"), finalize()]], { agents });
    const { state: later } = await runTalk(
      [["ann", propose(), propose(), vote("approve", "x"), finalize("x")]],
      { agents },
    );
    const unknown = 'There is no proposal "x". Open: proposal_1, proposal_2.';
    expect(answersTo(state, "ann")).toEqual([
      [404, 'There is no proposal "proposal_1". Open: none.'],
      [404, 'There is no proposal "proposal_1". Open: none.'],
    ]);
    expect(answersTo(later, "ann").slice(2)).toEqual([
      [404, unknown],
      [404, unknown],
    ]);
    expect([...of(events, "vote_cast"), ...of(events, "consensus_finalized")]).toEqual([]);
  });

  test("a proposal takes one vote per stakeholder until its author closes it", async () => {
    const { events, state } = await runTalk(
      [
        ["ann", propose(["ann", "bob"]), vote("approve")],
        ["bob", vote("reject"), vote("approve"), finalize()],
        ["cid", vote("approve")],
        ["ann", finalize(), finalize()],
        ["bob", vote("approve")],
      ],
      { agents },
    );
    expect(of(events, "vote_cast")).toEqual(
      [
        ["ann", "approve"],
        ["bob", "reject"],
      ].map(([agent_id, choice]) => ({
        proposal_id: "proposal_1",
        round: 1,
        agent_id,
        vote: choice,
        reasoning: `${choice}, so`,
        confidence: null,
      })),
    );
    const count = { approve: 1, reject: 1, abstain: 0, turnout: 1 };
    expect(of(events, "consensus_finalized")).toEqual([
      { proposal_id: "proposal_1", outcome: "tie", rule: "majority", ...count, decided_by: "votes" },
    ]);
    expect(answersTo(state, "ann").slice(1)).toEqual([
      [200, "Your vote was recorded."],
      [200, JSON.stringify({ outcome: "tie", ...count })],
      [409, "This is already decided: tie."],
    ]);
    expect(answersTo(state, "bob")).toEqual([
      [200, "Your vote was recorded."],
      [409, "You already voted on this."],
      [403, "Only ann, who proposed it, may close the vote."],
      [409, "This is already decided."],
    ]);
    expect(answersTo(state, "cid")).toEqual([[403, "You have no vote on this."]]);
  });

  test("a proposal without enough votes on either side is rejected by the rule", async () => {
    const { events, state } = await runTalk(
      [
        ["ann", propose(), vote("approve")],
        ["bob", vote("reject")],
        ["cid", vote("reject")],
        ["ann", finalize()],
      ],
      { agents, consensus: { rule: "unanimous" } },
    );
    const count = { approve: 1, reject: 2, abstain: 0, turnout: 1 };
    expect(of(events, "consensus_finalized")).toEqual([
      { proposal_id: "proposal_1", outcome: "rejected", rule: "unanimous", ...count, decided_by: "rule" },
    ]);
    expect(answersTo(state, "ann").at(-1)).toEqual([200, JSON.stringify({ outcome: "rejected", ...count })]);
  });
});
