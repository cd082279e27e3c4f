import type { z } from "zod";
import { WorkflowGraph } from "../domain/graph";

/** A workflow to begin from. Each runs as it is, without a key, with the offline model. */
export interface Template {
  key: string;
  title: string;
  description: string;
  graph: WorkflowGraph;
}

export function defineTemplate(
  template: Omit<Template, "graph"> & { graph: z.input<typeof WorkflowGraph> },
): Template {
  return { ...template, graph: WorkflowGraph.parse(template.graph) };
}

// Cards are 240 x 88 pixels; columns and lanes leave room for edges and their labels between them.
const COLUMN = 340;
const LANE = 180;

/** Where a card stands: its column from the left, its lane from the top. */
export function at(column: number, lane = 0): { x: number; y: number } {
  return { x: column * COLUMN, y: lane * LANE };
}
