import { z } from "zod";
import { must } from "@/server/domain/base/must";
import { type Listed, listedKinds, type NodeType, type WorkflowNode as ReadNode, type SchemaOf } from ".";
import { nodeBase } from "./node-base";
import { schemaParts } from "./schema-parts";

// Reading and checking nodes, apart from what they are: see schema-parts.ts.

/** What the settings of each kind may be. */
const settings = new Map<string, z.ZodType>(
  listedKinds.map((kind) => [kind.type, kind.config(schemaParts) as z.ZodType]),
);

/** What the settings of a kind may be. */
export const configSchema = (type: NodeType): z.ZodType => must(settings, type);

const schemaOf = <K extends Listed>({ type }: K) =>
  z.object({ ...nodeBase, node_type: z.literal(type), config: configSchema(type) }) as unknown as SchemaOf<K>;

/** A node of a workflow: what every node has, and the settings of its kind. */
export const WorkflowNode = z.discriminatedUnion(
  "node_type",
  listedKinds.map(schemaOf) as unknown as [SchemaOf<Listed>, ...SchemaOf<Listed>[]],
) as unknown as z.ZodType<z.output<SchemaOf<Listed>>, z.input<SchemaOf<Listed>>>;
export type WorkflowNode = ReadNode;
