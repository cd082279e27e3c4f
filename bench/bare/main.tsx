import { Background, Controls, MiniMap, ReactFlow } from "@xyflow/react";
import { createRoot } from "react-dom/client";
import "@xyflow/react/dist/style.css";
import { grid } from "../grid";

// The yardstick: React Flow as its documentation shows it, with its own plain cards, and the same drawing as ours.
const { nodes, edges } = grid(500, Number(new URLSearchParams(location.search).get("columns") ?? 10));
const flow = {
  nodes: nodes.map(({ id, x, y }) => ({ id, position: { x, y }, data: { label: id } })),
  edges: edges.map(([source, target], at) => ({ id: `e${at}`, source, target })),
};

createRoot(document.getElementById("root")!).render(
  <ReactFlow defaultNodes={flow.nodes} defaultEdges={flow.edges} fitView minZoom={0.02}>
    <Background />
    <Controls />
    <MiniMap />
  </ReactFlow>,
);
