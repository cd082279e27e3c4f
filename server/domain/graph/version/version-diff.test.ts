import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "@/server/domain/base/json";
import { draw } from "@/server/domain/testing/drawing";
import { sized } from "@/server/testing/thorough";
import type { WorkflowGraph } from "../graph";
import { applyDiff, diffGraphs, diffVersions } from "./version-diff";

// Few names, so that two random graphs overlap, including names of JavaScript's built-in properties.
const anyId = fc.constantFrom("a", "b", "c", "d", "__proto__", "constructor", "toString", "length", "0");
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constantFrom(null, true, 0, 1.5, "", "some text", "another text"),
    fc.dictionary(anyId, tie("value"), { maxKeys: 4 }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(
      fc.record({ agent_id: anyId, goal: tie("value") }).map((item) => item as unknown),
      { maxLength: 4 },
    ),
  ),
})).value;
const anyNode = fc.record(
  { id: anyId, name: anyId, config: fc.dictionary(anyId, anyValue, { maxKeys: 4 }), ui: anyValue },
  { requiredKeys: ["id"] },
);
const anyEdge = fc.record(
  { id: anyId, source_node_id: anyId, target_node_id: anyId, condition: anyValue },
  { requiredKeys: ["id"] },
);
const anyGraph = fc.record(
  {
    graph_id: anyId,
    nodes: fc.dictionary(anyId, anyNode, { maxKeys: 6 }),
    // Mostly with one edge for each id, as it should be.
    edges: fc.oneof(
      { weight: 4, arbitrary: fc.uniqueArray(anyEdge, { selector: ({ id }) => id, maxLength: 6 }) },
      { weight: 1, arbitrary: fc.array(anyEdge, { maxLength: 4 }) },
    ),
    groups: fc.uniqueArray(fc.record({ id: anyId, node_ids: fc.array(anyId, { maxLength: 3 }) }), {
      selector: ({ id }) => id,
      maxLength: 3,
    }),
    config: anyValue,
  },
  { requiredKeys: ["nodes", "edges"] },
) as unknown as fc.Arbitrary<WorkflowGraph>;
/** Two graphs parsed from a file, in which `__proto__` is an ordinary key. */
const anyPair = fc.tuple(anyGraph, anyGraph).map((pair) => JSON.parse(JSON.stringify(pair)) as typeof pair);

test("applying the diff of two graphs to the first yields the second", () => {
  fc.assert(
    fc.property(anyPair, ([a, b]) => {
      const before = JSON.stringify(a);
      const changes = JSON.parse(JSON.stringify(diffGraphs(a, b))) as ReturnType<typeof diffGraphs>;
      const made = applyDiff(changes, a);
      expect(made).toEqual(b);
      // This also compares what lies under the key `__proto__`.
      expect(canonicalJson(made)).toBe(canonicalJson(b));
      expect(JSON.stringify(a)).toBe(before);
    }),
    { numRuns: sized(1_000, 10_000) },
  );
}, 120_000);

test("a graph doesn't differ from itself, whatever the order of its fields", () => {
  fc.assert(
    fc.property(anyPair, ([a]) => {
      const turned = { ...a, nodes: Object.fromEntries(Object.entries(a.nodes).reverse()) };
      expect(diffGraphs(a, turned)).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

test("a difference names the field of a node, and an edge by its id wherever it stands in the list", () => {
  const before = draw("start > ask > end", { ask: { node_type: "agent_task", name: "Ask" } });
  const [first, second] = before.edges;
  const after = structuredClone(before);
  after.nodes.ask!.name = "Question";
  after.edges = [{ ...second!, condition: "state.ok" }, first!];
  expect(diffGraphs(before, after)).toEqual([
    { path: ["nodes", "ask", "name"], before: "Ask", after: "Question" },
    { path: ["edges", { id: second!.id }, "condition"], after: "state.ok" },
    { path: ["edges"], order: { by: "id", ids: [second!.id, first!.id] } },
  ]);
});

test("versions also differ in their roles, withheld permissions and settings", () => {
  const graph = draw("start > end", {});
  const role = (goal: string) => ({ name: "Writer", goal }) as never;
  const before = { graph, roles: [role("Write")], withheld: ["tool:web_search"] };
  const after = { graph: { ...graph, description: "Writes" }, roles: [role("Edit")], withheld: [] };
  const changes = diffVersions(before, after);
  expect(changes).toEqual([
    { path: ["graph", "description"], after: "Writes" },
    { path: ["roles", { name: "Writer" }, "goal"], before: "Write", after: "Edit" },
    { path: ["withheld"], before: ["tool:web_search"], after: [] },
  ]);
  expect(applyDiff(changes, before)).toEqual(after);
});
