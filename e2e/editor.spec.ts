import type { BrowserContext, Page } from "@playwright/test";
import { api, expect, fixture, saved, settings, test } from "./support/app";
import { edge, end, file, start } from "./support/run-graphs";

const APPROVAL = fixture("simple-approval-workflow.json");

/** A window that does not hear of what others save, as one of another browser. */
async function deafWindow(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.addInitScript(() => Reflect.deleteProperty(window, "BroadcastChannel"));
  return page;
}

test("each gesture, including a paste, is one undo step, and the result is saved automatically", async ({
  app,
  page,
}) => {
  await app.openWorkflow(APPROVAL);
  await app.canvas.still();
  const nodes = page.getByRole("article");
  await expect(nodes).toHaveCount(7);

  // Select two nodes by Shift-dragging around them.
  const first = await app.canvas.card("Perform Approved Action").boundingBox();
  const last = await app.canvas.card("End (Approved)").boundingBox();
  if (!first || !last) throw new Error("The cards are not there.");
  await page.keyboard.down("Shift");
  await page.mouse.move(first.x - 24, first.y - 12);
  await page.mouse.down();
  await page.mouse.move(last.x + last.width + 16, first.y + first.height + 8, { steps: 8 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await expect(page.getByRole("heading", { name: /^2 nodes/ })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+c");
  await page.getByRole("application").hover({ position: { x: 400, y: 650 } });
  await page.keyboard.press("ControlOrMeta+v");
  await expect(nodes).toHaveCount(9);
  await expect(app.canvas.card("End (Approved)")).toHaveCount(2);
  await page.getByRole("button", { name: "Undo: Paste" }).click();
  await expect(nodes).toHaveCount(7);

  // Pasting a complete workflow asks what to do with it.
  await page.getByRole("application").focus();
  await page.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const target = document.activeElement ?? document.body;
    target.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, APPROVAL);
  const dialog = page.getByRole("dialog", { name: /^Paste / });
  await expect(dialog.getByRole("button", { name: "Import as new workflow" })).toBeVisible();
  await dialog.getByRole("button", { name: "Insert here" }).click();
  await expect(nodes).toHaveCount(14);
  await page.getByRole("button", { name: /^Undo: / }).click();
  await expect(nodes).toHaveCount(7);
  await app.canvas.still();

  const card = app.canvas.card("Handle Rejection");
  const top = async () => (await card.boundingBox())?.y ?? 0;
  const before = await top();
  await app.canvas.move("Handle Rejection", { x: 60, y: 90 });
  await expect(page.getByRole("button", { name: "Undo: Move" })).toBeVisible();
  expect(Math.abs((await top()) - before)).toBeGreaterThan(40);
  await card.click();
  await page.keyboard.press("Delete");
  await expect(card).toHaveCount(0);
  await page.getByRole("button", { name: "Undo: Delete" }).click();
  await expect(card).toBeVisible();
  await page.getByRole("button", { name: "Undo: Move" }).click();
  await expect.poll(async () => Math.abs((await top()) - before)).toBeLessThan(2);
  await page.getByRole("application").focus();
  await page.keyboard.press("ControlOrMeta+Shift+z");
  await page.keyboard.press("ControlOrMeta+y");
  await expect(card).toHaveCount(0);

  await app.canvas.select("Get Approval Status");
  await settings(page).getByLabel("Name", { exact: true }).fill("Ask the boss");
  await saved(page, "Edit node");
  await page.reload();
  await expect(app.canvas.card("Ask the boss")).toBeVisible();
  await expect(card).toHaveCount(0);
});

test("a save appears in other windows, and conflicting edits never overwrite each other silently", async ({
  app,
  page,
  context,
}) => {
  const id = await app.openWorkflow(APPROVAL);
  const name = (window: Page) => settings(window).getByLabel("Name", { exact: true });
  const card = (window: Page, name: string) => window.getByRole("article", { name, exact: true });
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(card(other, "Handle Rejection")).toBeVisible();
  await app.canvas.select("Handle Rejection");
  await name(page).fill("Say no");
  await expect(card(other, "Say no")).toBeVisible();
  await other.close();

  const deaf = await deafWindow(context);
  await deaf.goto(page.url());
  await card(deaf, "Get Approval Status").click();
  const dialog = deaf.getByRole("dialog", { name: "Workflow changed elsewhere" });
  await expect(name(deaf)).toHaveValue("Get Approval Status");
  await name(page).fill("Say no kindly");
  await expect(app.canvas.card("Say no kindly")).toBeVisible();
  await saved(page);
  // A change in the other window, which does not know of the first one yet.
  await name(deaf).fill("Ask twice");
  await expect(dialog.getByRole("region", { name: "Yours: changes" })).toContainText("Ask twice");
  await expect(dialog.getByRole("region", { name: "Theirs: changes" })).toContainText("Say no kindly");
  await dialog.getByRole("button", { name: "Use theirs" }).click();
  await expect(card(deaf, "Say no kindly")).toBeVisible();
  await expect(card(deaf, "Get Approval Status")).toBeVisible();

  await name(page).fill("Say no again");
  await expect(app.canvas.card("Say no again")).toBeVisible();
  await saved(page);
  await name(deaf).fill("Ask thrice");
  await dialog.getByRole("button", { name: "Keep both" }).click();
  await expect(dialog).toHaveCount(0);
  await saved(deaf);
  await page.reload();
  await expect(app.canvas.card("Ask thrice")).toBeVisible();
  await expect(app.canvas.card("Say no again")).toBeVisible();

  // A draft that was changed elsewhere is not published before it is shown.
  await api("PUT", `/workflows/${id}`, APPROVAL);
  await deaf.getByRole("button", { name: "Publish", exact: true }).click();
  const publishing = deaf.getByRole("dialog", { name: "Publish" });
  const publish = publishing.getByRole("button", { name: "Publish", exact: true });
  await publish.click();
  await expect(publishing.getByText("The draft was changed elsewhere.")).toBeVisible();
  // Behind the dialog, without a role.
  await expect(deaf.getByLabel("Name", { exact: true })).toHaveValue("Get Approval Status");
  await publish.click();
  await expect(deaf.getByRole("button", { name: "Version 1", exact: true })).toBeVisible();
  await deaf.close();

  // A workflow that was changed while its runs were open is up to date when the editor opens.
  await page.goto(`/workflows/${id}/runs`);
  await expect(page.getByText(/^All runs of \S/)).toBeVisible();
  await api("PUT", `/workflows/${id}`, APPROVAL);
  await page.getByRole("link", { name: "Edit workflow" }).click();
  await expect(app.canvas.card("Handle Rejection")).toBeVisible();
});

test("capabilities of a file need permission, and problems block a run, link to nodes and offer fixes", async ({
  app,
  page,
}) => {
  // Without workflows, the first page would be the welcome page.
  const drawn = file("Something", [start(), end("done", "Done", 1)], [edge("start", "done")]);
  await api("POST", "/workflows", drawn);
  await app.open();
  await page.getByRole("button", { name: "Import", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Import a workflow" });
  await dialog.getByLabel("Or paste contents").fill(fixture("asking-workflow.json"));
  await dialog.getByRole("button", { name: "Preview" }).click();
  const wanted = page.getByRole("region", { name: "Requested permissions" });
  await expect(wanted.getByRole("checkbox")).toHaveCount(4);
  await expect(wanted.getByRole("checkbox", { checked: true })).toHaveCount(0);
  await expect(wanted).toContainText("collector.example");
  expect(await app.accessibilityViolations()).toEqual([]);
  await wanted.getByRole("checkbox", { name: "http_request" }).press("Space");
  await wanted.getByRole("checkbox", { name: "collector.example" }).press("Space");
  await dialog.getByRole("button", { name: "Import workflow" }).click();
  await app.canvas.isShown();

  const mark = page.getByRole("button", { name: /prevents? this workflow from running/ });
  await mark.click();
  const problems = page.getByRole("list", { name: "Problems" }).getByRole("listitem");
  await expect(problems).toHaveCount(2);
  await expect(problems.first()).toContainText("would use the tool store_memory, which isn't allowed yet");
  await problems.first().getByRole("button", { name: "Allow", exact: true }).click();
  await expect(problems).toHaveCount(1);
  await problems.first().getByRole("button", { name: "Allow", exact: true }).click();
  await expect(page.getByText("No problems. Ready to run.")).toBeVisible();

  await app.openWorkflow(APPROVAL);
  await app.canvas.select("Check Approval");
  await settings(page).getByLabel("Route by").click();
  await page.getByRole("option", { name: /^Conditions/ }).click();
  await expect(app.canvas.card("Check Approval")).toContainText("Add a condition for “approved”");
  await expect(mark).toBeVisible();
  await page.getByRole("button", { name: "Close settings" }).click();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const sheet = page.getByRole("dialog");
  await sheet.getByRole("button", { name: /Add a condition for “approved”/ }).click();
  await expect(settings(page).getByText(/Add a condition for “approved”/)).toBeVisible();
  await expect(settings(page).getByLabel("Name", { exact: true })).toHaveValue("Check Approval");

  await app.canvas.select("Start Workflow");
  await page.keyboard.press("Delete");
  await expect(app.canvas.card("Start Workflow")).toHaveCount(0);
  await mark.click();
  await page.getByRole("button", { name: "Add start node", exact: true }).click();
  await expect(app.canvas.card("Start")).toBeVisible();
});

test("a dialog opened while the server is away appears when it is back, with all edits kept", async ({
  app,
  page,
  context,
}) => {
  await app.openWorkflow(APPROVAL);
  await app.canvas.select("Handle Rejection");
  await page
    .getByRole("toolbar", { name: "Editor toolbar" })
    .getByRole("button", { name: "More", exact: true })
    .click();
  await context.setOffline(true);
  await page.getByRole("menuitem", { name: "Versions" }).click();
  await expect(page.getByText("Reconnecting…")).toBeVisible();
  await settings(page).getByLabel("Name", { exact: true }).fill("Say no");
  await expect(app.canvas.card("Say no")).toBeVisible();
  await context.setOffline(false);
  await expect(page.getByRole("dialog", { name: "Versions" })).toBeVisible();
  await saved(page);
  await page.reload();
  await expect(app.canvas.card("Say no")).toBeVisible();
});
