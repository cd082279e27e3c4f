"use client";

import { ViewportPortal } from "@xyflow/react";
import clsx from "clsx";
import { Plus } from "lucide-react";
import { COLUMN } from "@/components/canvas/layout/places";
import { useEditorCommands } from "./commands";
import { useEditor } from "./editing/editor-store";
import { loneStart, placeOf } from "./editing/placing";

/** Asks for the first step while nothing follows the start. */
export function FirstStep() {
  const start = useEditor(({ doc }) => loneStart(doc.graph));
  const graph = useEditor(({ doc }) => doc.graph);
  if (start === null) return null;
  const { x, y } = placeOf(graph, start);
  return (
    <ViewportPortal>
      <FirstStepButton
        // Including the line from the start.
        className="nodrag nopan pointer-events-auto absolute w-52 before:pointer-events-none before:absolute before:right-full before:w-14 before:border-t-2 before:border-dashed before:border-line-strong"
        style={{ translate: `${x + COLUMN}px ${y}px` }}
      />
    </ViewportPortal>
  );
}

export function FirstStepButton({ className, style }: { className: string; style?: React.CSSProperties }) {
  const commands = useEditorCommands();
  return (
    <button
      type="button"
      className={clsx(
        "flex h-18.5 items-center justify-center gap-2 rounded-2xl border-2 border-dashed border-line-strong bg-surface text-sm font-semibold hover:border-accent hover:text-accent",
        className,
      )}
      style={style}
      onClick={(event) => {
        const { left, top } = event.currentTarget.getBoundingClientRect();
        commands.openPicker({ client: { x: left, y: top } });
      }}
    >
      <Plus aria-hidden size={18} />
      What happens first?
    </button>
  );
}
