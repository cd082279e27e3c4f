"use client";

import { Tooltip as Base } from "@base-ui/react/tooltip";
import type { ReactElement, ReactNode } from "react";

export interface TooltipProps {
  content: ReactNode;
  side?: "top" | "bottom" | "left" | "right";
  /** One element that takes props and a ref. */
  children: ReactElement;
}

/** A few words about the element inside it. Never the only place of something a person must know. */
export function Tooltip({ content, side = "top", children }: TooltipProps) {
  return (
    <Base.Root>
      <Base.Trigger delay={400} render={children} />
      <Base.Portal>
        <Base.Positioner side={side} sideOffset={6} className="z-[70]">
          <Base.Popup className="popup max-w-72 rounded-lg border-transparent bg-ink px-2 py-1 text-xs text-bg">
            {content}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** Lets neighbouring tooltips follow each other without a delay. */
export const TooltipProvider = Base.Provider;
