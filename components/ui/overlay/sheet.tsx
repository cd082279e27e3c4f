"use client";

import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode, RefObject } from "react";

export interface SheetProps {
  open: boolean;
  /** Called on Escape or a click outside. It may ask for confirmation first. */
  onClose: () => void;
  label: string;
  /** Receives focus when it closes. */
  returnTo?: RefObject<HTMLElement | null> | undefined;
  children: ReactNode;
}

/** A page that slides in over the right side of another one. */
export function Sheet({ open, onClose, label, returnTo, children }: SheetProps) {
  return (
    <Base.Root
      open={open}
      onOpenChange={(next, details) => {
        if (next) return;
        details.cancel();
        onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-50 bg-[oklch(0.2_0.03_330/0.35)] transition-opacity duration-150 data-[ending-style]:opacity-0 data-[starting-style]:opacity-0 dark:bg-black/60" />
        <Base.Popup
          aria-label={label}
          finalFocus={returnTo}
          className="fixed inset-y-0 right-0 z-50 flex w-full max-w-240 flex-col border-l border-line bg-bg shadow-3 outline-none transition-[opacity,translate] duration-150 data-[ending-style]:translate-x-4 data-[starting-style]:translate-x-4 data-[ending-style]:opacity-0 data-[starting-style]:opacity-0 motion-reduce:transition-none"
        >
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
