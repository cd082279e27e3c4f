import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arbitraryGraph } from "@/server/domain/testing/arbitrary-graph";
import { WorkflowGraph } from "./graph";
import {
  addRoute,
  connectRoute,
  moveRoute,
  removeRoute,
  renameRoute,
  routerRoutes,
  setOtherwise,
  setWhen,
} from "./router-routes";

/** A router that decides by `kind`, with ends to lead to. */
function drawn(config: Record<string, unknown>, edges: Record<string, unknown>[] = []): WorkflowGraph {
  return WorkflowGraph.parse({
    graph_id: "g",
    start_node_id: "start",
    nodes: {
      start: { id: "start", node_type: "start", config: {} },
      route: { id: "route", node_type: "conditional_router", name: "Route", config },
      a: { id: "a", node_type: "end", name: "A", config: {} },
      b: { id: "b", node_type: "end", name: "B", config: {} },
    },
    edges: edges.map((edge, at) => ({ id: `edge_${at + 1}`, source_node_id: "route", ...edge })),
  });
}

const rows = (graph: WorkflowGraph) =>
  routerRoutes(graph, "route")?.routes.map(({ label, when, targets }) =>
    [label, ...(when === undefined ? [] : [when]), "->", ...targets].join(" "),
  );

const CONDITIONS = {
  kind: "expression",
  conditions: [
    { label: "yes", when: "state.ok" },
    { label: "no", when: "!state.ok" },
  ],
};

describe("router routes", () => {
  test("a route can be added, connected, renamed and removed with its edge", () => {
    let graph = drawn({ kind: "value", value: "state.status" });
    graph = addRoute(graph, "route", "approved");
    graph = connectRoute(graph, "route", "approved", "a");
    expect(rows(graph)).toEqual(["approved -> a"]);
    graph = renameRoute(graph, "route", "approved", "accepted");
    expect(graph.edges.map(({ edge_label, target_node_id }) => [edge_label, target_node_id])).toEqual([
      ["accepted", "a"],
    ]);
    graph = connectRoute(graph, "route", "accepted", "b");
    expect(rows(graph)).toEqual(["accepted -> b"]);
    expect(removeRoute(graph, "route", "accepted").edges).toEqual([]);
  });

  test("renaming a route to an existing name does nothing", () => {
    const graph = drawn(CONDITIONS);
    expect(renameRoute(graph, "route", "yes", "no")).toBe(graph);
  });

  test("conditions can be edited and reordered", () => {
    const graph = moveRoute(setWhen(drawn(CONDITIONS), "route", "no", "state.no"), "route", 1, 0);
    expect(rows(graph)).toEqual(["no state.no ->", "yes state.ok ->"]);
  });

  test("an edge label without a condition is listed as a route", () => {
    const graph = drawn(CONDITIONS, [{ target_node_id: "a", edge_label: "perhaps" }]);
    expect(routerRoutes(graph, "route")?.routes.at(-1)).toEqual({
      label: "perhaps",
      targets: ["a"],
      isOffered: false,
    });
  });

  test("the default is an existing route, a separate edge or nothing", () => {
    const graph = drawn(CONDITIONS, [{ target_node_id: "a", edge_label: "no" }]);
    const otherwise = (next: WorkflowGraph) => routerRoutes(next, "route")?.otherwise;
    expect(otherwise(graph)).toEqual({ label: null, targets: [] });
    const same = setOtherwise(graph, "route", { way: "no" });
    expect(otherwise(same)).toEqual({ label: "no", targets: ["a"] });
    const own = setOtherwise(same, "route", { node: "b" });
    expect(otherwise(own)).toEqual({ label: null, targets: ["b"] });
    expect(rows(own)).toEqual(["yes state.ok ->", "no !state.ok -> a"]);
    expect(setOtherwise(own, "route", null)).toEqual(graph);
  });

  test("a default set by label is shown and can be changed", () => {
    const graph = drawn({ ...CONDITIONS, default_label: "else" }, [
      { target_node_id: "b", edge_label: "else" },
    ]);
    expect(routerRoutes(graph, "route")?.otherwise).toEqual({ label: null, targets: ["b"] });
    expect(rows(graph)).toEqual(["yes state.ok ->", "no !state.ok ->"]);
    const moved = setOtherwise(graph, "route", { node: "a" });
    expect(routerRoutes(moved, "route")?.otherwise).toEqual({ label: null, targets: ["a"] });
    expect(moved.edges).toHaveLength(1);
  });
});

test("any sequence of route edits keeps the workflow valid and other edges unchanged", () => {
  const names = fc.constantFrom("yes", "no", "way 1", "x");
  const step = fc.record({ what: fc.nat(6), label: names, other: names, at: fc.nat(3), to: fc.nat(20) });
  fc.assert(
    fc.property(arbitraryGraph(), fc.array(step, { maxLength: 8 }), (start, steps) => {
      let graph = start;
      const router = Object.values(graph.nodes).find(({ id }) => routerRoutes(graph, id) !== null);
      if (!router) return;
      const { id } = router;
      const ids = Object.keys(graph.nodes);
      const others = graph.edges.filter((edge) => edge.source_node_id !== id || edge.kind === "error");
      for (const { what, label, other, at, to } of steps) {
        const target = ids[to % ids.length] ?? id;
        if (what === 0) graph = addRoute(graph, id, label);
        if (what === 1) graph = removeRoute(graph, id, label);
        if (what === 2) graph = renameRoute(graph, id, label, other);
        if (what === 3) graph = moveRoute(graph, id, at, to % 4);
        if (what === 4) graph = connectRoute(graph, id, label, target);
        if (what === 5) graph = setOtherwise(graph, id, { node: target });
        if (what === 6) graph = setOtherwise(graph, id, { way: label });
      }
      expect(WorkflowGraph.safeParse(graph).error).toBeUndefined();
      expect(graph.edges.filter((edge) => edge.source_node_id !== id || edge.kind === "error")).toEqual(
        others,
      );
      const labels = routerRoutes(graph, id)?.routes.map(({ label }) => label) ?? [];
      expect(labels).toEqual([...new Set(labels)]);
    }),
  );
});
