import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import { Json } from "@/server/domain/base/values";
import { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { CAPABILITY_KINDS } from "@/server/domain/library/capabilities";
import { Time, Values } from "../common-schemas";

export const WorkflowProblem = z.object({
  severity: z.enum(["error", "warning"]),
  code: z.string(),
  message: z.string(),
  at: z.object({
    kind: z.enum(["workflow", "node", "edge"]),
    id: z.string().optional(),
    field: z.string().optional(),
  }),
});

/** A node of an unfinished workflow: its settings may be missing or incomplete. */
export const UnfinishedNode = z.looseObject({
  id: z.string(),
  node_type: z.string(),
  config: Values.optional(),
});

/** What the export writes. */
export const WorkflowFile = z.object({
  troupe: z.int().meta({ description: "The version of the file format" }),
  name: z.string().optional(),
  workflow: WorkflowGraph.extend({ nodes: z.record(z.string(), z.union([WorkflowNode, UnfinishedNode])) }),
  roles: z.array(RoleDefinition).optional(),
  tests: z.array(z.looseObject({ id: z.string(), name: z.string() })).optional(),
});

/** A workflow in OpenHands' spelling, which has no place for some of ours. */
export const OpenHandsGraph = z.looseObject({
  nodes: z.record(z.string(), z.looseObject({ node_type: z.string() })),
  edges: z.array(z.looseObject({ source_node_id: z.string(), target_node_id: z.string() })),
});

/** Something that runs of a workflow may use. */
export const CapabilityGrant = z.object({
  key: z.string().meta({ description: "Such as tool:http_request, host:api.example.com or memory:global" }),
  kind: z.enum(CAPABILITY_KINDS),
  name: z.string(),
  where: z.array(z.object({ node_id: z.string().optional(), role: z.string().optional() })),
  detail: z.string().optional().meta({ description: "The program of a code node" }),
  allowed: z.boolean(),
});

/** What nodes of other workflows need to know in order to run a workflow. */
export const WorkflowInterface = z.object({
  id: z.string(),
  name: z.string(),
  inputs: z.array(
    z.object({ key: z.string(), schema: Values, required: z.boolean(), default: Json.optional() }),
  ),
  outputs: z.array(z.string()).meta({ description: "Keys that a run may return" }),
  calls: z.array(z.string()).meta({ description: "IDs of the workflows that it runs" }),
});

export const WorkflowSummary = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  revision: z.int(),
  node_count: z.int(),
  updated_at: Time,
});
