import { readFileSync } from "node:fs";
import path from "node:path";
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { draw } from "@/server/domain/testing/drawing";
import { ImportDialog } from "./import-dialog";

const AGENTS =
  "reader:\n  role: Reader\n  goal: Read\n  backstory: Fast\n  tools: [SerperDevTool, my_tool]\n";
const TASKS =
  "read_task:\n  description: Read {topic}\n  expected_output: Notes\nsum_task:\n  description: Sum up\n  expected_output: A line\n";

/** The dialog with these files chosen. */
async function choose(files: Record<string, string>) {
  const page = openPage(<ImportDialog onClose={() => {}} />, "/");
  page.show();
  const dialog = within(await screen.findByRole("dialog", { name: "Import a workflow" }));
  await page.person.upload(
    dialog.getByLabelText("Choose a file"),
    Object.entries(files).map(([name, text]) => new File([text], name)),
  );
  return { ...page, dialog };
}

test("several files import as one workflow, with its description, inputs, gaps and capabilities", async () => {
  const { dialog, person, troupe } = await choose({ "agents.yaml": AGENTS, "tasks.yaml": TASKS });
  await dialog.findByText(/This is a CrewAI crew/);
  dialog.getByText("4 nodes, 3 edges");
  const findings = () => dialog.getByRole("list", { name: "Findings" }).textContent;
  expect(findings()).toContain(`The file doesn't assign "read_task" to an agent.`);
  expect(findings()).toContain("tasks.yaml:1 · read_task.agent");
  expect(dialog.getByRole("region", { name: "Missing tools" }).textContent).toContain(
    "my_tool, required by Reader",
  );
  dialog.getByRole("checkbox", { name: "web_search" });

  // An answer is taken into account before anything is saved.
  await person.click(dialog.getByLabelText(/doesn't assign any of its 2 tasks/));
  await person.click(await screen.findByRole("option", { name: "Reader, for all tasks" }));
  await waitFor(() => expect(findings()).not.toContain("The file doesn't assign"));
  expect(troupe.workflows.list()).toEqual([]);

  await person.clear(dialog.getByLabelText("Name"));
  await person.type(dialog.getByLabelText("Name"), "Readers");
  await person.click(dialog.getByRole("button", { name: "Import workflow" }));
  await waitFor(() => expect(troupe.workflows.list().map(({ name }) => name)).toEqual(["Readers"]));
  expect(troupe.roles.find("Reader")?.role.tools).toEqual([]);
});

test("files in an unsupported format are described and can't be imported", async () => {
  const { dialog } = await choose({
    "flow.json": '{"nodes": [{"type": "n8n-nodes-base.if"}], "connections": {}}',
  });
  await dialog.findByText(/This is an n8n workflow\./);
  expect(dialog.getByRole<HTMLButtonElement>("button", { name: "Nothing to import" }).disabled).toBe(true);
});

test("an import asks which item to use if the files contain several", async () => {
  const { dialog, person } = await choose({
    "roles.yaml": "name: Clerk\ngoals: [Be kind]",
    "flow.yaml":
      "schema: crewai.flow/v1\nname: Small\nmethods: {a: {start: true, do: {call: expression, expr: '1'}}}",
  });
  await dialog.findByText("3 nodes, 2 edges");
  await person.click(dialog.getByLabelText(/^Item to import/));
  await person.click(await screen.findByRole("option", { name: /roles\.yaml/ }));
  await dialog.findByRole("button", { name: "Import 1 role" });
  screen.getByRole("dialog", { name: "Import roles" });
});

/** The dialog after pasting this text. */
async function paste(text: string) {
  const page = openPage(<ImportDialog onClose={() => {}} />, "/");
  const show = async () => {
    page.show();
    const dialog = within(await screen.findByRole("dialog", { name: "Import a workflow" }));
    await page.person.click(dialog.getByLabelText("Or paste contents"));
    await page.person.paste(text);
    await page.person.click(dialog.getByRole("button", { name: "Preview" }));
    return dialog;
  };
  return { ...page, show };
}
const wanted = () => screen.queryByRole("region", { name: "Requested permissions" });
const boxes = () => within(wanted() as HTMLElement).getAllByRole("checkbox");

test("an imported role gets only the tools that are allowed, and skipping roles requests none", async () => {
  const clerk = { name: "Clerk", description: "Files letters", tools: ["file_write", "write_board"] };
  const { person, show, troupe } = await paste(
    JSON.stringify({ troupe: 1, name: "By post", workflow: draw("start > end"), roles: [clerk] }),
  );
  const dialog = await show();
  await waitFor(() => expect(wanted()?.textContent).toContain("Works only in crews. Requested by Clerk"));
  await person.click(dialog.getByText("Skip"));
  await waitFor(() => expect(wanted()).toBeNull());
  await person.click(dialog.getByText("Add new"));
  await waitFor(() =>
    expect(boxes().map((box) => box.getAttribute("aria-checked"))).toEqual(["false", "false"]),
  );
  await person.click(dialog.getByRole("button", { name: "Import workflow" }));
  await screen.findByText(/Clerk was imported without file_write, write_board/);
  expect(troupe.roles.find("Clerk")?.role.tools).toEqual([]);
});

test("a file that replaces a workflow requests no capability the workflow already has", async () => {
  const { person, show, ask } = await paste(
    readFileSync(path.join(import.meta.dirname, "../../e2e/fixtures/asking-workflow.json"), "utf8"),
  );
  let dialog = await show();
  await waitFor(() => expect(boxes()).toHaveLength(4));
  await person.click(within(wanted() as HTMLElement).getByRole("button", { name: "Allow all" }));
  await person.click(dialog.getByRole("button", { name: "Import workflow" }));
  await waitFor(async () => expect(await ask.workflows.list()).toHaveLength(1));

  cleanup();
  dialog = await show();
  await person.click(await dialog.findByText("Replace “Asking”"));
  await waitFor(() =>
    expect(boxes().map((box) => box.getAttribute("aria-checked"))).toEqual(Array(4).fill("true")),
  );
  expect(within(wanted() as HTMLElement).queryByText("New")).toBeNull();
  await person.click(dialog.getByRole("button", { name: "Replace existing" }));
  await waitFor(async () => expect((await ask.workflows.list())[0]?.revision).toBeGreaterThan(1));
  expect(await ask.workflows.list()).toHaveLength(1);
});

test("what only the admin can add is shown as an entry to copy", async () => {
  const { dialog, person } = await choose({
    "tools.yaml": "tools:\n  - {name: analyze, type: custom, path: ./a.py, function: analyze}\n",
  });
  const entry = await dialog.findByRole("region", { name: "entry" });
  expect(entry.textContent).toContain("function: analyze");
  await person.click(within(entry).getByRole("button", { name: "Copy entry" }));
  await within(entry).findByRole("button", { name: "Copied" });
  expect(await navigator.clipboard.readText()).toContain("- name: analyze\n");
});
