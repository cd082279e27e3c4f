"use client";

import clsx from "clsx";
import { TextCursorInput, Trash2 } from "lucide-react";
import Link from "next/link";
import { countOf, formatDuration } from "@/components/display/format";
import { StatusMark, statusWord } from "@/components/display/status-mark";
import type { Answers } from "@/components/trpc";
import { Checkbox } from "@/components/ui/input/checkbox";
import { MoreMenu } from "@/components/ui/overlay/more-menu";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { TimeText } from "@/components/ui/time-text";
import { formatCost } from "@/server/domain/model/cost";
import { Ticking, useTimeLeft } from "../live/elapsed";
import { HeldActions } from "../quarantine-note";
import { useReplay } from "../replay/replay-button";
import { startText } from "../started-by";
import { runStatus } from "../status";

export type RunSummary = Answers["runs"]["list"][number];

/** One run in a list: status, input, outcome, duration and cost. */
export function RunRow({
  run,
  hasName,
  isChosen,
  onChoose,
  onRemove,
  onEditInput,
}: {
  run: RunSummary;
  /** Shows the name of the workflow, in lists of several workflows. */
  hasName: boolean;
  isChosen: boolean;
  /** Absent if runs can't be selected or deleted here. */
  onChoose?: ((isChosen: boolean) => void) | undefined;
  onRemove?: ((run: RunSummary) => void) | undefined;
  onEditInput?: ((run: RunSummary) => void) | undefined;
}) {
  const status = runStatus(run.status, run.final_status);
  const isOver = run.status === "finished";
  const name = run.workflow_name || "Workflow";
  const about = `${name}, ${statusWord(status)}, ${new Date(run.created_at).toLocaleString("en-GB")}`;
  return (
    <li
      className={clsx(
        "group/run relative flex items-start gap-x-3 gap-y-1 px-4 py-3 transition-colors",
        isChosen ? "bg-ink/6" : "hover:bg-ink/3",
      )}
    >
      {onChoose ? (
        <span className={clsx("relative z-10", !isOver && "invisible")}>
          <Checkbox
            hideLabel
            label={`Select ${about}`}
            checked={isChosen}
            disabled={!isOver}
            onCheckedChange={onChoose}
          />
        </span>
      ) : null}
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
          {hasName ? <StatusMark status={status} /> : null}
          <Link
            href={`/workflows/${run.workflow_id ?? "-"}/runs/${run.id}`}
            aria-label={about}
            className="truncate font-medium after:absolute after:inset-0 after:content-['']"
          >
            {hasName ? name : <StatusMark status={status} withWord />}
          </Link>
          <WaitsFor run={run} />
          {run.simulated ? <SimulatedBadge /> : null}
        </div>
        <Excerpts run={run} />
        <Facts run={run} hasStatus={hasName} />
        {run.held ? (
          <div className="relative z-10 flex flex-wrap items-center gap-x-3 gap-y-1.5 pt-0.5">
            <p className="min-w-0 flex-1 basis-64 text-xs text-ink-2 [overflow-wrap:anywhere]">
              {run.held.message}
            </p>
            <HeldActions runId={run.id} held={run.held} size="sm" />
          </div>
        ) : null}
      </div>
      {isOver && onRemove && onEditInput ? <RowMenu {...{ run, about, onRemove, onEditInput }} /> : null}
    </li>
  );
}

function Facts({ run, hasStatus }: { run: RunSummary; hasStatus: boolean }) {
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3 tabular-nums">
      {hasStatus ? <span>{statusWord(runStatus(run.status, run.final_status))}</span> : null}
      <TimeText at={run.created_at} />
      <span>{new Date(run.created_at).toLocaleTimeString("en-GB")}</span>
      <span className="max-sm:hidden">{startText(run.trigger, run.started_by)}</span>
      <Duration run={run} />
      <Taken run={run} />
    </p>
  );
}

function RowMenu({
  run,
  about,
  onRemove,
  onEditInput,
}: {
  run: RunSummary;
  about: string;
  onRemove: (run: RunSummary) => void;
  onEditInput: (run: RunSummary) => void;
}) {
  const replay = useReplay(run.id, run.workflow_id);
  return (
    <span className="relative z-10 shrink-0">
      <MoreMenu
        label={`Actions for ${about}`}
        size="sm"
        items={[
          {
            label: "Edit input and rerun",
            icon: <TextCursorInput />,
            disabled: run.workflow_id === null,
            onSelect: () => onEditInput(run),
          },
          replay.entry,
          "separator",
          { label: "Delete", icon: <Trash2 />, danger: true, onSelect: () => onRemove(run) },
        ]}
      />
      {replay.dialog}
    </span>
  );
}

function Excerpts({ run: { input_excerpt, outcome_excerpt, final_status } }: { run: RunSummary }) {
  if (!input_excerpt && !outcome_excerpt) return null;
  return (
    <dl className="flex flex-col gap-0.5 text-[13px] leading-5">
      {input_excerpt ? <Excerpt name="In" text={input_excerpt} /> : null}
      {outcome_excerpt ? (
        <Excerpt
          name={final_status === "ERROR" || final_status === "INCOMPLETE" ? "Why" : "Out"}
          text={outcome_excerpt}
          tone={final_status === "ERROR" ? "text-failed" : "text-ink"}
        />
      ) : null}
    </dl>
  );
}

function Excerpt({ name, text, tone = "text-ink-2" }: { name: string; text: string; tone?: string }) {
  return (
    <div className="flex min-w-0 gap-2">
      <dt className="w-7 shrink-0 text-ink-3">{name}</dt>
      <dd
        title={text}
        className={clsx("line-clamp-2 min-w-0 [overflow-wrap:anywhere] sm:line-clamp-1", tone)}
      >
        {text}
      </dd>
    </div>
  );
}

/** Whether the run waits for a person or a time, and how much time is left. */
export function WaitsFor({ run: { waits_for, wakes_at, status } }: { run: RunSummary }) {
  if (!waits_for || waits_for === "run" || status === "held" || status === "finished") return null;
  return (
    <span
      className={clsx(
        "rounded-md px-1.5 text-xs leading-5 tabular-nums",
        waits_for === "person" ? "bg-waiting/15 font-medium text-waiting-ink" : "bg-ink/6 text-ink-2",
      )}
    >
      {waits_for === "person" ? "Needs your answer" : "Scheduled to resume"}
      {wakes_at === null ? null : <Left until={wakes_at} />}
    </span>
  );
}

function Left({ until }: { until: number }) {
  const left = useTimeLeft(until);
  return left === null ? null : <>, {left} left</>;
}

function Taken({ run }: { run: RunSummary }) {
  const tokens = run.input_tokens + run.output_tokens;
  if (tokens === 0) return null;
  return (
    <>
      <span>{countOf(tokens, "token")}</span>
      <span>{formatCost(run)}</span>
    </>
  );
}

function Duration({ run }: { run: RunSummary }) {
  if (run.started_at === null) return <span>–</span>;
  const end = run.finished_at ?? run.held?.at;
  if (end != null) return <span>{formatDuration(end - run.started_at)}</span>;
  // A ticking clock would suggest that a waiting run is working.
  const isWaiting = run.waits_for !== null && run.waits_for !== "run";
  return isWaiting || run.status === "paused" ? null : <Ticking from={run.started_at} />;
}
