"use client";

import { ContextMenu as Base } from "@base-ui/react/context-menu";
import type { ReactElement } from "react";
import { MenuEntries, type MenuEntry, menuPopupLook } from "./menu";

/** A menu at the pointer. Everything in it must be reachable in another way too. */
export function ContextMenu({
  children,
  items,
  onOpenChange,
}: {
  /** The area that it belongs to; takes props and a ref. */
  children: ReactElement;
  items: readonly MenuEntry[];
  onOpenChange?: (open: boolean) => void;
}) {
  return (
    <Base.Root onOpenChange={(open) => onOpenChange?.(open)}>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner className="z-[60] outline-none">
          <Base.Popup className={menuPopupLook}>
            <MenuEntries items={items} />
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
