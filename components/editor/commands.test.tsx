import { expect, test, vi } from "vitest";
import { drawingCommandFromAfar } from "./keys";
import { openEditor } from "./testing-editor";

const press = (key: string, more: KeyboardEventInit = {}) => {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  document.body.dispatchEvent(event);
  return event;
};

test("the connections of a node are walked through by keyboard, each told by the names of its ends", () => {
  const { store, commands, said } = openEditor();
  store.getState().select({ nodes: ["route"] });
  commands.walkEdges(1);
  expect([...store.getState().selection.edges]).toEqual(["edge_3"]);
  expect(said()).toContain("Connection from Route to Done, way “yes”. 1 of 3.");
  commands.walkEdges(1);
  commands.walkEdges(1);
  expect(said()).toContain("Connection from Ask to Route. 3 of 3.");
  expect(commands.leaveEdge("left")).toBe(true);
  expect([...store.getState().selection.nodes]).toEqual(["ask"]);
});

test("nodes are taken into the selection and out of it one by one", () => {
  const { store, commands, said } = openEditor();
  store.getState().select({ nodes: ["ask"] });
  commands.toggle("done");
  expect([...store.getState().selection.nodes]).toEqual(["ask", "done"]);
  expect(said()).toBe("Done selected, 2 in all");
  commands.toggle("ask");
  expect([...store.getState().selection.nodes]).toEqual(["done"]);
});

test("letters that come right after the key for the picker are its search, and no commands", () => {
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

test("keys of the drawing count beside it too, but those that press buttons or walk on do not", () => {
  const command = (key: string, more: KeyboardEventInit = {}) =>
    drawingCommandFromAfar(new KeyboardEvent("keydown", { key, ...more }))?.id;
  expect(command("n")).toBe("pick");
  expect(command("Delete")).toBe("remove");
  expect(command("a", { ctrlKey: true })).toBe("select_all");
  expect(command("Enter")).toBeUndefined();
  expect(command("Tab")).toBeUndefined();
});

test("what is missing on a new node is to do until its field was left, and due once somebody wants to run", () => {
  const { ui, commands } = openEditor();
  const id = commands.add({ type: "agent_task" });
  expect(ui.getState().fresh.has(id)).toBe(true);
  commands.leaveField(id, "required_role");
  expect([...ui.getState().left]).toEqual([`${id} required_role`]);
  commands.callDue();
  expect(ui.getState().fresh.size).toBe(0);
});
