"use client";

import { useMemo } from "react";
import { useRunList } from "@/components/run/run-context";
import { KeyValues, ValueView } from "@/components/run/values";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/overlay/dialog";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import type { Interaction } from "@/server/domain/run";
import { askedPerson } from "@/server/domain/run/past/asked-person";
import { MomentLink } from "../past/moment-link";
import { useAllEvents } from "../past/use-past";

/** The questions of an activation that were answered at the cursor, as people saw them. */
export function AnsweredAsks({ activationId }: { activationId: string }) {
  const asks = useRunList<Interaction>(({ state }) =>
    Object.values(state.interactions).filter(
      ({ activation_id, status }) => activation_id === activationId && status === "answered",
    ),
  );
  const seen = useDialog((close, id: string) => <SeenDialog id={id} onClose={close} />);
  if (asks.length === 0) return null;
  return (
    <section aria-label="Answered questions" className="flex flex-col gap-2">
      <h3 className="text-xs font-semibold text-ink-2">Answered questions</h3>
      <ul className="flex flex-col divide-y divide-line rounded-lg border border-line">
        {asks.map(({ id, requested, answered }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-[13px]">
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
              {requested.title} <strong className="font-semibold">{describeAnswer(answered)}</strong>
            </span>
            <Button size="sm" variant="ghost" onClick={() => seen.open(id)}>
              Question details
            </Button>
          </li>
        ))}
      </ul>
      {seen.dialog}
    </section>
  );
}

const ANSWER_LABELS: Record<string, string> = {
  approve: "approved",
  approve_always: "approved for this run",
  reject: "rejected",
  cancel: "skipped",
  given: "filled in",
  expired: "not answered in time",
};

function describeAnswer(answered: Interaction["answered"]): string {
  if (!answered) return "";
  const word =
    answered.answer === "chosen" && answered.option !== undefined
      ? `“${answered.option}”`
      : (ANSWER_LABELS[answered.answer] ?? answered.answer);
  return answered.by === "user" || answered.answer === "expired" ? word : `${word} by ${answered.by}`;
}

function SeenDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const events = useAllEvents();
  const seen = useMemo(() => askedPerson(events, id), [events, id]);
  return (
    <Dialog
      title="Question details"
      description="The question, and the run's state when it was answered."
      size="lg"
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
    >
      {seen === null ? null : (
        <div className="flex flex-col gap-4 text-[13px]">
          <div className="flex flex-col gap-1">
            <h3 className="text-[15px] font-semibold">{seen.asked.title}</h3>
            <p className="text-ink-2">{seen.asked.why}</p>
            <p className="flex flex-wrap gap-2 text-xs text-ink-3">
              Asked <MomentLink seq={seen.asked_seq} about="question asked" />
              {seen.answered_seq === undefined ? null : (
                <>
                  {describeAnswer(seen.answered)}{" "}
                  <MomentLink seq={seen.answered_seq} about="question answered" />
                </>
              )}
            </p>
            {seen.answered?.message ? (
              <blockquote className="border-l-2 border-line-strong pl-3">{seen.answered.message}</blockquote>
            ) : null}
          </div>
          {seen.answered?.value === undefined ? null : (
            <section aria-label="Answer">
              <h4 className="mb-1 text-xs font-semibold text-ink-2">Answer</h4>
              <ValueView value={seen.answered.value} label="answer" />
            </section>
          )}
          {seen.asked.args ? (
            <section aria-label="Requested arguments">
              <h4 className="mb-1 text-xs font-semibold text-ink-2">{seen.asked.tool_name ?? "Details"}</h4>
              <ValueView value={seen.asked.args} label="requested arguments" />
            </section>
          ) : null}
          {seen.changed_meanwhile.length > 0 ? (
            <p role="note" className="rounded-lg border border-waiting/40 bg-waiting/8 px-3 py-2">
              Changed while waiting for the answer: {seen.changed_meanwhile.map(({ key }) => key).join(", ")}.
            </p>
          ) : null}
          <section aria-label="State when answered">
            <h4 className="mb-1 text-xs font-semibold text-ink-2">State when answered</h4>
            <KeyValues values={seen.state} label="state when answered" empty="Empty" />
          </section>
        </div>
      )}
    </Dialog>
  );
}
