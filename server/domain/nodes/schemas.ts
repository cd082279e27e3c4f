import { z } from "zod";
import { must, present } from "@/server/domain/base/must";
import { type Listed, type NodeType, nodeKinds, type WorkflowNode as ReadNode, type SchemaOf } from ".";
import { nodeBase } from "./node-base";
import { schemaParts } from "./schema-parts";

// Reading and checking nodes, apart from what they are: see schema-parts.ts.

/** What the settings of each kind may be. */
const settings = new Map<string, z.ZodType>(nodeKinds.map((kind) => [kind.type, kind.config(schemaParts)]));

/** What the settings of a kind may be. */
export const configSchema = (type: NodeType): z.ZodType => must(settings, type);

const [first, ...others] = nodeKinds.map(({ type }) =>
  z.object({ ...nodeBase, node_type: z.literal(type), config: configSchema(type) }),
);

/** A node of a workflow: what every node has, and the settings of its kind. */
export const WorkflowNode = z.discriminatedUnion("node_type", [
  present(first, "a kind of node"),
  ...others,
  // Which settings belong to which kind is lost in the list.
]) as z.ZodType<z.output<SchemaOf<Listed>>, z.input<SchemaOf<Listed>>>;
export type WorkflowNode = ReadNode;
