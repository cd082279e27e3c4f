import { beforeEach, expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { findTemplate, templates } from "@/server/templates";
import { copyName, WorkflowStore } from "./workflows";

const approval = templates[0]!.graph;
let clock = 1000;
let store: WorkflowStore;
beforeEach(() => {
  clock = 1000;
  store = new WorkflowStore(emptyDb(), () => clock++);
});

test("a workflow is returned as it was saved, newest first", () => {
  const a = store.create({ name: "A", graph: approval });
  const b = store.create({ name: "B", graph: WorkflowGraph.parse({ graph_id: "g", nodes: {}, edges: [] }) });
  expect(store.find(a)).toEqual({
    id: a,
    name: "A",
    withheld: [],
    revision: 1,
    graph: approval,
    updated_at: 1000,
  });
  expect(store.list().map(({ name }) => name)).toEqual(["B", "A"]);
  store.rename(a, "A again");
  expect(store.list().map(({ name, revision }) => [name, revision])).toEqual([
    ["A again", 2],
    ["B", 1],
  ]);
  expect(store.find(b)?.name).toBe("B");
});

test("the second of two saves on one revision is rejected with the current version", () => {
  const id = store.create({ name: "A", graph: approval });
  const mine = { ...approval, description: "mine" };
  const theirs = { ...approval, description: "theirs" };
  expect(store.save({ id, revision: 1, graph: mine })).toEqual({
    saved: true,
    revision: 2,
    updated_at: 1001,
  });
  const conflict = store.save({ id, revision: 1, name: "Other", graph: theirs });
  expect(conflict).toMatchObject({
    saved: false,
    current: { revision: 2, name: "A", graph: { description: "mine" } },
  });
  expect(store.save({ id: "wf_none", revision: 1, graph: mine })).toEqual({
    saved: false,
    current: undefined,
  });
});

test("a removed workflow is unlisted, can't be saved, and can be restored", () => {
  const id = store.create({ name: "A", graph: approval });
  expect(store.remove(id)).toBe(true);
  expect(store.list()).toEqual([]);
  expect(store.find(id)).toBeUndefined();
  expect(store.save({ id, revision: 1, graph: approval })).toEqual({ saved: false, current: undefined });
  expect(store.restore(id)).toBe(true);
  expect(store.find(id)?.graph).toEqual(approval);
  store.remove(id);
  expect(store.purge(clock + 1)).toBe(1);
  expect(store.restore(id)).toBe(false);
});

test("a copy gets its own name", () => {
  const id = store.create({ name: "A", graph: approval });
  const copies = [store.duplicate(id)!, store.duplicate(id)!, store.duplicate(store.duplicate(id)!)!];
  expect(copies.map((copy) => store.find(copy)?.name)).toEqual(["A copy", "A copy 2", "A copy 4"]);
  expect(store.duplicate("wf_none")).toBeUndefined();
  expect(copyName("Plan copy 7", new Set())).toBe("Plan copy");
});

test("renaming a role updates every node that names it and only those workflows' revisions", () => {
  const uses = store.create({ name: "Uses", graph: approval });
  const other = store.create({ name: "Other", graph: findTemplate("research-and-write")!.graph });
  expect(store.renameRole("ApprovalAgent", "Approver")).toBe(1);
  const node = store.find(uses)?.graph.nodes.node_get_approval;
  expect(node?.config).toMatchObject({ required_role: "Approver" });
  expect([store.find(uses)?.revision, store.find(other)?.revision]).toEqual([2, 1]);
});
