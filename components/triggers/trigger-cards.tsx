"use client";

import { ViewportPortal } from "@xyflow/react";
import clsx from "clsx";
import { useState } from "react";
import type { XY } from "@/components/canvas/layout/places";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { TriggerDialog } from "./trigger-dialog";
import { TRIGGER_LABELS, type Trigger, triggerProblem, triggerText } from "./trigger-kinds";
import { useNames, useTriggers } from "./trigger-list";

const HEIGHT = 30;
const GAP = 6;

interface Props {
  workflowId: string;
  graph: WorkflowGraph;
  /** The upper left corner of the start node. */
  at: XY;
}

/** The workflow's triggers, on the canvas above its start node. */
export function TriggerCards({ workflowId, graph, at }: Props) {
  const triggers = useTriggers(workflowId);
  const names = useNames(triggers);
  const [opened, setOpened] = useState<Trigger | null>(null);
  if (!triggers || triggers.length === 0) return null;
  return (
    <>
      <ViewportPortal>
        {triggers.map((trigger, row) => (
          <TriggerCard
            key={trigger.id}
            trigger={trigger}
            text={triggerText(trigger, names)}
            at={{ x: at.x, y: at.y - (triggers.length - row) * (HEIGHT + GAP) - GAP }}
            onOpen={() => setOpened(trigger)}
          />
        ))}
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

function TriggerCard({
  trigger,
  text,
  at,
  onOpen,
}: {
  trigger: Trigger;
  text: string;
  at: XY;
  onOpen: () => void;
}) {
  const { icon: Icon } = TRIGGER_LABELS[trigger.kind];
  const problem = triggerProblem(trigger);
  return (
    <button
      type="button"
      aria-label={`Trigger: ${text}${problem ? ` (${problem})` : ""}`}
      title={problem ?? text}
      onClick={onOpen}
      style={{ translate: `${at.x}px ${at.y}px`, height: HEIGHT }}
      className={clsx(
        "nodrag nopan pointer-events-auto absolute flex w-52 items-center gap-2 rounded-full border bg-surface px-3 text-xs shadow-1 hover:border-accent hover:text-accent",
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
