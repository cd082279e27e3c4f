import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";

/** A workflow whose content is derived from the time of its save. */
export const savedGraph = (count: number): WorkflowGraph => ({
  ...draw("start > a > b > end", { a: { name: `Saved ${count} times — “ü”` } }),
  description: "x".repeat(count % 50),
});
