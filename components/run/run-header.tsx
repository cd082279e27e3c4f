"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowLeft, Ban, Ellipsis, Pencil, RotateCcw } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { type ReactNode, useEffect, useState } from "react";
import { formatCost, formatTokens } from "@/components/display/format";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/menu";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { StatusMark, statusWord } from "@/components/ui/status-mark";
import { toast } from "@/components/ui/toasts";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { RunState } from "@/server/domain/run";
import { changesSince } from "./changes-since";
import { RunElapsed } from "./elapsed";
import { newIdempotencyKey } from "./idempotency";
import { RaiseLimit } from "./raise-limit";
import { useRun, useRunViewStore } from "./run-context";
import { runStatus } from "./status";

/** What the run is, how it stands, what it took, and what can be done about it. */
export function RunHeader({
  runId,
  workflowId,
  isHeld,
  onResumed,
}: {
  runId: string;
  workflowId: string;
  /** What can be done about it then stands elsewhere. */
  isHeld: boolean;
  onResumed: () => void;
}) {
  const name = useRun(({ head }) => head.run.workflow_name, "");
  const isSimulated = useRun(({ head }) => head.run.simulated, false);
  const isGone = useTodaysWorkflow(workflowId).isGone;
  usePageTitle(name, isHeld);
  return (
    <header className="flex shrink-0 flex-wrap items-center gap-x-5 gap-y-1 border-b border-line bg-surface px-3 py-2 md:min-h-14 md:px-4">
      <div className="flex min-w-0 flex-1 items-center gap-2">
        <Link
          href={isGone ? "/runs" : `/workflows/${workflowId}`}
          aria-label={isGone ? "All runs" : "Back to the workflow"}
          className="inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-ink-2 hover:bg-ink/6 hover:text-ink pointer-coarse:size-10"
        >
          <ArrowLeft aria-hidden className="size-4" />
        </Link>
        <h1 className="min-w-0 truncate text-[15px] font-semibold">{name || "Run"}</h1>
        <RunStatus isHeld={isHeld} />
        {isSimulated ? <SimulatedBadge className="max-sm:hidden" /> : null}
      </div>
      <RunFacts />
      <Actions runId={runId} workflowId={workflowId} isHeld={isHeld} onResumed={onResumed} />
      {isGone ? <GoneNote workflowId={workflowId} /> : null}
    </header>
  );
}

/** The workflow as it is now, once the run has ended: what can be run again. */
function useTodaysWorkflow(workflowId: string) {
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  const { data, error } = useQuery({
    ...useTrpc().workflows.get.queryOptions({ id: workflowId }),
    enabled: isOver,
  });
  return { graph: data?.graph, isGone: error !== null && toApiError(error).code === "NOT_FOUND" };
}

/** What it means for a run that its workflow was deleted. */
function GoneNote({ workflowId }: { workflowId: string }) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const restore = useMutation(
    trpc.workflows.restore.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.workflows.pathFilter()),
      onError: () => toast("It cannot be brought back any more.", { tone: "error" }),
    }),
  );
  return (
    <p className="order-last flex w-full flex-wrap items-center gap-x-4 text-[13px] text-ink-2 max-md:px-1">
      The workflow of this run was deleted; what happened in the run is kept.
      <Button
        size="sm"
        variant="ghost"
        className="-ml-2.5"
        pending={restore.isPending}
        onClick={() => restore.mutate({ id: workflowId })}
      >
        Bring the workflow back
      </Button>
    </p>
  );
}

function RunStatus({ isHeld }: { isHeld: boolean }) {
  const run = useRun<RunState["run"] | null>(({ state }) => state.run, null);
  const isWaiting = useRun(({ state }) => run?.status === "running" && isOnlyWaiting(state), false);
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  if (!run && !isHeld) return null;
  const status = isHeld || !run ? "held" : isWaiting ? "waiting" : runStatus(run.status, run.final_status);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a few words, not a set of fields
    <span role="group" aria-label="Status of the run" className="flex shrink-0 items-center gap-2">
      <StatusMark status={status} withWord />
      {isPast ? (
        <span className="rounded-md bg-accent-soft px-1.5 text-xs leading-5 text-accent">In the past</span>
      ) : null}
    </span>
  );
}

/** The tab says how the run stands, for whoever looks at another one meanwhile. */
function usePageTitle(name: string, isHeld: boolean): void {
  const told = useRun(({ head }) => statusWord(runStatus(head.run.status, head.run.final_status)), "");
  const word = isHeld ? statusWord("held") : told;
  useEffect(() => {
    if (name) document.title = `${word}: ${name} · Troupe`;
  }, [name, word]);
}

/** Nothing moves until a timer rings or a person answers. */
function isOnlyWaiting(state: RunState): boolean {
  if (state.running.size === 0 || state.ready.length > 0) return false;
  for (const id of state.running) if (state.activations[id]?.status !== "waiting") return false;
  return true;
}

function RunFacts() {
  const totals = useRun<RunState["totals"] | null>(({ state }) => state.totals, null);
  const isSimulated = useRun(({ head }) => head.run.simulated, false);
  if (!totals) return null;
  const { usage, cost_usd, unknown_cost_calls } = totals;
  const isFree = isSimulated && cost_usd === 0 && unknown_cost_calls === 0;
  return (
    <div className="flex shrink-0 items-center gap-4 text-[13px] tabular-nums max-md:order-3 max-md:w-full max-md:flex-wrap max-md:justify-between max-md:gap-y-1 max-md:px-1">
      <dl className="flex items-center gap-4 max-sm:gap-3">
        <Fact name="Time">
          <RunElapsed />
        </Fact>
        <Fact name="Tokens">
          <span title={`${formatTokens(usage.input_tokens)} in, ${formatTokens(usage.output_tokens)} out`}>
            {formatTokens(usage.input_tokens + usage.output_tokens)}
          </span>
        </Fact>
        <Fact name="Cost">{isFree ? "None" : formatCost(cost_usd, unknown_cost_calls)}</Fact>
      </dl>
      {isSimulated ? <SimulatedBadge className="sm:hidden" /> : null}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex items-baseline gap-1.5 whitespace-nowrap">
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="min-w-8 font-medium">{children}</dd>
    </div>
  );
}

function Actions({
  runId,
  workflowId,
  isHeld,
  onResumed,
}: {
  runId: string;
  workflowId: string;
  isHeld: boolean;
  onResumed: () => void;
}) {
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  const isResumable = useRun(({ head }) => (head.run.resumable?.length ?? 0) > 0, false);
  const isKnown = useRun(({ lastSeq }) => lastSeq > 0, false);
  const { graph, isGone } = useTodaysWorkflow(workflowId);
  const again = useRunAgain(workflowId, graph);
  const cancel = useCancel(runId);
  if (!isKnown) return null;
  return (
    <div className="flex shrink-0 items-center gap-2">
      {isOver && isResumable ? <RaiseLimit runId={runId} onRaised={onResumed} /> : null}
      {isOver || isHeld ? null : (
        <Button
          variant="danger"
          icon={<Ban aria-hidden />}
          pending={cancel.isPending}
          onClick={cancel.ask}
          className="max-sm:px-2.5"
        >
          <span className="max-sm:sr-only">Cancel</span>
        </Button>
      )}
      {isOver && !isGone ? (
        <Button
          variant={isResumable ? "secondary" : "primary"}
          icon={<RotateCcw aria-hidden />}
          pending={again.isPending}
          onClick={again.start}
          className="max-md:hidden"
        >
          Run again
        </Button>
      ) : null}
      {isGone ? null : (
        <>
          <ButtonLink
            href={`/workflows/${workflowId}`}
            icon={<Pencil aria-hidden />}
            className="max-md:hidden"
          >
            Edit workflow
          </ButtonLink>
          <span className="md:hidden">
            <Menu
              align="end"
              trigger={<IconButton label="More" icon={<Ellipsis aria-hidden />} plain />}
              items={[
                { label: "Run again", icon: <RotateCcw />, onSelect: again.start, disabled: !isOver },
                { label: "Edit workflow", icon: <Pencil />, href: `/workflows/${workflowId}` },
              ]}
            />
          </span>
        </>
      )}
    </div>
  );
}

function useCancel(runId: string) {
  const cancel = useMutation(
    useTrpc().runs.cancel.mutationOptions({
      onError: (error) => toast(toApiError(error).message, { tone: "error" }),
    }),
  );
  return { isPending: cancel.isPending, ask: () => cancel.mutate({ run_id: runId }) };
}

/** Starts today's workflow with this run's input, and says so where it is not the one that ran. */
function useRunAgain(workflowId: string, today: WorkflowGraph | undefined) {
  const router = useRouter();
  const store = useRunViewStore();
  // One key for as long as this page stands: however often it is clicked, one run starts.
  const [key] = useState(newIdempotencyKey);
  const start = useMutation(
    useTrpc().runs.start.mutationOptions({
      onSuccess: ({ run_id }) => {
        router.push(`/workflows/${workflowId}/runs/${run_id}`);
        const changes = today && store ? changesSince(store.view.getState().head.graph, today) : null;
        if (changes)
          toast("This runs the workflow as it is now", { detail: `Changed since that run: ${changes}` });
      },
      onError: (error) =>
        toast(toApiError(error).message, {
          tone: "error",
          action: { label: "Edit workflow", onSelect: () => router.push(`/workflows/${workflowId}`) },
        }),
    }),
  );
  return {
    isPending: start.isPending,
    start: () => {
      if (!store) return;
      const { input } = store.view.getState().head;
      start.mutate({ workflow_id: workflowId, input, idempotency_key: key });
    },
  };
}
