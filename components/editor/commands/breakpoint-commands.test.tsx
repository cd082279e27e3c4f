import { screen, within } from "@testing-library/react";
import { beforeEach, expect, test } from "vitest";
import { commandFor } from "@/components/editor/keys";
import { openEditor } from "@/components/editor/testing-editor";
import { BreakpointsPanel } from "@/components/run/breakpoints/breakpoints-panel";

beforeEach(() => localStorage.clear());

const press = (editor: ReturnType<typeof openEditor>, key: string, more: KeyboardEventInit = {}) => {
  const event = new KeyboardEvent("keydown", { key, ...more });
  (commandFor(event, "drawing") ?? commandFor(event, "editor"))?.run(editor.commands, event);
};

test("F9 toggles a breakpoint on the selection and announces it", () => {
  const editor = openEditor();
  const { store, breakpoints, announcement } = editor;
  press(editor, "F9");
  expect(announcement()).toBe("Select a node or connection to add a breakpoint");
  store.getState().select({ nodes: ["ask"] });
  press(editor, "F9");
  expect(announcement()).toBe("Breakpoint added at Ask");
  expect(breakpoints.getState().list).toEqual([{ id: "b1", on: "node_start", node_id: "ask" }]);
  press(editor, "F9", { ctrlKey: true });
  expect([announcement(), breakpoints.getState().list[0]?.enabled]).toEqual(["Breakpoint disabled", false]);
  press(editor, "F9");
  expect([announcement(), breakpoints.getState().list]).toEqual(["Breakpoint removed from Ask", []]);
});

test("F9 adds breakpoints to selected nodes that lack them, without changing the workflow", () => {
  const editor = openEditor();
  const { store, breakpoints, announcement } = editor;
  const before = store.getState().doc;
  store.getState().select({ nodes: ["ask"], edges: ["edge_3"] });
  press(editor, "F9");
  store.getState().select({ nodes: ["ask", "route"] });
  press(editor, "F9");
  expect(breakpoints.getState().list.map(({ node_id, edge_id }) => node_id ?? edge_id)).toEqual([
    "ask",
    "edge_3",
    "route",
  ]);
  expect(announcement()).toBe("Breakpoints added: 1");
  expect(store.getState().doc).toBe(before);
});

test("the breakpoint list opens at the requested entry and is fully editable by keyboard", async () => {
  const editor = openEditor();
  const { store, ui, breakpoints, commands } = editor;
  store.getState().select({ nodes: ["ask"] });
  commands.editBreakpoint();
  const at = ui.getState().breakpoints?.at;
  expect(at).toEqual({ kind: "node", id: "ask" });
  const graph = store.getState().doc.graph;
  const person = editor.show(
    <BreakpointsPanel
      store={breakpoints}
      graph={graph}
      at={at}
      onClose={() => ui.setState({ breakpoints: null })}
    />,
  );
  const panel = screen.getByRole("region", { name: "Breakpoints" });
  expect(document.activeElement).toBe(panel);
  const times = within(panel).getByRole("textbox", { name: "Hit count" });
  await person.clear(times);
  await person.type(times, "3");
  await person.tab();
  expect(breakpoints.getState().list).toEqual([{ id: "b1", on: "node_start", node_id: "ask", hit_count: 3 }]);
  await person.click(within(panel).getByRole("button", { name: "Disable all" }));
  expect(breakpoints.getState().list[0]?.enabled).toBe(false);
  await person.click(within(panel).getByRole("checkbox", { name: "Enable Before Ask" }));
  expect(breakpoints.getState().list[0]).not.toHaveProperty("enabled");
  await person.keyboard("{Escape}");
  expect(ui.getState().breakpoints).toBeNull();
});
