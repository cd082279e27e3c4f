"use client";

import clsx from "clsx";
import { type KeyboardEvent, type ReactNode, useId } from "react";

export interface TabsProps<V extends string> {
  /** The accessible name of the tab list. */
  label: string;
  tabs: readonly { value: V; label: string; icon?: ReactNode; badge?: ReactNode; content: ReactNode }[];
  value: V;
  onValueChange: (value: V) => void;
  className?: string | undefined;
  listClassName?: string | undefined;
  panelClassName?: string | undefined;
}

/** Views in one place, one at a time. */
export function Tabs<V extends string>({
  label,
  tabs,
  value,
  onValueChange,
  className,
  listClassName,
  panelClassName,
}: TabsProps<V>) {
  const id = useId();
  const active = tabs.find((tab) => tab.value === value);
  const walk = (event: KeyboardEvent<HTMLElement>) => {
    const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")];
    const to = goal(
      event.key,
      buttons.findIndex((button) => button === event.target),
      buttons.length,
    );
    if (to === null) return;
    event.preventDefault();
    buttons[to]?.focus();
  };
  return (
    <div className={clsx("flex min-h-0 flex-col", className)}>
      <div
        role="tablist"
        aria-label={label}
        onKeyDown={walk}
        className={clsx(
          "relative flex shrink-0 gap-4 overflow-x-auto overflow-y-hidden border-b border-line",
          listClassName,
        )}
      >
        {tabs.map((tab) => {
          const isActive = tab.value === value;
          return (
            <button
              key={tab.value}
              type="button"
              role="tab"
              id={`${id}-tab-${tab.value}`}
              aria-selected={isActive}
              aria-controls={isActive ? `${id}-panel-${tab.value}` : undefined}
              tabIndex={isActive ? 0 : -1}
              data-active={isActive ? "" : undefined}
              onClick={() => onValueChange(tab.value)}
              className="inline-flex h-10 shrink-0 items-center gap-1.5 border-b-2 border-transparent text-[13px] font-medium text-ink-2 hover:text-ink data-[active]:border-accent data-[active]:text-ink [&_svg]:size-4"
            >
              {tab.icon}
              {tab.label}
              {tab.badge}
            </button>
          );
        })}
      </div>
      {active ? (
        <div
          key={active.value}
          role="tabpanel"
          id={`${id}-panel-${active.value}`}
          aria-labelledby={`${id}-tab-${active.value}`}
          tabIndex={0}
          className={clsx("relative min-h-0 flex-1 outline-none", panelClassName)}
        >
          {active.content}
        </div>
      ) : null}
    </div>
  );
}

/** The tab that a key moves to: arrows wrap around, Home and End move to the ends. */
function goal(key: string, from: number, count: number): number | null {
  if (key === "ArrowRight") return (from + 1) % count;
  if (key === "ArrowLeft") return (from - 1 + count) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}
