import { expect, test } from "vitest";
import { z } from "zod";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { defineTool, ToolFailure } from "@/server/tools/define";
import { fakeTools, newStage } from "../testing";

const REDUCERS = { list: "append", text: "concat_text", map: "merge", once: "first", all: "union" };
const writes = (word: string, more: object = {}) => ({
  node_type: "transform",
  config: {
    set: Object.fromEntries(
      Object.keys(REDUCERS).map((key) => [key, key === "map" ? `{'by': '${word}'}` : `'${word}'`]),
    ),
  },
  output_keys: Object.keys(REDUCERS),
  ...more,
});
const waits = (ms: number) => ({ node_type: "wait", config: { ms } });

function drawing(text: string, nodes: object): WorkflowGraph {
  const graph = draw(text, nodes as never);
  graph.global_state_schema = {
    properties: Object.fromEntries(
      Object.entries(REDUCERS).map(([key, reducer]) => [key, { "x-reducer": reducer }]),
    ),
  };
  return graph;
}
const stateOf = async (text: string, nodes: object, input = {}) =>
  (await newStage().run(drawing(text, nodes), { input })).state;

test("values from parallel branches are appended in workflow order, whatever their timing", async () => {
  const results = [];
  for (const [one, other] of [
    [1, 40],
    [40, 1],
  ] as const) {
    const nodes = { p: waits(one), q: waits(other), a: writes("a"), b: writes("b"), c: writes("c") };
    const { state } = await stateOf("start > p > a > j; start > q > b > j; j > c > end", nodes, {
      list: ["in"],
      text: "in",
    });
    results.push(state);
  }
  expect(results[0]).toMatchObject({
    list: ["in", "a", "b", "c"],
    text: "inabc",
    map: { by: "c" },
    once: "a",
    all: ["a", "b", "c"],
  });
  expect(results[1]).toEqual(results[0]);
});

test("a loop with a side branch appends values in workflow order in every iteration", async () => {
  const results = [];
  for (const [one, other, side] of [
    [1, 15, 30],
    [15, 1, 1],
  ] as const) {
    const nodes = {
      p: waits(one),
      q: waits(other),
      w: waits(side),
      a: writes("a"),
      b: writes("b"),
      s: writes("s"),
      r: {
        node_type: "conditional_router",
        config: {
          kind: "expression",
          conditions: [{ label: "again", when: "size(state.list) < 11" }],
          default_label: "out",
        },
      },
    };
    const { state, nodes: seen } = await stateOf(
      "start > h; h > p > a > j; h > q > b > j; h > w > s; j > r; r again> h; r out> end",
      nodes,
    );
    results.push([state.list, seen.h!.count]);
  }
  for (const [list, rounds] of results)
    expect(list).toEqual([
      ...Array.from({ length: rounds as number }, () => ["a", "b"]).flat(),
      ...Array.from({ length: rounds as number }, () => "s"),
    ]);
});

test("a late value is inserted in its place, and earlier states stay unchanged", async () => {
  const nodes = {
    p: waits(40),
    a: writes("a".repeat(300)),
    b: writes("b".repeat(300)),
    seen: {
      node_type: "transform",
      input_keys: ["list"],
      config: { set: { count: "size(state.list)" } },
      output_keys: ["count"],
    },
    after: {
      node_type: "transform",
      input_keys: ["list"],
      config: { set: { count: "size(state.list)" } },
      output_keys: ["count"],
    },
  };
  const state = await stateOf("start > p > a > after > end; start > b > seen", nodes);
  expect(state.activations["seen#1"]!.input).toEqual({ list: ["b".repeat(300)] });
  expect(state.activations["after#1"]!.input).toEqual({ list: ["a".repeat(300), "b".repeat(300)] });
});

test("a retried node appends its value once and in its place", async () => {
  const results = [];
  for (const failures of [0, 1, 3]) {
    let left = failures;
    const shaky = defineTool({
      name: "shaky",
      description: "Fails at first",
      input: z.object({}),
      source: "builtin",
      risk: "LOW",
      execute: () => {
        if (left-- > 0) throw new ToolFailure(503, "Not yet.");
        return "a";
      },
    });
    const graph = drawing("start > a > j; start > b > j; j > c > end", {
      a: {
        node_type: "tool_call",
        config: { tool_name: "shaky" },
        output_keys: ["list"],
        retry: { max_attempts: 5, initial_delay_ms: 1, retry_on: ["TOOL_FAILED"] },
      },
      b: { node_type: "transform", config: { set: { list: "'b'" } }, output_keys: ["list"] },
      c: { node_type: "transform", config: { set: { list: "'c'" } }, output_keys: ["list"] },
    });
    const { state } = await newStage({ tools: fakeTools([shaky]) }).run(graph, { input: { list: ["in"] } });
    results.push([state.run.final_status, state.state.list, state.nodes.a!.attempt]);
  }
  expect(results).toEqual([1, 2, 4].map((attempt) => ["COMPLETED", ["in", "a", "b", "c"], attempt]));
});
