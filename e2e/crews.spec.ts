import type { Page } from "@playwright/test";
import { api, expect, saved, settings, test } from "./app";

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
    await page.getByRole("option", { name: new RegExp(`^${role}`) }).click();
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
  await expect(page.getByText("Deleted “Writing desk”")).toBeVisible();
  await expect(page.getByRole("link", { name: /^Writing desk/ })).toHaveCount(0);

  await app.open(`/workflows/${id}`);
  await app.canvas.select("Crew at work");
  await expect(settings(page)).toContainText("There is no crew “writing_desk” in the library.");
  await api("DELETE", `/workflows/${id}`);
});

const TASK = {
  graph_id: "with_agent",
  start_node_id: "start",
  nodes: {
    start: { ...GRAPH.nodes.start },
    write: {
      id: "write",
      node_type: "agent_task",
      name: "Write it",
      input_keys: ["user_request"],
      output_keys: ["text"],
      config: { required_role: "Editor", task_description_template: "{{ user_request }}" },
      ui: { x: 340, y: 0 },
    },
    end: { ...GRAPH.nodes.end },
  },
  edges: [
    { id: "e1", source_node_id: "start", target_node_id: "write" },
    { id: "e2", source_node_id: "write", target_node_id: "end" },
  ],
};

/** Makes an agent in its form; resolves when it stands in the list. */
async function makeAgent(page: Page, name: string, role: string, backstory: string): Promise<void> {
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Role", { exact: true }).click();
  await page.getByRole("option", { name: new RegExp(`^${role}`) }).click();
  await page.getByLabel("Backstory").fill(backstory);
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByRole("list", { name: "Agents", exact: true })).toContainText(name);
}

/** Deletes what is open, used or not. */
async function deleteOpen(page: Page, noun: string, name: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const sure = page.getByRole("button", { name: `Delete ${noun}` });
  const gone = page.getByText(`Deleted “${name}”`);
  await expect(sure.or(gone)).toBeVisible();
  if (await sure.isVisible()) await sure.click();
  await expect(gone).toBeVisible();
}

test("an agent is made in a form, works in a crew and in an agent task, and is guarded by its use", async ({
  app,
  page,
}) => {
  await app.open("/crews");
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await expect(page).toHaveURL(/\/agents/);
  await page.getByRole("link", { name: "New", exact: true }).click();
  await page.getByLabel("Temperature", { exact: true }).fill("0.3");
  await makeAgent(page, "Careful writer", "Writer", "Once burnt by a wrong date.");
  expect(await app.accessibilityFaults()).toEqual([]);

  await app.open("/crews?new=1");
  await page.getByLabel("Name", { exact: true }).fill("Careful desk");
  await page.getByLabel("Add an agent").click();
  await page.getByRole("option", { name: /^Careful writer/ }).click();
  await page.getByRole("button", { name: "Create crew" }).click();
  await expect(page.getByText("Created “Careful desk”")).toBeVisible();

  const id = await app.openWorkflow(TASK);
  await app.canvas.select("Write it");
  await settings(page).getByLabel("Agent", { exact: true }).click();
  await page.getByRole("option", { name: /^Careful writer/ }).click();
  await expect(settings(page)).toContainText("Once burnt by a wrong date.");
  await expect(settings(page).getByLabel("Temperature", { exact: true })).toHaveAttribute(
    "placeholder",
    "0.3",
  );
  await expect(app.canvas.card("Write it")).toContainText("Careful writer");
  await saved(page);
  await app.run.start({ user_request: "A note on tea" });
  await app.run.expectEnd("Completed");
  await expect(app.canvas.card("Write it")).toContainText("Careful writer");
  const events = await api<{ events: { type: string }[] }>("GET", `/runs/${app.run.id}/events?limit=500`);
  const started = events.events.find(({ type }) => type === "agent_started");
  expect(started).toMatchObject({ agent_id: "careful_writer", payload: { role_name: "Writer" } });
  expect(JSON.stringify(events)).toContain("Once burnt by a wrong date.");

  await app.open("/agents?agent=careful_writer");
  await expect(page.getByRole("link", { name: "Careful desk Crew" })).toBeVisible();
  await page.getByRole("button", { name: "Actions for Careful writer" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await expect(page.getByRole("alertdialog")).toContainText("1 workflow and 1 crew name this agent");
  await page.getByRole("button", { name: "Delete agent" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("list", { name: "Agents", exact: true })).toContainText("Careful writer");

  await api("DELETE", `/workflows/${id}`);
  await app.open("/crews?crew=careful_desk");
  await deleteOpen(page, "crew", "Careful desk");
  await app.open("/agents?agent=careful_writer");
  await deleteOpen(page, "agent", "Careful writer");
});

test("a role's new name reaches the crew and the agent that have it, and both are told before it is deleted", async ({
  app,
  page,
}) => {
  for (const name of ["Scribbler", "Chronicler"])
    await api("DELETE", `/roles/${name}?force=true`).catch(() => undefined);
  await api("POST", "/roles", { name: "Scribbler" });
  await app.open("/agents?new=1");
  await makeAgent(page, "Quick hand", "Scribbler", "Never late.");
  await app.open("/crews?new=1");
  await page.getByLabel("Name", { exact: true }).fill("Scriptorium");
  await page.getByLabel("Add an agent").click();
  await page.getByRole("option", { name: /^Scribbler/ }).click();
  await page.getByRole("button", { name: "Create crew" }).click();
  await expect(page.getByText("Created “Scriptorium”")).toBeVisible();

  await app.open("/roles?role=Scribbler");
  await page.getByLabel("Name", { exact: true }).fill("Chronicler");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Its new name is in 1 crew and 1 agent.")).toBeVisible();
  await page.getByRole("button", { name: "Actions for Chronicler" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("Scriptorium");
  await expect(question).toContainText("Quick hand");
  await question.getByRole("button", { name: "Cancel" }).click();

  await app.open("/crews?crew=scriptorium");
  await expect(page.getByRole("link", { name: /^Scriptorium/ })).toContainText("Chronicler");
  await deleteOpen(page, "crew", "Scriptorium");
  await app.open("/agents?agent=quick_hand");
  await expect(page.getByLabel("Role", { exact: true })).toContainText("Chronicler");
  await deleteOpen(page, "agent", "Quick hand");
  await api("DELETE", "/roles/Chronicler");
});

test("two people who change the same crew are told, and one can save over the other", async ({
  app,
  page,
  context,
}) => {
  await app.open("/crews?new=1");
  await page.getByLabel("Name", { exact: true }).fill("Shared desk");
  await page.getByLabel("Add an agent").click();
  await page.getByRole("option", { name: /^Writer/ }).click();
  await page.getByRole("button", { name: "Create crew" }).click();
  await expect(page.getByText("Created “Shared desk”")).toBeVisible();
  const other = await context.newPage();
  await other.goto("/crews?crew=shared_desk");

  await page.getByLabel("Name", { exact: true }).fill("My desk");
  await other.getByLabel("Name", { exact: true }).fill("Their desk");
  await other.getByRole("button", { name: "Save", exact: true }).click();
  await expect(other.getByText("Saved “Their desk”")).toBeVisible();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("alert").filter({ hasText: "This crew was changed" })).toBeVisible();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("My desk");
  await page.getByRole("button", { name: "Save mine over it" }).click();
  await expect(page.getByText("Saved “My desk”")).toBeVisible();

  await other.getByLabel("Name", { exact: true }).fill("Their desk again");
  await other.getByRole("button", { name: "Save", exact: true }).click();
  await other.getByRole("button", { name: "Load the other version" }).click();
  await expect(other.getByLabel("Name", { exact: true })).toHaveValue("My desk");
  await deleteOpen(page, "crew", "My desk");
});
