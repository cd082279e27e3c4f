"use client";

import { Dialog as Base } from "@base-ui/react/dialog";
import clsx from "clsx";
import { X } from "lucide-react";
import type { ComponentProps, ReactElement, ReactNode } from "react";
import { IconButton } from "../icon-button";

export interface DialogProps {
  open?: boolean | undefined;
  onOpenChange?: ((open: boolean) => void) | undefined;
  /** An element that opens it; otherwise use `open`. */
  trigger?: ReactElement | undefined;
  title: string;
  description?: ReactNode;
  children?: ReactNode;
  /** Buttons, the primary one last. */
  footer?: ReactNode;
  size?: "sm" | "md" | "lg" | "xl" | undefined;
  /** Clicks outside do not close it, for forms with unsaved input. */
  sticky?: boolean | undefined;
  /** The first element by default. */
  initialFocus?: ComponentProps<typeof Base.Popup>["initialFocus"];
}

const widths = { sm: "sm:max-w-100", md: "sm:max-w-130", lg: "sm:max-w-180", xl: "sm:max-w-260" };

/** A modal dialog; on phones, a sheet from the bottom. */
export function Dialog({
  open,
  onOpenChange,
  trigger,
  title,
  description,
  children,
  footer,
  size = "md",
  sticky,
  initialFocus,
}: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(next) => onOpenChange?.(next)} disablePointerDismissal={sticky}>
      {trigger ? <Base.Trigger render={trigger} /> : null}
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-50 bg-[oklch(0.2_0.03_330/0.35)] transition-opacity duration-150 data-[ending-style]:opacity-0 data-[starting-style]:opacity-0 dark:bg-black/60" />
        <Base.Viewport className="fixed inset-0 z-50 flex items-end justify-center sm:items-center sm:p-6">
          <Base.Popup
            initialFocus={initialFocus}
            className={clsx(
              "flex max-h-[92dvh] w-full flex-col overflow-hidden rounded-t-2xl border border-line bg-surface shadow-3 outline-none transition-[opacity,translate,scale] duration-150 sm:max-h-[min(86dvh,52rem)] sm:rounded-xl",
              "data-[ending-style]:translate-y-2 data-[starting-style]:translate-y-2 data-[ending-style]:opacity-0 data-[starting-style]:opacity-0 motion-reduce:transition-none",
              widths[size],
            )}
          >
            <div className="flex items-start gap-4 px-5 pt-4 pb-3">
              <div className="min-w-0 flex-1">
                <Base.Title className="text-base font-semibold text-ink">{title}</Base.Title>
                {description ? (
                  <Base.Description className="mt-1 text-sm text-ink-2">{description}</Base.Description>
                ) : null}
              </div>
              <Base.Close
                render={<IconButton label="Close" icon={<X aria-hidden="true" />} size="sm" plain />}
                className="-mt-0.5 -mr-1.5"
              />
            </div>
            {children ? <div className="min-h-0 flex-1 overflow-y-auto px-5 pb-5">{children}</div> : null}
            {footer ? (
              <div className="flex flex-wrap justify-end gap-2 border-t border-line bg-bg px-5 py-3">
                {footer}
              </div>
            ) : null}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}
