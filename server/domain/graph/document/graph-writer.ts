import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { must } from "@/server/domain/base/must";
import { writeFields } from "@/server/domain/base/terse-writer";
import { nodeKinds, type WorkflowNode } from "@/server/domain/nodes";
import { nodeBase } from "@/server/domain/nodes/node-base";
import { configSchema } from "@/server/domain/nodes/schemas";
import { analyse } from "../analysis";
import { SCHEMA_VERSION, WorkflowEdge, WorkflowGraph } from "../graph";
import { withoutSecrets } from "../secrets";

const { ui, ...placeless } = nodeBase;
const nodeSchemas = new Map(
  nodeKinds.map((kind) => {
    const { id, name, description, ...rest } = placeless;
    const config = configSchema(kind.type);
    return [
      kind.type,
      z.object({ id, node_type: z.literal(kind.type), name, description, config, ...rest, ui }),
    ] as const;
  }),
);
const { schema_version, nodes: _nodes, edges: _edges, ...graphShape } = WorkflowGraph.shape;
const graphSchema = z.object(graphShape);

/** A graph as a file holds it, its nodes in the order in which they run. */
export function writeGraph(graph: WorkflowGraph): Raw {
  const { graph_id, description, start_node_id, ...rest } = writeFields(graphSchema, graph);
  return {
    ...defined({ graph_id, description }),
    schema_version: SCHEMA_VERSION,
    ...defined({ start_node_id }),
    nodes: Object.fromEntries(orderedNodes(graph).map((node) => [node.id, writeNode(node)])),
    edges: graph.edges.map((edge) => writeFields(WorkflowEdge, edge)),
    ...pick(rest, Object.keys(graphShape)),
  };
}

const pick = (raw: Raw, keys: readonly string[]): Raw =>
  Object.fromEntries(keys.filter((key) => raw[key] !== undefined).map((key) => [key, raw[key]]));

/** In the order in which they run; what never runs stands at the end, by id. */
export function orderedNodes(graph: WorkflowGraph): WorkflowNode[] {
  const { position } = analyse(graph);
  const place = (node: WorkflowNode) => position.get(node.id) ?? Number.POSITIVE_INFINITY;
  return Object.values(graph.nodes).sort((a, b) => {
    const [p, q] = [place(a), place(b)];
    return p === q ? (a.id < b.id ? -1 : 1) : p - q;
  });
}

function writeNode(node: WorkflowNode): Raw {
  const schema = must(nodeSchemas, node.node_type);
  const written = writeFields(schema, node);
  if (written.config !== undefined) written.config = withoutSecrets(written.config);
  // An empty object says no more than none.
  if (isRaw(written.config) && Object.keys(written.config).length === 0) delete written.config;
  return written;
}
