import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowEdge, WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { applyFix, type Fix } from "./fixes";
import { formatCount, named, nameOf, quoted } from "./names";

type Wanted<F> = F extends unknown ? Omit<F, "label"> : never;
const fixed = (graph: WorkflowGraph, fix: Wanted<Fix>) => applyFix(graph, { label: "Mend", ...fix });
const edgeTexts = ({ edges }: WorkflowGraph) =>
  edges.map(
    ({ id, source_node_id, target_node_id, edge_label }) =>
      `${id} ${source_node_id} ${edge_label ?? ""}> ${target_node_id}`,
  );
const GRAPH = draw("start > a > b > end");

describe("a fix", () => {
  test("removing a node removes its edges and unsets it as the start", () => {
    const without = (node_id: string) => {
      const { nodes, edges, start_node_id } = fixed(GRAPH, { kind: "remove_node", node_id });
      return [Object.keys(nodes), edges.map(({ id }) => id), start_node_id];
    };
    expect(without("a")).toEqual([["start", "b", "end"], ["e2"], "start"]);
    expect(without("start")).toEqual([["a", "b", "end"], ["e1", "e2"], null]);
    expect(without("gone")).toEqual([["start", "a", "b", "end"], ["e0", "e1", "e2"], "start"]);
  });
  test("removing an edge with a duplicate ID removes the last of them", () => {
    const twice = {
      ...GRAPH,
      edges: [...GRAPH.edges, { ...(GRAPH.edges[0] as WorkflowEdge), target_node_id: "b" }],
    };
    expect(edgeTexts(fixed(twice, { kind: "remove_edge", edge_id: "e0" }))).toEqual(edgeTexts(GRAPH));
    expect(edgeTexts(fixed(GRAPH, { kind: "remove_edge", edge_id: "gone" }))).toEqual(edgeTexts(GRAPH));
  });
  test("a fix can change an edge, a node or the start node", () => {
    const edge = fixed(GRAPH, {
      kind: "set_edge",
      edge_id: "e1",
      set: { edge_label: "x", is_default: true },
    }).edges;
    expect(edge.map(({ edge_label, is_default }) => [edge_label, is_default])).toEqual([
      [undefined, false],
      ["x", true],
      [undefined, false],
    ]);
    const node = fixed(GRAPH, { kind: "set_node", node_id: "a", set: { name: "New" } });
    expect(node).toEqual({ ...GRAPH, nodes: { ...GRAPH.nodes, a: { ...GRAPH.nodes.a, name: "New" } } });
    expect(fixed(GRAPH, { kind: "set_start", node_id: "b" })).toEqual({ ...GRAPH, start_node_id: "b" });
  });
  test("a fix that doesn't apply or changes nothing returns the same graph", () => {
    expect(fixed(GRAPH, { kind: "set_node", node_id: "gone", set: { name: "New" } }) === GRAPH).toBe(true);
    expect(fixed(GRAPH, { kind: "set_config", node_id: "gone", path: ["x"], value: 1 }) === GRAPH).toBe(true);
    expect(fixed(GRAPH, { kind: "lead_to", node_id: "gone", edge_ids: ["e1"] }) === GRAPH).toBe(true);
    expect(fixed(GRAPH, { kind: "set_start", node_id: "gone" }) === GRAPH).toBe(true);
    expect(fixed(GRAPH, { kind: "remove_node", node_id: "gone" }) === GRAPH).toBe(true);
    expect(fixed(GRAPH, { kind: "remove_edge", edge_id: "gone" }) === GRAPH).toBe(true);
    expect(fixed(GRAPH, { kind: "set_edge", edge_id: "gone", set: { is_default: true } }) === GRAPH).toBe(
      true,
    );
    expect(fixed(GRAPH, { kind: "allow", key: "tool:x" }) === GRAPH).toBe(true);
  });
  test("dismissing advice twice records it once", () => {
    const once = fixed(GRAPH, { kind: "dismiss", key: "k" });
    expect(once.dismissed_advice).toEqual(["k"]);
    expect(fixed(once, { kind: "dismiss", key: "k" }).dismissed_advice).toEqual(["k"]);
    expect(fixed(once, { kind: "dismiss", key: "l" }).dismissed_advice).toEqual(["k", "l"]);
  });
  test("redirecting edges drops duplicates", () => {
    const graph = draw("start > r; r x> a; r x> b; r y> b; a > b; a > end");
    expect(edgeTexts(fixed(graph, { kind: "lead_to", node_id: "b", edge_ids: ["e1", "e3"] }))).toEqual([
      "e0 start > r",
      "e2 r x> b",
      "e3 r y> b",
      "e4 a > b",
      "e5 a > end",
    ]);
    expect(edgeTexts(fixed(graph, { kind: "lead_to", node_id: "end", edge_ids: ["e1", "e2"] }))).toEqual([
      "e0 start > r",
      "e1 r x> end",
      "e3 r y> b",
      "e4 a > b",
      "e5 a > end",
    ]);
  });
  test("setting a nested value works in lists and ignores invalid values", () => {
    const conditions = [
      { label: "a", when: "true" },
      { label: "b", when: "true" },
    ];
    const graph = draw("start > r; r a> end", { r: { config: { kind: "expression", conditions } } });
    const set = (path: (string | number)[], value: never) =>
      fixed(graph, { kind: "set_config", node_id: "r", path, value }).nodes.r;
    expect(set(["conditions", 1, "when"], "false" as never)?.config).toEqual({
      ...graph.nodes.r?.config,
      conditions: [conditions[0], { label: "b", when: "false" }],
    });
    expect(set(["conditions", 7, "when"], "false" as never)?.config).toEqual(graph.nodes.r?.config);
    expect(set(["router_function", "source"], "x" as never)?.config).toMatchObject({
      router_function: { description: "", language: "cel", source: "x" },
    });
    expect(set(["kind"], "odd" as never)).toBe(graph.nodes.r);
    expect(set([], { kind: "value" } as never)?.config).toMatchObject({ kind: "value", conditions: [] });
  });
  test("setting a reducer keeps the rest of the key's schema", () => {
    const reduced = (global_state_schema: JsonObject | undefined, key = "k") =>
      fixed(
        { ...GRAPH, ...(global_state_schema ? { global_state_schema } : {}) },
        { kind: "set_reducer", key, reducer: "append" },
      ).global_state_schema;
    expect(reduced(undefined)).toEqual({ type: "object", properties: { k: { "x-reducer": "append" } } });
    expect(reduced({ type: "object", title: "S", properties: { k: { type: "array" }, l: {} } })).toEqual({
      type: "object",
      title: "S",
      properties: { k: { type: "array", "x-reducer": "append" }, l: {} },
    });
    expect(reduced({ properties: {} }, "toString")).toEqual({
      properties: { toString: { "x-reducer": "append" } },
    });
  });
});

describe("added start and end nodes", () => {
  const at = (x: number, y: number) => ({ ui: { x, y } });
  test("added start and end nodes connect to nodes without incoming or outgoing edges", () => {
    const graph = draw("a > b; a > r; c !> b; note > note2", {
      a: at(0, 0),
      b: at(100, 50),
      c: at(40, 101),
      note: { node_type: "note", config: {} },
      note2: { node_type: "note", config: {} },
    });
    const started = fixed(graph, { kind: "add_start" });
    const id = started.start_node_id ?? "";
    expect(started.nodes[id]).toMatchObject({
      node_type: "start",
      name: "Start",
      output_keys: ["user_request"],
      config: {},
      ui: { x: -340, y: 51 },
    });
    expect(started.edges.slice(graph.edges.length).map(({ id: _, ...edge }) => edge)).toEqual(
      ["a", "c"].map((target_node_id) => ({
        source_node_id: id,
        target_node_id,
        is_default: false,
        kind: "normal",
      })),
    );
    const ended = fixed(graph, { kind: "add_end" });
    const [end] = Object.keys(ended.nodes).filter((one) => !graph.nodes[one]);
    expect(ended.nodes[end ?? ""]).toMatchObject({ node_type: "end", name: "End", ui: { x: 440, y: 51 } });
    expect(ended.edges.slice(graph.edges.length).map(({ id: _, ...edge }) => edge)).toEqual(
      ["b", "c"].map((source_node_id) => ({
        source_node_id,
        target_node_id: end,
        is_default: false,
        kind: "normal",
      })),
    );
    expect(new Set(ended.edges.map((edge) => edge.id)).size).toBe(ended.edges.length);
  });
  test("a start node added to an empty workflow is placed at the origin", () => {
    const empty = { ...GRAPH, nodes: {}, edges: [], start_node_id: null };
    const { nodes, edges } = fixed(empty, { kind: "add_start" });
    expect([Object.values(nodes).map(({ ui }) => ui), edges]).toEqual([[{ x: 0, y: 0 }], []]);
  });
});

test("nodes are referred to by name, or by ID if unnamed", () => {
  const graph = draw("start > a > end", { a: { name: "First" }, end: { name: "" } });
  expect(named(graph, "a")).toBe('"First"');
  expect(named(graph, "end")).toBe('"end"');
  expect(named(graph, "gone")).toBe('"gone"');
  expect(nameOf(present(graph))).toBe('"First"');
  expect(formatCount(12345)).toBe("12,345");
  expect(quoted(["a", "b"])).toBe('"a", "b"');
});

const present = ({ nodes }: WorkflowGraph) => {
  if (!nodes.a) throw new Error("no node");
  return nodes.a;
};
