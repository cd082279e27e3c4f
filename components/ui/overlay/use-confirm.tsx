import { type ReactNode, useState } from "react";
import { ConfirmDialog, type ConfirmDialogProps } from "./confirm-dialog";

export interface Confirmation extends Omit<ConfirmDialogProps, "open" | "onOpenChange" | "pending"> {
  /** The dialog stays open until the returned promise settles. Whoever rejects it also reports the error. */
  onConfirm: () => unknown;
}

/**
 * A confirmation behind a button or a menu entry:
 * `const removal = useConfirm({ …, onConfirm: () => remove.mutateAsync({ id }) })`, then `removal.open` and
 * `removal.dialog`.
 */
export function useConfirm({ onConfirm, ...question }: Confirmation): {
  open: () => void;
  dialog: ReactNode;
} {
  const [isOpen, setOpen] = useState(false);
  const [pending, setPending] = useState(false);
  const confirm = async () => {
    setPending(true);
    await Promise.resolve(onConfirm()).catch(() => undefined);
    setPending(false);
    setOpen(false);
  };
  return {
    open: () => setOpen(true),
    dialog: (
      <ConfirmDialog
        {...question}
        {...{ open: isOpen, onOpenChange: setOpen, pending }}
        onConfirm={() => void confirm()}
      />
    ),
  };
}
