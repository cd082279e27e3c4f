"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { countOf } from "@/components/display/format";
import { FormDialog } from "@/components/forms/form-dialog";
import { useInvalidate, useTrpc, useTrpcClient } from "@/components/trpc";
import { TextField } from "@/components/ui/input/text-field";
import { toast } from "@/components/ui/toasts";
import type { Trigger } from "./trigger-kinds";

const DAY_MS = 86_400_000;

/** Unix milliseconds as the value of a datetime-local field. */
function toLocal(at: number): string {
  const shifted = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

/** Null while a field is incomplete. */
const toInstant = (local: string): string | null => {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
};

/** Runs a schedule for past planned times, after showing how many there are. */
export function BackfillDialog({
  trigger,
  since,
  onClose,
}: {
  trigger: Trigger;
  /** The oldest missed time. */
  since?: number | undefined;
  onClose: () => void;
}) {
  const trpc = useTrpc();
  const [range, setRange] = useState(() => ({
    from: toLocal(since ?? Date.now() - DAY_MS),
    // To the end of this minute.
    to: toLocal(Date.now() + 60_000),
  }));
  const from = toInstant(range.from);
  const to = toInstant(range.to);
  const asked = { trigger_id: trigger.id, from: from ?? "", to: to ?? "" };
  const isWhole = from !== null && to !== null && from < to;
  const client = useTrpcClient();
  // Without `confirm`, it only counts planned times.
  const preview = useQuery({
    queryKey: ["backfill", asked],
    queryFn: () => client.triggers.backfill.mutate(asked),
    enabled: isWhole,
    retry: false,
  });
  const refresh = useInvalidate("triggers", "runs");
  const backfill = useMutation(
    trpc.triggers.backfill.mutationOptions({
      onSuccess: ({ count }) => {
        void refresh();
        toast(`Queued ${countOf(count, "run")}`);
        onClose();
      },
      onError: () => {},
    }),
  );
  const count = preview.data?.count;
  return (
    <FormDialog
      title="Backfill"
      description="Runs the schedule for past planned times that have no run: one after another, or in parallel if its overlap policy allows it."
      submit={count ? `Start ${countOf(count, "run")}` : "Backfill"}
      mutation={backfill}
      error={preview.error?.message}
      isIncomplete={!isWhole || !count}
      onSubmit={() => backfill.mutate({ ...asked, confirm: true })}
      onClose={onClose}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        {(["from", "to"] as const).map((key) => (
          <TextField
            key={key}
            type="datetime-local"
            label={key === "from" ? "From" : "Before"}
            hint={`In ${Intl.DateTimeFormat().resolvedOptions().timeZone}`}
            value={range[key]}
            onValueChange={(text) => setRange({ ...range, [key]: text })}
          />
        ))}
      </div>
      <p role="status" className="text-[13px] text-ink-2">
        {isWhole
          ? preview.data && `${countOf(preview.data.count, "planned time")} without a run`
          : "Choose a start before the end."}
      </p>
    </FormDialog>
  );
}
