import fc from "fast-check";
import { edgeFrom, portsOf } from "@/components/forms/ports";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { type NodeType, nodeKinds } from "@/server/domain/nodes";
import { edits, newNodeId } from "./editing/edits";
import { fragmentOf, freshIds } from "./editing/fragment";

/** A small drawing: start > ask > route; route yes> done, route no> ask. */
export function sampleGraph(): WorkflowGraph {
  return WorkflowGraph.parse({
    graph_id: "sample",
    start_node_id: "start",
    nodes: {
      start: { id: "start", node_type: "start", name: "Start", config: {}, ui: { x: 0, y: 0 } },
      ask: {
        id: "ask",
        node_type: "agent_task",
        name: "Ask",
        config: { required_role: "Writer", task_description_template: "Ask {{user_request}}" },
        input_keys: ["user_request"],
        output_keys: ["answer"],
        ui: { x: 320, y: 0 },
      },
      route: {
        id: "route",
        node_type: "conditional_router",
        name: "Route",
        config: {
          kind: "expression",
          conditions: [
            { label: "yes", when: 'state.answer == "yes"' },
            { label: "no", when: 'state.answer == "no"' },
          ],
        },
        ui: { x: 640, y: 0 },
      },
      done: { id: "done", node_type: "end", name: "Done", config: {}, ui: { x: 960, y: 0 } },
    },
    edges: [
      { id: "edge_1", source_node_id: "start", target_node_id: "ask" },
      { id: "edge_2", source_node_id: "ask", target_node_id: "route" },
      { id: "edge_3", source_node_id: "route", target_node_id: "done", edge_label: "yes" },
      { id: "edge_4", source_node_id: "route", target_node_id: "ask", edge_label: "no" },
    ],
  });
}

/** An arbitrary change, chosen by numbers, so that it fits whatever drawing it meets. */
export type Move = (graph: WorkflowGraph) => WorkflowGraph;

const types = nodeKinds.map(({ type }) => type);
const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)];
const nodeAt = (graph: WorkflowGraph, n: number) => pick(Object.values(graph.nodes), n);
const edgeAt = (graph: WorkflowGraph, n: number) => pick(graph.edges, n);

/** Any edit that a person could make. */
export const anyMove: fc.Arbitrary<Move> = fc
  .record({ what: fc.nat(11), a: fc.nat(50), b: fc.nat(50), x: fc.integer({ min: -2000, max: 2000 }) })
  .map(
    ({ what, a, b, x }): Move =>
      (graph) => {
        const node = nodeAt(graph, a);
        const other = nodeAt(graph, b);
        const edge = edgeAt(graph, a);
        const type: NodeType = pick(types, b) ?? "agent_task";
        const id = newNodeId(graph, type);
        const outgoing = node ? graph.edges.filter(({ source_node_id }) => source_node_id === node.id) : [];
        const port = node && pick(portsOf(node, outgoing), b);
        switch (what) {
          case 0:
            return edits.addNode.apply(graph, { id, type, at: { x, y: a } });
          case 1:
            return node && port
              ? edits.addNode.apply(graph, { id, type, after: { nodeId: node.id, edge: edgeFrom(port.id) } })
              : graph;
          case 2:
            return edge ? edits.addNode.apply(graph, { id, type, onEdge: edge.id }) : graph;
          case 3:
            return node && other && port
              ? edits.connect.apply(graph, {
                  source_node_id: node.id,
                  target_node_id: other.id,
                  ...edgeFrom(port.id),
                })
              : graph;
          case 4:
            return node
              ? edits.remove.apply(graph, { nodes: [node.id], edges: edge ? [edge.id] : [] })
              : graph;
          case 5:
            return node ? edits.removeAndReconnect.apply(graph, { nodes: [node.id] }) : graph;
          case 6:
            return node ? edits.move.apply(graph, { places: { [node.id]: { x, y: b } } }) : graph;
          case 7:
            return node ? edits.setNode.apply(graph, { id: node.id, patch: { name: `Name ${b}` } }) : graph;
          case 8: {
            const fragment = fragmentOf(graph, [node?.id ?? "", other?.id ?? ""]);
            return edits.insert.apply(graph, { fragment, at: { x, y: 0 }, ids: freshIds(graph, fragment) });
          }
          case 9:
            return node && edge ? edits.splice.apply(graph, { nodeId: node.id, edgeId: edge.id }) : graph;
          case 10:
            return edge
              ? edits.setEdge.apply(graph, { id: edge.id, patch: { condition: `state.k${b} > 1` } })
              : graph;
          default:
            return edge && other
              ? edits.reconnect.apply(graph, {
                  edgeId: edge.id,
                  source_node_id: edge.source_node_id,
                  target_node_id: other.id,
                  kind: edge.kind,
                  edge_label: edge.edge_label,
                })
              : graph;
        }
      },
  );
