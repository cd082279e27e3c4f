import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { simulate } from "@/server/domain/testing/simulate";
import { compareRuns } from "./compare";

const graph = draw("start > a > r; r yes> b > end; r no> c > end");
const going = (label: string, text = "done") =>
  simulate(graph, {
    labels: () => [label],
    output: (node) => (node === "a" ? { a: text } : {}),
  }).state;

test("a run compared with itself has no differences, and edges not taken are left out", () => {
  const run = going("yes");
  const { edges, nodes, first, state, output, input, is_same_graph } = compareRuns(run, run);
  expect(nodes.flatMap(({ differs }) => differs)).toEqual([]);
  expect([first, state, output, input, is_same_graph]).toEqual([null, [], [], [], true]);
  expect(edges).toEqual(["e0", "e1", "e2", "e3"].map((id) => ({ id, a: 1, b: 1 })));
});

test("a comparison of runs on different routes shows where they diverge", () => {
  const { nodes, edges, first } = compareRuns(going("yes"), going("no"));
  const path = nodes
    .filter(({ differs }) => differs.includes("path"))
    .map(({ id, a, b }) => [id, a?.count, b?.count]);
  expect(path).toEqual([
    ["b", 1, undefined],
    ["c", undefined, 1],
  ]);
  expect(first).toEqual({ a: "r#1", b: "r#1", why: "way" });
  const router = nodes.find(({ id }) => id === "r");
  expect([router?.differs, router?.a?.labels, router?.b?.labels]).toEqual([["way"], ["yes"], ["no"]]);
  expect(edges.filter(({ a, b }) => a !== b).map(({ a, b }) => [a, b])).toEqual([
    [1, 0],
    [1, 0],
    [0, 1],
    [0, 1],
  ]);
});

test("a run with an overridden route differs at the node that was overridden", () => {
  const run = going("yes");
  const sent = {
    ...run,
    activations: { ...run.activations, "r#1": { ...run.activations["r#1"], next: "c" } },
  } as typeof run;
  const { nodes, first } = compareRuns(run, sent);
  expect(first).toEqual({ a: "r#1", b: "r#1", why: "way" });
  expect(nodes.find(({ id }) => id === "r")).toMatchObject({ differs: ["way"], b: { next: "c" } });
});

test("a repeated node is compared by its totals and its last output and route", () => {
  const loop = draw("start > a > r; r again> a; r done> end");
  const rounds = (count: number) => {
    const { state } = simulate(loop, {
      labels: (_, k) => [k < count ? "again" : "done"],
      output: (node, k) => (node === "a" ? { a: `draft ${k}` } : {}),
    });
    const activations = Object.values(state.activations).map((one, at) => ({
      ...one,
      usage: { ...one.usage, input_tokens: 10, output_tokens: 1 },
      cost_usd: one.node_id === "a" ? 0.5 : 0,
      // The price of the router's first call is not known.
      unknown_cost_calls: one.id === "r#1" ? 1 : 0,
      started_at: at * 100,
      finished_at: at * 100 + 30,
    }));
    return { ...state, activations: Object.fromEntries(activations.map((one) => [one.id, one])) };
  };
  const { nodes, first, edges } = compareRuns(rounds(1), rounds(2));
  const part = (times: number, more: object = {}) => ({
    status: "completed",
    count: times,
    tokens: 11 * times,
    ms: 30 * times,
    cost_usd: 0,
    output: {},
    ...more,
  });
  const draft = (k: number) => part(k, { cost_usd: 0.5 * k, output: { a: `draft ${k}` } });
  const done = { cost_usd: null, labels: ["done"] };
  expect(nodes).toEqual([
    { id: "start", name: "start", a: part(1), b: part(1), differs: [] },
    { id: "a", name: "a", a: draft(1), b: draft(2), differs: ["path", "output"] },
    { id: "r", name: "r", a: part(1, done), b: part(2, done), differs: ["path"] },
    { id: "end", name: "end", a: part(1), b: part(1), differs: [] },
  ]);
  expect(first).toEqual({ a: "r#1", b: "r#1", why: "way" });
  expect(edges).toEqual([
    { id: "e0", a: 1, b: 1 },
    { id: "e1", a: 1, b: 2 },
    { id: "e2", a: 0, b: 1 },
    { id: "e3", a: 1, b: 1 },
  ]);
});
