"use client";

import { useQuery } from "@tanstack/react-query";
import { CornerDownRight, GitBranch } from "lucide-react";
import { useMemo } from "react";
import { countOf } from "@/components/display/format";
import { StatusMark } from "@/components/display/status-mark";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Popover } from "@/components/ui/overlay/popover";
import { PageLink } from "@/components/ui/page-link";
import type { ForkOrigin } from "@/server/domain/run/fork/lineage";
import { ReplayBanner } from "../replay/replay-banner";
import { useRun, useRunViewStore } from "../run-context";
import { runStatus } from "../status";
import { newNames } from "../timeline/sentence-parts";
import { sentenceOf } from "../timeline/sentences";
import type { RunSummary } from "./run-row";

/** Where a run comes from, and which runs come from it; nothing where neither is so. */
export function Lineage({ runId }: { runId: string }) {
  const { data: family } = useQuery(useTrpc().runs.family.queryOptions({ run_id: runId }));
  const origin = useRun<ForkOrigin | null>(({ head }) => head.run.forks?.at(-1) ?? null, null);
  if (!family) return null;
  const forks = family.filter((run) => run.origin?.run_id === runId);
  if (!origin && forks.length === 0) return null;
  return (
    <div className="order-last flex w-full flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-ink-2 max-md:px-1">
      {origin?.replay ? (
        <ReplayBanner runId={runId} origin={origin} run={family.find(({ id }) => id === origin.from_run)} />
      ) : origin ? (
        <From origin={origin} run={family.find(({ id }) => id === origin.from_run)} />
      ) : null}
      <Family runId={runId} family={family} forks={forks.length} />
    </div>
  );
}

function From({ origin, run }: { origin: ForkOrigin; run: RunSummary | undefined }) {
  const moment = useMoment(origin.at_seq);
  return (
    <p className="flex min-w-0 items-center gap-1.5">
      <GitBranch aria-hidden className="size-3.5 shrink-0 text-ink-3" />
      <span className="min-w-0 [overflow-wrap:anywhere]">
        Forked from{" "}
        {run ? (
          <PageLink href={hrefOf(run)} className="text-accent hover:underline">
            the run started {timeOf(run)}
          </PageLink>
        ) : (
          "a deleted run"
        )}
        {`, ${moment}`}
      </span>
    </p>
  );
}

/** All runs of the lineage, as the tree in which they came from one another. */
function Family({ runId, family, forks }: { runId: string; family: readonly RunSummary[]; forks: number }) {
  const rows = useMemo(() => familyTree(family), [family]);
  return (
    <Popover
      title="Related runs"
      trigger={
        <Button size="sm" variant="ghost" className="-ml-2.5">
          {forks > 0 ? `${countOf(forks, "fork")} of this run` : `Lineage: ${countOf(rows.length, "run")}`}
        </Button>
      }
    >
      <ul className="-mx-2 flex flex-col">
        {rows.map(({ run, depth }) => (
          <li key={run.id} style={{ paddingLeft: `${Math.min(depth, 6) * 0.875}rem` }}>
            <PageLink
              href={hrefOf(run)}
              aria-current={run.id === runId ? "page" : undefined}
              className="flex items-center gap-2 rounded-lg px-2 py-1.5 text-[13px] hover:bg-ink/6 aria-[current]:bg-accent-soft pointer-coarse:min-h-10"
            >
              {depth > 0 ? <CornerDownRight aria-hidden className="size-3.5 shrink-0 text-ink-3" /> : null}
              <StatusMark status={runStatus(run.status, run.final_status)} size="sm" />
              <span className="min-w-0 flex-1">{madeAs(run)}</span>{" "}
              <span className="shrink-0 text-xs text-ink-3 tabular-nums">{timeOf(run)}</span>
            </PageLink>
          </li>
        ))}
      </ul>
    </Popover>
  );
}

const madeAs = ({ origin }: RunSummary) =>
  !origin ? "Original run" : origin.kind === "replay" ? "Replay" : `From event ${origin.seq}`;

/** Text for the last moment that both runs share. */
function useMoment(seq: number): string {
  const store = useRunViewStore();
  const graph = useRun(({ head }) => head.graph, null);
  const event = useRun(({ events }) => events[seq - 1] ?? null, null);
  const names = useMemo(() => newNames(graph, () => store?.view.getState().head.plans ?? {}), [graph, store]);
  if (seq <= 1 || !event) return seq <= 1 ? "at its start" : `at event ${seq}`;
  return `at event ${seq}: ${sentenceOf(event, names).text}`;
}

const hrefOf = ({ id, workflow_id }: RunSummary) => `/workflows/${workflow_id ?? "-"}/runs/${id}`;
const timeOf = ({ created_at }: RunSummary) => new Date(created_at).toLocaleString("en-GB");

/** A run of a lineage, with how many steps it is from the first one. */
interface FamilyRow {
  run: RunSummary;
  depth: number;
}

/** The runs of a lineage as a tree, each followed by its forks; without its original, a fork is a root. */
function familyTree(family: readonly RunSummary[]): FamilyRow[] {
  const ids = new Set(family.map(({ id }) => id));
  const parentOf = ({ origin }: RunSummary) => (origin && ids.has(origin.run_id) ? origin.run_id : null);
  const rows: FamilyRow[] = [];
  const add = (parent: string | null, depth: number): void => {
    for (const run of family) {
      if (parentOf(run) !== parent) continue;
      rows.push({ run, depth });
      add(run.id, depth + 1);
    }
  };
  add(null, 0);
  return rows;
}
