"use client";

import { Tooltip as Base } from "@base-ui/react/tooltip";
import type { ReactNode } from "react";

/** The popup of a tooltip, loaded on first use. */
export default function TooltipPopup(props: {
  anchor: Element;
  side: "top" | "bottom" | "left" | "right";
  content: ReactNode;
  onHover: () => void;
  onLeave: () => void;
  onClose: () => void;
}) {
  return (
    <Base.Root open onOpenChange={(isOpen) => isOpen || props.onClose()}>
      {/* A landmark of its own: at the end of the page it stands in no other, and nothing may cut it off. */}
      <Base.Portal role="region" aria-label="Tooltip">
        <Base.Positioner anchor={props.anchor} side={props.side} sideOffset={6} className="z-[70]">
          <Base.Popup
            onPointerEnter={props.onHover}
            onPointerLeave={props.onLeave}
            className="popup max-w-72 rounded-lg border-transparent bg-ink px-2 py-1 text-xs text-bg"
          >
            {props.content}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
