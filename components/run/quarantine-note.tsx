"use client";

import { useMutation } from "@tanstack/react-query";
import clsx from "clsx";
import { Ban, OctagonPause, RotateCw } from "lucide-react";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { TimeText } from "@/components/ui/time-text";
import type { QuarantineReason } from "@/server/domain/run/quarantine";

/** What may be done with a run that is held. */
export function HeldActions({
  runId,
  held: { code, retry_at },
  size,
}: {
  runId: string;
  held: QuarantineReason;
  size?: "sm";
}) {
  const trpc = useTrpc();
  const onSettled = useInvalidate("runs");
  const again = useMutation(trpc.runs.tryAgain.mutationOptions({ onSettled }));
  const cancel = useMutation(trpc.runs.cancel.mutationOptions({ onSettled }));
  const isBusy = again.isPending || cancel.isPending;
  return (
    <span className="flex shrink-0 items-center gap-2">
      {retry_at !== undefined && (
        <span className="text-[13px] text-ink-2">Next retry at {clock(retry_at)}</span>
      )}
      <Button
        size={size}
        // If its engine may come back, waiting is better.
        variant={code === "engine_missing" ? "secondary" : "primary"}
        icon={<RotateCw aria-hidden />}
        pending={again.isPending}
        disabled={isBusy}
        onClick={() => again.mutate({ run_id: runId })}
      >
        Retry
      </Button>
      <Button
        size={size}
        variant="danger"
        icon={<Ban aria-hidden />}
        pending={cancel.isPending}
        disabled={isBusy}
        onClick={() => cancel.mutate({ run_id: runId })}
      >
        Cancel
      </Button>
    </span>
  );
}

const clock = (at: number) => new Date(at).toLocaleTimeString("en-GB", { hour12: false });

/** Says why and since when a run is quarantined, and offers actions. */
export function QuarantineNote({
  runId,
  held,
  className,
}: {
  runId: string;
  held: QuarantineReason;
  className?: string;
}) {
  return (
    <div
      role="status"
      className={clsx(
        "flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-failed/35 bg-failed/6 px-4 py-2.5 text-[13px]",
        className,
      )}
    >
      <OctagonPause aria-hidden className="size-4 shrink-0 text-failed" />
      <p className="min-w-0 flex-1 basis-72 [overflow-wrap:anywhere]">
        <span className="font-medium">
          Quarantined <TimeText at={held.at} />:
        </span>{" "}
        {held.message}
      </p>
      <HeldActions runId={runId} held={held} size="sm" />
    </div>
  );
}
