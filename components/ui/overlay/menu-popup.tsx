"use client";

import { Menu as Base } from "@base-ui/react/menu";
import clsx from "clsx";
import { Check } from "lucide-react";
import Link from "next/link";
import { type HTMLAttributes, type ReactElement, type ReactNode, useEffect, useRef } from "react";

export interface MenuAction {
  label: string;
  /** A second, muted line. */
  hint?: string | undefined;
  icon?: ReactNode;
  shortcut?: string | undefined;
  danger?: boolean | undefined;
  disabled?: boolean | undefined;
  /** Shows a check mark. */
  checked?: boolean | undefined;
  href?: string | undefined;
  onSelect?: (() => void) | undefined;
}
export type MenuEntry = MenuAction | "separator" | { heading: string };

export interface MenuProps {
  /** Opens it; must have an accessible name. */
  trigger: ReactElement<HTMLAttributes<HTMLElement>>;
  items: readonly MenuEntry[];
  side?: "top" | "bottom" | "left" | "right" | undefined;
  align?: "start" | "center" | "end" | undefined;
}

/** A menu with its button, loaded on first use. It opens at once if `isAsked`. */
export function WholeMenu({
  trigger,
  items,
  side = "bottom",
  align = "start",
  isAsked,
}: MenuProps & { isAsked: boolean }) {
  const button = useRef<HTMLButtonElement>(null);
  const wasAsked = useRef(isAsked);
  useEffect(() => {
    if (!wasAsked.current) return;
    wasAsked.current = false;
    // This button has replaced the one that was pressed.
    button.current?.focus();
    button.current?.click();
  }, []);
  return (
    <Base.Root>
      <Base.Trigger ref={button} render={trigger} />
      <Base.Portal role="region" aria-label="Options">
        <Base.Positioner side={side} align={align} sideOffset={4} className="z-[60] outline-none">
          <Base.Popup className={popupClass}>
            <Entries items={items} />
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** A context menu at a point of the window. */
export function MenuAtPoint({
  point: { x, y },
  isOpen,
  items,
  onClose,
}: {
  point: { x: number; y: number };
  isOpen: boolean;
  items: readonly MenuEntry[];
  onClose: () => void;
}) {
  return (
    <Base.Root open={isOpen} onOpenChange={(next) => next || onClose()}>
      <Base.Portal role="region" aria-label="Options">
        <Base.Positioner
          anchor={{ getBoundingClientRect: () => new DOMRect(x, y, 0, 0) }}
          side="bottom"
          align="start"
          className="z-[60] outline-none"
        >
          <Base.Popup className={popupClass}>
            <Entries items={items} />
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

const popupClass =
  "popup max-h-(--available-height) min-w-48 max-w-88 overflow-y-auto p-1 outline-none select-none";

function Entries({ items }: { items: readonly MenuEntry[] }) {
  return items.map((item, at) => {
    // The entries are fixed while the menu is open.
    if (item === "separator") return <Base.Separator key={`s${at}`} className="-mx-1 my-1 h-px bg-line" />;
    if ("heading" in item)
      return (
        <div key={item.heading} className="px-2 pt-2 pb-1 text-xs font-medium text-ink-3">
          {item.heading}
        </div>
      );
    return <Entry key={`${at}${item.label}`} item={item} />;
  });
}

function Entry({ item }: { item: MenuAction }) {
  const itemClass = clsx(
    "flex cursor-default items-center gap-2.5 rounded-md px-2 py-1.5 text-sm outline-none data-[disabled]:opacity-45 data-[highlighted]:bg-ink/6 pointer-coarse:py-2.5",
    item.danger ? "text-failed data-[highlighted]:bg-failed/10" : "text-ink",
  );
  const inside = (
    <>
      {item.icon ? (
        <span aria-hidden="true" className={clsx("[&>svg]:size-4", !item.danger && "text-ink-2")}>
          {item.icon}
        </span>
      ) : null}
      <span className="flex min-w-0 flex-1 flex-col">
        {item.label}
        {item.hint ? <span className="text-xs text-ink-3">{item.hint}</span> : null}
      </span>
      {item.checked ? <Check aria-label="selected" className="size-4 text-accent" /> : null}
      {item.shortcut ? <span className="pl-4 text-xs text-ink-3">{item.shortcut}</span> : null}
    </>
  );
  if (item.href)
    return (
      <Base.LinkItem className={itemClass} render={<Link href={item.href} />} closeOnClick>
        {inside}
      </Base.LinkItem>
    );
  return (
    <Base.Item className={itemClass} disabled={item.disabled} onClick={item.onSelect} label={item.label}>
      {inside}
    </Base.Item>
  );
}
