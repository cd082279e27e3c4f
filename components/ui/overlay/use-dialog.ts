import { type ReactNode, useState } from "react";

/**
 * A dialog behind a button or a menu entry, mounted only while it is open, so that it can be loaded when it is needed:
 * `const fork = useDialog((close) => <ForkDialog onClose={close} />)`, then `fork.open` and `fork.dialog`.
 */
export function useDialog(render: (close: () => void) => ReactNode): { open: () => void; dialog: ReactNode } {
  const [isOpen, setOpen] = useState(false);
  return { open: () => setOpen(true), dialog: isOpen ? render(() => setOpen(false)) : null };
}
