"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Hand } from "lucide-react";
import dynamic from "next/dynamic";
import { useEffect, useRef, useState } from "react";
import { countOf } from "@/components/display/format";
import { useRun, useRunList } from "@/components/run/run-context";
import { useRunPage } from "@/components/run/run-page-context";
import { person } from "@/components/run/timeline/sentence-parts";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/overlay/dialog";
import type { Interaction, RunState } from "@/server/domain/run";

const AskCard = dynamic(() => import("./ask-card").then((module) => module.AskCard));

/** A question of the run. It may be shown in the past; it can be answered while it is open now. */
function RunAsk({ ask }: { ask: Interaction }) {
  const page = useRunPage();
  const now = useRun<Interaction | undefined>(({ head }) => head.interactions[ask.id], undefined);
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const isLateChance = isOver && isAdvisory(ask) && (now ?? ask).status === "open";
  const late = useQuery({
    ...trpc.questions.standing.queryOptions({ run_id: page?.runId ?? "", interaction_id: ask.id }),
    enabled: page !== null && isLateChance,
  }).data;
  if (!page) return null;
  return (
    <AskCard
      ask={ask}
      runId={page.runId}
      standing={(isLateChance && late) || { ...(now ?? ask), isOver }}
      onAnswered={() => void queryClient.invalidateQueries(trpc.questions.pathFilter())}
    />
  );
}

const isAdvisory = ({ requested }: Interaction) => requested.mode === "advisory";

/** Advisory questions of an ended run: answers are kept, marked late. */
function useLateAsks(): Interaction[] {
  return useRunList<Interaction>(({ head }) =>
    head.run.status === "finished"
      ? Object.values(head.interactions).filter((ask) => ask.status === "open" && isAdvisory(ask))
      : [],
  );
}

/** On the page of an ended run: advisory questions and their late answers. */
export function LateAsks() {
  const asks = useLateAsks();
  const [isOpen, setOpen] = useState(false);
  const first = asks[0];
  if (!first) return null;
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-line bg-ink/3 px-4 py-2 text-[13px]">
      <Hand aria-hidden className="size-4 shrink-0 text-ink-3" />
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <strong className="font-semibold">{first.requested.title}</strong>
        <span className="text-ink-2">
          {" "}
          The run ended without waiting for this answer
          {asks.length > 1 ? ` (${countOf(asks.length - 1, "more question")})` : ""}.
        </span>
      </p>
      <Button size="sm" variant="ghost" onClick={() => setOpen(true)}>
        View question
      </Button>
      <AskDialog asks={asks} open={isOpen} onOpenChange={setOpen} />
    </div>
  );
}

/** The questions that can be answered now, wherever the cursor is, oldest first. A quarantined run takes no answers. */
export function useOpenAsks(): Interaction[] {
  const isHeld = useRunPage()?.held != null;
  return useRunList<Interaction>(({ head }) => (isHeld ? [] : openAsksOf(head)));
}

/** The questions of a run that can be answered, oldest first. */
export const openAsksOf = ({ run, interactions }: RunState): Interaction[] =>
  run.status === "finished" ? [] : Object.values(interactions).filter(({ status }) => status === "open");

/** Says that the run waits for a person, above the page while the panel shows another tab. */
export function AskBar({ onAnswer }: { onAnswer: () => void }) {
  const asks = useOpenAsks();
  const first = asks[0];
  if (!first) return null;
  return (
    <div
      role="status"
      className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-waiting/40 bg-waiting/10 px-4 py-2 text-[13px]"
    >
      <Hand aria-hidden className="size-4 shrink-0 text-waiting" />
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <strong className="font-semibold">{first.requested.title}</strong>
        <span className="text-ink-2">
          {" "}
          {first.agent_id ? `${person(first.agent_id)} is waiting for you` : "The run is waiting for you"}
          {asks.length > 1 ? ` (${countOf(asks.length - 1, "more question")})` : ""}.
        </span>
      </p>
      <Button size="sm" onClick={onAnswer}>
        Answer
      </Button>
    </div>
  );
}

/** The open questions with their answers. Once the last one is answered, the focus stays in the panel. */
export function AskPanel() {
  const asks = useOpenAsks();
  const wasInside = useRef(false);
  useEffect(
    () => () => {
      if (wasInside.current && document.activeElement === document.body)
        document.querySelector<HTMLElement>(".run-panel [role=tab][aria-selected=true]")?.focus();
    },
    [],
  );
  return (
    <section
      id={ASKS}
      tabIndex={-1}
      aria-labelledby={TITLE}
      onFocus={() => {
        wasInside.current = true;
      }}
      // A button that is disabled when pressed loses the focus.
      onBlur={({ relatedTarget }) => {
        if (relatedTarget) wasInside.current = false;
      }}
      className="relative flex flex-col gap-3 p-4 outline-none"
    >
      <h2 id={TITLE} className="sr-only">
        Questions for you
      </h2>
      {asks.map((ask) => (
        <RunAsk key={ask.id} ask={ask} />
      ))}
    </section>
  );
}

const ASKS = "run-asks";
const TITLE = "run-asks-title";
/** Moves the focus to the questions, once the panel shows them. */
export const focusAsks = () => requestAnimationFrame(() => document.getElementById(ASKS)?.focus());

/** The questions in front of the page, one below the other. */
function AskDialog({
  asks,
  open,
  onOpenChange,
}: {
  asks: readonly Interaction[];
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  return (
    <Dialog
      title={asks.length > 1 ? `${asks.length} questions for you` : "A question for you"}
      size="lg"
      open={open && asks.length > 0}
      onOpenChange={onOpenChange}
    >
      <div className="flex flex-col gap-3">
        {asks.map((ask) => (
          <RunAsk key={ask.id} ask={ask} />
        ))}
      </div>
    </Dialog>
  );
}

/** The questions of one activation at the cursor. */
export function ActivationAsks({ activationId }: { activationId: string }) {
  const asks = useRunList<Interaction>(({ state }) =>
    Object.values(state.interactions).filter((ask) => ask.activation_id === activationId),
  );
  const open = asks.filter(({ status }) => status === "open");
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  if (open.length === 0) return null;
  return (
    <div className="flex flex-col gap-2" data-past={isPast || undefined}>
      {open.map((ask) => (
        <RunAsk key={ask.id} ask={ask} />
      ))}
    </div>
  );
}
