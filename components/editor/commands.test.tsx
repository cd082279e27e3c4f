import { describe, expect, test, vi } from "vitest";
import { CARD_WIDTH } from "@/components/canvas/cards/card-size";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { drawingCommandFromAfar } from "./keys";
import { openEditor } from "./testing-editor";

const press = (key: string, more: KeyboardEventInit = {}) => {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  document.body.dispatchEvent(event);
  return event;
};

test("the keyboard cycles through a node's connections and announces the names of their ends", () => {
  const { store, commands, announcement } = openEditor();
  store.getState().select({ nodes: ["route"] });
  commands.walkEdges(1);
  expect([...store.getState().selection.edges]).toEqual(["edge_3"]);
  expect(announcement()).toContain("Connection from Route to Done, route “yes”. 1 of 3.");
  commands.walkEdges(1);
  commands.walkEdges(1);
  expect(announcement()).toContain("Connection from Ask to Route. 3 of 3.");
  expect(commands.leaveEdge("left")).toBe(true);
  expect([...store.getState().selection.nodes]).toEqual(["ask"]);
});

test("nodes are added to and removed from the selection individually", () => {
  const { store, commands, announcement } = openEditor();
  store.getState().select({ nodes: ["ask"] });
  commands.toggle("done");
  expect([...store.getState().selection.nodes]).toEqual(["ask", "done"]);
  expect(announcement()).toBe("Done selected, 2 in total");
  commands.toggle("ask");
  expect([...store.getState().selection.nodes]).toEqual(["done"]);
});

test("letters typed right after the picker's shortcut are a search, not commands", () => {
  const { ui, commands } = openEditor();
  const heard = vi.fn();
  document.body.addEventListener("keydown", heard);
  commands.openPicker();
  for (const key of "tranx") press(key);
  press("Backspace");
  expect(ui.getState().picker?.typed).toBe("tran");
  expect(heard).not.toHaveBeenCalled();
  press("Escape");
  expect(ui.getState().picker).toBeNull();
  press("n");
  expect(heard).toHaveBeenCalledTimes(1);
  document.body.removeEventListener("keydown", heard);
});

test("canvas shortcuts work outside the canvas, except Enter and Tab", () => {
  const command = (key: string, more: KeyboardEventInit = {}) =>
    drawingCommandFromAfar(new KeyboardEvent("keydown", { key, ...more }))?.id;
  expect(command("n")).toBe("pick");
  expect(command("Delete")).toBe("remove");
  expect(command("a", { ctrlKey: true })).toBe("select_all");
  expect(command("Enter")).toBeUndefined();
  expect(command("Tab")).toBeUndefined();
});

test("a missing value becomes a problem once its field is left or a run is requested", () => {
  const { ui, commands } = openEditor();
  const id = commands.add({ type: "agent_task" });
  expect(ui.getState().fresh.has(id)).toBe(true);
  commands.leaveField(id, "required_role");
  expect([...ui.getState().left]).toEqual([`${id} required_role`]);
  commands.callDue();
  expect(ui.getState().fresh.size).toBe(0);
});

describe("a workflow with only a start node", () => {
  const blank = () =>
    WorkflowGraph.parse({
      graph_id: "blank",
      start_node_id: "start",
      nodes: { start: { id: "start", node_type: "start", name: "Start", ui: { x: 0, y: 0 } } },
      edges: [],
    });
  const linesOf = ({ store }: ReturnType<typeof openEditor>) =>
    store
      .getState()
      .doc.graph.edges.map(({ source_node_id, target_node_id }) => [source_node_id, target_node_id]);

  test("adding the first node also adds an end node, and one undo removes both", () => {
    const editor = openEditor(blank());
    const step = editor.commands.add({ type: "agent_task" });
    expect(linesOf(editor)).toEqual([
      ["start", step],
      [step, "end"],
    ]);
    editor.commands.undo();
    expect(Object.keys(editor.store.getState().doc.graph.nodes)).toEqual(["start"]);
  });

  test("a first router gets a new end node, and a first end node gets no second", () => {
    const routed = openEditor(blank());
    const router = routed.commands.add({ type: "conditional_router" }, { at: { x: 400, y: 200 } });
    expect(linesOf(routed)).toEqual([
      ["start", router],
      [router, "end"],
    ]);
    const ended = openEditor(blank());
    ended.commands.add({ type: "note" });
    const end = ended.commands.addSensibly({ type: "end" });
    expect(linesOf(ended)).toEqual([["start", end]]);
  });
});

test("a node added before an end is inserted there; a connection dropped elsewhere adds a branch", () => {
  const editor = openEditor();
  const { store, commands } = editor;
  const from = (id: string) => store.getState().doc.graph.edges.filter((edge) => edge.source_node_id === id);
  const after = { nodeId: "route", edge: { kind: "normal", edge_label: "yes" } } as const;
  const step = commands.add({ type: "agent_task" }, { after });
  expect(from("route").map(({ target_node_id }) => target_node_id)).toEqual([step, "ask"]);
  expect(from(step).map(({ target_node_id }) => target_node_id)).toEqual(["done"]);
  const { nodes } = store.getState().doc.graph;
  expect(nodes.done?.ui?.x).toBeGreaterThanOrEqual((nodes[step]?.ui?.x ?? 0) + CARD_WIDTH);
  commands.add(
    { type: "agent_task" },
    { after: { ...after, nodeId: step, edge: { kind: "normal", edge_label: null } }, at: { x: 0, y: 400 } },
  );
  expect(from(step)).toHaveLength(2);
  const note = commands.add({ type: "note" }, { after });
  expect(store.getState().doc.graph.edges.some(({ target_node_id }) => target_node_id === note)).toBe(false);
});
