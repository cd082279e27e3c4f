"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useMemo } from "react";
import { useStore } from "zustand";
import { BreakpointsContext } from "@/components/canvas/breakpoint-context";
import { BreakpointSign } from "@/components/canvas/breakpoint-dot";
import { countOf } from "@/components/display/format";
import { breakpointsOf } from "@/components/run/breakpoints/breakpoint-store";
import { newCanvasBreakpoints } from "@/components/run/breakpoints/canvas-breakpoints";
import { useEditorCommands } from "../commands";
import { useEditor, useEditorStore } from "../editing/editor-store";
import { useUi, useUiStore } from "../ui-store";

const BreakpointsPanel = dynamic(
  () => import("@/components/run/breakpoints/breakpoints-panel").then((m) => m.BreakpointsPanel),
  { ssr: false },
);

/** Lets the cards inside show their breakpoints, and set them by a click. */
export function WithBreakpoints({ children }: { children: ReactNode }) {
  const store = useEditorStore();
  const id = useEditor((state) => state.id);
  const commands = useEditorCommands();
  const value = useMemo(
    () =>
      newCanvasBreakpoints(breakpointsOf(id), () => store.getState().doc.graph, commands.toggleBreakpointAt),
    [id, store, commands],
  );
  return <BreakpointsContext.Provider value={value}>{children}</BreakpointsContext.Provider>;
}

/** The list of breakpoints over the canvas, while open. */
export function BreakpointList() {
  const open = useUi((ui) => ui.breakpoints);
  return open ? <OpenList key={open.nonce} at={open.at} /> : null;
}

function OpenList({ at }: { at: { kind: "node" | "edge"; id: string } | null }) {
  const id = useEditor((state) => state.id);
  const graph = useEditor(({ doc }) => doc.graph);
  const ui = useUiStore();
  const commands = useEditorCommands();
  return (
    <BreakpointsPanel
      store={breakpointsOf(id)}
      graph={graph}
      at={at}
      onClose={() => {
        ui.setState({ breakpoints: null });
        commands.view.focusDrawing();
      }}
    />
  );
}

/** How many breakpoints are on; a click lists them. Nothing while there are none. */
export function BreakpointCount() {
  const id = useEditor((state) => state.id);
  const list = useStore(breakpointsOf(id), (state) => state.list);
  const commands = useEditorCommands();
  if (list.length === 0) return null;
  const on = list.filter(({ enabled }) => enabled !== false).length;
  const label = `${countOf(list.length, "breakpoint")}${on === list.length ? "" : `, ${on} enabled`}`;
  return (
    <button
      type="button"
      aria-label={label}
      title={`${label} (Shift F9)`}
      onClick={commands.openBreakpoints}
      className="flex h-8 items-center gap-1.5 rounded-lg px-2 text-[13px] font-semibold tabular-nums hover:bg-ink/6 max-sm:hidden pointer-coarse:h-10"
    >
      <BreakpointSign variant={on === 0 ? "disabled" : "plain"} />
      {`${list.length} `}
      <span className="font-normal max-xl:hidden">{list.length === 1 ? "breakpoint" : "breakpoints"}</span>
    </button>
  );
}
