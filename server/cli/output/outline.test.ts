import { describe, expect, test } from "vitest";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { outlineOf } from "./outline";

/** "a>b, b-yes>c": nodes and edges in short. */
function graphOf(story: string): WorkflowGraph {
  const edges = story.split(",").map((part, at) => {
    const [, source_node_id, edge_label, target_node_id] = /^(\w+)(?:-(\w+))?>(\w+)$/.exec(part.trim())!;
    return { id: `e${at}`, source_node_id, target_node_id, ...(edge_label ? { edge_label } : {}) };
  });
  const ids = [
    ...new Set(edges.flatMap(({ source_node_id, target_node_id }) => [source_node_id!, target_node_id!])),
  ];
  return WorkflowGraph.parse({
    graph_id: "g",
    start_node_id: ids[0],
    nodes: Object.fromEntries(ids.map((id) => [id, { id, node_type: "wait", config: { ms: 1 } }])),
    edges,
  });
}

const drawn = (story: string) =>
  outlineOf(graphOf(story)).map(
    ({ id, depth, label }) => `${"  ".repeat(depth)}${label ? `${label}: ` : ""}${id}`,
  );

describe("the outline of a graph", () => {
  test("the outline of a chain stays on one level", () => {
    expect(drawn("a>b, b>c")).toEqual(["a", "b", "c"]);
  });

  test("the outline indents branches and shows their labels", () => {
    expect(drawn("s>r, r-yes>a, r-no>b, a>x, b>y")).toEqual(["s", "r", "  yes: a", "  x", "  no: b", "  y"]);
  });

  test("the outline of a join is one level out, below all its branches", () => {
    expect(drawn("s>a, s>b, a>j, b>j, j>e")).toEqual(["s", "  a", "  b", "j", "e"]);
  });

  test("the outline omits the back edge of a loop", () => {
    expect(drawn("s>w, w>r, r-again>w, r-done>e")).toEqual(["s", "w", "r", "done: e"]);
  });

  test("the outline of a long chain doesn't overflow the stack", () => {
    const story = Array.from({ length: 900 }, (_, at) => `n${at}>n${at + 1}`).join(",");
    expect(outlineOf(graphOf(story))).toHaveLength(901);
  });
});
