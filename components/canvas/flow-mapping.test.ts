import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { edits } from "@/components/editor/editing/edits";
import { textEdits } from "@/components/editor/editing/text-edits";
import { anyMove, sampleGraph } from "@/components/editor/testing";
import { portsOf } from "@/components/forms/ports";
import { must, present } from "@/server/domain/base/must";
import { fromFlow, toConnection, toFlowEdges, toFlowNodes } from "./flow-mapping";
import { align } from "./layout/helplines";
import { layout } from "./layout/layout";
import { COLUMN, fallbackPlaces } from "./layout/places";
import { neighbour, readingOrder } from "./navigation";

const none: ReadonlySet<string> = new Set();

describe("flow mapping", () => {
  test("converting any graph to React Flow and back returns the same graph", () => {
    fc.assert(
      fc.property(fc.array(anyMove, { maxLength: 25 }), (moves) => {
        const graph = moves.reduce((before, move) => move(before), sampleGraph());
        const nodes = toFlowNodes(graph, none);
        const edges = toFlowEdges(graph, none);
        expect(fromFlow(graph, nodes, edges)).toEqual(graph);
        for (const edge of edges) {
          const node = nodes.find(({ id }) => id === edge.source);
          expect(node?.data.ports.map(({ id }) => id)).toContain(edge.sourceHandle);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("editing a node re-renders only its card", () => {
    const graph = sampleGraph();
    const before = toFlowNodes(graph, none);
    const edited = edits.setNode.apply(graph, { id: "ask", patch: { description: "Asks back" } });
    const after = toFlowNodes(edited, none, before);
    expect(after.map((node, at) => node === before[at])).toEqual([true, false, true, true]);
    const lines = toFlowEdges(graph, none);
    expect(toFlowEdges(edited, none, lines).every((edge, at) => edge === lines[at])).toBe(true);
  });

  test("a connection is labeled with the names of its nodes", () => {
    const edited = edits.setNode.apply(sampleGraph(), { id: "ask", patch: { name: "Question" } });
    expect(toFlowEdges(edited, none).map(({ ariaLabel }) => ariaLabel)).toEqual([
      "Connection from Start to Question",
      "Connection from Question to Route",
      "Connection from Route to Done",
      "Connection from Route to Question",
    ]);
  });

  test("editing a node keeps the sizes that React Flow measured", () => {
    const graph = sampleGraph();
    const measured = toFlowNodes(graph, none).map((node) => ({
      ...node,
      measured: { width: 240, height: 90 },
    }));
    const after = toFlowNodes(
      edits.setNode.apply(graph, { id: "ask", patch: { name: "Q" } }),
      none,
      measured,
    );
    expect(after.every(({ measured }) => measured?.height === 90)).toBe(true);
  });

  test("a card with a new error output reserves its size before it is measured", () => {
    const graph = sampleGraph();
    const before = toFlowNodes(graph, none);
    const leaving = present(
      graph.edges.find(({ source_node_id }) => source_node_id === "ask"),
      "an edge from ask",
    );
    const edges = [...graph.edges, { ...leaving, id: "fails", kind: "error" as const }];
    const sizeOf = (nodes: typeof before) => nodes.find(({ id }) => id === "ask")?.measured;
    const after = sizeOf(toFlowNodes({ ...graph, edges }, none, before));
    expect(after).toEqual(sizeOf(toFlowNodes({ ...graph, edges }, none)));
    expect(after).not.toEqual(sizeOf(before));
  });

  test("a connection from a router attaches to the port of its label", () => {
    const [, , yes] = toFlowEdges(sampleGraph(), none);
    expect(yes?.sourceHandle).toBe("exit:yes");
    expect(toConnection({ source: "route", target: "done", sourceHandle: "exit:yes" })).toEqual({
      source_node_id: "route",
      target_node_id: "done",
      kind: "normal",
      edge_label: "yes",
    });
  });
});

describe("ports", () => {
  test("a router shows its routes, and marks a route that only an edge names as not offered", () => {
    const graph = sampleGraph();
    const route = graph.nodes.route;
    const stray = { ...graph.edges[2], id: "e9", edge_label: "maybe" } as (typeof graph.edges)[number];
    expect(
      route &&
        portsOf(route, [...graph.edges.slice(2), stray]).map((p) => [p.title, p.isOffered, p.isConnected]),
    ).toEqual([
      ["yes", true, true],
      ["no", true, true],
      ["maybe", false, true],
    ]);
  });

  test("a value router offers another route until it has a fallback", () => {
    const graph = textEdits.setConfig.apply(sampleGraph(), {
      id: "route",
      patch: { kind: "value", value: "state.answer", ways: ["yes", "no"] },
    });
    const route = must(graph.nodes, "route");
    const titles = (edges: typeof graph.edges) => portsOf(route, edges).map(({ title }) => title);
    const [yes, no] = graph.edges.slice(2) as [(typeof graph.edges)[number], (typeof graph.edges)[number]];
    expect(titles([yes, no])).toEqual(["yes", "no", "another route"]);
    expect(titles([yes, { ...no, is_default: true }])).toEqual(["yes", "no"]);
    expect(titles([yes, { ...no, edge_label: null, is_default: true }])).toEqual(["yes", "no", "otherwise"]);
  });

  test("an error port appears on nodes with their own error route", () => {
    const graph = edits.setNode.apply(sampleGraph(), { id: "ask", patch: { on_error: "error_edge" } });
    expect(graph.nodes.ask && portsOf(graph.nodes.ask, []).map(({ id }) => id)).toEqual(["out", "error"]);
  });
});

describe("navigation", () => {
  test("the reading order begins at the start node, and arrow keys follow connections", () => {
    const graph = sampleGraph();
    expect(readingOrder(graph)).toEqual(["start", "ask", "route", "done"]);
    expect(neighbour(graph, "start", "right")).toBe("ask");
    expect(neighbour(graph, "route", "right")).toBe("done");
    expect(neighbour(graph, "route", "left")).toBe("ask");
    expect(neighbour(graph, "start", "left")).toBeNull();
  });
});

describe("placement", () => {
  test("a workflow without positions is laid out in columns", () => {
    const places = fallbackPlaces(sampleGraph());
    expect([...places.values()].map(({ x }) => x)).toEqual([0, COLUMN, 2 * COLUMN, 3 * COLUMN]);
  });

  test("tidying up places successors to the right without overlapping cards", async () => {
    const graph = edits.addNode.apply(sampleGraph(), {
      id: "t",
      type: "transform",
      after: { nodeId: "route", edge: { kind: "normal", edge_label: "no" } },
    });
    const places = (await layout(graph)) ?? {};
    expect(places.start && places.ask && places.start.x < places.ask.x).toBe(true);
    expect(places.done?.x).toBe(places.t?.x);
    expect(Math.abs((places.done?.y ?? 0) - (places.t?.y ?? 0))).toBeGreaterThanOrEqual(80);
    expect(places.start).toEqual({ x: 0, y: expect.any(Number) });
  });

  test("tidying up orders the branches of a router by its routes", async () => {
    const graph = ["no", "yes"].reduce(
      (before, label) =>
        edits.addNode.apply(before, {
          id: `after_${label}`,
          type: "transform",
          after: { nodeId: "route", edge: { kind: "normal", edge_label: label } },
        }),
      edits.remove.apply(sampleGraph(), { nodes: ["done"], edges: ["edge_4"] }),
    );
    const places = (await layout(graph)) ?? {};
    expect(places.after_yes && places.after_no && places.after_yes.y < places.after_no.y).toBe(true);
  });

  test("tidying up a selection leaves all other nodes in place", async () => {
    expect(Object.keys((await layout(sampleGraph(), new Set(["route", "done"]))) ?? {})).toEqual([
      "route",
      "done",
    ]);
  });

  test("a card that is dragged close to another card's position on an axis snaps to it", () => {
    const box = { width: 240, height: 90 };
    const found = align({ id: "a", x: 403, y: 50, ...box }, [{ id: "b", x: 400, y: 300, ...box }]);
    expect(found.place).toEqual({ x: 400, y: 50 });
    expect(found.vertical).toMatchObject({ at: 400, from: 50, to: 390 });
    expect(found.horizontal).toBeNull();
  });
});
