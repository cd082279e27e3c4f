"use client";

import clsx from "clsx";
import { Download, Maximize2, MessagesSquare, NotebookPen, Vote } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { countOf } from "@/components/display/format";
import { downloadPlan } from "@/components/page/download";
import { PlanBoard } from "@/components/run/node/plan-board";
import { useRun } from "@/components/run/run-context";
import { byPerson, person } from "@/components/run/timeline/sentence-parts";
import { TextBlock } from "@/components/run/values";
import { Badge } from "@/components/ui/badge";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { Dialog } from "@/components/ui/overlay/dialog";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { CrewExchange, CrewRun, Proposal, RunState } from "@/server/domain/run";
import { tally } from "./crew-drawing";
import { exchangeText, messageOf, verbFor } from "./crew-edges";
import { changedFrom, changesByRound, messagesByRound } from "./turns";

// The library that lays it out is large.
const PlanGraph = dynamic(() => import("./plan-graph").then((module) => module.PlanGraph));

/** The plan as a board or as a graph, in the panel or enlarged. */
export function PlanViews({ plan, activationId }: { plan: ExecutionPlan; activationId: string }) {
  const [view, setView] = useState<"board" | "graph">("board");
  const [isLarge, setLarge] = useState(false);
  const shown =
    view === "graph" ? (
      <PlanGraph plan={plan} />
    ) : (
      <div className="p-4">
        <PlanBoard activationId={activationId} />
      </div>
    );
  return (
    <div className="flex flex-col">
      <div className="flex items-center gap-2 px-4 pt-3">
        <SegmentedControl
          label="Plan view"
          size="sm"
          className="mr-auto"
          value={view}
          onValueChange={setView}
          options={[
            { value: "board", label: "By status" },
            { value: "graph", label: "By dependency" },
          ]}
        />
        <IconButton
          label="Enlarge plan"
          size="sm"
          icon={<Maximize2 aria-hidden />}
          onClick={() => setLarge(true)}
        />
        <IconButton
          label="Download plan.json"
          size="sm"
          icon={<Download aria-hidden />}
          onClick={() => downloadPlan(plan)}
        />
      </div>
      <PlanChanges activationId={activationId} />
      {isLarge ? (
        <Dialog open size="xl" title="Plan" onOpenChange={setLarge}>
          {shown}
        </Dialog>
      ) : (
        shown
      )}
    </div>
  );
}

/** The changes of the plan, and who made them. */
function PlanChanges({ activationId }: { activationId: string }) {
  const changes = useRun<RunState["plan_changes"][string]>(
    ({ state }) => state.plan_changes[activationId] ?? NO_CHANGES,
    NO_CHANGES,
  );
  if (changes.length === 0) return null;
  return (
    <ul aria-label="Plan changes" className="flex flex-col gap-0.5 px-4 pt-3 text-xs text-ink-2">
      {changes.map((change) => (
        <li key={change.version} className="[overflow-wrap:anywhere]">
          <span className="font-medium">{byPerson(change.by)}</span> {describePlanChange(change)}
          {change.reason ? <span className="text-ink-3">: {change.reason}</span> : null}
        </li>
      ))}
    </ul>
  );
}

/** Added 2 tasks and changed draft. */
function describePlanChange({ added = [], changed = {} }: RunState["plan_changes"][string][number]): string {
  const parts = [
    added.length > 0 ? `added ${countOf(added.length, "task")}` : "",
    Object.keys(changed).length > 0 ? `changed ${Object.keys(changed).join(", ")}` : "",
  ];
  return parts.filter(Boolean).join(" and ") || "changed the plan";
}

const NO_CHANGES: RunState["plan_changes"][string] = [];

/** All messages, handoffs and votes, in order. */
export function Messages({ crew, onPick }: { crew: CrewRun; onPick: (seq: number) => void }) {
  if (crew.exchanges.length === 0)
    return (
      <EmptyState icon={<MessagesSquare />} title="No messages yet">
        Messages between members appear here.
      </EmptyState>
    );
  const rounds = messagesByRound(crew.exchanges);
  const inRounds = rounds.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      {rounds.length > 1 ? (
        <p className="border-b border-line px-4 py-2 text-xs text-ink-3 tabular-nums">
          {countOf(inRounds, "message")} in {countOf(rounds.length, "round")}:{" "}
          {rounds.map(({ count }) => count).join(", ")} per round
        </p>
      ) : null}
      <ol aria-label="Messages" className="flex flex-col divide-y divide-line">
        {crew.exchanges.map((exchange) => (
          <li key={exchange.seq}>
            <button
              type="button"
              onClick={() => onPick(exchange.seq)}
              className="flex w-full flex-col gap-0.5 px-4 py-2.5 text-left hover:bg-ink/4"
            >
              <ExchangeTitle crew={crew} exchange={exchange} />
              <span className="line-clamp-2 text-[13px] text-ink-2 [overflow-wrap:anywhere]">
                {exchangeText(exchange)}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}

/** The sender, receiver and kind of a message. */
export function ExchangeTitle({ crew, exchange }: { crew: CrewRun; exchange: CrewExchange }) {
  const { from, to } = messageOf(exchange);
  const target =
    exchange.kind === "vote"
      ? (crew.proposals[exchange.vote.proposal_id]?.decision ?? "the proposal")
      : person(to);
  return (
    <span className="flex min-w-0 flex-wrap items-baseline gap-x-1.5 text-[13px]">
      <span className="font-semibold">{person(from)}</span>
      <span className="text-ink-3">{verbFor(exchange)}</span>
      <span className="min-w-0 truncate font-medium">{target}</span>
      {exchange.round > 0 ? (
        <span className="ml-auto shrink-0 text-xs text-ink-3 tabular-nums">round {exchange.round}</span>
      ) : null}
    </span>
  );
}

const LEDGER_LABELS: Record<string, string> = {
  is_request_satisfied: "Is the request satisfied?",
  is_in_loop: "Is it stuck in a loop?",
  is_progress_being_made: "Is there progress?",
};

/** How the manager sees the work: its answers to the same few questions in every round. */
function Ledger({ ledger }: { ledger: NonNullable<CrewRun["ledger"]> }) {
  const { current_step, stalls, replans } = ledger;
  const issues = [
    stalls > 0 ? `${countOf(stalls, "round")} without progress` : "",
    replans > 0 ? `replanned ${replans === 1 ? "once" : `${replans} times`}` : "",
  ].filter(Boolean);
  return (
    <section aria-label="Progress ledger" className="flex flex-col gap-2 border-b border-line p-4">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5">
        <h3 className="text-[13px] font-semibold">Progress ledger</h3>
        {issues.length > 0 ? <p className="text-xs text-waiting">{issues.join(" · ")}</p> : null}
      </div>
      {current_step ? (
        <p className="text-[13px] text-ink-2 [overflow-wrap:anywhere]">Now: {current_step}</p>
      ) : null}
      <dl className="grid gap-x-4 gap-y-1 text-[13px] sm:grid-cols-[auto_auto_minmax(0,1fr)]">
        {Object.entries(ledger.ledger).map(([question, { answer, reason }]) => (
          <div key={question} className="contents max-sm:flex max-sm:flex-wrap max-sm:gap-x-2">
            <dt className="text-ink-3">{LEDGER_LABELS[question] ?? question.replaceAll("_", " ")}</dt>
            <dd className="font-medium">{answer ? "Yes" : "No"}</dd>
            <dd className="text-ink-2 [overflow-wrap:anywhere]">{reason}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Teams({ teams }: { teams: CrewRun["teams"] }) {
  return (
    <section aria-label="Teams" className="flex flex-col gap-1.5 border-b border-line p-4">
      <h3 className="text-[13px] font-semibold">Teams</h3>
      <ul className="flex flex-col gap-1 text-[13px]">
        {Object.entries(teams).map(([name, { agents, purpose }]) => (
          <li key={name} className="[overflow-wrap:anywhere]">
            <span className="font-medium">{name}</span>{" "}
            <span className="text-ink-2">{agents.map(person).join(", ") || "No members"}</span>
            {purpose ? <span className="text-ink-3"> · {purpose}</span> : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** How the manager sees it, the teams, and the last bulletin of everyone who wrote on the board. */
export function Board({ crew }: { crew: CrewRun }) {
  return (
    <>
      {crew.ledger ? <Ledger ledger={crew.ledger} /> : null}
      {Object.keys(crew.teams).length > 0 ? <Teams teams={crew.teams} /> : null}
      <Bulletins crew={crew} />
    </>
  );
}

function Bulletins({ crew }: { crew: CrewRun }) {
  const bulletins = Object.entries(crew.board);
  if (bulletins.length === 0)
    return (
      <EmptyState icon={<NotebookPen />} title="No posts yet">
        Posts from crew members appear here.
      </EmptyState>
    );
  return (
    <ul aria-label="Board" className="grid gap-3 p-4 sm:grid-cols-2">
      {bulletins.map(([alias, bulletin]) => (
        <li key={alias} className="flex min-w-0 flex-col gap-1.5 rounded-xl border border-line bg-raised p-3">
          <h3 className="text-[13px] font-semibold">{person(alias)}</h3>
          <TextBlock text={bulletin} label={`post by ${person(alias)}`} tone="bare" />
        </li>
      ))}
    </ul>
  );
}

const OUTCOMES: Record<NonNullable<Proposal["outcome"]>["outcome"], string> = {
  approved: "Accepted",
  rejected: "Rejected",
  tie: "Tie",
  no_quorum: "No quorum",
};
const DECIDERS: Record<NonNullable<Proposal["outcome"]>["decided_by"], string> = {
  votes: "by vote",
  chair: "by the chair",
  person: "by a person",
  rule: "by the tie rule",
};

const VOTES = { approve: "For", reject: "Against", abstain: "Abstained" } as const;

function ChangedVote({ votes, vote }: { votes: Proposal["votes"]; vote: Proposal["votes"][number] }) {
  const before = changedFrom(votes, vote);
  return before ? <span className="text-xs text-ink-3"> (was {VOTES[before].toLowerCase()})</span> : null;
}

/** A proposal, its votes with their reasons, and the result. */
export function Votes({ crew }: { crew: CrewRun }) {
  const proposals = Object.values(crew.proposals);
  if (proposals.length === 0)
    return (
      <EmptyState icon={<Vote />} title="No proposals yet">
        Proposals and their votes appear here.
      </EmptyState>
    );
  return (
    <div className="flex flex-col gap-4 p-4">
      {proposals.map((proposal) => (
        <article
          key={proposal.id}
          aria-label={proposal.decision}
          className="overflow-hidden rounded-xl border border-line"
        >
          <header className="flex flex-col gap-1 bg-sunken px-4 py-3">
            <div className="flex flex-wrap items-center gap-2">
              <h3 className="min-w-0 flex-1 text-sm font-semibold">{proposal.decision}</h3>
              {proposal.outcome ? (
                <Badge tone={proposal.outcome.outcome === "approved" ? "completed" : "waiting"}>
                  {OUTCOMES[proposal.outcome.outcome]}
                </Badge>
              ) : crew.status === "running" ? null : (
                <Badge>Undecided</Badge>
              )}
            </div>
            <p className="text-[13px] text-ink-2">{proposal.rationale}</p>
            <p className="text-xs text-ink-3 tabular-nums">
              Proposed by {person(proposal.by)} · {tally(proposal.votes)}
              {proposal.outcome
                ? ` · decided ${DECIDERS[proposal.outcome.decided_by]} (${proposal.outcome.rule.replaceAll("_", " ")})`
                : ""}
              {changesByRound(proposal.votes).map(
                ({ round, changed, of }) => ` · round ${round}: ${changed} of ${of} changed their vote`,
              )}
            </p>
          </header>
          <ul className="divide-y divide-line">
            {proposal.votes.map((vote) => (
              <li
                key={`${vote.round} ${vote.agent_id}`}
                className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 px-4 py-2.5 text-[13px]"
              >
                <span className="w-24 shrink-0 truncate font-medium">{person(vote.agent_id)}</span>
                <span
                  className={clsx(
                    "w-36 shrink-0",
                    vote.vote === "approve" && "text-completed",
                    vote.vote === "reject" && "text-failed",
                    vote.vote === "abstain" && "text-ink-3",
                  )}
                >
                  {VOTES[vote.vote]}
                  <ChangedVote votes={proposal.votes} vote={vote} />
                </span>
                <span className="min-w-40 flex-1 text-ink-2 [overflow-wrap:anywhere]">
                  {vote.forced ? "No valid vote." : vote.reasoning}
                </span>
                <span className="shrink-0 text-xs text-ink-3 tabular-nums">
                  {vote.confidence === null ? "" : `${Math.round(vote.confidence * 100)}% confident`}
                  {proposal.votes.some(({ round }) => round > 1) ? ` · round ${vote.round}` : ""}
                </span>
              </li>
            ))}
          </ul>
        </article>
      ))}
    </div>
  );
}
