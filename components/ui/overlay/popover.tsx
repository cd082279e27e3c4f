"use client";

import { Popover as Base } from "@base-ui/react/popover";
import clsx from "clsx";
import type { ReactElement, ReactNode } from "react";

export interface PopoverProps {
  trigger: ReactElement;
  /** The heading and accessible name. */
  title: string;
  hideTitle?: boolean | undefined;
  children: ReactNode;
  open?: boolean | undefined;
  onOpenChange?: ((open: boolean) => void) | undefined;
  side?: "top" | "bottom" | "left" | "right" | undefined;
  align?: "start" | "center" | "end" | undefined;
  className?: string | undefined;
}

/** A popover beside its button. */
export function Popover({
  trigger,
  title,
  hideTitle,
  children,
  open,
  onOpenChange,
  side = "bottom",
  align = "start",
  className,
}: PopoverProps) {
  return (
    <Base.Root open={open} onOpenChange={(next) => onOpenChange?.(next)}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner side={side} align={align} sideOffset={6} className="z-[60]">
          <Base.Popup
            className={clsx(
              "popup max-h-(--available-height) w-80 max-w-[calc(100vw-1rem)] overflow-y-auto p-4 outline-none",
              className,
            )}
          >
            <Base.Title className={hideTitle ? "sr-only" : "mb-2 text-sm font-semibold"}>{title}</Base.Title>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
