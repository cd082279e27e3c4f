"use client";

import type { ReactNode } from "react";
import { formatDuration, formatTokens } from "@/components/display/format";
import { formatCost } from "@/server/domain/model/cost";
import type { Activation } from "@/server/domain/run";
import { Ticking, useTimeLeft } from "../elapsed";
import { useRun } from "../run-context";
import { useRunPage } from "../run-page-context";

/** How long it took and what it cost, as of the moment that is looked at. */
export function ActivationFacts({ activation }: { activation: Activation }) {
  const { usage, started_at, finished_at, attempt, calls } = activation;
  const cursorTime = useRun<number | null>(
    ({ cursor, events }) => (cursor === null ? null : (events[cursor - 1]?.ts ?? null)),
    null,
  );
  const until = finished_at ?? cursorTime;
  const tokens = usage.input_tokens + usage.output_tokens;
  return (
    <dl className="grid grid-cols-[repeat(auto-fit,minmax(5.5rem,1fr))] gap-x-4 gap-y-2 text-[13px] tabular-nums">
      <Fact name="Duration">
        {started_at === undefined ? (
          "–"
        ) : until !== null ? (
          formatDuration(until - started_at)
        ) : (
          <Ticking from={started_at} />
        )}
      </Fact>
      {calls.length > 0 ? (
        <Fact name="Tokens">
          <span title={`${formatTokens(usage.input_tokens)} in, ${formatTokens(usage.output_tokens)} out`}>
            {formatTokens(tokens)}
            {usage.estimated ? " (est.)" : ""}
          </span>
        </Fact>
      ) : null}
      {calls.length > 0 ? <Fact name="Cost">{formatCost(activation)}</Fact> : null}
      {attempt > 1 ? <Fact name="Attempts">{attempt}</Fact> : null}
      {activation.iteration !== undefined && activation.iteration > 1 ? (
        <Fact name="Round">{activation.iteration}</Fact>
      ) : null}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="truncate font-medium">{children}</dd>
    </div>
  );
}

const WAITS: Record<string, string> = {
  timer: "It waits for its time to come.",
  signal: "It waits for a signal.",
  human: "It waits for a person.",
  limit: "It waits at a limit; raise the limit to go on.",
  retry: "It failed and waits before it is tried again.",
};

/** What it waits for, and until when. */
export function ActivationWaiting({ activation }: { activation: Activation }) {
  const waiting = activation.waiting;
  const isHeld = (useRunPage()?.held ?? null) !== null;
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  if (!waiting) return null;
  return (
    <p className="rounded-lg border border-waiting/35 bg-waiting/8 px-3 py-2 text-[13px]">
      {WAITS[waiting.for] ?? `It waits for ${waiting.for}.`}
      {isHeld ? " The run is held, so it does not go on by itself." : null}
      {waiting.until === undefined || isHeld || isPast ? null : <TimeLeft until={waiting.until} />}
    </p>
  );
}

function TimeLeft({ until }: { until: number }) {
  const left = useTimeLeft(until);
  const at = new Date(until).toLocaleTimeString("en-GB", { hour12: false });
  return (
    <span className="tabular-nums">{left === null ? ` Until ${at}.` : ` ${left} left, until ${at}.`}</span>
  );
}
