"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { toApiError, useTrpc } from "@/components/trpc";
import { toast } from "@/components/ui/toasts";
import { LaunchDialog } from "./launch-dialog";

/** The sheet that starts a workflow, with the input of an earlier run in it. */
export function EditInput({
  runId,
  workflowId,
  onClose,
}: {
  runId: string;
  workflowId: string;
  onClose: () => void;
}) {
  const trpc = useTrpc();
  const workflow = useQuery(trpc.workflows.get.queryOptions({ id: workflowId }));
  const earlier = useQuery(trpc.runs.input.queryOptions({ run_id: runId }));
  const error = workflow.error ?? earlier.error;
  useEffect(() => {
    if (!error) return;
    toast(toApiError(error).message, { tone: "error" });
    onClose();
  }, [error, onClose]);
  if (!workflow.data || !earlier.data) return null;
  return (
    <LaunchDialog
      workflowId={workflowId}
      graph={workflow.data.graph}
      name={workflow.data.name}
      initialInput={earlier.data.input}
      fromRun={runId}
      onClose={onClose}
    />
  );
}
