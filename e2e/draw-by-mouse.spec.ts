import type { Page } from "@playwright/test";
import { type App, expect, saved, settings, test } from "./app";

const canvas = (page: Page) => page.getByRole("application");

/** Drags something from the palette to a point of the drawing. */
async function place(page: Page, what: string, at: { x: number; y: number }): Promise<void> {
  await page
    .getByRole("button", { name: new RegExp(`^Add ${what}\\b`) })
    .dragTo(canvas(page), { targetPosition: at });
}

/** Fills a code field, which is a text box that the browser knows as such. */
async function write(page: Page, label: string, text: string): Promise<void> {
  const field = page.getByRole("textbox", { name: label, exact: true });
  await field.click();
  await field.press("ControlOrMeta+a");
  await page.keyboard.insertText(text);
}

/** Adds keys to a field of keys. */
async function addKeys(page: Page, label: string, keys: string[]): Promise<void> {
  const field = page.getByRole("combobox", { name: label, exact: true });
  for (const key of keys) {
    await field.fill(key);
    await field.press("Enter");
  }
}

/** Closes the settings, so that the whole drawing is free. */
async function lookAtAll(app: App): Promise<void> {
  await app.page.getByRole("button", { name: "Close the settings" }).click();
  await app.page.getByRole("button", { name: "Show the whole drawing" }).click();
  await app.canvas.still();
}

test("the approval workflow is drawn from nothing with the mouse, and runs", async ({ app, page }) => {
  await app.newWorkflow();
  await app.canvas.card("Start").click();
  await expect(settings(page).getByLabel("Name of value 1")).toHaveValue("user_request");

  // From the + of a way out, through the picker.
  await page.getByRole("button", { name: "Add a node after Start" }).click();
  await page.getByRole("dialog", { name: "Add a node" }).getByText("ApprovalAgent", { exact: true }).click();
  await settings(page).getByLabel("Name", { exact: true }).fill("Get Approval Status");
  await write(page, "Task", "Review request: {{user_request}} for approval.");
  // What the task names is read without a further word.
  await expect(settings(page).getByRole("button", { name: "Remove user_request from Reads" })).toBeVisible();
  await addKeys(page, "Writes", ["approval_status", "approver_comments"]);
  await expect(app.canvas.card("Get Approval Status")).toContainText("approval_status");

  // From the palette onto the drawing, then a line from card to card.
  await lookAtAll(app);
  await place(page, "Router", { x: 700, y: 640 });
  await settings(page).getByLabel("Name", { exact: true }).fill("Check Approval");
  for (const [at, way] of ["approved", "rejected"].entries()) {
    await settings(page).getByRole("button", { name: "Add a way out" }).click();
    await settings(page)
      .getByLabel(`Way out ${at + 1}`, { exact: true })
      .fill(way);
    await settings(page)
      .getByLabel(`Condition of way ${at + 1}, row 1: key`)
      .fill("approval_status");
    await settings(page)
      .getByLabel(`Condition of way ${at + 1}, row 1: value`)
      .fill(way);
  }
  await lookAtAll(app);
  await app.canvas.connect("Get Approval Status", "Check Approval");

  // A line dropped on the empty drawing asks what shall come there.
  const port = app.canvas.card("Check Approval").getByRole("listitem").filter({ hasText: "approved" });
  await port.locator(".node-port").hover();
  await page.mouse.down();
  const box = await canvas(page).boundingBox();
  await page.mouse.move((box?.x ?? 0) + 760, (box?.y ?? 0) + 260, { steps: 10 });
  await page.mouse.up();
  await page.getByRole("dialog", { name: "Add a node" }).getByText("ActionAgent", { exact: true }).click();
  await settings(page).getByLabel("Name", { exact: true }).fill("Perform Approved Action");
  await write(page, "Task", "Execute action for approved request: {{user_request}}.");
  await addKeys(page, "Writes", ["action_result"]);

  await lookAtAll(app);
  await page.getByRole("button", { name: 'Add a node after Check Approval, way "rejected"' }).click();
  await page
    .getByRole("dialog", { name: "Add a node" })
    .getByText("NotificationAgent", { exact: true })
    .click();
  await settings(page).getByLabel("Name", { exact: true }).fill("Handle Rejection");
  await write(
    page,
    "Task",
    "Notify user of rejection for: {{user_request}}. Comments: {{approver_comments}}.",
  );
  await addKeys(page, "Writes", ["notification_status"]);

  await page.getByRole("button", { name: "Add a node after Handle Rejection" }).click();
  await page.getByRole("dialog", { name: "Add a node" }).getByText("End", { exact: true }).click();
  await settings(page).getByLabel("Name", { exact: true }).fill("End (Rejected)");

  await page.getByRole("button", { name: "Close the settings" }).click();
  await page.getByRole("button", { name: "Tidy up" }).click();
  await app.canvas.still();
  await app.canvas.connect("Perform Approved Action", "End");

  await saved(page);
  await expect(page.getByRole("button", { name: /keeps? this workflow from running/ })).toBeHidden();

  await app.run.start({ user_request: "Please approve my vacation for next week." });
  await app.run.expectEnd("Completed");
  await app.run.expectStatus("Get Approval Status", "completed");
  await app.run.expectStatus("Check Approval", "completed");
});

test("a card put on a line goes in between, and the line's own plus does the same", async ({ app, page }) => {
  await app.newWorkflow();
  await app.canvas.connect("Start", "End");
  await page.getByRole("button", { name: "Show the whole drawing" }).click();
  await app.canvas.still();
  await place(page, "Wait", { x: 500, y: 620 });
  await lookAtAll(app);
  const start = await app.canvas.card("Start").boundingBox();
  const end = await app.canvas.card("End").boundingBox();
  const wait = await app.canvas.card("Wait").boundingBox();
  if (!start || !end || !wait) throw new Error("The cards are not there.");
  const middle = { x: (start.x + start.width + end.x) / 2, y: start.y + 37 * (start.width / 208) };
  await app.canvas.move("Wait", {
    x: middle.x - (wait.x + wait.width / 2),
    y: middle.y - (wait.y + wait.height / 2),
  });
  await page.getByRole("tab", { name: "Outline" }).click();
  const outline = page.getByRole("list", { name: "Nodes in reading order" });
  await expect(outline.getByRole("button", { name: /^Start.*leads to Wait/ })).toBeVisible();
  await expect(outline.getByRole("button", { name: /^Wait.*leads to End/ })).toBeVisible();
});
