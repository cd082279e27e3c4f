"use client";

import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import clsx from "clsx";
import { History, Trash2 } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import { countOf, formatCost, formatDuration } from "@/components/display/format";
import { type Answers, toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { Skeleton } from "@/components/ui/skeleton";
import { StatusMark, statusWord } from "@/components/ui/status-mark";
import { TimeText } from "@/components/ui/time-text";
import { toast } from "@/components/ui/toasts";
import type { FinalStatus } from "@/server/domain/agent/outcome";
import { Ticking } from "./elapsed";
import { HeldActions } from "./held-note";
import { runStatus } from "./status";

type RunSummary = Answers["runs"]["list"][number];
type Filter = "all" | "going" | "held" | FinalStatus;

const PAGE = 30;
const FILTERS: readonly { value: Filter; label: string }[] = [
  { value: "all", label: "All" },
  { value: "going", label: "Under way" },
  { value: "held", label: "Held" },
  { value: "COMPLETED", label: "Completed" },
  { value: "ERROR", label: "Failed" },
  { value: "INCOMPLETE", label: "At a limit" },
  { value: "CANCELLED", label: "Cancelled" },
];

/** What the server is asked for. */
const asked = (filter: Filter) =>
  filter === "all"
    ? {}
    : filter === "going"
      ? { status: ["queued" as const, "running" as const, "waiting" as const] }
      : filter === "held"
        ? { status: ["held" as const] }
        : { final_status: filter };

/** The runs of one workflow, or of all; refreshes itself while something runs. `isNarrow`: for a panel. */
export function RunHistory({ workflowId, isNarrow }: { workflowId?: string; isNarrow?: boolean }) {
  const [filter, setFilter] = useState<Filter>("all");
  const runs = useRuns(workflowId, filter);
  const [removing, setRemoving] = useState<RunSummary | null>(null);

  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div className={clsx("flex overflow-x-auto", isNarrow && "px-3 pt-3")}>
        <SegmentedControl
          label="Which runs"
          size="sm"
          options={FILTERS}
          value={filter}
          onValueChange={setFilter}
          className="shrink-0 whitespace-nowrap"
        />
      </div>
      {runs.isLoading ? (
        <div className="flex flex-col gap-2">
          {[0, 1, 2, 3].map((at) => (
            <Skeleton key={at} className="h-14" />
          ))}
        </div>
      ) : runs.error ? (
        <EmptyState
          icon={<History />}
          title="The runs could not be loaded"
          actions={<Button onClick={runs.reload}>Try again</Button>}
        >
          {runs.error}
        </EmptyState>
      ) : runs.items.length === 0 ? (
        <EmptyState
          icon={<History />}
          title={filter === "all" ? "Nothing has run yet" : "No run is like that"}
          actions={filter === "all" ? null : <Button onClick={() => setFilter("all")}>Show all</Button>}
        >
          {filter === "all"
            ? workflowId
              ? "Run this workflow and watch it here."
              : "Open a workflow and run it; it appears here."
            : null}
        </EmptyState>
      ) : (
        <ul
          aria-label="Runs"
          className={clsx(
            "flex flex-col divide-y divide-line overflow-hidden",
            !isNarrow && "rounded-xl border border-line bg-surface",
          )}
        >
          {runs.items.map((run) => (
            <RunRow
              key={run.id}
              run={run}
              hasName={workflowId === undefined}
              isNarrow={isNarrow}
              onRemove={setRemoving}
            />
          ))}
        </ul>
      )}
      {runs.hasMore ? (
        <Button className="self-center" pending={runs.isLoadingMore} onClick={runs.loadMore}>
          Show older runs
        </Button>
      ) : null}
      <RemoveDialog run={removing} onClose={() => setRemoving(null)} />
    </div>
  );
}

function RunRow({
  run,
  hasName,
  isNarrow,
  onRemove,
}: {
  run: RunSummary;
  hasName: boolean;
  isNarrow?: boolean | undefined;
  onRemove: (run: RunSummary) => void;
}) {
  const status = runStatus(run.status, run.final_status);
  const tokens = run.input_tokens + run.output_tokens;
  return (
    <li className="group/run relative flex items-center gap-x-4 gap-y-1 px-4 py-3 transition-colors hover:bg-ink/3">
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <div className="flex min-w-0 items-center gap-2">
          {hasName ? (
            <>
              <StatusMark status={status} />
              <RunLink run={run} className="truncate font-medium">
                {run.workflow_name || "A workflow"}
              </RunLink>
            </>
          ) : (
            <RunLink
              run={run}
              label={`${statusWord(status)}, ${new Date(run.created_at).toLocaleString("en-GB")}`}
            >
              <StatusMark status={status} withWord />
            </RunLink>
          )}
          {run.simulated ? <SimulatedBadge className={clsx(hasName && "max-sm:hidden")} /> : null}
        </div>
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3">
          {hasName ? <span>{statusWord(status)}</span> : null}
          <TimeText at={run.created_at} />
          <span className="max-sm:hidden">{TRIGGERS[run.trigger] ?? run.trigger}</span>
          {/* On a phone the name has the line above to itself. */}
          {run.simulated && hasName ? <SimulatedBadge className="sm:hidden" /> : null}
        </p>
        {run.held ? (
          <div className="relative z-10 flex flex-wrap items-center gap-x-3 gap-y-1.5 pt-0.5">
            <p className="min-w-0 flex-1 basis-64 text-xs text-ink-2 [overflow-wrap:anywhere]">
              {run.held.message}
            </p>
            <HeldActions runId={run.id} size="sm" />
          </div>
        ) : null}
      </div>
      <div
        className={clsx(
          "flex shrink-0 text-[13px] text-ink-2 tabular-nums",
          isNarrow
            ? "flex-col items-end gap-0.5 text-xs"
            : "items-center gap-6 max-sm:flex-col max-sm:items-end max-sm:gap-0.5 max-sm:text-xs",
        )}
      >
        <span className={clsx(!isNarrow && "sm:w-24 sm:text-right")}>
          <Duration run={run} />
        </span>
        <span className={clsx("text-ink-3", !isNarrow && "sm:w-28 sm:text-right")}>
          {tokens > 0 ? countOf(tokens, "token") : ""}
        </span>
        {isNarrow ? null : (
          <span
            className="w-28 truncate text-right text-ink-3 max-sm:hidden"
            title={formatCost(run.cost_usd, run.unknown_cost_calls)}
          >
            {tokens === 0 || (run.simulated && run.cost_usd === 0 && run.unknown_cost_calls === 0)
              ? ""
              : formatCost(run.cost_usd, run.unknown_cost_calls)}
          </span>
        )}
      </div>
      {run.status === "finished" ? (
        <IconButton
          label="Remove this run"
          size="sm"
          variant="danger"
          icon={<Trash2 aria-hidden />}
          onClick={() => onRemove(run)}
          className="relative z-10 opacity-0 group-focus-within/run:opacity-100 group-hover/run:opacity-100 pointer-coarse:opacity-100"
        />
      ) : (
        <span aria-hidden className="w-7 shrink-0 pointer-coarse:w-9" />
      )}
    </li>
  );
}

/** The whole row leads to the run; the link itself is its name. */
function RunLink({
  run,
  label,
  className,
  children,
}: {
  run: RunSummary;
  label?: string | undefined;
  className?: string | undefined;
  children: ReactNode;
}) {
  return (
    <Link
      href={`/workflows/${run.workflow_id ?? "-"}/runs/${run.id}`}
      aria-label={label}
      className={clsx("after:absolute after:inset-0 after:content-['']", className)}
    >
      {children}
    </Link>
  );
}

function Duration({ run }: { run: RunSummary }) {
  if (run.started_at === null) return <>–</>;
  const end = run.finished_at ?? run.held?.at;
  if (end != null) return <>{formatDuration(end - run.started_at)}</>;
  return <Ticking from={run.started_at} />;
}

function RemoveDialog({ run, onClose }: { run: RunSummary | null; onClose: () => void }) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const remove = useMutation(
    trpc.runs.remove.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.runs.list.pathFilter());
        onClose();
      },
      onError: (error) => toast(toApiError(error).message, { tone: "error" }),
    }),
  );
  return (
    <ConfirmDialog
      open={run !== null}
      onOpenChange={(open) => open || onClose()}
      title="Remove this run?"
      description="Its timeline, its answers and its output go with it. This cannot be taken back."
      confirm="Remove run"
      danger
      pending={remove.isPending}
      onConfirm={() => run && remove.mutate({ run_id: run.id })}
    />
  );
}

/** One list, page by page; polled while something runs, so that it needs no stream of its own. */
function useRuns(workflowId: string | undefined, filter: Filter) {
  const client = useTrpcClient();
  const trpc = useTrpc();
  const query = useInfiniteQuery({
    queryKey: [...trpc.runs.list.pathKey(), "history", workflowId ?? "all", filter],
    queryFn: ({ pageParam }) =>
      client.runs.list.query({
        limit: PAGE,
        ...asked(filter),
        ...(workflowId ? { workflow_id: workflowId } : {}),
        ...(pageParam ? { before: pageParam } : {}),
      }),
    initialPageParam: null as { created_at: number; id: string } | null,
    getNextPageParam: (page) => {
      const last = page.length < PAGE ? undefined : page.at(-1);
      return last ? { created_at: last.created_at, id: last.id } : undefined;
    },
    // Another choice shows what was there until its own answer comes.
    placeholderData: keepPreviousData,
    // What one way of ending shows says nothing about the runs that are still under way.
    refetchInterval: ({ state }) =>
      filter !== "all" || state.data?.pages.flat().some((run) => run.status !== "finished") ? 2_000 : 15_000,
  });
  return {
    items: query.data?.pages.flat() ?? [],
    isLoading: query.isPending,
    error: query.error ? toApiError(query.error).message : null,
    reload: () => void query.refetch(),
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
  };
}

const TRIGGERS: Record<string, string> = {
  editor: "by hand",
  api: "through the API",
  cli: "from the command line",
  test: "by a test",
};
