import { api, expect, saved, settings, test } from "./support/app";

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
    write: {
      id: "write",
      node_type: "agent_task",
      name: "Write it",
      input_keys: ["user_request"],
      output_keys: ["note"],
      config: { required_role: "Editor", task_description_template: "{{ user_request }}" },
      ui: { x: 680, y: 0 },
    },
    end: { id: "end", node_type: "end", name: "End", ui: { x: 1020, y: 0 } },
  },
  edges: [
    { id: "e1", source_node_id: "start", target_node_id: "crew" },
    { id: "e2", source_node_id: "crew", target_node_id: "write" },
    { id: "e3", source_node_id: "write", target_node_id: "end" },
  ],
};

test("an agent and a crew from the library run in a workflow that references them", async ({ app, page }) => {
  await app.open("/agents?new=1");
  await page.getByLabel("Name", { exact: true }).fill("Careful writer");
  await page.getByLabel("Role", { exact: true }).click();
  await page.getByRole("option", { name: /^Writer/ }).click();
  await page.getByLabel("Temperature", { exact: true }).fill("0.3");
  await page.getByLabel("Backstory").fill("Once burnt by a wrong date.");
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByRole("list", { name: "Agents", exact: true })).toContainText("Careful writer");
  expect(await app.accessibilityViolations()).toEqual([]);

  await app.open("/crews?new=1");
  await page.getByLabel("Name", { exact: true }).fill("Writing desk");
  for (const member of ["Careful writer", "Editor"]) {
    await page.getByLabel("Add agent").click();
    await page.getByRole("option", { name: new RegExp(`^${member}`) }).click();
  }
  await page.getByLabel("Process").click();
  await page.getByRole("option", { name: /^Swarm \(handoffs\)/ }).click();
  await page.getByLabel("First agent").click();
  await page.getByRole("option", { name: /^careful.writer/i }).click();
  await page.getByRole("button", { name: "Create crew" }).click();
  await expect(page.getByRole("link", { name: /^Writing desk/ })).toBeVisible();
  expect(await app.accessibilityViolations()).toEqual([]);

  await app.openWorkflow(GRAPH);
  await app.canvas.select("Crew at work");
  await settings(page).getByLabel("Crew source").click();
  await page.getByRole("option", { name: /^Writing desk/ }).click();
  await expect(settings(page).getByRole("list", { name: "Agents" })).toContainText("Editor");
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
  const { events } = await api<{ events: { type: string; node_id?: string; agent_id?: string }[] }>(
    "GET",
    `/runs/${app.run.id}/events?limit=500`,
  );
  const began = (node: string) =>
    events.filter(({ type, node_id }) => type === "agent_started" && node_id === node);
  for (const node of ["crew", "write"])
    expect(began(node)[0]).toMatchObject({ agent_id: "careful_writer", payload: { role_name: "Writer" } });
  expect(JSON.stringify(events)).toContain("Once burnt by a wrong date.");
});
