import { describe, expect, test } from "vitest";
import { agent, as, of } from "@/server/conformance/stage";
import { ModelError } from "@/server/llm/model";
import { runAsked } from "../testing";

const agents = ["ann", "bob", "cid"].map((name) => agent(name));
const crew = (consensus: object, members = agents) => ({
  process: "consensus" as const,
  agents: members,
  manager: { agent_id: "ann" },
  consensus,
});
const proposes = as("ann", { json: { decision: "ship it", rationale: "it is ready" } });
const votes = (who: string, vote: string) =>
  as(who, { json: { vote, reasoning: `${who} thinks so`, confidence: 0.5 } });
const all = (...casts: [string, string, string]) => [
  votes("ann", casts[0]),
  votes("bob", casts[1]),
  votes("cid", casts[2]),
];
const keys = ["decision", "rationale", "outcome", "approved", "votes", "reasons"];

test("a decision comes with the vote count and every member's reason", async () => {
  const { state, events } = await runAsked([proposes, ...all("approve", "approve", "reject")], crew({}), [], {
    keys,
  });
  expect(state.state).toMatchObject({
    decision: "ship it",
    rationale: "it is ready",
    outcome: "approved",
    approved: true,
    votes: { approve: 2, reject: 1, abstain: 0 },
    reasons: {
      ann: "approve: ann thinks so",
      bob: "approve: bob thinks so",
      cid: "reject: cid thinks so",
    },
  });
  expect(of(events, "proposal_created")).toEqual([
    {
      proposal_id: "proposal_1",
      decision: "ship it",
      rationale: "it is ready",
      by: "ann",
      stakeholders: ["ann", "bob", "cid"],
    },
  ]);
  expect(of(events, "vote_cast")[2]).toEqual({
    proposal_id: "proposal_1",
    round: 1,
    agent_id: "cid",
    vote: "reject",
    reasoning: "cid thinks so",
    confidence: 0.5,
  });
  expect(of(events, "consensus_finalized")).toEqual([
    {
      proposal_id: "proposal_1",
      rule: "majority",
      approve: 2,
      reject: 1,
      abstain: 0,
      turnout: 1,
      outcome: "approved",
      decided_by: "votes",
    },
  ]);
  expect(of(events, "round_started")).toEqual([{ round: 1 }]);
});

test("members vote again with all reasons visible until the rule is met", async () => {
  const { state, models, events } = await runAsked(
    [proposes, ...all("approve", "reject", "reject"), ...all("approve", "approve", "approve")],
    crew({ rule: "unanimous", rounds: 3 }),
    [],
    { keys },
  );
  expect([state.state.outcome, of(events, "round_started").length]).toEqual(["approved", 2]);
  const [first, second] = [models.calls[1]!, models.calls[4]!].map(
    ({ messages }) => messages.at(-1)!.content,
  );
  expect(first).toContain("no one sees a vote until all are cast");
  expect(second).toContain('<vote by="bob">reject: bob thinks so</vote>');
  expect(second).not.toContain("no one sees a vote until all are cast");
});

test("a proposal is rejected by votes at once, or by the rule after the last round", async () => {
  const split = await runAsked(
    [proposes, ...all("approve", "reject", "reject")],
    crew({ rule: "unanimous", rounds: 1 }),
    [],
    { keys },
  );
  expect(of(split.events, "consensus_finalized")[0]).toMatchObject({
    outcome: "rejected",
    decided_by: "rule",
  });
  expect(split.state.state).toMatchObject({ outcome: "rejected", approved: false });
  const no = await runAsked([proposes, ...all("approve", "reject", "reject")], crew({ rounds: 2 }), [], {
    keys,
  });
  expect(of(no.events, "consensus_finalized")[0]).toMatchObject({ outcome: "rejected", decided_by: "votes" });
});

describe("missing ballots", () => {
  test("a member that fails to vote abstains, and its ballot is marked as forced", async () => {
    const { events, state } = await runAsked(
      [proposes, votes("ann", "approve"), votes("bob", "approve"), as("cid", { refusal: "never" })],
      crew({}),
      [],
      { keys },
    );
    expect(of(events, "vote_cast")[2]).toEqual({
      proposal_id: "proposal_1",
      round: 1,
      agent_id: "cid",
      vote: "abstain",
      reasoning: "The model refused: never",
      confidence: null,
      forced: true,
    });
    expect(state.state).toMatchObject({ outcome: "approved", votes: { approve: 2, reject: 0, abstain: 1 } });
  });
  test("a crew ends if a member's model can't be called", async () => {
    const error = new ModelError({ code: "AUTH", message: "No.", retryable: false, user_action: "settings" });
    const { state, events } = await runAsked(
      [proposes, votes("ann", "approve"), votes("bob", "approve"), as("cid", { error })],
      crew({}),
      [],
      { keys },
    );
    expect([state.run.error?.code, of(events, "vote_cast")]).toEqual(["AUTH", []]);
  });
});

describe("tied votes", () => {
  const tie = [proposes, ...all("approve", "reject", "abstain")];
  test.each([
    [{ answer: "approve" as const }, "approved"],
    [{ answer: "approve_always" as const }, "approved"],
    [{ answer: "reject" as const }, "rejected"],
  ])("a tied vote is decided by a person: %j", async (answer, outcome) => {
    const { asked, events } = await runAsked(tie, crew({ rounds: 1 }), [answer], { keys });
    expect(asked).toEqual([{ title: "The vote is tied. Approve the proposal?", why: "ship it" }]);
    expect(of(events, "consensus_finalized")[0]).toMatchObject({ outcome, decided_by: "person" });
  });
  test("a tied vote is decided by the chair, who can't abstain", async () => {
    const casts = (vote: string) => ({ json: { vote, reasoning: "so", confidence: 1 } });
    const { events, models } = await runAsked(
      [...tie, casts("abstain"), casts("approve")],
      crew({ rounds: 1, tie: "chair" }),
      [],
      { keys },
    );
    expect(of(events, "consensus_finalized")[0]).toMatchObject({ outcome: "approved", decided_by: "chair" });
    expect(models.calls.at(-1)!.messages.at(-1)!.content).toContain("You must approve or reject");
    expect(models.calls.at(-2)!.messages.at(-1)!.content).toContain(
      '<vote by="cid">abstain: cid thinks so</vote>',
    );
  });
});
