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

test("a run beside itself differs in nothing, and ways that neither went are left out", () => {
  const run = going("yes");
  const { edges, nodes, first, state, output, input, is_same_graph } = compareRuns(run, run);
  expect(nodes.flatMap(({ differs }) => differs)).toEqual([]);
  expect([first, state, output, input, is_same_graph]).toEqual([null, [], [], [], true]);
  expect(edges).toEqual(["e0", "e1", "e2", "e3"].map((id) => ({ id, a: 1, b: 1 })));
});

test("two runs that went other ways tell where they parted, and what only one of them did", () => {
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

test("another output of a step is told with both, and as the first difference", () => {
  const { nodes, first, state } = compareRuns(going("yes", "a draft"), going("yes", "another draft"));
  const [a] = nodes.filter(({ id }) => id === "a");
  expect(a?.differs).toEqual(["output"]);
  expect(a?.a?.output).toEqual({ a: "a draft" });
  expect(a?.b?.output).toEqual({ a: "another draft" });
  expect(first).toEqual({ a: "a#1", b: "a#1", why: "output" });
  expect(state).toEqual([{ key: "a", before: "a draft", after: "another draft" }]);
});

test("runs on other drawings are laid over each other", () => {
  const other = simulate(draw("start > a > r; r yes> d > end"), { labels: () => ["yes"] }).state;
  const { graph: both, is_same_graph } = compareRuns(going("yes"), other);
  expect(is_same_graph).toBe(false);
  expect(Object.keys(both.nodes).toSorted()).toEqual(["a", "b", "c", "d", "end", "r", "start"]);
});

test("a node that came round again is told as all its times together, with what it gave and chose last", () => {
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

test("the first that is other may be how a step ended, or one that only one of them came to, in either", () => {
  const run = going("yes");
  const failed = {
    ...run,
    activations: { ...run.activations, "a#1": { ...run.activations["a#1"]!, status: "failed" as const } },
  };
  const { "end#1": _end, ...shorter } = run.activations;
  const stopped = { ...run, activations: shorter };
  expect(
    [
      [run, failed],
      [run, stopped],
      [stopped, run],
    ].map(([a, b]) => {
      const { first, nodes } = compareRuns(a!, b!);
      return [first, nodes.flatMap(({ id, differs }) => differs.map((way) => [id, way]))];
    }),
  ).toEqual([
    [{ a: "a#1", b: "a#1", why: "status" }, [["a", "status"]]],
    [{ a: "end#1", why: "node" }, [["end", "path"]]],
    [{ b: "end#1", why: "node" }, [["end", "path"]]],
  ]);
});
