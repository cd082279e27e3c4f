import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { settingsOf } from "@/server/domain/nodes";
import { draw } from "@/server/domain/testing/drawing";
import { extractNodes } from "./extract";
import type { WorkflowGraph } from "./graph";
import { inputFields } from "./run-input";

/** The new workflow and the rest, as the drawings that they are; or why there is none. */
function extracted(graph: WorkflowGraph, ...ids: string[]) {
  const found = extractNodes(graph, ids);
  if ("reason" in found) return found.reason;
  const { graph: rest, node_id } = found.replaced("wf_1", "Part");
  const node = rest.nodes[node_id];
  return {
    part: edgesOf(found.part),
    rest: edgesOf(rest),
    asks: inputFields(found.part).map(({ key, required }) => `${key}${required ? "" : "?"}`),
    input: node && settingsOf(node).input,
    returns: node?.output_keys,
    join: node?.join,
  };
}
const edgesOf = ({ edges }: WorkflowGraph) =>
  edges
    .map(
      ({ source_node_id, target_node_id, edge_label, condition }) =>
        `${source_node_id} ${edge_label ?? condition ?? ""}> ${target_node_id}`,
    )
    .sort();
const sets = (set: JsonObject) => ({ config: { set } });
const ends = (...input_keys: string[]) => ({ input_keys });

describe("nodes become a workflow that one node runs", () => {
  const line = draw("start > a > b > c > end", {
    start: { output_keys: ["topic"] },
    a: sets({ draft: "state.topic" }),
    b: sets({ text: "state.draft", notes: "1" }),
    c: sets({ out: "state.text" }),
    end: ends("out"),
  });

  test("with what they read as inputs, and what is read later as outputs", () => {
    expect(extracted(line, "a", "b")).toEqual({
      part: ["a > b", "b > end", "start > a"],
      rest: ["Part > c", "c > end", "start > Part"],
      asks: ["topic"],
      input: { topic: "state.topic" },
      returns: ["text"],
      join: "all",
    });
  });

  test("everything is returned where an end returns the whole state", () => {
    const open: WorkflowGraph = { ...line, nodes: { ...line.nodes, end: draw("end").nodes.end! } };
    expect(extracted(open, "a", "b")).toMatchObject({ returns: ["draft", "text", "notes"] });
  });

  test("a loop moves along with the route that leaves it", () => {
    const loop = draw("start > w > r; r again> w; r done> c > end", {
      w: { node_type: "transform", ...sets({ r: "'again'" }) },
      end: ends("c"),
    });
    expect(extracted(loop, "w", "r")).toMatchObject({
      part: ["r again> w", "r done> end", "start > w", "w > r"],
      rest: ["Part > c", "c > end", "start > Part"],
    });
  });

  test("branches from one node to one node move along together", () => {
    const fork = draw("start > a; start > b; a > c; b > c; c > end", { end: ends("a", "b") });
    expect(extracted(fork, "a", "b")).toMatchObject({
      part: ["a > end", "b > end", "start > a", "start > b"],
      rest: ["Part > c", "c > end", "start > Part"],
      returns: ["a", "b"],
    });
  });

  test("the last node's conditions stay in the workflow, and what they read is returned", () => {
    const graph = draw("start > a > b > c > end; b > d > end", { end: ends("c") });
    graph.edges = graph.edges.map((edge) =>
      edge.target_node_id === "d" ? { ...edge, condition: "state.a == 'x'" } : edge,
    );
    expect(extracted(graph, "a", "b")).toMatchObject({
      rest: ["Part > c", "Part state.a == 'x'> d", "c > end", "d > end", "start > Part"],
      returns: ["a"],
    });
  });

  test("what waited for several branches does so in front of the new node", () => {
    const graph = draw("start > x > a > end; start > y > a", { a: { ...sets({ a: "1" }), join: "any" } });
    expect(extracted(graph, "a")).toMatchObject({
      join: "any",
      part: ["a > end", "start > a"],
      rest: ["Part > end", "start > x", "start > y", "x > Part", "y > Part"],
    });
  });

  test("what a map repeats moves along with it", () => {
    const graph = draw("start > m > end; body", {
      start: { output_keys: ["list"] },
      m: { node_type: "map", config: { items: "state.list", node: "body" }, output_keys: ["all"] },
      end: ends("all"),
    });
    expect(extracted(graph, "m")).toMatchObject({
      part: ["m > end", "start > m"],
      rest: ["Part > end", "start > Part"],
    });
    expect(extracted(graph, "body")).toBe("“body” runs in “m”. Select that node as well.");
  });

  test("a group that holds them all holds the new node", () => {
    const found = extractNodes(
      {
        ...line,
        groups: [{ id: "g", name: "", color: "grey", node_ids: ["a", "b", "c"], is_collapsed: false }],
      },
      ["a", "b"],
    );
    expect("reason" in found ? found : found.replaced("wf_1", "Part").graph.groups?.[0]?.node_ids).toEqual([
      "c",
      "Part",
    ]);
  });
});

describe("nodes that can't be moved are refused with the reason", () => {
  test.each([
    ["start > a > end", ["start", "a"], "“start” has to stay: runs of this workflow start and end in it."],
    ["start > a > end", [], "Select nodes to extract."],
    [
      "start > x > a > c > end; start > y > b > c",
      ["a", "b"],
      "entered at “a” and at “b”, on different ways",
    ],
    [
      "start > a > c > end; a > d > end; a > b > e > end",
      ["a", "b"],
      "left from “a” to “c” and from “a” to “d”",
    ],
    ["start > a > b > end; a !> c > end", ["a", "b"], "The error path of “a” leaves the selection."],
    ["start > r; r x> a > end; r y> b", ["r", "a", "b"], "Nothing follows “b”"],
    ["start > b > end; a > b", ["a", "b"], "Nothing leads to “a”"],
  ])("%s: %j", (text, ids, reason) => {
    expect(extracted(draw(text, { end: ends("a") }), ...ids)).toContain(reason);
  });

  test("a key that only some paths write would be missing after them", () => {
    const graph = draw("start > r; r x> a > c; r y> b > c; c > end", {
      start: { output_keys: ["r"] },
      end: ends("a"),
    });
    expect(extracted(graph, "r", "a", "b")).toContain(
      "“a” is written on some paths through the selection only",
    );
    const known = draw("start > f > r; r x> a > c; r y> b > c; c > end", {
      start: { output_keys: ["r"] },
      f: sets({ a: "0" }),
      end: ends("a"),
    });
    expect(extracted(known, "r", "a", "b")).toMatchObject({ asks: ["r", "a"], returns: ["a"] });
  });

  test("a key that may be missing before can't be an input, unless nothing writes it", () => {
    const graph = draw("start > r; r x> a > c; r y> c; c > end", {
      start: { output_keys: ["r"] },
      c: sets({ c: 'has(state.a) ? state.a : "none"' }),
      end: ends("c"),
    });
    expect(extracted(graph, "c")).toContain("“a” may be missing when the selection starts");
    const alone = draw("start > c > end", {
      c: sets({ c: 'has(state.a) ? state.a : "none"' }),
      end: ends("c"),
    });
    expect(extracted(alone, "c")).toMatchObject({ asks: ["a?"], input: {} });
  });

  test("a key that is merged and read would be merged twice", () => {
    const graph = draw("start > a > end", { a: sets({ n: "state.n + 1" }), end: ends("n") });
    const adding = {
      ...graph,
      global_state_schema: { properties: { n: { "x-reducer": "add", default: 1 } } },
    };
    expect(extracted(adding, "a")).toContain("merge “n”, which would merge it twice");
  });
});
