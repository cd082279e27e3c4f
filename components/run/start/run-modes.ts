import type { SelectOption } from "@/components/ui/input/select";
import type { RunConfig } from "@/server/domain/agent/outcome";

/** The modes of a run, as offered when starting and forking. */
export const RUN_MODES: readonly SelectOption<RunConfig["mode"]>[] = [
  { value: "continuous", label: "Continuous", hint: "Pauses only at breakpoints" },
  { value: "step", label: "Step by step", hint: "Pauses before each node" },
  { value: "breakpoint", label: "Pause at marked nodes" },
  { value: "hitl", label: "Supervised", hint: "Pauses at marked nodes and before tools with side effects" },
];
