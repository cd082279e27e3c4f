"use client";

import { ViewportPortal } from "@xyflow/react";
import { Plus } from "lucide-react";
import { COLUMN } from "@/components/canvas/places";
import { useEditorCommands } from "./commands";
import { useEditor } from "./editing/editor-store";
import { loneStart, placeOf } from "./editing/placing";

/** Where nothing follows the start yet: asks for the first step. */
export function FirstStep() {
  const start = useEditor(({ doc }) => loneStart(doc.graph));
  const graph = useEditor(({ doc }) => doc.graph);
  if (start === null) return null;
  const { x, y } = placeOf(graph, start);
  return (
    <ViewportPortal>
      <FirstStepButton className="first-step nodrag nopan" style={{ translate: `${x + COLUMN}px ${y}px` }} />
    </ViewportPortal>
  );
}

export function FirstStepButton(look: { className: string; style?: React.CSSProperties }) {
  const commands = useEditorCommands();
  return (
    <button
      type="button"
      {...look}
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
