// What tests of the scheduler say often: a node at work, what it did, and the ways that were taken or passed by.
import type { JsonObject } from "@/server/domain/base/values";
import { analyse } from "@/server/domain/graph/analysis";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { NewEvent } from "../events";
import { created, fold, ready, started } from "../testing";
import { complete } from "./outcomes";

export const at = (id: string) => ({ node_id: id, activation_id: `${id}#1` });
export const running = (graph: WorkflowGraph, id: string, config: JsonObject = {}, ...before: NewEvent[]) =>
  fold(created(graph, { config }), ...before, ready(id), started(id));
export const took = (from: string, to: string, edge_id: string, more: object = {}) => ({
  type: "edge_taken",
  node_id: to,
  activation_id: `${from}#1`,
  payload: { edge_id, ...more },
});
export const passed = (from: string, to: string, edge_id: string) => ({
  type: "edge_skipped",
  node_id: to,
  activation_id: `${from}#1`,
  payload: { edge_id },
});
export const done = (
  graph: WorkflowGraph,
  id: string,
  given: Parameters<typeof complete>[3],
  config: JsonObject = {},
) => complete(analyse(graph), running(graph, id, config), `${id}#1`, given);
