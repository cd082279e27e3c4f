import { z } from "zod";

/** Where in a run a breakpoint may hold it. */
export const BREAKPOINT_KINDS = [
  "node_start",
  "node_end",
  "llm_call",
  "tool_call",
  "handoff",
  "error",
  "state_write",
  "loop_iteration",
  "edge",
] as const;
export type BreakpointKind = (typeof BREAKPOINT_KINDS)[number];

/**
 * A place at which a run holds until a person lets it go on. What is not named does not narrow it down: without a node it
 * holds at each.
 */
export const Breakpoint = z.strictObject({
  on: z.enum(BREAKPOINT_KINDS),
  node_id: z.string().min(1).max(200).optional(),
  agent_id: z.string().min(1).max(200).optional(),
  tool: z.string().min(1).max(200).optional(),
  /** The key of the state that is written. */
  key: z.string().min(1).max(200).optional(),
  edge_id: z.string().min(1).max(200).optional(),
  /** CEL over the state: it holds only where this is true. `CheckedBreakpoint` knows whether it can be read. */
  condition: z.string().max(2_000).optional(),
  /** It holds from this time on that it is come to, counting from 1 and counting only where the condition is true. */
  hit_count: z.number().int().min(1).max(100_000).optional(),
  /** It holds one time, and is gone then. */
  once: z.boolean().optional(),
  /** False: it is kept, and holds nothing. */
  enabled: z.boolean().optional(),
});
export type Breakpoint = z.infer<typeof Breakpoint>;

/** How many breakpoints one run may have. */
export const MOST_BREAKPOINTS = 200;
