"use client";

import clsx from "clsx";
import { ChevronDown, CircleDot, Plus, Trash2, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import { BreakpointSign } from "@/components/canvas/breakpoint-dot";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { Checkbox } from "@/components/ui/input/checkbox";
import { Menu } from "@/components/ui/overlay/menu";
import { BREAKPOINT_KINDS, MOST_BREAKPOINTS } from "@/server/domain/agent/breakpoint/breakpoint";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { BreakpointForm } from "./breakpoint-form";
import { breakpointLimits, breakpointTitle, KIND_LABELS } from "./breakpoint-labels";
import {
  type BreakpointPlace,
  type BreakpointStore,
  hasSame,
  isAt,
  isKnown,
  type KeptBreakpoint,
  removeSame,
} from "./breakpoint-store";
import { variantOf } from "./canvas-breakpoints";

/** The list of breakpoints, over the canvas. Fully usable by keyboard; Escape closes it. */
export function BreakpointsPanel({
  store,
  everyRun,
  graph,
  at,
  note,
  onClose,
}: {
  store: BreakpointStore;
  /** Present if `store` is of one run: the breakpoints that later runs get. */
  everyRun?: BreakpointStore | undefined;
  graph: WorkflowGraph;
  /** The place whose breakpoint is expanded first. */
  at?: BreakpointPlace | null | undefined;
  /** The note below the list, such as which runs they apply to. */
  note?: string | undefined;
  onClose: () => void;
}) {
  const list = useStore(store, (state) => state.list);
  const [opened, setOpened] = useState(() => (at ? list.find((one) => isAt(one, at))?.id : undefined));
  const panel = useRef<HTMLElement>(null);
  const isAnyOn = list.some(({ enabled }) => enabled !== false);
  // Opened by a key, it takes the focus.
  useEffect(() => panel.current?.focus(), []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  return (
    <section
      ref={panel}
      tabIndex={-1}
      aria-label="Breakpoints"
      onKeyDown={onKeyDown}
      className="popup absolute top-3 left-3 z-10 flex max-h-[calc(100%-1.5rem)] w-88 max-w-[calc(100%-1.5rem)] flex-col outline-none"
    >
      <Header store={store} onAdded={setOpened} onClose={onClose} />
      {list.length === 0 ? (
        <EmptyHint />
      ) : (
        <ul
          aria-label={everyRun ? "Run breakpoints" : "Workflow breakpoints"}
          className="min-h-0 overflow-y-auto p-1.5"
        >
          {list.map((one) => (
            <Row
              key={one.id}
              {...{ store, everyRun, graph, one }}
              isOpen={one.id === opened}
              onToggle={() => setOpened(one.id === opened ? undefined : one.id)}
            />
          ))}
        </ul>
      )}
      {list.length > 0 ? (
        <footer className="flex flex-wrap items-center gap-2 border-t border-line px-3 py-2">
          <span className="min-w-0 flex-1 text-xs text-ink-3">
            {note ?? "Saved in this browser. Applies to runs started here."}
          </span>
          <Button size="sm" onClick={() => store.setAll(!isAnyOn)}>
            {isAnyOn ? "Disable all" : "Enable all"}
          </Button>
        </footer>
      ) : null}
    </section>
  );
}

function Header({
  store,
  onAdded,
  onClose,
}: {
  store: BreakpointStore;
  onAdded: (id: KeptBreakpoint["id"] | undefined) => void;
  onClose: () => void;
}) {
  const list = useStore(store, (state) => state.list);
  return (
    <header className="flex items-center gap-1 border-b border-line py-1.5 pr-1.5 pl-3">
      <h2 className="flex-1 text-[13px] font-semibold">Breakpoints</h2>
      <Menu
        align="end"
        trigger={
          <IconButton
            label="Add breakpoint"
            size="sm"
            icon={<Plus aria-hidden />}
            disabled={list.length >= MOST_BREAKPOINTS}
          />
        }
        items={BREAKPOINT_KINDS.map((on) => ({
          label: KIND_LABELS[on].label,
          hint: KIND_LABELS[on].hint,
          onSelect: () => onAdded(store.add({ on })),
        }))}
      />
      <IconButton
        label="Remove all"
        size="sm"
        variant="danger"
        icon={<Trash2 aria-hidden />}
        disabled={list.length === 0}
        onClick={store.clear}
      />
      <IconButton label="Close" shortcut="Esc" size="sm" icon={<X aria-hidden />} onClick={onClose} />
    </header>
  );
}

const EmptyHint = () => (
  <p className="flex items-start gap-2 px-3 py-3 text-[13px] text-ink-2">
    <CircleDot aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" />
    <span>
      Runs pause at breakpoints, so you can inspect and change them. Hover over a node and select
      “Breakpoint”, or select a node and press F9.
    </span>
  </p>
);

function Row({
  store,
  everyRun,
  graph,
  one,
  isOpen,
  onToggle,
}: {
  store: BreakpointStore;
  everyRun: BreakpointStore | undefined;
  graph: WorkflowGraph;
  one: KeptBreakpoint;
  isOpen: boolean;
  onToggle: () => void;
}) {
  const title = breakpointTitle(one, graph);
  const limits = breakpointLimits(one);
  const isGone = !isKnown(one, graph);
  return (
    <li className="flex items-start gap-1.5 rounded-md py-0.5 pl-1.5 hover:bg-ink/3">
      <span className="pt-1 pointer-coarse:pt-2.5">
        <Checkbox
          label={`Enable ${title}`}
          hideLabel
          checked={one.enabled !== false}
          onCheckedChange={(enabled) => store.set(one.id, { enabled })}
        />
      </span>
      <div className="min-w-0 flex-1">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={onToggle}
          className="flex min-h-7 w-full items-center gap-2 rounded-md px-1 text-left text-[13px] font-medium pointer-coarse:min-h-10"
        >
          <BreakpointSign variant={variantOf([one])} />
          <span className="min-w-0 flex-1 truncate" title={title}>
            {title}
          </span>
          <ChevronDown
            aria-hidden
            className={clsx("size-3.5 shrink-0 text-ink-3 transition-transform", isOpen && "rotate-180")}
          />
        </button>
        {limits ? (
          <p className="truncate pb-1 pl-6 font-mono text-xs text-ink-2" title={limits}>
            {limits}
          </p>
        ) : null}
        {isGone ? (
          <p className="px-1 pb-1 text-[13px] text-waiting">Inactive: its target was deleted.</p>
        ) : null}
        {everyRun ? <InEveryRun store={everyRun} one={one} /> : null}
        {isOpen ? (
          <BreakpointForm value={one} graph={graph} onChange={(patch) => store.set(one.id, patch)} />
        ) : null}
      </div>
      <IconButton
        label={`Remove ${title}`}
        size="sm"
        variant="danger"
        plain
        icon={<X aria-hidden />}
        onClick={() => store.remove(one.id)}
      />
    </li>
  );
}

/** Toggles whether later runs of the workflow also stop there. */
function InEveryRun({ store, one: { id: _id, ...one } }: { store: BreakpointStore; one: KeptBreakpoint }) {
  const isKept = useStore(store, ({ list }) => hasSame(list, one));
  return (
    <div className="px-1 pb-1">
      <Checkbox
        label="In every run"
        checked={isKept}
        onCheckedChange={(next) => (next ? store.adopt([one]) : removeSame(store, one))}
      />
    </div>
  );
}
