import { expect, test } from "vitest";
import type { Version } from "@/server/domain/graph/merge";
import { rebased } from "@/server/domain/graph/merge";
import { newEditorStore } from "./editing/editor-store";
import { edits } from "./editing/edits";
import { sampleGraph } from "./testing";

const doc = (): Version => ({ name: "Sample", graph: sampleGraph() });
const renamed = ({ name, graph }: Version, id: string, to: string): Version => ({
  name,
  graph: edits.setNode.apply(graph, { id, patch: { name: to } }),
});

test("a rebase keeps local changes and takes everything else from the remote version", () => {
  const base = doc();
  const own = renamed(base, "ask", "Mine");
  const theirs = renamed({ ...base, name: "Theirs" }, "done", "Finished");
  const both = rebased(own, base, theirs);
  expect(both.name).toBe("Theirs");
  expect(both.graph.nodes.ask?.name).toBe("Mine");
  expect(both.graph.nodes.done?.name).toBe("Finished");
  expect(rebased(base, base, theirs)).toBe(theirs);
  expect(rebased(own, base, base)).toEqual(own);
});

test("a rebase drops a local edge to a node that the remote version deleted", () => {
  const base = doc();
  const own = {
    ...base,
    graph: edits.connect.apply(base.graph, { source_node_id: "ask", target_node_id: "done", kind: "normal" }),
  };
  const theirs = { ...base, graph: edits.remove.apply(base.graph, { nodes: ["done"], edges: [] }) };
  const both = rebased(own, base, theirs);
  expect(Object.keys(both.graph.nodes)).not.toContain("done");
  expect(both.graph.edges.every(({ target_node_id }) => target_node_id !== "done")).toBe(true);
});

test("undo after adopting a remote version reverts local steps and keeps remote ones", () => {
  const store = newEditorStore({ id: "wf", revision: 1, ...doc() });
  store.getState().edit(edits.setNode, { id: "ask", patch: { name: "Mine" } });
  store.getState().saved(store.getState().doc, 2);
  const theirs = renamed(store.getState().doc, "done", "Finished");
  store.getState().adopt(theirs, 3);
  expect(store.getState().undo()).toBe("Edit node");
  const { nodes } = store.getState().doc.graph;
  expect([nodes.ask?.name, nodes.done?.name]).toEqual(["Ask", "Finished"]);
  expect(store.getState().redo()).toBe("Edit node");
  expect(store.getState().doc).toEqual(theirs);
});

test("undo after “Use theirs” restores local changes on top of the remote version", () => {
  const store = newEditorStore({ id: "wf", revision: 1, ...doc() });
  const theirs = renamed(store.getState().doc, "done", "Finished");
  store.getState().edit(edits.setNode, { id: "ask", patch: { name: "Mine" } });
  store.getState().adopt(theirs, 2);
  expect(store.getState().doc).toBe(theirs);
  expect(store.getState().undo()).toBe("Use theirs");
  const { nodes } = store.getState().doc.graph;
  expect([nodes.ask?.name, nodes.done?.name]).toEqual(["Mine", "Finished"]);
});
