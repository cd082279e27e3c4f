import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openEditor } from "../testing-editor";
import { FindPanel } from "./find-panel";

function openFind() {
  const editor = openEditor();
  editor.commands.openFind();
  return { ...editor, person: editor.show(<FindPanel />) };
}
const found = () =>
  within(screen.getByRole("list", { name: "Search results" }))
    .getAllByRole("listitem")
    .map(({ textContent }) => textContent);

test("search covers the whole workflow, lists locations, and cycles through matches with Enter", async () => {
  const { person, store, announcement } = openFind();
  await person.type(screen.getByRole("textbox", { name: "Find" }), "ask");
  await waitFor(() => expect(found()).toEqual(["Ask: NameAsk", "Ask: TaskAsk {{user_request}}"]));
  await person.keyboard("{Enter}");
  expect([...store.getState().selection.nodes]).toEqual(["ask"]);
  await person.keyboard("{Enter}");
  expect(announcement()).toBe("2 of 2: Ask: Task");
});

test("replacing all matches is one undo step", async () => {
  const { person, store } = openFind();
  const before = store.getState().doc.graph;
  await person.type(screen.getByRole("textbox", { name: "Find" }), "ask");
  await person.type(screen.getByRole("textbox", { name: "Replace with" }), "Question");
  await waitFor(() => expect(found()).toHaveLength(2));
  await person.click(screen.getByRole("button", { name: "Replace all" }));
  const { nodes } = store.getState().doc.graph;
  expect(nodes.ask?.name).toBe("Question");
  expect(nodes.ask?.config).toEqual(
    expect.objectContaining({ task_description_template: "Question {{user_request}}" }),
  );
  expect(store.getState().undo()).toBe("Replace");
  expect(store.getState().doc.graph).toEqual(before);
});

test("renaming a key updates every reference to it", async () => {
  const { person, store } = openFind();
  await person.type(screen.getByRole("textbox", { name: "Find" }), "answer");
  await person.type(screen.getByRole("textbox", { name: "Replace with" }), "verdict");
  await person.click(await screen.findByRole("button", { name: "Rename key answer to verdict everywhere" }));
  const { ask, route } = store.getState().doc.graph.nodes;
  expect(ask?.output_keys).toEqual(["verdict"]);
  expect(JSON.stringify(route?.config)).toContain('state.verdict == \\"yes\\"');
});
