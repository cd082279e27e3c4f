import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import type { WorkflowGraph } from "./graph";
import { mergeVersions, type Version } from "./merge";

const base: Version = { name: "Tides", graph: draw("start > a > b > end") };
const node = (graph: WorkflowGraph, id: string) => graph.nodes[id]!;
/** The base, changed. */
const version = (change: (graph: WorkflowGraph) => WorkflowGraph, name = base.name): Version => ({
  name,
  graph: change(structuredClone(base.graph)),
});
const renamed = (id: string, name: string) => (graph: WorkflowGraph) => ({
  ...graph,
  nodes: { ...graph.nodes, [id]: { ...node(graph, id), name } },
});
const moved = (id: string, x: number) => (graph: WorkflowGraph) => ({
  ...graph,
  nodes: { ...graph.nodes, [id]: { ...node(graph, id), ui: { x, y: 0 } } },
});
const without = (id: string) => (graph: WorkflowGraph) => {
  const { [id]: _gone, ...nodes } = graph.nodes;
  const edges = graph.edges.filter(({ source_node_id: s, target_node_id: t }) => s !== id && t !== id);
  return { ...graph, nodes, edges };
};
const linked = (from: string, to: string) => (graph: WorkflowGraph) => ({
  ...graph,
  edges: [
    ...graph.edges,
    { ...graph.edges[0]!, id: `${from}-${to}`, source_node_id: from, target_node_id: to },
  ],
});

describe("merging two versions", () => {
  test("a map that one side gave a node which the other deleted is a conflict", () => {
    const repeats = (graph: WorkflowGraph): WorkflowGraph => ({
      ...graph,
      nodes: {
        ...graph.nodes,
        ...draw("m", { m: { node_type: "map", config: { items: "[1]", node: "b" } } }).nodes,
      },
    });
    const { merged, clashes } = mergeVersions(base, version(repeats), version(without("b")));
    expect(merged).toBeNull();
    expect(clashes).toContainEqual({ kind: "node", id: "m" });
  });

  test("changes to different nodes are merged", () => {
    const { merged } = mergeVersions(
      base,
      version(renamed("a", "Mine")),
      version(renamed("b", "Theirs"), "High tides"),
    );
    expect(merged).toEqual(
      version((graph) => renamed("b", "Theirs")(renamed("a", "Mine")(graph)), "High tides"),
    );
  });

  test("a rename and a move of the same node are merged", () => {
    const { merged } = mergeVersions(base, version(moved("a", 40)), version(renamed("a", "Theirs")));
    expect(merged).toEqual(version((graph) => moved("a", 40)(renamed("a", "Theirs")(graph))));
  });

  test("my position wins if both sides moved a node", () => {
    const { merged } = mergeVersions(base, version(moved("a", 40)), version(moved("a", 80)));
    expect(merged).toEqual(version(moved("a", 40)));
  });

  test("a removed node and a change to another node are merged", () => {
    const { merged } = mergeVersions(base, version(without("b")), version(renamed("a", "Theirs")));
    expect(merged).toEqual(version((graph) => without("b")(renamed("a", "Theirs")(graph))));
  });
});

test.each<[string, Version, Version, { kind: string; id: string }[]]>([
  [
    "both sides renamed a node",
    version(renamed("a", "Mine")),
    version(renamed("a", "Theirs")),
    [{ kind: "node", id: "a" }],
  ],
  [
    "one side changed a node that the other removed",
    version(renamed("a", "Mine")),
    version(without("a")),
    [{ kind: "node", id: "a" }],
  ],
  [
    "one side connected a node that the other removed",
    version(linked("start", "b")),
    version(without("b")),
    [{ kind: "edge", id: "start-b" }],
  ],
  [
    "both sides renamed the workflow",
    version((g) => g, "Mine"),
    version((g) => g, "Theirs"),
    [{ kind: "name", id: "name" }],
  ],
])("a merge conflicts if %s", (_what, mine, theirs, clashes) => {
  expect(mergeVersions(base, mine, theirs)).toEqual({ merged: null, clashes });
});

const changes = fc.constantFrom<(graph: WorkflowGraph) => WorkflowGraph>(
  (graph) => graph,
  renamed("a", "A"),
  renamed("b", "B"),
  moved("b", 7),
  without("a"),
  linked("start", "end"),
);

test("changes of only one side are always kept", () => {
  fc.assert(
    fc.property(changes, (change) => {
      const changed = version(change);
      expect(mergeVersions(base, changed, base).merged).toEqual(changed);
      expect(mergeVersions(base, base, changed).merged).toEqual(changed);
      expect(mergeVersions(base, changed, changed).merged).toEqual(changed);
    }),
  );
});

test("merge conflicts don't depend on the order of the versions", () => {
  fc.assert(
    fc.property(changes, changes, (one, other) => {
      const [a, b] = [version(one), version(other)];
      const ids = (clashes: readonly { id: string }[]) => clashes.map(({ id }) => id).sort();
      expect(ids(mergeVersions(base, a, b).clashes)).toEqual(ids(mergeVersions(base, b, a).clashes));
    }),
  );
});
