"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Bell, BellRing, Inbox } from "lucide-react";
import Link from "next/link";
import { useSearchParams } from "next/navigation";
import { useRef, useState } from "react";
import { countOf } from "@/components/display/format";
import { LoadError } from "@/components/page/error-text";
import { Page } from "@/components/page/page";
import { useHelpSection } from "@/components/page/page-commands";
import type { Standing } from "@/components/run/questions/ask-props";
import { useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Skeleton } from "@/components/ui/skeleton";
import { toast } from "@/components/ui/toasts";
import { DisabledTriggers } from "./disabled-triggers";
import { InboxFilter, type Narrowed } from "./inbox-filter";
import { keyOf, type Question, QuestionItem, runOf } from "./question-item";
import { useNoticePermission, useWantsNotices, wantNotices } from "./wants-notices";

/** Turns on browser notifications of new questions. The browser asks for permission only after this click. */
function BrowserNotices() {
  const permission = useNoticePermission();
  const isOn = useWantsNotices();
  if (permission === "missing") return null;
  const toggle = () =>
    permission === "denied"
      ? toast("Notifications are blocked. Allow them for this site in your browser settings.")
      : void wantNotices(!isOn);
  return (
    <Button
      aria-pressed={isOn}
      icon={isOn ? <BellRing aria-hidden /> : <Bell aria-hidden />}
      onClick={toggle}
    >
      {isOn ? "Notifications on" : "Turn on notifications"}
    </Button>
  );
}

const help = {
  title: "Inbox",
  shortcuts: [
    { keys: "ArrowDown", label: "Next question" },
    { keys: "ArrowUp", label: "Previous question" },
    { keys: "Enter", label: "Open or close question" },
  ],
};
/** Questions listed at first, and added with each click of “Show more”. */
const AT_ONCE = 30;
const OPEN: Standing = { status: "open", isOver: false };

/** Everything that waits for a person, the most pressing first, answered in place. */
export function InboxPage() {
  useHelpSection(help);
  const [narrowed, setNarrowed] = useState<Narrowed>({});
  const inbox = useQuery(useTrpc().questions.inbox.queryOptions({}));
  return (
    <Page
      title="Inbox"
      width="narrow"
      description="Everything waiting for a person, most urgent first. Runs resume as soon as you answer."
      actions={<BrowserNotices />}
    >
      <DisabledTriggers />
      {inbox.error && !inbox.data ? (
        <LoadError what="questions" queries={[inbox]} />
      ) : inbox.data ? (
        <>
          <InboxFilter questions={inbox.data.questions} narrowed={narrowed} onChange={setNarrowed} />
          <Questions
            questions={inbox.data.questions.filter((question) => isIn(question, narrowed))}
            all={inbox.data.questions}
            onShowAll={() => setNarrowed({})}
          />
          <NotListed listed={inbox.data.questions.length} total={inbox.data.total} />
        </>
      ) : (
        <div aria-busy="true" className="flex flex-col gap-3">
          <span className="sr-only">Loading</span>
          <Skeleton className="h-20 w-full rounded-xl" />
          <Skeleton className="h-20 w-full rounded-xl" />
        </div>
      )}
    </Page>
  );
}

/** Says that more questions wait than the list holds. */
function NotListed({ listed, total }: { listed: number; total: number }) {
  if (total <= listed) return null;
  return (
    <p className="mt-3 text-[13px] text-ink-2">
      Showing the {listed} most urgent of {countOf(total, "question")}. The others appear as you answer.
      Filters apply only to the {listed} shown.
    </p>
  );
}

const isIn = ({ workflow_id, ask, assigned_to }: Question, { workflow, kind, person, subject }: Narrowed) =>
  (workflow === undefined || workflow_id === workflow) &&
  (kind === undefined || ask.requested.kind === kind) &&
  (person === undefined || assigned_to === null || assigned_to === person) &&
  (subject === undefined || (ask.requested.required_expertise?.includes(subject) ?? false));

/** Which question is open: the one that a link names or the first, until a person chooses another. */
function useOpenQuestion({ questions, all }: Pick<QuestionsProps, "questions" | "all">) {
  const asked = useSearchParams();
  const wanted =
    asked.get("run") === null ? null : `${asked.get("run")} ${asked.get("question") ?? ""}`.trim();
  const [answered, setAnswered] = useState<ReadonlySet<string>>(new Set());
  // undefined: no one has chosen yet.
  const [chosen, setChosen] = useState<Question | null | undefined>(undefined);
  const waiting = questions.filter((question) => !answered.has(keyOf(question)));
  // A question that a filter hides still waits: another one opens.
  const isHidden = chosen && isAmong(all, chosen) && !isAmong(questions, chosen);
  if (chosen === undefined || isHidden) {
    const named =
      wanted === null ? undefined : waiting.find((question) => keyOf(question).startsWith(wanted));
    const first = named ?? waiting[0];
    // The whole question is kept, to show its outcome if it is answered elsewhere while it is open.
    if (first || isHidden) setChosen(first);
  }
  const openKey = chosen ? keyOf(chosen) : null;
  const isGone = !!chosen && !answered.has(keyOf(chosen)) && !isAmong(all, chosen);
  /** Opens the next question, and returns it with the number of those left. */
  const answer = (question: Question) => {
    const rest = waiting.filter((one) => keyOf(one) !== keyOf(question));
    const next = rest[waiting.findIndex((one) => keyOf(one) === keyOf(question))] ?? rest[0];
    setAnswered(new Set([...answered, keyOf(question)]));
    setChosen(next);
    return { next, left: rest.length };
  };
  const toggle = (question: Question) => setChosen(keyOf(question) === openKey ? null : question);
  return { openKey, isGone, listed: isGone ? [chosen, ...waiting] : waiting, answer, toggle };
}

const isAmong = (some: readonly Question[], one: Question) =>
  some.some((other) => keyOf(other) === keyOf(one));

interface QuestionsProps {
  questions: readonly Question[];
  /** Includes those that a filter hides. */
  all: readonly Question[];
  onShowAll: () => void;
}

/** The list. One question is open at a time; answering it opens the next. */
function Questions({ questions, all, onShowAll }: QuestionsProps) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const { openKey, isGone, listed, answer, toggle } = useOpenQuestion({ questions, all });
  const [last, setLast] = useState<Answered | null>(null);
  const [most, setMost] = useState(AT_ONCE);
  const heads = useRef(new Map<string, HTMLButtonElement>());
  const focus = (question: Question | undefined) => {
    if (question) requestAnimationFrame(() => heads.current.get(keyOf(question))?.focus());
  };

  // The open question is shown even if a link led to one far down the list.
  const place = listed.findIndex((question) => keyOf(question) === openKey);
  const shown = listed.slice(0, Math.max(most, place + 1));
  const left = listed.length - shown.length;
  const showMore = () => {
    setMost(shown.length + AT_ONCE);
    focus(listed[shown.length]);
  };

  const refresh = () => void queryClient.invalidateQueries(trpc.questions.pathFilter());
  const onAnswered = (question: Question) => {
    const { next, left } = answer(question);
    setLast({ question, left });
    focus(next);
    refresh();
  };
  const move = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = shown.findIndex((question) => heads.current.get(keyOf(question)) === event.target);
    const next = step !== undefined && at >= 0 ? shown[at + step] : undefined;
    if (!next) return;
    event.preventDefault();
    heads.current.get(keyOf(next))?.focus();
  };

  return (
    <>
      <LastAnswer last={last} />
      {shown.length > 0 ? (
        <div className="flex flex-col gap-3">
          <ul
            aria-label="Questions"
            onKeyDown={move}
            className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface"
          >
            {shown.map((question) => {
              const key = keyOf(question);
              const props = {
                question,
                isOpen: key === openKey,
                headRef: (head: HTMLButtonElement | null) => {
                  if (head) heads.current.set(key, head);
                  else heads.current.delete(key);
                },
                onToggle: () => toggle(question),
                onAnswered: () => onAnswered(question),
                onAnswerFailed: refresh,
              };
              return isGone && key === openKey ? (
                <GoneQuestion key={key} {...props} />
              ) : (
                <QuestionItem key={key} {...props} standing={OPEN} />
              );
            })}
          </ul>
          {left > 0 ? (
            <p className="flex flex-wrap items-center gap-x-3 gap-y-2 text-[13px] text-ink-2">
              {shown.length} of {countOf(listed.length, "question")}, most urgent first.
              <Button onClick={showMore}>Show {Math.min(AT_ONCE, left)} more</Button>
            </p>
          ) : null}
        </div>
      ) : (
        <NoQuestions onShowAll={all.length > 0 && questions.length === 0 ? onShowAll : null} />
      )}
    </>
  );
}

interface Answered {
  question: Question;
  /** How many questions still waited. */
  left: number;
}

function LastAnswer({ last }: { last: Answered | null }) {
  return (
    <p role="status" className="flex flex-wrap gap-x-3 text-[13px] not-empty:mb-3">
      {last ? (
        <>
          <span className="min-w-0 truncate">Answered “{last.question.ask.requested.title}”.</span>
          <Link href={runOf(last.question)} className="font-medium text-accent hover:text-accent-hover">
            Watch the run continue
          </Link>
          <span className="text-ink-3">
            {last.left === 0 ? "That was the last one." : `${countOf(last.left, "question")} left.`}
          </span>
        </>
      ) : null}
    </p>
  );
}

/** `onShowAll`: set if a filter hides the questions that wait. */
function NoQuestions({ onShowAll }: { onShowAll: (() => void) | null }) {
  return onShowAll ? (
    <EmptyState
      icon={<Inbox />}
      title="No matching questions"
      className="rounded-xl border border-dashed border-line"
      actions={<Button onClick={onShowAll}>Show all questions</Button>}
    >
      Clear the filters to see other questions.
    </EmptyState>
  ) : (
    <EmptyState
      icon={<Inbox />}
      title="You're all caught up"
      className="rounded-xl border border-dashed border-line"
      actions={<ButtonLink href="/runs">View runs</ButtonLink>}
    >
      Approvals, reviews and questions from runs appear here.
    </EmptyState>
  );
}

/** A question that was answered elsewhere or withdrawn while it was open: it says so instead of vanishing. */
function GoneQuestion(props: Omit<Parameters<typeof QuestionItem>[0], "standing">) {
  const { run_id, ask } = props.question;
  const now = useQuery(useTrpc().questions.standing.queryOptions({ run_id, interaction_id: ask.id })).data;
  return <QuestionItem {...props} standing={now ?? { status: "open", isOver: true }} />;
}
