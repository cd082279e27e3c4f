import type { Breakpoint } from "@/server/domain/agent/breakpoint";
import type { RunConfig } from "@/server/domain/agent/outcome";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { ControlEvents } from "./control-events";
import type { Handlers } from "./handlers";

export const control: Handlers<keyof ControlEvents> = {
  run_paused(s, { payload: { by, reason, at }, ts }) {
    s.run = { ...s.run, paused_at: { ...at, reason, by, since: ts } };
  },
  run_continued(s, { payload: { as, granularity = "node" } }) {
    const { paused_at: _p, stepping: _s, ...rest } = s.run;
    s.run = as === "step" ? { ...rest, stepping: granularity } : rest;
  },
  breakpoints_set(s, { payload: { breakpoints } }) {
    s.run = { ...s.run, breakpoints };
  },
};

/** The breakpoints that a run begins with: its config's, and in the modes that heed them those of its nodes. */
export function firstBreakpoints({ nodes }: WorkflowGraph, config: RunConfig): Breakpoint[] {
  const given = config.breakpoints ?? [];
  if (config.mode !== "breakpoint" && config.mode !== "hitl") return given;
  const own = Object.values(nodes).flatMap(({ id, breakpoint }): Breakpoint[] =>
    breakpoint === undefined ? [] : [{ on: breakpoint === "after" ? "node_end" : "node_start", node_id: id }],
  );
  return [...given, ...own];
}
