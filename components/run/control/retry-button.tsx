"use client";

import { useMutation } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { useRun } from "@/components/run/run-context";
import { useRunPage } from "@/components/run/run-page-context";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";

/** Retries a failed node; a run that ended because of it continues. Nothing if it can't be retried. */
export function RetryButton({
  activationId,
  label = "Retry",
  ...buttonProps
}: {
  activationId: string;
  label?: string;
  size?: "sm";
  variant?: "primary";
}) {
  const page = useRunPage();
  const canRetry = useRun(({ head }) => {
    const { run, failing, activations } = head;
    const activation = activations[activationId];
    if (activation?.waiting?.for === "retry") return true;
    if (!activation?.ends_run) return false;
    return (
      run.status !== "finished" || (run.final_status === "ERROR" && failing?.activation_id !== undefined)
    );
  }, false);
  const retry = useMutation(
    useTrpc().runs.retry.mutationOptions({
      onSuccess: () => page?.onResumed(),
    }),
  );
  if (!page || page.held || !canRetry) return null;
  return (
    <Button
      {...buttonProps}
      icon={<RotateCw aria-hidden />}
      pending={retry.isPending}
      onClick={() => retry.mutate({ run_id: page.runId, activation_id: activationId })}
    >
      {label}
    </Button>
  );
}
