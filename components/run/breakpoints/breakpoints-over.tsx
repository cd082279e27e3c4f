"use client";

import dynamic from "next/dynamic";
import { useControlling } from "@/components/run/control/run-control-context";
import { useRun } from "@/components/run/run-context";
import type { WorkflowGraph } from "@/server/domain/graph/graph";

const BreakpointsPanel = dynamic(() => import("./breakpoints-panel").then((m) => m.BreakpointsPanel), {
  ssr: false,
});

/** The list of breakpoints over the canvas of a run, while open. */
export function BreakpointsOver() {
  const control = useControlling();
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, null);
  if (!control?.isListOpen || !graph) return null;
  return (
    <BreakpointsPanel
      store={control.breakpoints}
      graph={graph}
      everyRun={control.ofWorkflow}
      note="For this run only. Select “In every run” to keep a breakpoint for later runs."
      onClose={() => control.setListOpen(false)}
    />
  );
}
