"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { toast } from "@/components/ui/toasts";

const KINDS = {
  webhook: "The webhook",
  schedule: "The schedule",
  form: "The form",
  workflow: "The “Workflow ended” trigger",
} as const;

/** Triggers that keep failing, most of them disabled. They need attention, although no run asks a question. */
export function DisabledTriggers() {
  const trpc = useTrpc();
  const invalidate = useInvalidate("triggers");
  const disabled = useQuery(trpc.triggers.disabled.queryOptions()).data ?? [];
  const enable = useMutation(
    trpc.triggers.save.mutationOptions({
      onSuccess: () => toast("The trigger is on"),
      onSettled: () => void invalidate(),
    }),
  );
  if (disabled.length === 0) return null;
  return (
    <ul
      aria-label="Failing triggers"
      className="mb-3 divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface"
    >
      {disabled.map(({ id, kind, workflow_id, workflow_name, enabled, disabled_reason }) => (
        <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-2 p-3 text-[13px]">
          <span className="min-w-0 grow">
            {KINDS[kind]} of{" "}
            <Link
              href={`/workflows/${workflow_id}`}
              className="font-medium text-accent hover:text-accent-hover"
            >
              {workflow_name}
            </Link>{" "}
            {enabled ? "is on, but its last runs failed." : `is off: ${disabled_reason}`}
          </span>
          <Button
            onClick={() => enable.mutate({ trigger_id: id, enabled: true })}
            disabled={enable.isPending}
          >
            {enabled ? "Dismiss" : "Enable trigger"}
          </Button>
        </li>
      ))}
    </ul>
  );
}
