"use client";

import dynamic from "next/dynamic";
import type { WorkflowActions } from "./workflow-actions";

const ConfirmDialog = dynamic(
  () => import("@/components/ui/overlay/confirm-dialog").then((m) => m.ConfirmDialog),
  { ssr: false },
);

/** Asks before deleting a workflow that others run. Render it wherever workflows can be deleted. */
export function RemoveUsed({ actions: { used, settleUsed } }: { actions: WorkflowActions }) {
  if (!used) return null;
  const { name, callers, remove } = used;
  return (
    <ConfirmDialog
      open
      danger
      title={`Delete “${name}”?`}
      description={
        callers.length === 1
          ? "Another workflow runs it and can't run without it:"
          : `${callers.length} workflows run it and can't run without it:`
      }
      confirm="Delete workflow"
      pending={false}
      onOpenChange={(isOpen) => isOpen || settleUsed()}
      onConfirm={() => {
        settleUsed();
        void remove();
      }}
    >
      <ul className="mt-1 flex max-h-40 list-disc flex-col gap-1 overflow-y-auto pl-5 text-sm">
        {callers.map((caller) => (
          <li key={caller.id}>{caller.name}</li>
        ))}
      </ul>
    </ConfirmDialog>
  );
}
