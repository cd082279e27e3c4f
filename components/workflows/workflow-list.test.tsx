import { screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { openPage } from "@/components/testing/page";
import { draw } from "@/server/domain/testing/drawing";
import { WorkflowList } from "./workflow-list";

const drawing = (name: string) => ({
  name,
  graph_id: "small",
  start_node_id: "start",
  nodes: {
    start: { id: "start", node_type: "start", name: "Start", output_keys: ["topic"] },
    end: { id: "end", node_type: "end", name: "End", input_keys: ["topic"] },
  },
  edges: [{ id: "a", source_node_id: "start", target_node_id: "end" }],
});

/** The list, with workflows of these names. */
async function listOf(...names: string[]) {
  const page = openPage(<WorkflowList />);
  for (const name of names)
    await page.ask.imports.importFiles({
      files: [{ text: JSON.stringify(drawing(name)) }],
      name,
      confirm: true,
    });
  page.show();
  if (names[0]) await link(names[0]);
  return page;
}
const link = (name: string) => screen.findByRole("link", { name });
const isGone = (name: string) => waitFor(() => expect(screen.queryByRole("link", { name })).toBeNull());

test("a workflow is found by a word of its name, and a search without matches reports that", async () => {
  const { person } = await listOf("Quarterly herring report", "Weekly cod digest");
  const search = screen.getByLabelText("Search workflows");
  await person.type(search, "herring");
  await isGone("Weekly cod digest");
  await link("Quarterly herring report");
  await person.clear(search);
  await person.type(search, "no such thing");
  await screen.findByText("No workflow matches “no such thing”");
  await person.click(screen.getByRole("button", { name: "Clear search" }));
  await link("Weekly cod digest");
});

test("a workflow is renamed in place, and Escape keeps its name", async () => {
  const { person, ask } = await listOf("Before the change");
  const names = async () => (await ask.workflows.list()).map(({ name }) => name);
  await person.click(screen.getByRole("button", { name: "Actions for Before the change" }));
  await person.click(await screen.findByRole("menuitem", { name: /^Rename/ }));
  const field = await screen.findByLabelText("New name for Before the change");
  await person.clear(field);
  await person.type(field, "After the change{Enter}");
  await link("After the change");
  await waitFor(async () => expect(await names()).toEqual(["After the change"]));

  (await link("After the change")).focus();
  await person.keyboard("{F2}");
  const again = await screen.findByLabelText("New name for After the change");
  await person.clear(again);
  await person.type(again, "Never mind{Escape}");
  await waitFor(async () => expect(document.activeElement).toBe(await link("After the change")));
  expect(await names()).toEqual(["After the change"]);
});

test("a copy is listed next to its original", async () => {
  const { person } = await listOf("Worth having twice");
  await person.click(screen.getByRole("button", { name: "Actions for Worth having twice" }));
  await person.click(await screen.findByRole("menuitem", { name: "Duplicate" }));
  await link("Worth having twice copy");
  await link("Worth having twice");
});

test("a deleted workflow is restored in one click", async () => {
  const { person } = await listOf("Deleted by mistake", "Another");
  await person.click(screen.getByRole("button", { name: "Actions for Deleted by mistake" }));
  await person.click(await screen.findByRole("menuitem", { name: "Delete" }));
  await isGone("Deleted by mistake");
  await person.click(await screen.findByRole("button", { name: "Undo" }));
  await link("Deleted by mistake");
});

test("pasted text that isn't a workflow is rejected with an explanation", async () => {
  const { person } = await listOf("Just to have a list");
  await person.click(await screen.findByRole("button", { name: "Import" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Import a workflow" }));
  await person.click(dialog.getByLabelText("Or paste contents"));
  await person.paste("{ this is not JSON");
  await person.click(dialog.getByRole("button", { name: "Preview" }));
  await dialog.findByText("Nothing to import.");
  expect(dialog.getByRole<HTMLButtonElement>("button", { name: "Nothing to import" }).disabled).toBe(true);
  await person.click(dialog.getByRole("button", { name: "Back" }));
  await dialog.findByLabelText("Or paste contents");
});

test("recent runs come first, and cost is hidden if none was incurred", async () => {
  const page = openPage(<WorkflowList />);
  const { id } = await page.ask.workflows.create({ name: "Tides", graph: draw("start > end") });
  const { run_id } = await page.ask.runs.start({ workflow_id: id, input: { topic: "Ebb at noon" } });
  await page.troupe.host.settled(run_id);
  page.show();
  const last = await screen.findByRole("region", { name: "Recent runs" });
  expect(within(last).getByText("Ebb at noon")).toBeTruthy();
  expect(screen.queryByText(/Model costs/)).toBeNull();
});

test("the page reserves no space for recent runs if there are none", async () => {
  /** How many places were kept beside the list, in each state of the page that had one. */
  const kept = new Set<number>();
  const watch = new MutationObserver(() => {
    if (screen.queryByRole("link", { name: "Tides" }))
      kept.add(document.querySelectorAll(".animate-pulse").length);
  });
  watch.observe(document.body, { childList: true, subtree: true });
  await listOf("Tides");
  await waitFor(() => expect(kept.size).toBeGreaterThan(0));
  watch.disconnect();
  expect([...kept]).toEqual([0]);
});

test("one click runs the first template on a first visit, and a workflow from its row", async () => {
  const { person, ask } = await listOf();
  await person.click(await screen.findByRole("button", { name: "Run the template Approval" }));
  await waitFor(() => expect(window.location.search).toBe("?run=1"));
  const [made] = await ask.workflows.list();
  expect(window.location.pathname).toBe(`/workflows/${made?.id}`);
  const row = await screen.findByRole("link", { name: `Run ${made?.name}` });
  expect(row.getAttribute("href")).toBe(`/workflows/${made?.id}?run=1`);
});

test("templates are one click away even if workflows exist", async () => {
  await listOf("Tides");
  expect(screen.getByRole("link", { name: "Templates" }).getAttribute("href")).toBe("/templates");
});

test("unsupported features are listed before an export to OpenHands", async () => {
  const { person, ask, show } = openPage(<WorkflowList />);
  const graph = draw("start > write > end", {
    write: {
      node_type: "agent_task",
      config: { required_role: "Writer", task_description_template: "Write." },
      retry: { max_attempts: 3 },
    },
  });
  await ask.workflows.create({ name: "Leaves things behind", graph });
  const saved: Blob[] = [];
  vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => {
    saved.push(blob as Blob);
    return "#";
  });
  show();
  await person.click(await screen.findByRole("button", { name: "Actions for Leaves things behind" }));
  await person.click(await screen.findByRole("menuitem", { name: /^OpenHands WorkflowGraph/ }));
  const dialog = within(await screen.findByRole("dialog", { name: "Incomplete export" }));
  expect(dialog.getByRole("list", { name: "Not in the file" }).textContent).toContain("nodes.write.retry");
  expect(saved).toEqual([]);
  await person.click(dialog.getByRole("button", { name: "Download" }));
  await waitFor(() => expect(saved).toHaveLength(1));
  expect(await (saved[0] as Blob).text()).not.toContain("max_attempts");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
});
