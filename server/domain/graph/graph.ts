import { z } from "zod";
import { RunConfig } from "@/server/domain/agent/outcome";
import { ProjectContext } from "@/server/domain/agent/project";
import { Expr, Id, JsonSchema, StateKey } from "@/server/domain/base/values";
import { WorkflowNode } from "../nodes/schemas";

export { WorkflowNode };

export const WorkflowEdge = z.object({
  id: Id,
  source_node_id: Id,
  target_node_id: Id,
  /** Which label of a router this edge is for. */
  edge_label: z.string().max(200).nullish(),
  /** A boolean key of the state that guards this edge. */
  condition_name: StateKey.nullish(),
  condition: Expr.optional(),
  is_default: z.boolean().default(false),
  kind: z.enum(["normal", "error"]).default("normal"),
});
export type WorkflowEdge = z.infer<typeof WorkflowEdge>;

/** A frame around some nodes, for people: it changes nothing of what runs. */
export const NodeGroup = z.object({
  id: Id,
  name: z.string().max(200).default(""),
  color: z.enum(["grey", "yellow", "pink", "green", "blue"]).default("grey"),
  /** Ids of nodes; a node is in one group at most, those that are not there count for nothing. */
  node_ids: z.array(Id).max(1000),
  /** Drawn as one card. */
  is_collapsed: z.boolean().default(false),
});
export type NodeGroup = z.infer<typeof NodeGroup>;

/** The current version of the file format; document.ts holds the steps that bring older ones up to it. */
export const SCHEMA_VERSION = 1;

export const DismissedAdvice = z.array(z.string().max(300)).max(500);

/** A workflow as saved, exported and run. Foreign or older files are read by document.ts. */
export const WorkflowGraph = z.object({
  graph_id: Id,
  description: z.string().max(4000).nullish(),
  version: z.number().int().default(1),
  schema_version: z.literal(SCHEMA_VERSION).default(SCHEMA_VERSION),
  nodes: z.record(Id, WorkflowNode),
  edges: z.array(WorkflowEdge),
  start_node_id: Id.nullish(),
  /** JSON Schema of the state; properties may carry "x-reducer" and "default". */
  global_state_schema: JsonSchema.nullish(),
  config: RunConfig.optional(),
  project_context: ProjectContext.optional(),
  /** Advice that people do not want to see again, as problems.ts names it. */
  dismissed_advice: DismissedAdvice.optional(),
  /** Frames on the canvas. */
  groups: z.array(NodeGroup).max(200).optional(),
});
export type WorkflowGraph = z.infer<typeof WorkflowGraph>;
