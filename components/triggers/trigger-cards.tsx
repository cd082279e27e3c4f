"use client";

import { ViewportPortal } from "@xyflow/react";
import clsx from "clsx";
import { useState } from "react";
import type { XY } from "@/components/canvas/layout/places";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { TriggerDialog } from "./trigger-dialog";
import { TRIGGER_LABELS, type Trigger, triggerProblem } from "./trigger-kinds";
import { useTexts, useTriggers } from "./trigger-list";

const HEIGHT = 30;
const GAP = 6;
/** Where the actions above a hovered start node are. */
const TOOLS = 38;
/** More would cover the canvas. */
const MOST = 4;

interface Props {
  workflowId: string;
  graph: WorkflowGraph;
  /** The upper left corner of the start node. */
  at: XY;
  /** Opens the list of all of them. */
  onMore: () => void;
}

/** The workflow's triggers, on the canvas above its start node. */
export function TriggerCards({ workflowId, graph, at, onMore }: Props) {
  const { data: triggers } = useTriggers(workflowId);
  const textOf = useTexts(triggers);
  const [opened, setOpened] = useState<Trigger | null>(null);
  if (!triggers || triggers.length === 0) return null;
  const shown = triggers.length > MOST ? triggers.slice(0, MOST - 1) : triggers;
  const rows = Math.min(triggers.length, MOST);
  return (
    <>
      <ViewportPortal>
        <div
          className="pointer-events-auto absolute flex w-52 flex-col"
          style={{ gap: GAP, translate: `${at.x}px ${at.y - TOOLS - rows * (HEIGHT + GAP) + GAP}px` }}
        >
          {shown.map((trigger) => (
            <TriggerCard
              key={trigger.id}
              trigger={trigger}
              text={textOf(trigger)}
              onOpen={() => setOpened(trigger)}
            />
          ))}
          {triggers.length > MOST ? (
            <button
              type="button"
              style={{ height: HEIGHT }}
              className="nodrag nopan rounded-full border border-line-strong bg-surface px-3 text-left text-xs shadow-1 hover:border-accent hover:text-accent"
              onClick={onMore}
            >
              {triggers.length - shown.length} more triggers
            </button>
          ) : null}
          <span
            aria-hidden
            className="pointer-events-none absolute top-full left-8 border-line-strong border-l border-dashed"
            style={{ height: TOOLS }}
          />
        </div>
      </ViewportPortal>
      {opened && (
        <TriggerDialog
          workflowId={workflowId}
          graph={graph}
          kind={opened.kind}
          trigger={opened}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  );
}

function TriggerCard({ trigger, text, onOpen }: { trigger: Trigger; text: string; onOpen: () => void }) {
  const { icon: Icon } = TRIGGER_LABELS[trigger.kind];
  const problem = triggerProblem(trigger);
  return (
    <button
      type="button"
      aria-label={`Trigger: ${text}${problem ? ` (${problem})` : ""}`}
      title={problem ?? text}
      onClick={onOpen}
      style={{ height: HEIGHT }}
      className={clsx(
        "nodrag nopan flex items-center gap-2 rounded-full border bg-surface px-3 text-xs shadow-1 hover:border-accent hover:text-accent",
        trigger.disabled_reason ? "border-failed text-failed" : "border-line-strong",
        !trigger.enabled && "opacity-60",
      )}
    >
      <Icon aria-hidden className="size-3.5 shrink-0" />
      <span className="min-w-0 flex-1 truncate text-left">{text}</span>
      {problem ? <span className="shrink-0 text-ink-3">Off</span> : null}
    </button>
  );
}
