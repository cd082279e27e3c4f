import { z } from "zod";
import { JUDGE } from "@/server/domain/agent/judge";
import type { AgentConfig } from "@/server/domain/agent/role";
import type { Flow } from "@/server/domain/base/durable";
import { recordOf } from "@/server/domain/base/guards";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject, JsonSchema } from "@/server/domain/base/values";
import { tally } from "@/server/domain/crew/consensus";
import { leaderOf } from "@/server/domain/crew/leader";
import type { Payloads } from "@/server/domain/run/events";
import { type Fences, group } from "@/server/domain/text/fence";
import { errorOf } from "@/server/runner/agent/call-model";
import { Children } from "@/server/runner/node/flow";
import { askForCrew } from "../ask";
import type { Crew } from "../crew";
import { workOrHandOff } from "./relay";

const PROPOSAL: JsonSchema = {
  type: "object",
  properties: {
    decision: { type: "string", minLength: 1, description: "One sentence that can be approved or rejected" },
    rationale: { type: "string", description: "The reasons for it" },
  },
  required: ["decision", "rationale"],
  additionalProperties: false,
};
const BALLOT: JsonSchema = {
  type: "object",
  properties: {
    vote: { type: "string", enum: ["approve", "reject", "abstain"] },
    reasoning: { type: "string", minLength: 1, description: "The deciding reason, for the others to read" },
    confidence: { type: "number", minimum: 0, maximum: 1, description: "Confidence, from 0 to 1" },
  },
  required: ["vote", "reasoning", "confidence"],
  additionalProperties: false,
};

const Proposal = z.object({ decision: z.string(), rationale: z.string() });
const Ballot = z.object({
  vote: z.enum(["approve", "reject", "abstain"]),
  reasoning: z.string(),
  confidence: z.number(),
});

type Proposed = Payloads["proposal_created"];
type Vote = Payloads["vote_cast"];

/**
 * The crew decides together. Its chair puts the goal into one proposal; all vote at the same time without seeing each
 * other; where the rule is not met, another round shows everybody's reasons. What was decided is counted here.
 */
export function* vote(crew: Crew): Flow<JsonObject> {
  const { run } = crew;
  const rules = crew.config.consensus;
  const chair = leaderOf(crew.config);
  const task =
    "Turn the goal into one decision that the crew can approve or reject, and give the reasons for it.";
  const work = { task_id: "proposal", task, output_keys: [], answer_schema: PROPOSAL };
  const { result, agent: proposer } = yield* workOrHandOff(crew, chair, work, task);
  // From here on it stays unchanged until the decision.
  const { config } = crew;
  const { decision, rationale } = Proposal.parse(result.output);
  const proposal_id = `proposal_${Object.keys(crew.view.proposals).length + 1}`;
  const proposal: Proposed = {
    proposal_id,
    decision,
    rationale,
    by: proposer.agent_id,
    stakeholders: config.agents.map(({ agent_id }) => agent_id),
  };
  run.emit({ type: "proposal_created", agent_id: proposer.agent_id, payload: proposal });

  let votes: Vote[] = [];
  let counted = tally([], config.agents.length, rules);
  for (let round = 1; round <= rules.rounds; round++) {
    run.emit({ type: "round_started", payload: { round } });
    votes = yield* ballots(crew, proposal, round, votes);
    counted = tally(votes, config.agents.length, rules);
    if (counted.outcome === "approved" || counted.outcome === "rejected") break;
  }
  const { outcome: byVotes, ...count } = counted;
  const settled = yield* settle(crew, chair, decision, { outcome: byVotes, votes });
  run.emit({
    type: "consensus_finalized",
    agent_id: chair.agent_id,
    payload: { proposal_id, rule: rules.rule, ...count, ...settled },
  });
  const reasons = Object.fromEntries(
    votes.map(({ agent_id, vote, reasoning }) => [agent_id, `${vote}: ${reasoning}`]),
  );
  return crew.outputs({
    decision,
    rationale,
    outcome: settled.outcome,
    approved: settled.outcome === "approved",
    votes: { approve: count.approve, reject: count.reject, abstain: count.abstain },
    reasons,
  });
}

/** The votes of a round with their reasons, as data. */
const votesSeen = (votes: readonly Vote[], { fence }: Fences): string =>
  group(
    "votes",
    votes.map(({ agent_id, vote, reasoning }) => fence("vote", `${vote}: ${reasoning}`, { by: agent_id })),
  );

/** Everybody's ballot of one round, in the order of the crew. */
function* ballots(crew: Crew, proposal: Proposed, round: number, before: readonly Vote[]): Flow<Vote[]> {
  const { run, config } = crew;
  const seen = votesSeen(before, crew.fences);
  const children = new Children<Vote>();
  for (const agent of config.agents)
    children.add(agent.agent_id, ballot(crew, agent, proposal, { round, seen }));
  const byMember = new Map<string, Vote>();
  try {
    while (children.size > 0) {
      const next = yield* children.next();
      if (!next.ok) throw next.error;
      byMember.set(next.id, next.value);
    }
  } finally {
    children.stop();
  }
  // Revealed together, so that nobody could see another's vote first.
  const votes = config.agents.map(({ agent_id }) => must(byMember, agent_id));
  for (const one of votes) run.emit({ type: "vote_cast", agent_id: one.agent_id, payload: one });
  return votes;
}

function* ballot(
  crew: Crew,
  agent: AgentConfig,
  { proposal_id, decision, rationale }: Proposed,
  { round, seen }: { round: number; seen: string },
): Flow<Vote> {
  const about = { proposal_id, round, agent_id: agent.agent_id };
  try {
    const result = yield* crew.work(agent, {
      task_id: `ballot-${round}`,
      purpose: "vote",
      may_use_tools: false,
      is_stance: true,
      task: `Vote on this proposal from your role's point of view:\n${crew.fences.fence("proposal", decision)}\nThe reasons given for it:\n${crew.fences.fence("reason", rationale)}${seen === "" ? "\nEveryone votes at the same time; no one sees a vote until all are cast." : `\nNo option had enough votes. The previous round, with everyone's reasons:\n${seen}\nVote again: keep or change your vote, based on the reasons and not on their number.`}`,
      output_keys: [],
      answer_schema: BALLOT,
    });
    const { vote, reasoning, confidence } = Ballot.parse(result.output);
    return { ...about, vote, reasoning, confidence };
  } catch (error) {
    const { code, message } = errorOf(error);
    if (code !== "OUTPUT_INVALID" && code !== "MODEL_REFUSAL") throw error;
    return { ...about, vote: "abstain", reasoning: message, confidence: null, forced: true };
  }
}

type Settled = Pick<Payloads["consensus_finalized"], "outcome" | "decided_by">;

/** What stands where the votes decided nothing: a tie goes by the crew's rule, too little agreement is a no. */
function* settle(
  crew: Crew,
  chair: AgentConfig,
  decision: string,
  { outcome, votes }: { outcome: ReturnType<typeof tally>["outcome"]; votes: readonly Vote[] },
): Flow<Settled> {
  if (outcome === null) return { outcome: "rejected", decided_by: "rule" };
  if (outcome !== "tie") return { outcome, decided_by: "votes" };
  const { tie } = crew.config.consensus;
  if (tie === "reject") return { outcome: "rejected", decided_by: "rule" };
  if (tie === "chair") {
    const result = yield* crew.work(chair, {
      task_id: "casting-vote",
      purpose: "vote",
      may_use_tools: false,
      role: JUDGE,
      task: `The vote is tied, and you decide. Approve or reject this proposal, based on the voters' reasons:\n${crew.fences.fence("proposal", decision)}\n${votesSeen(votes, crew.fences)}`,
      inputs: {},
      output_keys: [],
      answer_schema: BALLOT,
      check: (value: Json) => (recordOf(value).vote === "abstain" ? ["You must approve or reject."] : []),
    });
    return { outcome: result.output.vote === "approve" ? "approved" : "rejected", decided_by: "chair" };
  }
  const answer = yield* askForCrew(crew, "tie", {
    about: { agent_id: chair.agent_id },
    kind: "tie",
    title: "The vote is tied. Approve the proposal?",
    why: decision,
  });
  if (answer.answer === "expired") return { outcome: "tie", decided_by: "votes" };
  return { outcome: answer.answer === "reject" ? "rejected" : "approved", decided_by: "person" };
}
