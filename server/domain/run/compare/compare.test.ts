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

test("a run beside itself differs in nothing", () => {
  const run = going("yes");
  const { nodes, first, state, output, input, is_same_graph } = compareRuns(run, run);
  expect(nodes.flatMap(({ differs }) => differs)).toEqual([]);
  expect([first, state, output, input, is_same_graph]).toEqual([null, [], [], [], true]);
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
  expect([a?.differs, a?.a?.output, a?.b?.output]).toEqual([
    ["output"],
    { a: "a draft" },
    { a: "another draft" },
  ]);
  expect(first).toEqual({ a: "a#1", b: "a#1", why: "output" });
  expect(state).toEqual([{ key: "a", before: "a draft", after: "another draft" }]);
});

test("runs on other drawings are laid over each other", () => {
  const other = simulate(draw("start > a > r; r yes> d > end"), { labels: () => ["yes"] }).state;
  const { graph: both, is_same_graph } = compareRuns(going("yes"), other);
  expect([is_same_graph, Object.keys(both.nodes).toSorted()]).toEqual([
    false,
    ["a", "b", "c", "d", "end", "r", "start"],
  ]);
});
