"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import dynamic from "next/dynamic";
import { useRouter } from "next/navigation";
import { createContext, type ReactNode, useContext, useState } from "react";
import { toApiError, useTrpc } from "@/components/trpc";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { toast } from "@/components/ui/toasts";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { differences } from "@/server/domain/graph/version/differences";
import { useRun, useRunViewStore } from "../run-context";
import { newIdempotencyKey } from "./idempotency";

const EditInput = dynamic(() => import("./edit-input").then((m) => m.EditInput), { ssr: false });

/** What can be started from a run that has ended. */
export interface RunAgain {
  /** The workflow was deleted: nothing can be started. */
  isGone: boolean;
  isPending: boolean;
  /** Starts today's workflow with this run's input. */
  start: () => void;
  /** Opens the sheet with this run's input in it. */
  editInput: () => void;
}

const RunAgainContext = createContext<RunAgain | null>(null);

/** What the run's page offers; null beside a run's page. */
export const useRunAgain = (): RunAgain | null => useContext(RunAgainContext);

/** One "run again" for the whole page, so that two buttons never start two runs. */
export function RunAgainProvider({
  runId,
  workflowId,
  children,
}: {
  runId: string;
  workflowId: string;
  children: ReactNode;
}) {
  const { graph, isGone } = useTodaysWorkflow(workflowId);
  const { isPending, start } = useStartAgain(runId, workflowId, graph);
  const editing = useDialog((close) => <EditInput runId={runId} workflowId={workflowId} onClose={close} />);
  return (
    <RunAgainContext value={{ isGone, isPending, start, editInput: editing.open }}>
      {children}
      {editing.dialog}
    </RunAgainContext>
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

/** A note if the workflow has changed since the run. */
function useStartAgain(runId: string, workflowId: string, today: WorkflowGraph | undefined) {
  const router = useRouter();
  const store = useRunViewStore();
  // One key per page: several clicks start one run.
  const [key] = useState(newIdempotencyKey);
  const start = useMutation(
    useTrpc().runs.start.mutationOptions({
      onSuccess: ({ run_id }) => {
        router.push(`/workflows/${workflowId}/runs/${run_id}`);
        const changes = today && store ? changesSince(store.view.getState().head.graph, today) : null;
        if (changes)
          toast("Running the current workflow version", { detail: `Changed since that run: ${changes}` });
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
      start.mutate({ workflow_id: workflowId, input, from_run: runId, idempotency_key: key });
    },
  };
}

const NAMED = 3;

/** How a workflow has changed since a run; null if nodes only moved. */
export function changesSince(then: WorkflowGraph, now: WorkflowGraph): string | null {
  const changes = differences({ name: "", graph: then }, { name: "", graph: now }).filter(
    ({ kind }) => kind !== "moved",
  );
  if (changes.length === 0) return null;
  const named = changes.slice(0, NAMED).map(({ kind, text }) => `${text} ${kind}`);
  const more = changes.length - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
