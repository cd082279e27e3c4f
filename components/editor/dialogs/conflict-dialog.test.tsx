import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { EditorContext, type EditorStore, newEditorStore } from "../editing/editor-store";
import { edits } from "../editing/edits";
import { useAutosave } from "../editing/use-autosave";
import { sampleGraph } from "../testing";
import { ConflictDialog } from "./conflict-dialog";

function Saving({ store }: { store: EditorStore }) {
  const autosave = useAutosave(store);
  return (
    <EditorContext.Provider value={store}>
      <ConflictDialog onSettled={() => autosave.settled()} />
    </EditorContext.Provider>
  );
}

const named = (id: "ask" | "done", name: string) =>
  edits.setNode.apply(sampleGraph(), { id, patch: { name } });

/** An editor in which a node was renamed after another person had saved a different name for one. */
async function conflict({ theirs }: { theirs: "ask" | "done" }) {
  let store: EditorStore | null = null;
  const Late = () => (store ? <Saving store={store} /> : null);
  const page = openPage(<Late />);
  const { id } = await page.ask.workflows.create({ name: "Sample", graph: sampleGraph() });
  const { revision } = await page.ask.workflows.get({ id });
  store = newEditorStore({ id, name: "Sample", graph: sampleGraph(), revision });
  page.show();
  await page.ask.workflows.save({ id, revision, name: "Sample", graph: named(theirs, "Theirs") });
  store.getState().edit(edits.setNode, { id: "ask", patch: { name: "Mine" } });
  const dialog = within(await screen.findByRole("dialog", { name: "Workflow changed elsewhere" }));
  /** The names of both nodes on the server, once everything is saved. */
  const saved = async () => {
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    await waitFor(() => expect(store?.getState().save.state).toMatch(/^(?:clean|saved)$/));
    const { nodes } = (await page.ask.workflows.get({ id })).graph;
    return { ask: nodes.ask?.name, done: nodes.done?.name };
  };
  return { ...page, dialog, saved, shown: () => store?.getState().doc.graph.nodes.ask?.name };
}

test.each([
  ["Overwrite with mine", { ask: "Mine", done: "Done" }],
  ["Use theirs", { ask: "Ask", done: "Theirs" }],
  ["Save mine as copy", { ask: "Ask", done: "Theirs" }],
  ["Keep both", { ask: "Mine", done: "Theirs" }],
])("a conflict on different nodes is resolved by: %s", async (how, kept) => {
  const { dialog, person, saved, shown, ask } = await conflict({ theirs: "done" });
  expect(dialog.getByRole("region", { name: "Yours: changes" }).textContent).toContain("Mine");
  expect(dialog.getByRole("region", { name: "Theirs: changes" }).textContent).toContain("Theirs");
  await person.click(dialog.getByRole("button", { name: how }));
  expect(await saved()).toEqual(kept);
  expect(shown()).toBe(kept.ask);
  const names = (await ask.workflows.list()).map(({ name }) => name);
  expect(names.includes("Sample (my version)")).toBe(how === "Save mine as copy");
});

test("a conflict on the same node is named and requires a choice, without “Keep both”", async () => {
  const { dialog } = await conflict({ theirs: "ask" });
  dialog.getByText("Both versions changed “Mine”. Choose one.");
  expect(dialog.queryByRole("button", { name: "Keep both" })).toBeNull();
});
