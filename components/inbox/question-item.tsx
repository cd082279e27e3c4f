"use client";

import clsx from "clsx";
import { ChevronRight, Clock, Hand } from "lucide-react";
import Link from "next/link";
import type { Ref } from "react";
import { RoleFace } from "@/components/display/role-face";
import { useTimeLeft } from "@/components/run/live/elapsed";
import { HeldActions } from "@/components/run/quarantine-note";
import { AskCard } from "@/components/run/questions/ask-card";
import type { Standing } from "@/components/run/questions/ask-props";
import { person } from "@/components/run/timeline/sentence-parts";
import type { Answers } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { TimeText } from "@/components/ui/time-text";

export type Question = Answers["questions"]["inbox"]["questions"][number];

/** Identifies a question among all runs. */
export const keyOf = ({ run_id, ask }: Pick<Question, "run_id" | "ask">) => `${run_id} ${ask.id}`;

export const runOf = ({ workflow_id, run_id }: Pick<Question, "workflow_id" | "run_id">) =>
  `/workflows/${workflow_id ?? "-"}/runs/${run_id}`;

/** A question of the inbox; opened, it shows the card to answer it. */
export function QuestionItem({
  question,
  standing,
  isOpen,
  headRef,
  onToggle,
  onAnswered,
  onAnswerFailed,
}: {
  question: Question;
  /** Not "open" if it was answered elsewhere while it was shown. */
  standing: Standing;
  isOpen: boolean;
  headRef: Ref<HTMLButtonElement>;
  onToggle: () => void;
  onAnswered: () => void;
  onAnswerFailed: () => void;
}) {
  const { ask, run_id, held } = question;
  const isGone = standing.status !== "open" || standing.isOver;
  return (
    <li className="min-w-0 scroll-mt-4">
      <h2>
        <button
          ref={headRef}
          type="button"
          aria-expanded={isOpen}
          onClick={onToggle}
          className="flex w-full items-start gap-3 px-3 py-3 text-left hover:bg-ink/3 sm:px-4"
        >
          <Face question={question} />
          <span className="flex min-w-0 flex-1 flex-col gap-0.5">
            <span className="flex min-w-0 items-start gap-2">
              <span
                className={clsx(
                  "min-w-0 flex-1 font-medium [overflow-wrap:anywhere]",
                  !isOpen && "line-clamp-2",
                )}
              >
                {ask.requested.title}
              </span>
              {question.simulated ? <SimulatedBadge /> : null}
              <Urgent urgency={question.urgency} />
            </span>
            <span className="text-[13px] text-ink-2 [overflow-wrap:anywhere]">
              <Who question={question} />
            </span>
            <Facts question={question} isGone={isGone} />
          </span>
          <ChevronRight
            aria-hidden
            className={clsx("mt-1 size-4 shrink-0 text-ink-3 transition-transform", isOpen && "rotate-90")}
          />
        </button>
      </h2>
      {isOpen ? (
        <div className="flex flex-col gap-2.5 px-3 pb-4 sm:px-4">
          {held ? (
            <Held runId={run_id} held={held} />
          ) : (
            <>
              {isGone ? (
                <p role="status" className="text-[13px] font-medium">
                  No longer open: {whyGone(standing)}
                </p>
              ) : null}
              <AskCard {...{ ask, standing, onAnswered, onAnswerFailed }} runId={run_id} isTitled />
            </>
          )}
          <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-[13px]">
            <Link href={runOf(question)} className="font-medium text-accent hover:text-accent-hover">
              View in run
            </Link>
          </p>
        </div>
      ) : null}
    </li>
  );
}

/** When it was asked, the time left, and the assignee. */
function Facts({ question, isGone }: { question: Question; isGone: boolean }) {
  const { requested } = question.ask;
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-0.5 text-xs text-ink-3 tabular-nums">
      <span>
        Asked <TimeText at={question.ask.requested_at} />
      </span>
      {isGone || question.held ? null : <TimeLeft question={question} />}
      {question.assigned_to ? <span>For {question.assigned_to}</span> : null}
      {(requested.required_expertise ?? []).length > 0 ? (
        <span>Needs {requested.required_expertise?.join(", ")}</span>
      ) : null}
      {question.escalations > 0 ? <span>Escalated: not answered in time</span> : null}
      {question.reminded_at ? <span>Reminder sent</span> : null}
    </span>
  );
}

function Held({ runId, held }: { runId: string; held: NonNullable<Question["held"]> }) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl border border-failed/35 bg-failed/6 p-3 text-[13px]">
      <p className="min-w-0 flex-1 basis-64 [overflow-wrap:anywhere]">
        This run is quarantined and can't take answers: {held.message} Retry the run to answer.
      </p>
      <HeldActions runId={runId} held={held} size="sm" />
    </div>
  );
}

/** The outcome of a question that was answered elsewhere. */
function whyGone({ status, answered, isOver }: Standing): string {
  if (answered?.answer === "expired") return "no one answered in time.";
  if (answered)
    return `${answered.by === "user" ? "it was answered in another window" : `${answered.by} answered`}.`;
  if (status === "withdrawn") return "it was withdrawn because its node ended.";
  return isOver ? "its run ended." : "it was answered or withdrawn elsewhere.";
}

function Face({ question: { asker } }: { question: Question }) {
  const { role, agent_id } = asker;
  const name = role?.name ?? agent_id;
  // The workflow itself asks: initials of a node would look like those of a person.
  if (name === undefined)
    return (
      <span
        aria-hidden
        className="inline-flex size-8 shrink-0 items-center justify-center rounded-lg bg-waiting/15 text-waiting"
      >
        <Hand className="size-4" />
      </span>
    );
  return <RoleFace name={name} icon={role?.icon} color={role?.color} size={32} />;
}

function Who({ question: { asker, workflow_name } }: { question: Question }) {
  const { agent_id, role, node_name, part_of } = asker;
  const isNamed = agent_id !== undefined && agent_id !== node_name;
  const role_name = role && role.name !== agent_id ? ` (${role.name})` : "";
  return (
    <>
      {isNamed ? `${person(agent_id)}${role_name} in “${node_name}”` : `“${node_name}”`} of{" "}
      {workflow_name || "a workflow"}
      {part_of ? `, part of ${part_of}` : null}
    </>
  );
}

function Urgent({ urgency }: Pick<Question, "urgency">) {
  if (urgency === "normal") return null;
  return (
    <Badge tone={urgency === "low" ? "neutral" : "waiting"}>
      {{ critical: "Critical", high: "High", low: "Low" }[urgency]}
    </Badge>
  );
}

function TimeLeft({ question: { ask } }: { question: Question }) {
  const until = ask.requested.expires_at;
  const left = useTimeLeft(until);
  // A deadline years away is none.
  if (until - ask.requested_at > 365 * 86_400_000) return <span>No deadline</span>;
  return (
    <span className="inline-flex items-center gap-1">
      <Clock aria-hidden className="size-3" />
      {left === null ? "Expired" : `${left} left`}
    </span>
  );
}
