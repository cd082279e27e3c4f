"use client";

import { edgeFrom } from "@/components/forms/ports";
import { Kbd } from "@/components/ui/kbd";
import { useEditorCommands } from "../commands";
import { useEditor } from "../editing/editor-store";
import { useUi } from "../ui-store";

/** The state of connect mode, and the same commands by mouse. */
export function ConnectBar({ insetRight }: { insetRight: number }) {
  const connect = useUi((ui) => ui.connect);
  const graph = useEditor(({ doc }) => doc.graph);
  const commands = useEditorCommands();
  if (!connect) return null;
  const target = connect.targets[connect.at];
  const label = edgeFrom(connect.portId).edge_label;
  return (
    <div
      style={{ left: `calc((100% - ${insetRight}px) / 2)`, maxWidth: `calc(100% - ${insetRight + 24}px)` }}
      className="absolute top-3 z-20 flex w-max -translate-x-1/2 flex-wrap items-center gap-x-4 gap-y-1 rounded-xl border border-line bg-raised px-4 py-2 text-[13px] shadow-2"
    >
      <span>
        Connect <strong className="font-semibold">{graph.nodes[connect.from]?.name}</strong>
        {label ? <> ({label})</> : connect.portId === "error" ? " (on error)" : ""} to{" "}
        <strong className="font-semibold">{target ? graph.nodes[target]?.name : ""}</strong>
        <span className="text-ink-3">
          {" "}
          {connect.at + 1} of {connect.targets.length}
        </span>
      </span>
      <span className="flex items-center gap-1 text-ink-3">
        <Kbd keys="ArrowLeft" /> <Kbd keys="ArrowRight" /> choose
      </span>
      {connect.ports.length > 1 && (
        <span className="flex items-center gap-1 text-ink-3">
          <Kbd keys="Tab" /> switch output
        </span>
      )}
      <button
        type="button"
        onClick={() => commands.endConnecting(true)}
        className="flex items-center gap-1 text-accent"
      >
        <Kbd keys="Enter" /> connect
      </button>
      <button
        type="button"
        onClick={() => commands.endConnecting(false)}
        className="flex items-center gap-1 text-ink-2"
      >
        <Kbd keys="Esc" /> cancel
      </button>
    </div>
  );
}
