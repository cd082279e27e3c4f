import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { bodyNodes } from "./bodies";
import { callPath, outputsOf, toCallable } from "./callable";
import { bodyError, calledWorkflows, graphOfBody } from "./called";
import type { WorkflowGraph } from "./graph";
import { inputFields } from "./run-input";

const maps = (config: JsonObject) => ({
  node_type: "map",
  name: "Each",
  config: { items: "state.list", ...config },
});
const grouped = (graph: WorkflowGraph, id: string, node_ids: string[]): WorkflowGraph => ({
  ...graph,
  groups: [...(graph.groups ?? []), { id, name: "Steps", color: "grey", node_ids, is_collapsed: false }],
});
const asked = (graph: WorkflowGraph | null) =>
  graph && inputFields(graph).map(({ key, required }) => `${key}${required ? "" : "?"}`);

describe("what a node repeats", () => {
  const graph = grouped(
    draw("start > m > end; a > b; x", {
      m: maps({ node: "g" }),
      a: { config: { set: { a: "state.ticket" } } },
      b: { config: { set: { b: "state.a + state.lang" } } },
    }),
    "g",
    ["a", "b"],
  );

  test("is a group or a node that nothing else is connected to", () => {
    expect(bodyError(graph, "m", "g")).toBeNull();
    expect(bodyError(graph, "m", "x")).toBeNull();
    expect(bodyError(graph, "m", "a")).toBe(
      "a is connected to b. What is repeated can't have connections to other nodes.",
    );
    expect(bodyError(graph, "m", "gone")).toBe('There is no node or group "gone" to run.');
    expect(bodyError(graph, "m", "m")).toBe("A node can't run itself.");
    const circle = grouped(draw("start > m > end; a > b; b > a", { m: maps({}) }), "g", ["a", "b"]);
    expect(bodyError(circle, "m", "g")).toBe(
      "It has no first node, because each of its nodes follows another one.",
    );
    expect(bodyError(graph, "m", "end")).toMatch(/^end can't be repeated/);
    expect([...bodyNodes(graph)]).toEqual(["a", "b"]);
  });

  test("asks for what its nodes read and don't write themselves, and returns what they write", () => {
    const body = graphOfBody(graph, "g");
    expect(asked(body)).toEqual(["ticket", "lang"]);
    expect(body && outputsOf(body)).toEqual(["a", "b"]);
  });

  test("a node that reads what it writes asks for it", () => {
    const counter = draw("start > end; n", { n: { config: { set: { n: "state.n + 1" } } } });
    expect(asked(graphOfBody(counter, "n"))).toEqual(["n"]);
  });

  test("contains what its own nodes repeat, and a circle of such nodes is an error", () => {
    const nested = draw("start > m > end; n; x", { m: maps({ node: "n" }), n: maps({ node: "x" }) });
    const body = graphOfBody(nested, "n");
    expect(Object.keys(body?.nodes ?? {})).toEqual(["start", "n", "x", "end"]);
    expect(
      body?.edges.map(({ source_node_id, target_node_id }) => `${source_node_id} ${target_node_id}`),
    ).toEqual(["start n", "n end"]);
    const circle = draw("start > end; m; n", { m: maps({ node: "n" }), n: maps({ node: "m" }) });
    expect(bodyError(circle, "m", "n")).toBe("A node can't run itself.");
  });
});

describe("workflows that run each other", () => {
  const runs = (...ids: string[]) =>
    draw(
      `start > ${ids.map((_id, at) => `n${at} > `).join("")}end`,
      Object.fromEntries(
        ids.map((id, at) => [`n${at}`, { node_type: "sub_workflow", config: { workflow_id: id } }]),
      ),
    );
  const here = (all: Record<string, string[]>) => ({
    self: "a",
    find: (id: string) =>
      all[id] && { id, name: id.toUpperCase(), ...toCallable(runs(...all[id])), calls: all[id] },
  });

  test("each is named once", () => {
    expect(calledWorkflows(runs("b", "c", "b"))).toEqual(["b", "c"]);
  });

  test("the longest way and circles are found by name", () => {
    expect(callPath(here({ a: [], b: ["c", "d"], c: ["d"], d: [] }), "A", "b")).toEqual({
      isCycle: false,
      names: ["A", "B", "C", "D"],
    });
    expect(callPath(here({ a: ["b"], b: ["c"], c: ["a"] }), "A", "b")).toEqual({
      isCycle: true,
      names: ["A", "B", "C", "A"],
    });
    expect(callPath(here({ b: ["c"], c: ["b"] }), "A", "b")).toEqual({
      isCycle: true,
      names: ["B", "C", "B"],
    });
  });

  test("a workflow whose end names nothing returns everything", () => {
    const graph = draw("start > t > end", {
      start: { output_keys: ["n"] },
      t: { config: { set: { x: "1" } } },
    });
    expect(toCallable(graph)).toMatchObject({
      inputs: [{ key: "n", required: true }],
      outputs: ["n", "x"],
      calls: [],
    });
  });
});
