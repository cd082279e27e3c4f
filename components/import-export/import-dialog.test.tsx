import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
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

test("several files make one workflow: what it is, what it asks, what is to fill in, what it would use", async () => {
  const { dialog, person, troupe } = await choose({ "agents.yaml": AGENTS, "tasks.yaml": TASKS });
  await dialog.findByText(/This is a CrewAI crew/);
  dialog.getByText("4 nodes, 3 edges");
  const findings = () => dialog.getByRole("list", { name: "Findings" }).textContent;
  expect(findings()).toContain('The file does not say who does "read_task".');
  expect(findings()).toContain("tasks.yaml:1 · read_task.agent");
  expect(dialog.getByRole("region", { name: "Tools that are not here" }).textContent).toContain(
    "my_tool, wanted by Reader",
  );
  dialog.getByRole("checkbox", { name: "web_search" });

  // An answer is taken into account before anything is saved.
  await person.click(dialog.getByLabelText(/does not say who does any of its 2 tasks/));
  await person.click(await screen.findByRole("option", { name: "Reader, all of them" }));
  await waitFor(() => expect(findings()).not.toContain("The file does not say who does"));
  expect(troupe.workflows.list()).toEqual([]);

  await person.clear(dialog.getByLabelText("Name"));
  await person.type(dialog.getByLabelText("Name"), "Readers");
  await person.click(dialog.getByRole("button", { name: "Import workflow" }));
  await waitFor(() => expect(troupe.workflows.list().map(({ name }) => name)).toEqual(["Readers"]));
  expect(troupe.roles.find("Reader")?.role.tools).toEqual([]);
});

test("files of a format that is not read yet say what they are, and nothing can be imported", async () => {
  const { dialog } = await choose({
    "flow.json": '{"nodes": [{"type": "n8n-nodes-base.if"}], "connections": {}}',
  });
  await dialog.findByText(/This is an n8n workflow\./);
  expect(dialog.getByRole<HTMLButtonElement>("button", { name: "Nothing to import" }).disabled).toBe(true);
});

test("of several things in the files one is chosen", async () => {
  const { dialog, person } = await choose({
    "roles.yaml": "name: Clerk\ngoals: [Be kind]",
    "flow.yaml":
      "schema: crewai.flow/v1\nname: Small\nmethods: {a: {start: true, do: {call: expression, expr: '1'}}}",
  });
  await dialog.findByText("3 nodes, 2 edges");
  await person.click(dialog.getByLabelText(/There are 2 things in these files/));
  await person.click(await screen.findByRole("option", { name: /roles\.yaml/ }));
  await dialog.findByRole("button", { name: "Import 1 role" });
});
