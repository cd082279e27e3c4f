import { api, expect, saved, settings, test } from "./support/app";

const place = (column: number) => ({ ui: { x: column * 280, y: 0 } });

/** Greets a name in the words of its node "Greet". */
const greeting = {
  graph_id: "greeting",
  start_node_id: "start",
  nodes: {
    start: { id: "start", node_type: "start", name: "Start", output_keys: ["name"], ...place(0) },
    greet: {
      id: "greet",
      node_type: "transform",
      name: "Greet",
      config: { set: { text: '"Hello, " + state.name' } },
      output_keys: ["text"],
      ...place(1),
    },
    end: { id: "end", node_type: "end", name: "End", input_keys: ["text"], ...place(2) },
  },
  edges: [
    { id: "a", source_node_id: "start", target_node_id: "greet" },
    { id: "b", source_node_id: "greet", target_node_id: "end" },
  ],
};

interface Run {
  status: string;
  workflow_version: number | null;
  output: { text?: string } | null;
}

const outputOf = async (run_id: string): Promise<string | undefined> => {
  await expect
    .poll(async () => (await api<Run>("GET", `/runs/${run_id}`)).status, { timeout: 15_000 })
    .toBe("finished");
  return (await api<Run>("GET", `/runs/${run_id}`)).output?.text;
};

/** Posts to a webhook as its sender would; answers the run. */
async function deliver(url: string, body: object, id: string): Promise<string> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "webhook-id": id },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(202);
  return ((await response.json()) as { run_id: string }).run_id;
}

test("a workflow is published, its draft changes, and the published version is compared and restored", async ({
  app,
  page,
}) => {
  await app.openWorkflow(greeting);
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  const publishing = page.getByRole("dialog", { name: "Publish" });
  await publishing.getByLabel("Note").fill("First");
  await publishing.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByRole("button", { name: "Version 1" })).toBeVisible();

  await app.canvas.card("Greet").click();
  await settings(page).getByLabel("Name", { exact: true }).fill("Welcome");
  await saved(page);
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  const changes = page.getByRole("dialog", { name: "Publish version 2" });
  await expect(changes.getByRole("list", { name: "Changes" })).toContainText("Welcome");
  await changes.getByRole("button", { name: "Cancel" }).click();

  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Versions" }).click();
  const versions = page.getByRole("dialog", { name: "Versions" });
  await expect(versions.getByRole("list", { name: "Published versions" })).toContainText("First");
  await versions.getByRole("button", { name: "Show on canvas" }).click();
  await expect(page.getByRole("button", { name: /^Compared with version 1: .*1 changed/ })).toBeVisible();

  await page.getByRole("button", { name: /^Compared with version 1/ }).click();
  await versions.getByRole("button", { name: "Restore draft" }).click();
  await expect(app.canvas.card("Greet")).toBeVisible();
  await expect(page.getByRole("button", { name: "Version 1" })).toBeVisible();
});

test("a webhook is added at the start, and a delivery runs the published version once", async ({
  app,
  page,
}) => {
  const id = await app.openWorkflow(greeting);
  await api("POST", `/workflows/${id}/versions`, {});
  await app.canvas.card("Start").click();
  await settings(page).getByRole("button", { name: "Add trigger" }).click();
  await page.getByRole("menuitem", { name: "Webhook" }).click();
  await page.getByRole("dialog", { name: "Webhook" }).getByRole("button", { name: "Add trigger" }).click();
  const shown = page.getByRole("dialog", { name: "Copy the address now" });
  const url = await shown.locator("code").first().innerText();
  await shown.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("button", { name: "Trigger: Webhook" })).toBeVisible();

  const run = await deliver(url, { name: "Ann" }, "one");
  expect(await outputOf(run)).toBe("Hello, Ann");
  expect(await deliver(url, { name: "Ann" }, "one")).toBe(run);
  expect((await api<Run>("GET", `/runs/${run}`)).workflow_version).toBe(1);

  await settings(page).getByRole("button", { name: "More: Webhook" }).click();
  await page.getByRole("menuitem", { name: "History" }).click();
  const history = page.getByRole("dialog", { name: "Trigger history" });
  await expect(history.getByRole("listitem")).toHaveCount(1);
  await expect(history.getByRole("listitem")).toContainText("Started");
  expect(await app.accessibilityViolations()).toEqual([]);
});

test("a schedule shows its next runs, and its test starts a run", async ({ app, page }) => {
  await app.openWorkflow(greeting);
  await app.canvas.card("Start").click();
  await settings(page).getByRole("button", { name: "Add trigger" }).click();
  await page.getByRole("menuitem", { name: "Schedule" }).click();
  const dialog = page.getByRole("dialog", { name: "Schedule" });
  await dialog.getByLabel("Time zone").fill("Europe/Berlin");
  await dialog.getByLabel("name").fill("Ben");
  await dialog.getByRole("button", { name: "Add trigger" }).click();
  const name = "Every day at 09:00, Europe/Berlin";
  await expect(page.getByRole("button", { name: `Trigger: ${name}` })).toBeVisible();

  await settings(page)
    .getByRole("button", { name: `More: ${name}` })
    .click();
  await page.getByRole("menuitem", { name: "History" }).click();
  await expect(page.getByRole("region", { name: "Next runs" }).getByRole("listitem")).toHaveCount(5);
  await page.keyboard.press("Escape");

  await settings(page)
    .getByRole("button", { name: `More: ${name}` })
    .click();
  await page.getByRole("menuitem", { name: "Test" }).click();
  await page.getByRole("button", { name: "Open" }).click();
  await app.run.expectEnd("Completed");
});
