import type { z } from "zod";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import type { ScenarioTest } from "@/server/domain/scenario/scenario-test";

/** A workflow to begin from. Each runs as it is, without a key, with the offline model. */
export interface Template {
  key: string;
  title: string;
  description: string;
  graph: WorkflowGraph;
  /** The roles that it uses; those that are built in may be left out. */
  roles: readonly RoleDefinition[];
  tests: readonly ScenarioTest[];
}

export function defineTemplate(
  template: Pick<Template, "key" | "title" | "description"> & { graph: z.input<typeof WorkflowGraph> },
): Template {
  return { ...template, graph: WorkflowGraph.parse(template.graph), roles: [], tests: [] };
}

// Cards are 208 x 74 pixels; columns and lanes leave room for edges between them, and below a card for what a run says.
// At most five columns: more would not fit next to the panel of a run at 70 % zoom.
const COLUMN = 272;
const LANE = 152;

/** One thing that people are asked for when a run begins. */
interface Question {
  title: string;
  description?: string;
  examples?: string[];
  /** What is taken where nothing is entered; without it an answer is required. */
  default?: string;
}

/** The node `start`: asks for texts by the keys under which the workflow reads them. */
export function asks(name: string, questions: Record<string, Question>, ui: { x: number; y: number }) {
  const keys = Object.keys(questions);
  return {
    id: "start",
    node_type: "start" as const,
    name,
    output_keys: keys,
    config: {
      input_schema: {
        type: "object",
        properties: Object.fromEntries(keys.map((key) => [key, { type: "string", ...questions[key] }])),
        required: keys.filter((key) => questions[key]?.default === undefined),
      },
    },
    ui,
  };
}

/** Where a card stands: its column from the left, its lane from the top. */
export function at(column: number, lane = 0): { x: number; y: number } {
  return { x: column * COLUMN, y: lane * LANE };
}
