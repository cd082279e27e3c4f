"use client";

import { AlertDialog } from "@base-ui/react/alert-dialog";
import type { ReactNode } from "react";
import { Button } from "../button";

export interface ConfirmDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: ReactNode;
  children?: ReactNode;
  /** Verb and object, such as "Delete role". */
  confirm: string;
  cancel?: string | undefined;
  danger?: boolean | undefined;
  pending?: boolean | undefined;
  onConfirm: () => unknown;
}

/** Asks before an action that cannot be undone. If it can, use a toast with undo instead. */
export function ConfirmDialog({
  open,
  onOpenChange,
  title,
  description,
  children,
  confirm,
  cancel = "Cancel",
  danger,
  pending,
  onConfirm,
}: ConfirmDialogProps) {
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 z-50 bg-[oklch(0.2_0.03_330/0.35)] transition-opacity duration-150 data-[ending-style]:opacity-0 data-[starting-style]:opacity-0 dark:bg-black/60" />
        <AlertDialog.Viewport className="fixed inset-0 z-50 flex items-end justify-center sm:items-center sm:p-6">
          <AlertDialog.Popup className="w-full rounded-t-2xl border border-line bg-surface shadow-3 outline-none transition-[opacity,translate] duration-150 data-[ending-style]:translate-y-2 data-[starting-style]:translate-y-2 data-[ending-style]:opacity-0 data-[starting-style]:opacity-0 motion-reduce:transition-none sm:max-w-105 sm:rounded-xl">
            <div className="flex flex-col gap-2 p-5">
              <AlertDialog.Title className="text-base font-semibold">{title}</AlertDialog.Title>
              {description ? (
                <AlertDialog.Description className="text-sm text-ink-2">
                  {description}
                </AlertDialog.Description>
              ) : null}
              {children}
            </div>
            <div className="flex justify-end gap-2 border-t border-line px-5 py-3">
              <AlertDialog.Close render={<Button>{cancel}</Button>} />
              <Button variant={danger ? "danger" : "primary"} pending={pending} onClick={onConfirm}>
                {confirm}
              </Button>
            </div>
          </AlertDialog.Popup>
        </AlertDialog.Viewport>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
