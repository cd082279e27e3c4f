import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryGraph } from "@/server/domain/testing/arbitrary-graph";
import { templateOf } from "@/server/templates";
import { readWorkflow, writeWorkflow } from "./document/document";
import { toOriginal } from "./document/original-format";
import type { WorkflowGraph } from "./graph";
import { grouped, movedGroup, withFolded, withGroups, withoutGone } from "./groups";

const { graph } = templateOf("approval");
const ids = Object.keys(graph.nodes);
const [first = "", second = "", third = ""] = ids;

test("a node is in at most one group, and empty groups are removed", () => {
  const one = grouped(graph, "group", [first, second, "nobody"]);
  expect(one.groups?.map(({ node_ids }) => node_ids)).toEqual([[first, second]]);
  const two = grouped(one, "group_2", [second, third]);
  expect(two.groups?.map(({ node_ids }) => node_ids)).toEqual([[first], [second, third]]);
  expect(grouped(two, "group_3", [first]).groups?.map(({ id }) => id)).toEqual(["group_2", "group_3"]);
  expect(withGroups(two, [])).toEqual(graph);
  const { [first]: _gone, ...nodes } = two.nodes;
  expect(withoutGone({ ...two, nodes }).groups?.map(({ id }) => id)).toEqual(["group_2"]);
});

test("moving a group keeps the distances between its nodes", () => {
  const drawn = grouped(graph, "group", [first, second]);
  const [group] = drawn.groups ?? [];
  if (!group) throw new Error("No group.");
  const before = [first, second].map((id) => drawn.nodes[id]?.ui);
  const after = movedGroup(drawn, group, { x: 1000, y: 500 });
  const apart = (places: (Record<string, unknown> | { x: number; y: number } | undefined)[]) =>
    Number(places[1]?.x) - Number(places[0]?.x);
  expect(apart([after[first], after[second]])).toBe(apart(before));
  expect(Math.min(...Object.values(after).map(({ x }) => x))).toBe(1000);
});

test("a collapsed group keeps its outer edges, and no other edges change", () => {
  fc.assert(
    fc.property(arbitraryGraph(), fc.array(fc.nat(), { minLength: 1, maxLength: 5 }), (start, picks) => {
      const all = Object.keys(start.nodes);
      const members = picks.flatMap((n) => all[n % Math.max(1, all.length)] ?? []);
      const made = grouped(start, "the_group", members);
      const groups = made.groups?.map((group) => ({ ...group, is_collapsed: true }));
      const drawn = groups ? { ...made, groups } : made;
      const shown = withFolded(drawn);
      const isIn = (id: string) => members.includes(id);
      const expected = start.edges.flatMap((edge) =>
        isIn(edge.source_node_id) && isIn(edge.target_node_id)
          ? edge.source_node_id === edge.target_node_id || groups
            ? []
            : [edge]
          : [
              {
                ...edge,
                source_node_id: isIn(edge.source_node_id) ? "the_group" : edge.source_node_id,
                target_node_id: isIn(edge.target_node_id) ? "the_group" : edge.target_node_id,
              },
            ],
      );
      expect(shown.edges).toEqual(expected);
      expect(Object.keys(shown.nodes)).toHaveLength(all.length - new Set(members).size + (groups ? 1 : 0));
    }),
  );
});

test("groups survive a round trip, and an OpenHands export reports them as lost", () => {
  const drawn: WorkflowGraph = {
    ...graph,
    groups: [{ id: "group", name: "Ask", color: "blue", node_ids: [first, second], is_collapsed: true }],
  };
  const read = readWorkflow(writeWorkflow(drawn, { flavour: "troupe", name: "Approval" }));
  expect(read.graph?.groups).toEqual(drawn.groups);
  expect(read.findings).toEqual([]);
  const { graph: original, losses } = toOriginal(drawn);
  expect(original).toEqual(toOriginal(graph).graph);
  expect(losses.map(({ at }) => at)).toContain("groups");
});
