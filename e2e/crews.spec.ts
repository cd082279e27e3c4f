import { api, expect, settings, test } from "./app";

const GRAPH = {
  graph_id: "with_crew",
  start_node_id: "start",
  nodes: {
    start: {
      id: "start",
      node_type: "start",
      name: "Start",
      output_keys: ["user_request"],
      ui: { x: 0, y: 0 },
    },
    crew: {
      id: "crew",
      node_type: "crew_task",
      name: "Crew at work",
      input_keys: ["user_request"],
      output_keys: ["text"],
      config: { plan_description_template: "{{ user_request }}" },
      ui: { x: 340, y: 0 },
    },
    end: { id: "end", node_type: "end", name: "End", ui: { x: 680, y: 0 } },
  },
  edges: [
    { id: "e1", source_node_id: "start", target_node_id: "crew" },
    { id: "e2", source_node_id: "crew", target_node_id: "end" },
  ],
};

test("a crew is made in the library, used by a workflow, run as a copy, and guarded by its use", async ({
  app,
  page,
}) => {
  await app.open("/crews?new=1");
  await page.getByLabel("Name", { exact: true }).fill("Writing desk");
  for (const role of ["Writer", "Editor"]) {
    await page.getByLabel("Add an agent").click();
    await page.getByRole("option", { name: role, exact: true }).click();
  }
  await page.getByRole("button", { name: "Create crew" }).click();
  await expect(page.getByRole("link", { name: /^Writing desk/ })).toBeVisible();
  await page.getByLabel("How they work").click();
  await page.getByRole("option", { name: /^Handing over/ }).click();
  await page.getByLabel("Begins with").click();
  await page.getByRole("option", { name: /^writer/ }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Saved “Writing desk”")).toBeVisible();
  expect(await app.accessibilityFaults()).toEqual([]);

  const id = await app.openWorkflow(GRAPH);
  await app.canvas.select("Crew at work");
  await settings(page).getByLabel("Which crew").click();
  await page.getByRole("option", { name: /^Writing desk/ }).click();
  await expect(settings(page).getByRole("list", { name: "Agents" })).toContainText("Writer");
  await expect(page.getByRole("status").getByText("Saved", { exact: true })).toBeVisible();
  await app.run.start({ user_request: "A note on tea" });
  await app.run.expectEnd("Completed");

  const file = await api<{ workflow: unknown }>("GET", `/workflows/${id}`);
  expect(JSON.stringify(file)).toContain('"entry_agent":"writer"');

  await app.open("/crews?crew=writing_desk");
  await page.getByRole("button", { name: "Actions for Writing desk" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await expect(page.getByRole("alertdialog")).toContainText("One workflow names this crew");
  await page.getByRole("button", { name: "Delete crew" }).click();
  await expect(page.getByRole("link", { name: /^Writing desk/ })).toHaveCount(0);

  await app.open(`/workflows/${id}`);
  await app.canvas.select("Crew at work");
  await expect(settings(page)).toContainText("There is no crew “writing_desk” in the library.");
  await api("DELETE", `/workflows/${id}`);
});

test("crews come from files, with findings, and steps of a pattern can be changed", async ({ app, page }) => {
  await app.open("/crews");
  await page.getByRole("button", { name: "Import crews" }).click();
  const dialog = page.getByRole("dialog");
  await dialog
    .getByLabel("Or paste its text")
    .fill(
      "crews:\n  - crew_id: review_board\n    process: custom\n    colour: red\n    agents:\n      - {agent_id: writer, role_name: Writer}\n      - {agent_id: editor, role_name: Editor}\n    collaboration_patterns:\n      - type: custom\n        workflow:\n          - {step: write, agent: writer, next_on_done: check}\n          - {step: check, agent: editor, next_on_wrong: write}\n",
    );
  await dialog.getByRole("button", { name: "Show what is in it" }).click();
  await expect(dialog.getByRole("list", { name: "Crews in the file" })).toContainText("review_board");
  await expect(dialog.getByRole("list", { name: "Findings" })).toContainText("colour");
  await dialog.getByRole("button", { name: "Import 1 crew" }).click();

  await page.getByRole("link", { name: /^Review board/ }).click();
  await page.getByLabel("Step 1: name").fill("draft");
  await expect(page.getByLabel("After wrong of check")).toContainText("draft");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Saved “Review board”")).toBeVisible();
  await page.getByRole("button", { name: "Actions for Review board" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("link", { name: /^Review board/ })).toBeVisible();

  await page.getByRole("link", { name: /^Review board/ }).click();
  await page.getByRole("button", { name: "Actions for Review board" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await expect(page.getByRole("link", { name: /^Review board/ })).toHaveCount(0);
});
