"use client";

import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { GitCompare, History, Trash2 } from "lucide-react";
import dynamic from "next/dynamic";
import { type ReactNode, useDeferredValue, useState } from "react";
import { countOf } from "@/components/display/format";
import { toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { Skeleton } from "@/components/ui/skeleton";
import { toast } from "@/components/ui/toasts";
import { defined } from "@/server/domain/base/defined";
import { placeAfter, type RunPlace } from "@/server/domain/run/run-order";
import { ALL_RUNS, askedFor, isNarrowed, RunFilterBar, type RunFilters } from "./run-filters";
import { RunRow, type RunSummary } from "./run-row";

const EditInput = dynamic(() => import("../start/edit-input").then((m) => m.EditInput), { ssr: false });

const PAGE = 30;

/** The runs of one workflow, or of all: searched, narrowed down, ordered, tidied up. Refreshes while something runs. */
export function RunHistory({ workflowId }: { workflowId?: string }) {
  const [filters, setFilters] = useState<RunFilters>(ALL_RUNS);
  const asked = useDeferredValue(filters);
  const runs = useRuns(workflowId ? { ...asked, workflow: workflowId } : asked);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const editing = useDialog((close, { id, workflow_id }: RunSummary) =>
    workflow_id ? <EditInput runId={id} workflowId={workflow_id} onClose={close} /> : null,
  );
  const remove = useRemove(() => setChosen(new Set()));
  // Don't delete runs that are no longer in the list.
  const inView = runs.items.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
  const deletable = runs.items.filter(({ status }) => status === "finished").map(({ id }) => id);

  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };

  return (
    <div className="flex min-w-0 flex-col gap-3">
      <RunFilterBar filters={filters} onChange={setFilters} hasWorkflow={workflowId !== undefined} />
      {inView.length > 0 ? (
        <ChosenBar
          ids={inView}
          isAll={inView.length === deletable.length}
          isPending={remove.isPending}
          onAll={() => setChosen(new Set(deletable))}
          onNone={() => setChosen(new Set())}
          onRemove={() => remove.ask(inView)}
        />
      ) : null}
      <Content
        runs={runs}
        isNarrowed={isNarrowed(asked)}
        isOfOne={workflowId !== undefined}
        onShowAll={() => setFilters(ALL_RUNS)}
      >
        {(run) => (
          <RunRow
            key={run.id}
            run={run}
            hasName={workflowId === undefined}
            isChosen={chosen.has(run.id)}
            onChoose={(isChosen) => choose(run.id, isChosen)}
            onRemove={({ id }) => remove.ask([id])}
            onEditInput={editing.open}
          />
        )}
      </Content>
      {runs.hasMore ? (
        <Button className="self-center" pending={runs.isLoadingMore} onClick={runs.loadMore}>
          Show more runs
        </Button>
      ) : null}
      <p aria-live="polite" className="sr-only">
        {isNarrowed(asked) && !runs.isLoading
          ? `${runs.items.length}${runs.hasMore ? " or more" : ""} found`
          : ""}
      </p>
      {editing.dialog}
    </div>
  );
}

function Content({
  runs,
  isNarrowed,
  isOfOne,
  onShowAll,
  children,
}: {
  runs: ReturnType<typeof useRuns>;
  isNarrowed: boolean;
  isOfOne: boolean;
  onShowAll: () => void;
  children: (run: RunSummary) => ReactNode;
}) {
  if (runs.isLoading)
    return (
      <div className="flex flex-col gap-2">
        {[0, 1, 2, 3].map((at) => (
          <Skeleton key={at} className="h-20" />
        ))}
      </div>
    );
  if (runs.error)
    return (
      <EmptyState
        icon={<History />}
        title="Couldn't load runs"
        actions={<Button onClick={runs.reload}>Try again</Button>}
      >
        {runs.error}
      </EmptyState>
    );
  if (runs.items.length > 0)
    return (
      <ul
        aria-label="Runs"
        className="flex flex-col divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface"
      >
        {runs.items.map(children)}
      </ul>
    );
  return isNarrowed ? (
    <EmptyState
      icon={<History />}
      title="No matching runs"
      actions={<Button onClick={onShowAll}>Show all</Button>}
    />
  ) : (
    <EmptyState icon={<History />} title="No runs yet">
      {isOfOne ? "Run this workflow to see its runs here." : "Run a workflow to see its runs here."}
    </EmptyState>
  );
}

function ChosenBar({
  ids,
  isAll,
  isPending,
  onAll,
  onNone,
  onRemove,
}: {
  ids: readonly string[];
  isAll: boolean;
  isPending: boolean;
  onAll: () => void;
  onNone: () => void;
  onRemove: () => void;
}) {
  // The list begins with the newest.
  const [later, earlier] = ids;
  return (
    <div
      role="toolbar"
      aria-label="Selected runs"
      className="sticky top-2 z-20 flex flex-wrap items-center gap-2 rounded-xl border border-line-strong bg-raised px-4 py-2 shadow-2 max-sm:px-3"
    >
      <p role="status" className="mr-auto text-[13px] font-medium max-sm:w-full max-sm:px-1">
        {countOf(ids.length, "run")} selected
      </p>
      {earlier !== undefined && later !== undefined && ids.length === 2 ? (
        <ButtonLink
          size="sm"
          icon={<GitCompare aria-hidden />}
          href={`/runs/compare?a=${encodeURIComponent(earlier)}&b=${encodeURIComponent(later)}`}
        >
          Compare
        </ButtonLink>
      ) : null}
      {isAll ? null : (
        <Button size="sm" variant="ghost" onClick={onAll}>
          Select all shown
        </Button>
      )}
      <Button size="sm" variant="ghost" onClick={onNone}>
        Clear selection
      </Button>
      <Button
        size="sm"
        variant="danger"
        icon={<Trash2 aria-hidden />}
        pending={isPending}
        onClick={onRemove}
        className="max-sm:ml-auto"
      >
        Delete
      </Button>
    </div>
  );
}

/** Puts runs into the bin; the toast takes them out again. */
function useRemove(onDone: () => void) {
  const trpc = useTrpc();
  const client = useTrpcClient();
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries(trpc.runs.pathFilter());
  const bringBack = async (ids: readonly string[]) => {
    await restoreAll(client, ids).catch((error: unknown) =>
      toast(toApiError(error).message, { tone: "error" }),
    );
    await refresh();
  };
  const remove = useMutation(
    trpc.runs.removeMany.mutationOptions({
      onSuccess: ({ removed }, { run_ids }) => {
        onDone();
        void refresh();
        const left = run_ids.length - removed.length;
        if (removed.length > 0)
          toast(`Deleted ${countOf(removed.length, "run")}`, {
            ...defined({
              detail:
                left > 0
                  ? `${countOf(left, "other")} not deleted: still running or already deleted.`
                  : undefined,
            }),
            undo: () => void bringBack(removed),
          });
        else toast("Nothing deleted. Only finished runs can be deleted.", { tone: "error" });
      },
      onError: (error) => toast(toApiError(error).message, { tone: "error" }),
    }),
  );
  return { isPending: remove.isPending, ask: (run_ids: string[]) => remove.mutate({ run_ids }) };
}

async function restoreAll(client: ReturnType<typeof useTrpcClient>, ids: readonly string[]): Promise<void> {
  for (const id of ids) await client.bin.restore.mutate({ kind: "run", id });
}

/** The first page begins after no run. */
const firstPlace = (): RunPlace | null => null;

/** One list, page by page; polled while something runs, so that it needs no stream of its own. */
function useRuns(filters: RunFilters) {
  const client = useTrpcClient();
  const trpc = useTrpc();
  const query = useInfiniteQuery({
    queryKey: [...trpc.runs.list.pathKey(), "history", filters],
    queryFn: ({ pageParam }) =>
      client.runs.list.query({
        limit: PAGE,
        ...askedFor(filters),
        ...defined({ after: pageParam || undefined }),
      }),
    initialPageParam: firstPlace(),
    getNextPageParam: (page) => {
      const last = page.length < PAGE ? undefined : page.at(-1);
      return last ? placeAfter(last, filters.order) : undefined;
    },
    // Another choice shows what was there until its own answer comes.
    placeholderData: keepPreviousData,
    // A filter by outcome says nothing about runs in progress.
    refetchInterval: ({ state }) =>
      filters.standing !== "all" || state.data?.pages.flat().some((run) => run.status !== "finished")
        ? 2_000
        : 15_000,
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
