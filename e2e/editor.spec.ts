import type { BrowserContext, Page } from "@playwright/test";
import { api, expect, fixture, saved, settings, test } from "./app";

/** A window that does not hear of what others save, as one of another browser. */
async function deafWindow(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.addInitScript(() => Reflect.deleteProperty(window, "BroadcastChannel"));
  return page;
}

test("every step can be taken back and made again, each gesture as one", async ({ app, page }) => {
  await app.openWorkflow(fixture("simple-approval-workflow.json"));
  await app.canvas.still();
  const card = app.canvas.card("Handle Rejection");
  const before = await card.boundingBox();
  await app.canvas.move("Handle Rejection", { x: 60, y: 90 });
  await expect(page.getByRole("button", { name: "Undo: Move" })).toBeVisible();
  const moved = await card.boundingBox();
  expect(Math.abs((moved?.y ?? 0) - (before?.y ?? 0))).toBeGreaterThan(40);

  await card.click();
  await page.keyboard.press("Delete");
  await expect(card).toHaveCount(0);
  await page.getByRole("button", { name: "Undo: Delete" }).click();
  await expect(card).toBeVisible();
  await page.getByRole("button", { name: "Undo: Move" }).click();
  await expect(page.getByRole("button", { name: "Undo", exact: true })).toBeVisible();
  await expect
    .poll(async () => Math.abs(((await card.boundingBox())?.y ?? 0) - (before?.y ?? 0)))
    .toBeLessThan(2);

  await page.getByRole("application").focus();
  await page.keyboard.press("ControlOrMeta+Shift+z");
  await page.keyboard.press("ControlOrMeta+y");
  await expect(card).toHaveCount(0);
  await saved(page);
  await page.reload();
  await app.canvas.isShown();
  await expect(card).toHaveCount(0);
});

test("what is changed is saved by itself, and is there after a reload", async ({ app, page }) => {
  await app.openWorkflow(fixture("simple-approval-workflow.json"));
  await app.canvas.select("Get Approval Status");
  await settings(page).getByLabel("Name", { exact: true }).fill("Ask the boss");
  await saved(page, "Change node");
  await page.reload();
  await expect(app.canvas.card("Ask the boss")).toBeVisible();
});

test("problems stop a run, are shown where they are, and lead there", async ({ app, page }) => {
  await app.openWorkflow(fixture("simple-approval-workflow.json"));
  await app.canvas.select("Check Approval");
  await settings(page).getByLabel("Decides by").click();
  await page.getByRole("option", { name: /^Conditions/ }).click();
  await expect(app.canvas.card("Check Approval")).toContainText("Say when “approved” is taken");
  const mark = page.getByRole("button", { name: /keeps? this workflow from running/ });
  await expect(mark).toBeVisible();
  await page.getByRole("button", { name: "Close the settings" }).click();

  await page.getByRole("button", { name: "Run", exact: true }).click();
  const sheet = page.getByRole("dialog");
  await sheet.getByRole("button", { name: /Say when “approved” is taken/ }).click();
  await expect(settings(page).getByText(/Say when “approved” is taken/)).toBeVisible();
  await expect(settings(page).getByLabel("Name", { exact: true })).toHaveValue("Check Approval");
});

test("the repair of a problem is one click away", async ({ app, page }) => {
  await app.newWorkflow();
  await app.canvas.select("Start");
  await page.keyboard.press("Delete");
  await page.getByRole("button", { name: /keeps? this workflow from running/ }).click();
  await page.getByRole("button", { name: "Add a start", exact: true }).click();
  await expect(app.canvas.card("Start")).toBeVisible();
});

test("what is saved in one window is seen in the other at once", async ({ app, page, context }) => {
  await app.openWorkflow(fixture("simple-approval-workflow.json"));
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(other.getByRole("article", { name: "Handle Rejection" })).toBeVisible();
  await app.canvas.select("Handle Rejection");
  await settings(page).getByLabel("Name", { exact: true }).fill("Say no kindly");
  await expect(other.getByRole("article", { name: "Say no kindly" })).toBeVisible();
  await other.close();
});

test("a workflow that was changed while its runs were looked at opens as it is now", async ({
  app,
  page,
}) => {
  const drawing = fixture("simple-approval-workflow.json");
  const id = await app.openWorkflow(drawing);
  await page.goto(`/workflows/${id}/runs`);
  await expect(page.getByText(/^Every run of \S/)).toBeVisible();
  await api("PUT", `/workflows/${id}`, drawing.replace("Handle Rejection", "Say no kindly"));
  await page.getByRole("link", { name: "Edit workflow" }).click();
  await expect(app.canvas.card("Say no kindly")).toBeVisible();
});

test("two tabs that change the same workflow never overwrite each other unasked", async ({
  app,
  page,
  context,
}) => {
  await app.openWorkflow(fixture("simple-approval-workflow.json"));
  const other = await deafWindow(context);
  await other.goto(page.url());
  await other.getByRole("article", { name: "Get Approval Status" }).click();
  await expect(settings(other)).toBeVisible();

  await app.canvas.select("Handle Rejection");
  await settings(page).getByLabel("Name", { exact: true }).fill("Say no kindly");
  await saved(page, "Change node");

  // A change in the other tab, which does not know yet.
  await settings(other).getByLabel("Name", { exact: true }).fill("Ask twice");
  const dialog = other.getByRole("dialog", { name: "This workflow was changed in another place" });
  await expect(dialog.getByRole("region", { name: "Yours: what changed" })).toContainText("Ask twice");
  await expect(dialog.getByRole("region", { name: "Theirs: what changed" })).toContainText("Say no kindly");
  await dialog.getByRole("button", { name: "Take theirs" }).click();
  await expect(other.getByRole("article", { name: "Say no kindly" })).toBeVisible();
  await expect(other.getByRole("article", { name: "Get Approval Status" })).toBeVisible();
  await other.close();
});

for (const how of ["Keep mine, overwrite theirs", "Save mine as a copy", "Keep both"] as const)
  test(`after a conflict: ${how.toLowerCase()}`, async ({ app, page, context }) => {
    await app.openWorkflow(fixture("simple-approval-workflow.json"));
    const other = await deafWindow(context);
    await other.goto(page.url());
    await other.getByRole("article", { name: "Get Approval Status" }).click();
    await expect(settings(other)).toBeVisible();
    await app.canvas.select("Handle Rejection");
    await settings(page).getByLabel("Name", { exact: true }).fill("Theirs");
    await saved(page, "Change node");

    await settings(other).getByLabel("Name", { exact: true }).fill("Mine");
    await other.getByRole("button", { name: how }).click();
    await expect(other.getByRole("dialog")).toHaveCount(0);
    await saved(other);
    await page.reload();
    await app.canvas.isShown();
    await expect(app.canvas.card("Mine")).toHaveCount(how === "Save mine as a copy" ? 0 : 1);
    await expect(app.canvas.card("Theirs")).toHaveCount(how === "Keep mine, overwrite theirs" ? 0 : 1);
    if (how === "Save mine as a copy") {
      await app.open();
      await expect(page.getByRole("link", { name: /\(my version\)/ }).first()).toBeVisible();
    }
    await other.close();
  });

test("nodes are copied with the lines between them, and pasted as new ones in one step", async ({
  app,
  page,
}) => {
  await app.openWorkflow(fixture("simple-approval-workflow.json"));
  const nodes = page.getByRole("article");
  await expect(nodes).toHaveCount(7);
  await app.canvas.still();
  // A frame around both, drawn with Shift.
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
});

test("a whole workflow pasted onto the drawing asks what to do with it", async ({ app, page }) => {
  await app.newWorkflow();
  const before = await page.getByRole("article").count();
  await page.getByRole("application").focus();
  await page.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const target = document.activeElement ?? document.body;
    target.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, fixture("simple-approval-workflow.json"));
  const dialog = page.getByRole("dialog", { name: /Pasted/ });
  await expect(dialog.getByRole("button", { name: "Import as a new workflow" })).toBeVisible();
  await dialog.getByRole("button", { name: "Insert here" }).click();
  await expect(page.getByRole("article")).toHaveCount(before + 7);
});

test("the editor has no accessibility faults, drawing and settings alike", async ({ app, page }) => {
  await app.openWorkflow(fixture("simple-approval-workflow.json"));
  expect(await app.accessibilityFaults()).toEqual([]);
  await app.canvas.select("Get Approval Status");
  await expect(page.getByRole("textbox", { name: "Task", exact: true })).toBeVisible();
  expect(await app.accessibilityFaults()).toEqual([]);
  await app.canvas.select("Check Approval");
  await expect(settings(page).getByLabel("Rule")).toBeVisible();
  expect(await app.accessibilityFaults()).toEqual([]);
});

test("a crew unfolds into the nodes that do the same, runs, and comes back with one undo", async ({
  app,
  page,
}) => {
  await app.fromTemplate("Code review cycle");
  await app.canvas.select("Code, review, test");
  await settings(page).getByRole("button", { name: "Unfold into nodes…" }).click();
  const sheet = page.getByRole("dialog", { name: "Unfold “Code, review, test” into nodes" });
  await expect(sheet.getByRole("list", { name: "Nodes of its agents" }).getByRole("listitem")).toHaveText([
    "Code generationDeveloper",
    "Code reviewQualityReviewer",
    "TestingTester",
  ]);
  await expect(sheet.getByRole("list", { name: "What will be different" })).toHaveCount(0);
  expect(await app.accessibilityFaults()).toEqual([]);
  await sheet.getByRole("button", { name: "Unfold into nodes", exact: true }).click();
  await expect(app.canvas.card("Code review")).toBeVisible();
  await expect(app.canvas.card("Code, review, test")).toHaveCount(0);

  await page.getByRole("button", { name: "Undo: Unfold into nodes" }).click();
  await expect(app.canvas.card("Code, review, test")).toBeVisible();
  await page.getByRole("application").focus();
  await page.keyboard.press("ControlOrMeta+Shift+z");
  await expect(app.canvas.card("Testing")).toBeVisible();
  await saved(page);

  await app.run.start({ "What should be built": "A function that tells whether two words are anagrams" });
  await app.run.expectEnd("Completed");
  await app.canvas.expectStatus("Ready", "completed");
});
