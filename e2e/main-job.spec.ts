import { readFileSync } from "node:fs";
import path from "node:path";
import { type App, api, expect, settings, test } from "./support/app";

const FILE = path.join(import.meta.dirname, "fixtures", "simple-approval-workflow.json");
const REQUEST = "Please approve my vacation for next week.";

interface RunAnswer {
  status: string;
  final_status: string;
  state: Record<string, unknown>;
  output: Record<string, unknown>;
}

/** Imports a file through the dialog; ends in the editor. */
async function importFile(app: App, file: string, name: string): Promise<string> {
  const { page } = app;
  await app.open();
  const count = async () => (await api<{ workflows: unknown[] }>("GET", "/workflows")).workflows.length;
  const before = await count();
  await page.getByRole("button", { name: "Import", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Import a workflow" });
  await dialog.getByLabel("Choose a file").setInputFiles(file);
  await expect(dialog.getByText("7 nodes, 6 edges")).toBeVisible();
  expect(await count(), "a preview saves nothing").toBe(before);
  expect(await app.accessibilityViolations()).toEqual([]);
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill(name);
  await dialog.getByRole("button", { name: "Import workflow" }).click();
  await page.waitForURL(/\/workflows\/wf_/);
  await app.canvas.isShown();
  return /wf_\w+/.exec(page.url())![0];
}

/** Runs it with the request and watches it to its end; answers what the run gave. */
async function runIt(app: App): Promise<RunAnswer> {
  await app.run.start({ user_request: REQUEST });
  await app.run.expectStatus("Get Approval Status", "completed", { timeout: 30_000 });
  await app.run.expectStatus("Perform Approved Action", "completed", { timeout: 30_000 });
  await app.run.expectEnd("Completed");
  await app.run.expectStatus("End (Approved)", "completed");
  await app.run.expectStatus("Handle Rejection", "skipped");
  return api<RunAnswer>("GET", `/runs/${app.run.id}`);
}

test("the reference workflow survives import, edit, run, export, delete and reimport with an equal result", async ({
  app,
  page,
}) => {
  // A list with something in it, so that its Import button is there.
  await api("POST", "/workflows", {
    troupe: 1,
    name: "Something else",
    workflow: JSON.parse(readFileSync(FILE, "utf8")) as unknown,
  });

  const id = await importFile(app, FILE, "The main job");
  await app.canvas.select("Check Approval");
  await expect(settings(page).getByLabel("Rule")).toBeVisible();
  expect(await app.accessibilityViolations()).toEqual([]);
  await app.canvas.select("Perform Approved Action");
  await expect(page.getByRole("textbox", { name: "Task", exact: true })).toBeVisible();
  expect(await app.accessibilityViolations()).toEqual([]);
  await page.getByLabel("Expected output").fill("One sentence that says what was done");
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  const first = await runIt(app);
  expect(first).toMatchObject({
    status: "finished",
    final_status: "COMPLETED",
    state: { user_request: REQUEST, approval_status: "approved" },
  });

  await app.open();
  await page.getByRole("button", { name: "Actions for The main job" }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: /^Workflow file JSON/ }).click();
  const exported = await (await downloading).path();
  expect(readFileSync(exported, "utf8")).toContain("One sentence that says what was done");

  await api("DELETE", `/workflows/${id}`);
  const again = await importFile(app, exported, "The main job again");
  expect(again).not.toBe(id);
  const second = await runIt(app);
  expect({ state: second.state, output: second.output }).toEqual({
    state: first.state,
    output: first.output,
  });
});
