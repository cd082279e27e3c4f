import { screen, waitFor, within } from "@testing-library/react";
import { useState } from "react";
import { expect, test } from "vitest";
import { ExtractDialog } from "@/components/editor/dialogs/extract-dialog";
import { openPage } from "@/components/testing/page";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { Problem } from "@/server/domain/problems/problems";
import { draw } from "@/server/domain/testing/drawing";
import { useEditor } from "../editing/editor-store";
import { edits } from "../editing/edits";
import { textEdits } from "../editing/text-edits";
import { ProblemList } from "../panels/side-lists";
import { ProblemFinder } from "../problem-finder";
import { openEditor } from "../testing-editor";
import { NodeInspector } from "./node-inspector";

const LETTERS = draw("start > t > end", { start: { output_keys: ["topic", "tone"] } });

function open(graph: WorkflowGraph, node: string) {
  const editor = openEditor(graph);
  const page = openPage(editor.inEditor(<NodeInspector id={node} roles={[]} />));
  const config = () => editor.store.getState().doc.graph.nodes[node]?.config;
  return { ...editor, ...page, config };
}

const sub = () =>
  draw("start > sub > end", {
    start: { output_keys: ["topic"] },
    sub: { node_type: "sub_workflow", name: "Sub-workflow", config: { workflow_id: "", input: {} } },
  });

test("choosing a workflow fills in its inputs, in one step", async () => {
  const { person, ask, show, config, store } = open(sub(), "sub");
  const { id } = await ask.workflows.create({ name: "Letters", graph: LETTERS });
  show();
  await person.click(await screen.findByRole("combobox", { name: "Workflow" }));
  await person.click(await screen.findByRole("option", { name: /^Letters/ }));
  expect(config()).toEqual({ workflow_id: id, input: { topic: "state.topic", tone: "" } });
  const name = () => store.getState().doc.graph.nodes.sub?.name;
  expect(name()).toBe("Letters");
  expect((await screen.findByRole("link", { name: "Open workflow" })).getAttribute("href")).toBe(
    `/workflows/${id}`,
  );
  store.getState().undo();
  expect(config()).toEqual({ workflow_id: "", input: {} });
  expect(name()).toBe("Sub-workflow");
  store.getState().edit(edits.setNode, { id: "sub", patch: { name: "My letters" } });
  await person.click(await screen.findByRole("combobox", { name: "Workflow" }));
  await person.click(await screen.findByRole("option", { name: /^Letters/ }));
  expect(name()).toBe("My letters");
});

test("the errors of a workflow are one problem of the node that runs it, with a link to it", async () => {
  const { inEditor, store } = openEditor(sub());
  const Problems = () => {
    const graph = useEditor(({ doc }) => doc.graph);
    const [found, setFound] = useState<readonly Problem[]>([]);
    return (
      <>
        <ProblemFinder graph={graph} roles={[]} onFound={setFound} />
        <ProblemList problems={found.map((problem) => ({ ...problem, isToDo: false }))} />
      </>
    );
  };
  const { ask, show } = openPage(inEditor(<Problems />));
  const broken = draw("start > t > end", { t: { config: { set: { a: "1 +", b: "2 +" } } } });
  const { id } = await ask.workflows.create({ name: "Letters", graph: broken });
  store.getState().edit(textEdits.setConfig, { id: "sub", patch: { workflow_id: id } });
  expect(await ask.workflows.validate({ id })).toMatchObject({ can_run: false });
  show();
  const problem = await screen.findByText('"Letters" has 2 problems. Open that workflow and fix them.');
  const row = problem.closest("li");
  expect(row && within(row).getByRole("link", { name: "Open workflow" }).getAttribute("href")).toBe(
    `/workflows/${id}`,
  );
});

test("a workflow that doesn't exist yet is created in place", async () => {
  const { person, ask, show, config } = open(sub(), "sub");
  show();
  await screen.findByText("None yet: create one");
  await person.click(screen.getByRole("combobox", { name: "Workflow" }));
  await person.type(await screen.findByRole("combobox", { name: /Search: Workflow/ }), "Fresh");
  await person.click(await screen.findByRole("option", { name: "Create “Fresh”" }));
  await waitFor(async () => {
    const [made] = await ask.workflows.callable();
    expect(made?.name).toBe("Fresh");
    expect(config()).toMatchObject({ workflow_id: made?.id });
  });
});

test("a node without connections is chosen as what a map runs, and gets the item", async () => {
  const graph = draw("start > m > end; x", {
    start: { output_keys: ["list"] },
    m: { node_type: "map", config: { items: "state.list" } },
    x: { name: "Shorten", config: { set: { line: "state.ticket" } } },
  });
  const { person, show, config } = open(graph, "m");
  show();
  await person.click(await screen.findByRole("combobox", { name: "Runs" }));
  const options = (await screen.findAllByRole("option")).map(({ textContent }) => textContent);
  expect(options).toEqual(["A workflowChoose it below", "ShortenNode"]);
  await person.click(screen.getByRole("option", { name: /^Shorten/ }));
  expect(config()).toMatchObject({ node: "x", input: { ticket: "item" } });
});

test("without such a node, the form says what to do", async () => {
  const { show } = open(draw("start > m > end", { m: { node_type: "map", config: { items: "[1]" } } }), "m");
  show();
  await screen.findByText("Place a node without connections, or choose a workflow.");
});

test("extracting nodes creates a workflow and can be undone", async () => {
  const graph = draw("start > a > b > end", {
    start: { output_keys: ["topic"] },
    end: { input_keys: ["b"] },
  });
  const { store, ui, inEditor, commands } = openEditor(graph);
  const { person, ask, show } = openPage(inEditor(<ExtractDialog />));
  store.getState().select({ nodes: ["a", "b"] });
  commands.extract();
  show();
  const dialog = await screen.findByRole("dialog", { name: "Extract to workflow" });
  const name = within(dialog).getByLabelText("Name");
  await person.clear(name);
  await person.type(name, "Letter");
  await person.click(within(dialog).getByRole("button", { name: "Extract" }));
  await waitFor(() => expect(ui.getState().extract).toBeNull());
  const [made] = await ask.workflows.callable();
  expect(made).toMatchObject({ name: "Letter", outputs: ["a", "b"] });
  expect(store.getState().doc.graph.nodes.Letter).toMatchObject({
    node_type: "sub_workflow",
    config: { workflow_id: made?.id },
    output_keys: ["b"],
  });
  commands.undo();
  await screen.findByText("The workflow “Letter” is kept");
  expect(store.getState().doc.graph).toEqual(graph);
});

test("nodes that can't be extracted are refused with the reason", async () => {
  const { ui, inEditor } = openEditor(draw("start > a > end"));
  ui.setState({ extract: ["start", "a"] });
  openPage(inEditor(<ExtractDialog />)).show();
  await screen.findByText("“start” has to stay: runs of this workflow start and end in it.");
});
