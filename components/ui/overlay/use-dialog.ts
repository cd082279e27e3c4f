import { type ReactNode, useState } from "react";

/**
 * A dialog behind a button or a menu entry. It is mounted only while open, so it can load on demand:
 * `const fork = useDialog((close) => <ForkDialog onClose={close} />)`, then `fork.open` and `fork.dialog`. `open`
 * passes its arguments on to `render`.
 */
export function useDialog<Args extends unknown[] = []>(
  render: (close: () => void, ...args: Args) => ReactNode,
): { open: (...args: Args) => void; dialog: ReactNode } {
  const [args, setArgs] = useState<Args | null>(null);
  return {
    open: (...next) => setArgs(next),
    dialog: args ? render(() => setArgs(null), ...args) : null,
  };
}
