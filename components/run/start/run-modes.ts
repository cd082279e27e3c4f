import type { SelectOption } from "@/components/ui/input/select";
import type { RunConfig } from "@/server/domain/agent/outcome";

/** The modes of a run, as offered when starting and forking. */
export const RUN_MODES: readonly SelectOption<RunConfig["mode"]>[] = [
  { value: "continuous", label: "Run through", hint: "Stops at breakpoints only" },
  { value: "step", label: "Step by step", hint: "Stops before each node" },
  { value: "breakpoint", label: "Stop at marked nodes" },
  { value: "hitl", label: "With a person", hint: "Also before tools that do more than read" },
];
