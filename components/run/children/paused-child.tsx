"use client";

import { skipToken, useMutation, useQuery } from "@tanstack/react-query";
import { CirclePause } from "lucide-react";
import { useEffect } from "react";
import { type Answers, useInvalidate, useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import type { RunState } from "@/server/domain/run";
import { useRun, useRunViewStore } from "../run-context";
import { useRunPage } from "../run-page-context";
import { runHref } from "./child-runs";

type Summary = Answers["runs"]["children"][number];

const NONE: readonly Summary[] = [];
const isPaused = ({ status }: Summary) => status === "paused";

/** The runs that the current run started and that have not ended; empty in the past. No event of it reports a pause. */
function useOpenChildren(runId: string): readonly Summary[] {
  const enabled = useRun(({ head, cursor }) => cursor === null && hasOpenChild(head), false);
  const { data } = useQuery({
    ...useTrpc().runs.children.queryOptions({ run_id: runId, status: "running", limit: 200 }),
    enabled,
    refetchInterval: 2_000,
  });
  return (enabled && data) || NONE;
}

function hasOpenChild({ children, run }: RunState): boolean {
  if (run.status === "finished") return false;
  for (const { status } of children.values()) if (status === "running") return true;
  return false;
}

const nodeIdOf = ({ parent }: Summary) =>
  parent?.activation_id.slice(0, parent.activation_id.lastIndexOf("#"));

/** A paused run of a node, for example because its parent is stepped through. */
export const usePausedChild = (runId: string, nodeId: string): Summary | undefined =>
  useOpenChildren(runId).find((child) => isPaused(child) && nodeIdOf(child) === nodeId);

/** Where a run is paused that has nothing else to do: the child run, and as text ("Summaries, item 3"); else null. */
export function usePausedBelow(runId: string): { child: Summary; where: string } | null {
  const open = useOpenChildren(runId);
  const onlyWaits = useRun(
    ({ head: { run, running, ready, activations } }) =>
      !run.paused_at &&
      ready.length === 0 &&
      [...running].every((id) => activations[id]?.waiting?.for === "run"),
    false,
  );
  const child = onlyWaits && open.every(isPaused) ? open[0] : undefined;
  const nodeId = child && nodeIdOf(child);
  const name = useRun(({ head }) => (nodeId && head.graph.nodes[nodeId]?.name) || nodeId, undefined);
  if (!child) return null;
  const item = child.parent?.item ?? null;
  return { child, where: item === null ? `${name}` : `${name}, item ${item + 1}` };
}

/** Continues a child run without stepping through it. */
export function useStepOver() {
  const invalidate = useInvalidate("runs");
  const resume = useMutation(useTrpc().runs.resume.mutationOptions({ onSettled: invalidate }));
  return { isPending: resume.isPending, stepOver: (run_id: string) => resume.mutate({ run_id }) };
}

/** When something last happened in a run, in Unix milliseconds; null without a run, and until it is known. */
function useLastTime(run_id: string | undefined): number | null {
  const trpc = useTrpc();
  const seq = useQuery(trpc.runs.get.queryOptions(run_id === undefined ? skipToken : { run_id })).data
    ?.last_seq;
  const isKnown = run_id !== undefined && seq !== undefined && seq > 0;
  const { data } = useQuery(
    trpc.runs.events.queryOptions(isKnown ? { run_id, after: seq - 1, limit: 1 } : skipToken),
  );
  return (isKnown && data?.events[0]?.ts) || null;
}

/** Shown above the page while the run only waits for a paused child run: where, and how to continue. Stops its clock. */
export function PausedBelowBar() {
  const runId = useRunPage()?.runId ?? "";
  const paused = usePausedBelow(runId);
  const { isPending, stepOver } = useStepOver();
  const store = useRunViewStore();
  const since = useLastTime(paused?.child.id);
  useEffect(() => store?.setPausedBelow(since), [store, since]);
  if (!paused) return null;
  const { child, where } = paused;
  return (
    <div
      role="status"
      aria-label="Paused child run"
      className="flex shrink-0 flex-wrap items-center gap-x-2 gap-y-1.5 border-b border-waiting/40 bg-waiting/10 px-4 py-2 text-[13px]"
    >
      <CirclePause aria-hidden className="size-4 shrink-0 text-waiting" />
      <p className="min-w-0 flex-1 font-medium [overflow-wrap:anywhere]">Paused in {where}</p>
      <ButtonLink size="sm" href={runHref(child.id)}>
        Step into
      </ButtonLink>
      <Button size="sm" pending={isPending} onClick={() => stepOver(child.id)}>
        Step over
      </Button>
    </div>
  );
}
