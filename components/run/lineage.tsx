"use client";

import { useQuery } from "@tanstack/react-query";
import { GitBranch } from "lucide-react";
import { useMemo } from "react";
import { countOf } from "@/components/display/format";
import { StatusMark } from "@/components/display/status-mark";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { PageLink } from "@/components/ui/page-link";
import { Popover } from "@/components/ui/popover";
import type { ForkOrigin } from "@/server/domain/run/lineage";
import { useRun, useRunViewStore } from "./run-context";
import type { RunSummary } from "./run-row";
import { newNames, sentenceOf } from "./sentences";
import { runStatus } from "./status";

/** Where a run comes from, and which runs come from it; nothing where neither is so. */
export function Lineage({ runId }: { runId: string }) {
  const { data: family } = useQuery(useTrpc().runs.family.queryOptions({ run_id: runId }));
  const origin = useRun<ForkOrigin | null>(({ head }) => head.run.forks?.at(-1) ?? null, null);
  if (!family) return null;
  const forks = family.filter((run) => run.origin?.run_id === runId);
  if (!origin && forks.length === 0) return null;
  return (
    <div className="order-last flex w-full flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-ink-2 max-md:px-1">
      {origin ? <From origin={origin} run={family.find(({ id }) => id === origin.from_run)} /> : null}
      {forks.length > 0 ? <Forks forks={forks} /> : null}
    </div>
  );
}

function From({ origin, run }: { origin: ForkOrigin; run: RunSummary | undefined }) {
  const moment = useMoment(origin.at_seq);
  return (
    <p className="flex min-w-0 items-center gap-1.5">
      <GitBranch aria-hidden className="size-3.5 shrink-0 text-ink-3" />
      <span className="min-w-0 [overflow-wrap:anywhere]">
        {origin.replay ? "Replay of " : "Forked from "}
        {run ? (
          <PageLink href={hrefOf(run)} className="text-accent hover:underline">
            the run of {timeOf(run)}
          </PageLink>
        ) : (
          "a run that was deleted"
        )}
        {origin.replay ? null : ` ${moment}`}
      </span>
    </p>
  );
}

/** The runs that were made from this one. */
function Forks({ forks }: { forks: readonly RunSummary[] }) {
  return (
    <Popover
      title="Forks of this run"
      trigger={
        <Button size="sm" variant="ghost" className="-ml-2.5">
          {countOf(forks.length, "fork")} of this run
        </Button>
      }
    >
      <ul className="-mx-2 flex flex-col">
        {forks.map((run) => (
          <li key={run.id}>
            <PageLink
              href={hrefOf(run)}
              className="flex items-center gap-2 rounded-lg px-2 py-1.5 text-[13px] hover:bg-ink/6 pointer-coarse:min-h-10"
            >
              <StatusMark status={runStatus(run.status, run.final_status)} size="sm" />
              <span className="min-w-0 flex-1">
                {run.origin?.kind === "replay" ? "Replay" : `From event ${run.origin?.seq ?? 1}`}
              </span>{" "}
              <span className="shrink-0 text-xs text-ink-3 tabular-nums">{timeOf(run)}</span>
            </PageLink>
          </li>
        ))}
      </ul>
    </Popover>
  );
}

/** The last moment that both runs have, in words: both logs have the same event there. */
function useMoment(seq: number): string {
  const store = useRunViewStore();
  const graph = useRun(({ head }) => head.graph, null);
  const event = useRun(({ events }) => events[seq - 1] ?? null, null);
  const names = useMemo(() => newNames(graph, () => store?.view.getState().head.plans ?? {}), [graph, store]);
  if (seq <= 1 || !event) return seq <= 1 ? "at its beginning" : `at event ${seq}`;
  return `at event ${seq}: ${sentenceOf(event, names).text}`;
}

const hrefOf = ({ id, workflow_id }: RunSummary) => `/workflows/${workflow_id ?? "-"}/runs/${id}`;
const timeOf = ({ created_at }: RunSummary) => new Date(created_at).toLocaleString("en-GB");
