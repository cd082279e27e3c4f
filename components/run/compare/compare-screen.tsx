"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowLeft, ArrowLeftRight, CircleSlash2 } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useMemo, useState } from "react";
import { CanvasProvider, GraphCanvas } from "@/components/canvas/graph-canvas";
import { withRoomBelow } from "@/components/canvas/layout/places";
import { SLIP } from "@/components/canvas/layout/routes";
import { ViewModeSwitch } from "@/components/canvas/view-mode-switch";
import { statusWord } from "@/components/display/status-mark";
import { PageError } from "@/components/page/error-text";
import { useTrpc } from "@/components/trpc";
import { ButtonLink } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { Spinner } from "@/components/ui/spinner";
import { NARROW, useMedia } from "@/components/ui/use-media";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { RunComparison, RunTotals } from "@/server/domain/run/compare/compare";
import type { Divergence } from "@/server/domain/run/compare/divergence";
import type { RunSummary } from "../history/run-row";
import { runStatus } from "../status";
import { compareOnCanvas } from "./compare-canvas";
import { Differences, firstApart } from "./differences";
import { SideLetter } from "./side-letter";
import "./compare.css";

/** What distinguishes one run from another. */
type ComparedRun = Pick<RunSummary, "workflow_id" | "workflow_name" | "created_at" | "input_excerpt">;

/** Two runs on one canvas: their paths, state, outputs and totals. */
export function CompareScreen({
  a,
  b,
  bisect,
}: {
  a: string;
  b: string;
  /** Bisects the runs; shown if they differ. */
  bisect: (found: { comparison: RunComparison; onSelect: (id: string) => void }) => ReactNode;
}) {
  const trpc = useTrpc();
  const { data, error, isPending } = useQuery(trpc.runs.compare.queryOptions({ run_id: a, with: b }));
  const runs = {
    a: useQuery(trpc.runs.get.queryOptions({ run_id: a })).data,
    b: useQuery(trpc.runs.get.queryOptions({ run_id: b })).data,
  };
  const roles = useQuery(trpc.roles.list.queryOptions()).data;
  const byName = useMemo(() => new Map(roles?.map(({ role }) => [role.name, role])), [roles]);
  if (error)
    return (
      <PageError
        icon={<CircleSlash2 />}
        title="Can't compare these runs"
        error={error}
        back={{ href: "/runs", label: "All runs" }}
      />
    );
  if (isPending)
    return (
      <div className="flex h-full items-center justify-center text-ink-3">
        <Spinner size={20} label="Loading runs…" />
      </div>
    );
  const bisectFrom = (onSelect: (id: string) => void) =>
    data.parted || data.first ? bisect({ comparison: data, onSelect }) : null;
  return (
    <Compared
      {...{ a, b, runs }}
      bisect={bisectFrom}
      comparison={data}
      divergence={data.parted}
      roles={byName}
    />
  );
}

const NO_ROLES: ReadonlyMap<string, RoleDefinition> = new Map();

interface ComparedProps {
  a: string;
  b: string;
  runs: { a: ComparedRun | undefined; b: ComparedRun | undefined };
  comparison: RunComparison;
  divergence: Divergence | null;
  /** For the agents' faces and colors. */
  roles?: ReadonlyMap<string, RoleDefinition> | undefined;
  bisect?: (onSelect: (id: string) => void) => ReactNode;
}

export function Compared({ a, b, runs, comparison, divergence, roles, bisect }: ComparedProps) {
  const [selected, setSelected] = useState(() => firstApart(comparison)?.id ?? null);
  const [view, setView] = useState<"list" | "drawing">("list");
  const isNarrow = useMedia(NARROW);
  const graph = useMemo(() => withRoomBelow(comparison.graph, SLIP), [comparison]);
  const run = useMemo(() => compareOnCanvas(comparison), [comparison]);
  const bisection = bisect?.(setSelected);
  return (
    <div className="compare flex h-full min-h-0 flex-col bg-bg">
      <Header {...{ a, b, runs }} totals={comparison.totals} />
      <div className="relative flex min-h-0 flex-1 flex-col md:flex-row">
        {isNarrow ? <ViewModeSwitch viewMode={view} onChange={setView} /> : null}
        {isNarrow && view === "list" ? null : (
          <div className="min-h-0 min-w-0 flex-1">
            <CanvasProvider>
              <GraphCanvas
                graph={graph}
                label="Comparison canvas"
                roles={roles ?? NO_ROLES}
                run={run}
                selectedId={selected}
                onSelect={setSelected}
              />
            </CanvasProvider>
          </div>
        )}
        {isNarrow && view === "drawing" ? null : (
          <aside
            aria-label="Differences"
            className="flex min-h-0 flex-col gap-5 overflow-y-auto border-line bg-surface p-4 max-md:flex-1 md:w-[min(34rem,44%)] md:border-l"
          >
            <Differences {...{ comparison, divergence, selected }} onSelect={setSelected} />
            {bisection ? (
              <Disclosure variant="box" title="Bisect: find deciding step">
                {bisection}
              </Disclosure>
            ) : null}
          </aside>
        )}
      </div>
    </div>
  );
}

function Header({
  a,
  b,
  runs,
  totals,
}: Pick<ComparedProps, "a" | "b" | "runs"> & { totals: RunComparison["totals"] }) {
  return (
    <header className="flex min-h-14 shrink-0 flex-wrap items-center gap-x-4 gap-y-2 border-b border-line bg-surface px-3 py-2 md:px-4">
      <Link
        href="/runs"
        aria-label="All runs"
        className="inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-ink-2 hover:bg-ink/6 hover:text-ink pointer-coarse:size-10"
      >
        <ArrowLeft aria-hidden className="size-4" />
      </Link>
      <h1 className="truncate text-[15px] font-semibold max-md:flex-1">Compare runs</h1>
      <ButtonLink
        href={`/runs/compare?a=${encodeURIComponent(b)}&b=${encodeURIComponent(a)}`}
        size="sm"
        className="md:order-last"
        icon={<ArrowLeftRight aria-hidden />}
      >
        Swap
      </ButtonLink>
      <OneRun side="a" id={a} run={runs.a} totals={totals.a} />
      <OneRun side="b" id={b} run={runs.b} totals={totals.b} />
    </header>
  );
}

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** Identifies a run: letter and color, workflow, start and input. */
function OneRun({
  side,
  id,
  run,
  totals,
}: {
  side: "a" | "b";
  id: string;
  run: ComparedRun | undefined;
  totals: RunTotals;
}) {
  return (
    <section
      aria-label={`Run ${side.toUpperCase()}`}
      className="flex min-w-0 flex-1 items-center gap-2.5 text-[13px] leading-5 max-md:basis-full"
    >
      <SideLetter side={side} />
      <div className="min-w-0">
        <p className="flex min-w-0 items-baseline gap-x-2">
          <Link
            href={`/workflows/${run?.workflow_id ?? "-"}/runs/${encodeURIComponent(id)}`}
            className="min-w-0 truncate font-medium text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
          >
            {run ? `${run.workflow_name || "Workflow"}, ${TIME.format(run.created_at)}` : "Open run"}
          </Link>
          <span className="shrink-0 text-ink-2">
            {statusWord(runStatus("finished", totals.final_status))}
          </span>
        </p>
        {run?.input_excerpt ? (
          <p title={run.input_excerpt} className="truncate text-ink-2">
            {run.input_excerpt}
          </p>
        ) : null}
      </div>
    </section>
  );
}
