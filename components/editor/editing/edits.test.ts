import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { COLUMN } from "@/components/canvas/layout/places";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { anyMove, sampleGraph } from "../testing";
import { newEditorStore } from "./editor-store";
import { canConnect, edits } from "./edits";
import { fragmentOf, freshIds, writeFragment } from "./fragment";
import { readFragment } from "./read-fragment";

const lines = (graph: WorkflowGraph) =>
  graph.edges.map((e) => `${e.source_node_id} ${e.edge_label ?? ""}> ${e.target_node_id}`.replace("  ", " "));

describe("any sequence of edits", () => {
  test("any sequence of edits yields a valid graph whose edges connect existing nodes", () => {
    fc.assert(
      fc.property(fc.array(anyMove, { maxLength: 40 }), (moves) => {
        const graph = moves.reduce((before, move) => move(before), sampleGraph());
        expect(WorkflowGraph.safeParse(JSON.parse(JSON.stringify(graph))).error).toBeUndefined();
        for (const [id, node] of Object.entries(graph.nodes)) expect(node.id).toBe(id);
        for (const edge of graph.edges) {
          expect(graph.nodes[edge.source_node_id]).toBeDefined();
          expect(graph.nodes[edge.target_node_id]).toBeDefined();
        }
        expect(new Set(graph.edges.map(({ id }) => id)).size).toBe(graph.edges.length);
      }),
      { numRuns: 300 },
    );
  });

  test("undoing all edits restores the original graph, and redoing them restores the last one", () => {
    fc.assert(
      fc.property(fc.array(anyMove, { maxLength: 30 }), (moves) => {
        const start = sampleGraph();
        let time = 0;
        const store = newEditorStore(
          { id: "wf", name: "W", graph: start, revision: 1 },
          () => (time += 10_000),
        );
        for (const move of moves)
          store.getState().edit({ id: "any", label: "Any", apply: (graph) => move(graph) }, null);
        const end = store.getState().doc.graph;
        while (store.getState().undo() !== null) continue;
        expect(store.getState().doc.graph).toBe(start);
        while (store.getState().redo() !== null) continue;
        expect(store.getState().doc.graph).toEqual(end);
      }),
      { numRuns: 200 },
    );
  });
});

describe("adding nodes", () => {
  test("a new agent task stores its answer under a key that no other node writes", () => {
    const first = edits.addNode.apply(sampleGraph(), { id: "x", type: "agent_task" });
    const second = edits.addNode.apply(first, { id: "y", type: "agent_task" });
    expect(second.nodes.x?.output_keys).toEqual(["result"]);
    expect(second.nodes.y?.output_keys).toEqual(["result_2"]);
  });

  test("a node added to a route is connected and placed to the right", () => {
    const graph = edits.addNode.apply(sampleGraph(), {
      id: "t",
      type: "agent_task",
      after: { nodeId: "route", edge: { kind: "normal", edge_label: "no" } },
    });
    expect(lines(graph)).toContain("route no> t");
    expect(graph.nodes.t?.ui).toMatchObject({ x: 640 + COLUMN });
    expect(graph.nodes.t?.ui?.y).not.toBe(0);
  });

  test("a node added to a connection is inserted in between and makes room", () => {
    const graph = edits.addNode.apply(sampleGraph(), { id: "t", type: "transform", onEdge: "edge_1" });
    expect(lines(graph)).toEqual(["start > t", "ask > route", "route yes> done", "route no> ask", "t > ask"]);
    expect(graph.nodes.t?.ui?.x).toBe(COLUMN);
    expect(graph.nodes.ask?.ui?.x).toBe(2 * COLUMN);
    expect(graph.nodes.done?.ui?.x).toBe(960 + 2 * COLUMN - 320);
  });

  test("a loose card dropped on a connection makes room like a new node", () => {
    const loose = edits.addNode.apply(sampleGraph(), { id: "t", type: "transform", at: { x: 8, y: 400 } });
    const graph = edits.splice.apply(loose, { nodeId: "t", edgeId: "edge_1", place: { x: 100, y: 8 } });
    const added = edits.addNode.apply(sampleGraph(), { id: "t", type: "transform", onEdge: "edge_1" });
    expect(lines(graph)).toEqual(lines(added));
    expect(Object.entries(graph.nodes).map(([id, { ui }]) => [id, ui])).toEqual(
      Object.entries(added.nodes).map(([id, { ui }]) => [id, ui]),
    );
  });

  test("a node added before an existing node is connected to it", () => {
    const graph = edits.addNode.apply(sampleGraph(), {
      id: "t",
      type: "transform",
      at: { x: 0, y: 300 },
      before: "done",
    });
    expect(lines(graph)).toContain("t > done");
  });

  test("an end node added to a connection cuts the connection there", () => {
    const graph = edits.addNode.apply(sampleGraph(), { id: "e", type: "end", onEdge: "edge_1" });
    expect(lines(graph)).toEqual(["start > e", "ask > route", "route yes> done", "route no> ask"]);
  });
});

describe("connecting", () => {
  const edge = { kind: "normal" as const };
  test("duplicate edges, self-loops, edges into a start and edges out of an end are rejected", () => {
    const graph = sampleGraph();
    expect(canConnect(graph, { ...edge, source_node_id: "start", target_node_id: "ask" })).toBe(false);
    expect(canConnect(graph, { ...edge, source_node_id: "ask", target_node_id: "ask" })).toBe(false);
    expect(canConnect(graph, { ...edge, source_node_id: "ask", target_node_id: "start" })).toBe(false);
    expect(canConnect(graph, { ...edge, source_node_id: "done", target_node_id: "ask" })).toBe(false);
    expect(canConnect(graph, { ...edge, source_node_id: "start", target_node_id: "route" })).toBe(true);
  });

  test("an edge keeps its label when its end moves", () => {
    const graph = edits.reconnect.apply(sampleGraph(), {
      edgeId: "edge_3",
      source_node_id: "route",
      target_node_id: "ask",
      kind: "normal",
      edge_label: "yes",
    });
    expect(lines(graph)[2]).toBe("route yes> ask");
  });
});

describe("removing", () => {
  test("removing the only start node removes its edges and clears the start", () => {
    const graph = edits.remove.apply(sampleGraph(), { nodes: ["start"], edges: [] });
    expect(graph.start_node_id).toBeNull();
    expect(lines(graph)).toEqual(["ask > route", "route yes> done", "route no> ask"]);
  });

  test("removing with reconnect joins predecessors and successors and keeps the incoming label", () => {
    const graph = edits.removeAndReconnect.apply(sampleGraph(), { nodes: ["ask"] });
    expect(lines(graph)).toEqual(["route yes> done", "start > route"]);
  });
});

test("an unlabeled edge from a router gets its own new route", () => {
  const graph = edits.connect.apply(sampleGraph(), {
    source_node_id: "route",
    target_node_id: "done",
    kind: "normal",
  });
  expect(lines(graph)).toContain("route way 3> done");
  expect(graph.nodes.route?.config).toMatchObject({
    conditions: [{ label: "yes" }, { label: "no" }, { label: "way 3", when: "" }],
  });
});

describe("copying", () => {
  test("ungrouping all removes every group and keeps its nodes", () => {
    const one = edits.group.apply(sampleGraph(), { id: "one", nodes: ["ask"] });
    const two = edits.group.apply(one, { id: "two", nodes: ["route"] });
    expect(edits.ungroupAll.apply(two, {})).toEqual(sampleGraph());
  });

  test("copying includes only groups whose nodes are all copied", () => {
    const graph = edits.group.apply(sampleGraph(), { id: "both", nodes: ["ask", "route"] });
    const insertedFrom = (ids: readonly string[]) => {
      const fragment = readFragment(writeFragment(fragmentOf(graph, ids)));
      if (!fragment) throw new Error("It is none of ours.");
      const next = edits.insert.apply(graph, {
        fragment,
        at: { x: 0, y: 900 },
        ids: freshIds(graph, fragment),
      });
      return next.groups?.map(({ id, node_ids }) => [id, node_ids]);
    };
    expect(insertedFrom(["ask", "route", "done"])).toEqual([
      ["both", ["ask", "route"]],
      ["group", ["ask_2", "route_2"]],
    ]);
    expect(insertedFrom(["ask", "done"])).toEqual([["both", ["ask", "route"]]]);
  });

  test("copied nodes survive a text round trip with new ids and only their internal edges", () => {
    const graph = sampleGraph();
    const fragment = readFragment(writeFragment(fragmentOf(graph, ["ask", "route"])));
    expect(fragment).not.toBeNull();
    if (!fragment) return;
    const ids = freshIds(graph, fragment);
    const next = edits.insert.apply(graph, { fragment, at: { x: 100, y: 500 }, ids });
    expect(ids).toEqual({ ask: "ask_2", route: "route_2" });
    expect(lines(next).slice(4)).toEqual(["ask_2 > route_2", "route_2 no> ask_2"]);
    expect(next.nodes.ask_2?.ui).toEqual({ x: 100, y: 500 });
    expect(next.nodes.route_2?.ui).toEqual({ x: 420, y: 500 });
    expect(next.nodes.ask).toBe(graph.nodes.ask);
  });

  test("pasting ignores foreign text and drops invalid nodes", () => {
    expect(readFragment("hello")).toBeNull();
    expect(readFragment('{"nodes":{}}')).toBeNull();
    expect(
      readFragment('{"format":"troupe-fragment","nodes":{"a":{"id":"a","node_type":"shell"}},"edges":[{}]}'),
    ).toEqual({
      nodes: {},
      edges: [],
      leftOut: 1,
    });
  });
});

describe("undo history", () => {
  test("undo treats rapid typing in one field as one step and other edits as separate steps", () => {
    let time = 0;
    const store = newEditorStore(
      { id: "wf", name: "W", graph: sampleGraph(), revision: 1 },
      () => (time += 100),
    );
    const { edit, undo } = store.getState();
    for (const name of ["R", "Re", "Rev"])
      edit(edits.setNode, { id: "ask", patch: { name } }, { mergeKey: "ask.name" });
    edit(edits.setNode, { id: "done", patch: { name: "Fin" } }, { mergeKey: "done.name" });
    undo();
    expect(store.getState().doc.graph.nodes.done?.name).toBe("Done");
    expect(store.getState().doc.graph.nodes.ask?.name).toBe("Rev");
    undo();
    expect(store.getState().doc.graph.nodes.ask?.name).toBe("Ask");
    expect(undo()).toBeNull();
  });

  test("undo keeps the last hundred steps", () => {
    let time = 0;
    const store = newEditorStore(
      { id: "wf", name: "W", graph: sampleGraph(), revision: 1 },
      () => (time += 5000),
    );
    for (let n = 0; n < 130; n++) store.getState().rename(`W ${n}`);
    let steps = 0;
    while (store.getState().undo() !== null) steps++;
    expect(steps).toBe(100);
  });

  test("an edit without effect adds no undo step", () => {
    const store = newEditorStore({ id: "wf", name: "W", graph: sampleGraph(), revision: 1 });
    store.getState().edit(edits.connect, { source_node_id: "start", target_node_id: "ask", kind: "normal" });
    expect(store.getState().undo()).toBeNull();
  });

  test("undoing to the saved version leaves nothing to save", () => {
    const store = newEditorStore({ id: "wf", name: "W", graph: sampleGraph(), revision: 1 });
    store.getState().edit(edits.remove, { nodes: ["ask"], edges: [] });
    expect(store.getState().doc).not.toBe(store.getState().savedDoc);
    store.getState().undo();
    expect(store.getState().doc).toBe(store.getState().savedDoc);
  });
});

test("nodes added with the same default name are numbered", () => {
  const add = (graph: WorkflowGraph, id: string) => edits.addNode.apply(graph, { id, type: "wait" });
  const graph = ["w1", "w2", "w3"].reduce(add, sampleGraph());
  expect(["w1", "w2", "w3"].map((id) => graph.nodes[id]?.name)).toEqual(["Wait", "Wait 2", "Wait 3"]);
});
