"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Hand } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { StatusMark } from "@/components/display/status-mark";
import { type RunSummary, WaitsFor } from "@/components/run/history/run-row";
import { useRunTicks } from "@/components/run/live/run-ticks";
import { runStatus } from "@/components/run/status";
import { useTrpc } from "@/components/trpc";
import { Skeleton } from "@/components/ui/skeleton";
import { TimeText } from "@/components/ui/time-text";
import { formatCost, knownCost } from "@/server/domain/model/cost";

const LAST = 4;
const WEEK_MS = 7 * 24 * 3_600_000;

/** Recent runs, open questions and costs; nothing before the first run. `isExpected`: there was one. */
export function Lately({ isExpected = false }: { isExpected?: boolean }) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const last = useQuery(trpc.runs.list.queryOptions({ limit: LAST }));
  const waiting = useQuery(trpc.runs.list.queryOptions({ waits_for: "person", limit: 20 }));
  useRunTicks(() => void queryClient.invalidateQueries(trpc.runs.pathFilter()));
  if (last.isPending && isExpected) return <Skeleton className="mb-6 h-20 w-full rounded-xl" />;
  if (!last.data || last.data.length === 0) return null;
  return (
    <div className="mb-6 flex flex-col gap-3">
      {waiting.data && waiting.data.length > 0 ? <WaitingForYou runs={waiting.data} /> : null}
      <section aria-labelledby="lately" className="rounded-xl border border-line bg-surface px-4 py-3">
        <header className="mb-1.5 flex flex-wrap items-baseline justify-between gap-x-4">
          <h2 id="lately" className="text-[13px] font-semibold">
            Recent runs
          </h2>
          <Spent />
          <Link href="/runs" className="text-xs font-medium text-accent hover:text-accent-hover">
            All runs
          </Link>
        </header>
        <ul className="flex flex-col">
          {last.data.map((run) => (
            <LastRun key={run.id} run={run} />
          ))}
        </ul>
      </section>
    </div>
  );
}

const addressOf = ({ id, workflow_id }: RunSummary) => `/workflows/${workflow_id ?? "-"}/runs/${id}`;

function LastRun({ run }: { run: RunSummary }) {
  return (
    <li className="relative flex min-h-8 items-center gap-2.5 rounded-md text-[13px] hover:bg-ink/3 pointer-coarse:min-h-10">
      <StatusMark status={runStatus(run.status, run.final_status)} size="sm" />
      <Link
        href={addressOf(run)}
        className="max-w-[45%] shrink-0 truncate font-medium after:absolute after:inset-0"
      >
        {run.workflow_name || "Workflow"}
      </Link>
      <span className="min-w-0 flex-1 truncate text-ink-2">{run.outcome_excerpt || run.input_excerpt}</span>
      <TimeText at={run.created_at} className="shrink-0 text-xs text-ink-3" />
    </li>
  );
}

function WaitingForYou({ runs }: { runs: readonly RunSummary[] }) {
  return (
    <section aria-labelledby="waiting" className="rounded-xl border border-waiting/45 bg-waiting/8 px-4 py-3">
      <header className="mb-1 flex items-center gap-2">
        <Hand aria-hidden className="size-4 text-waiting" />
        <h2 id="waiting" className="min-w-0 flex-1 text-[13px] font-semibold">
          {runs.length === 1 ? "1 run needs your answer" : `${runs.length} runs need your answer`}
        </h2>
        <Link href="/inbox" className="text-xs font-medium text-accent hover:text-accent-hover">
          Open inbox
        </Link>
      </header>
      <ul className="flex flex-col">
        {runs.map((run) => (
          <li
            key={run.id}
            className="relative flex min-h-8 items-center gap-2.5 rounded-md text-[13px] hover:bg-ink/3 pointer-coarse:min-h-10"
          >
            <Link
              href={addressOf(run)}
              className="max-w-[45%] shrink-0 truncate font-medium after:absolute after:inset-0"
            >
              {run.workflow_name || "Workflow"}
            </Link>
            <span className="min-w-0 flex-1 truncate text-ink-2">{run.input_excerpt}</span>
            <WaitsFor run={run} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Model costs; nothing if there were none, as with the demo. */
function Spent() {
  const trpc = useTrpc();
  // Fixed while the page is open: a new time in every query would refetch endlessly.
  const [{ day, week }] = useState(() => ({
    day: new Date().setHours(0, 0, 0, 0),
    week: Date.now() - WEEK_MS,
  }));
  const today = useQuery(trpc.runs.spent.queryOptions({ since: day })).data;
  const lately = useQuery(trpc.runs.spent.queryOptions({ since: week })).data;
  if (!today || !lately || knownCost(lately) === 0) return null;
  return (
    <span className="flex-1 text-right text-xs text-ink-3 tabular-nums">
      Model costs: {formatCost(today)} today, {formatCost(lately)} in the last 7 days
    </span>
  );
}
