"use client";

import { Tabs as Base } from "@base-ui/react/tabs";
import clsx from "clsx";
import type { ReactNode } from "react";

export interface TabsProps<V extends string> {
  /** Names the row of tabs for screen readers. */
  label: string;
  tabs: readonly { value: V; label: string; icon?: ReactNode; badge?: ReactNode; content: ReactNode }[];
  value: V;
  onValueChange: (value: V) => void;
  className?: string;
  listClassName?: string;
  panelClassName?: string;
  /** Keeps the panels that are not shown in the page. */
  keepMounted?: boolean;
}

/** Several views in one place, one of them shown. */
export function Tabs<V extends string>({
  label,
  tabs,
  value,
  onValueChange,
  className,
  listClassName,
  panelClassName,
  keepMounted,
}: TabsProps<V>) {
  return (
    <Base.Root
      value={value}
      onValueChange={(next) => onValueChange(next as V)}
      className={clsx("flex min-h-0 flex-col", className)}
    >
      <Base.List
        aria-label={label}
        className={clsx("relative flex shrink-0 gap-4 overflow-x-auto border-b border-line", listClassName)}
      >
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className="-mb-px inline-flex h-10 shrink-0 items-center gap-1.5 border-b-2 border-transparent text-[13px] font-medium text-ink-2 hover:text-ink data-[active]:border-accent data-[active]:text-ink [&_svg]:size-4"
          >
            {tab.icon}
            {tab.label}
            {tab.badge}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel
          key={tab.value}
          value={tab.value}
          keepMounted={keepMounted}
          className={clsx("min-h-0 flex-1 outline-none", panelClassName)}
        >
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
