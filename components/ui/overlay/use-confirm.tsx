import { type ReactNode, useState } from "react";
import { ConfirmDialog, type ConfirmDialogProps } from "./confirm-dialog";

/**
 * A confirmation behind a button or a menu entry:
 * `const removal = useConfirm({ …, onConfirm: () => remove.mutateAsync({ id }) })`, then `removal.open` and
 * `removal.dialog`. The dialog stays open until the promise settles; the mutation itself reports its error.
 */
export function useConfirm({
  onConfirm,
  ...question
}: Omit<ConfirmDialogProps, "open" | "onOpenChange" | "pending">): { open: () => void; dialog: ReactNode } {
  const [open, setOpen] = useState(false);
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
        {...{ ...question, open, pending }}
        onOpenChange={setOpen}
        onConfirm={() => void confirm()}
      />
    ),
  };
}
