import { z } from "zod";
import { tally } from "@/server/domain/crew/consensus";
import type { RunTool } from "../../agent/task";
import { defineRunTool, done, rejected } from "../../agent/tools/run-tool";
import type { Crew } from "../crew";

/** Proposing, voting and counting. What was decided is counted by the run, never by a model. */
export function consensusTools(crew: Crew): RunTool[] {
  const unknown = (id: string) => {
    const ids = Object.keys(crew.view.proposals).join(", ");
    return rejected(404, `There is no proposal "${id}". Open: ${ids || "none"}.`);
  };
  return [
    defineRunTool({
      name: "propose_decision",
      description: "Put a decision to a vote.",
      input: z.object({
        decision: z.string().min(1).max(4000),
        rationale: z.string().max(8000),
        stakeholders: z.array(z.string()).max(32).default([]).describe("Who votes; everyone if empty"),
      }),
      *call({ decision, rationale, stakeholders }, caller) {
        const ids = stakeholders.flatMap((name) => crew.member(name)?.agent_id ?? []);
        const missing = stakeholders.filter((name) => !crew.member(name));
        if (missing.length > 0) return rejected(404, `Unknown agent: ${missing.join(", ")}.`);
        const proposal_id = `proposal_${Object.keys(crew.view.proposals).length + 1}`;
        crew.run.emit({
          type: "proposal_created",
          ...caller.about,
          payload: {
            proposal_id,
            decision,
            rationale,
            by: caller.task.agent_id,
            stakeholders:
              ids.length > 0 ? [...new Set(ids)] : crew.config.agents.map(({ agent_id }) => agent_id),
          },
        });
        return done({ proposal_id });
      },
    }),
    defineRunTool({
      name: "vote_on_proposal",
      description: "Vote on a proposal, with your reason.",
      input: z.object({
        proposal_id: z.string(),
        vote: z.enum(["approve", "reject", "abstain"]),
        reasoning: z.string().min(1).max(4000),
      }),
      *call({ proposal_id, vote, reasoning }, caller) {
        const proposal = crew.view.proposals[proposal_id];
        if (!proposal) return unknown(proposal_id);
        const agent_id = caller.task.agent_id;
        if (proposal.outcome) return rejected(409, "This is already decided.");
        if (!proposal.stakeholders.includes(agent_id)) return rejected(403, "You have no vote on this.");
        if (proposal.votes.some((one) => one.agent_id === agent_id))
          return rejected(409, "You already voted on this.");
        crew.run.emit({
          type: "vote_cast",
          ...caller.about,
          payload: { proposal_id, round: 1, agent_id, vote, reasoning, confidence: null },
        });
        return done("Your vote was recorded.");
      },
    }),
    defineRunTool({
      name: "finalize_consensus",
      description: "Count the votes on a proposal. Whoever has not voted abstains.",
      input: z.object({ proposal_id: z.string() }),
      *call({ proposal_id }, caller) {
        const proposal = crew.view.proposals[proposal_id];
        if (!proposal) return unknown(proposal_id);
        if (proposal.outcome) return rejected(409, `This is already decided: ${proposal.outcome.outcome}.`);
        if (proposal.by !== caller.task.agent_id)
          return rejected(403, `Only ${proposal.by}, who proposed it, may close the vote.`);
        const { outcome, ...count } = tally(
          proposal.votes,
          proposal.stakeholders.length,
          crew.config.consensus,
        );
        const settled = outcome ?? "rejected";
        crew.run.emit({
          type: "consensus_finalized",
          ...caller.about,
          payload: {
            proposal_id,
            outcome: settled,
            rule: crew.config.consensus.rule,
            ...count,
            decided_by: outcome === null ? "rule" : "votes",
          },
        });
        return done({ outcome: settled, ...count });
      },
    }),
  ];
}
