import type { Page } from "@playwright/test";
import { type App, expect, saved, settings, test } from "./support/app";

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

/** Closes the settings, so that the whole drawing is free. */
async function showWholeCanvas(app: App): Promise<void> {
  await app.page.getByRole("button", { name: "Close settings" }).click();
  await app.page.getByRole("button", { name: "Zoom to fit" }).click();
  await app.canvas.still();
}

test("a branching workflow is built from scratch by mouse and runs", async ({ app, page }) => {
  await app.newWorkflow();
  await app.canvas.card("Start").click();
  await expect(settings(page).getByLabel("Name of value 1")).toHaveValue("user_request");
  const picker = page.getByRole("dialog", { name: "Add node" });
  const name = settings(page).getByLabel("Name", { exact: true });

  // The button for the first step, which opens the picker.
  await page.getByRole("button", { name: "Add first node" }).click();
  await picker.getByText("ApprovalAgent", { exact: true }).click();
  await name.fill("Get Approval Status");
  await write(page, "Task", "Review request: {{user_request}} for approval.");
  // What the task names is read without a further word.
  await expect(settings(page).getByRole("button", { name: "Remove user_request from Reads" })).toBeVisible();
  const writes = page.getByRole("combobox", { name: "Writes", exact: true });
  await writes.fill("approval_status");
  await writes.press("Enter");
  await expect(app.canvas.card("Get Approval Status")).toContainText("approval_status");

  // From the palette onto the connection to the end, which was added with the first step.
  await showWholeCanvas(app);
  const [before, after, around] = await Promise.all(
    [app.canvas.card("Get Approval Status"), app.canvas.card("End"), canvas(page)].map((one) =>
      one.boundingBox(),
    ),
  );
  if (!before || !after || !around) throw new Error("The cards are drawn.");
  await place(page, "Router", {
    x: (before.x + before.width + after.x) / 2 - around.x,
    y: before.y + before.height / 2 - around.y,
  });
  await name.fill("Check Approval");
  for (const [at, way] of ["rejected", "approved"].entries()) {
    if (at > 0) await settings(page).getByRole("button", { name: "Add route" }).click();
    await settings(page)
      .getByLabel(`Route ${at + 1}`, { exact: true })
      .fill(way);
    const row = `Condition of route ${at + 1}, row 1`;
    await settings(page).getByLabel(`${row}: key`).fill("approval_status");
    await settings(page).getByLabel(`${row}: value`).fill(way);
  }
  await showWholeCanvas(app);

  // A line dropped on the empty drawing asks what shall come there.
  const port = app.canvas.card("Check Approval").getByRole("listitem").filter({ hasText: "approved" });
  await port.locator(".node-port").hover();
  await page.mouse.down();
  const box = await canvas(page).boundingBox();
  await page.mouse.move((box?.x ?? 0) + 760, (box?.y ?? 0) + 260, { steps: 10 });
  await page.mouse.up();
  await picker.getByText("ActionAgent", { exact: true }).click();
  await name.fill("Perform Approved Action");
  await write(page, "Task", "Execute action for approved request: {{user_request}}.");

  await page.getByRole("button", { name: "Close settings" }).click();
  await page.getByRole("button", { name: "Auto-layout" }).click();
  await app.canvas.still();
  await app.canvas.connect("Perform Approved Action", "End");

  await saved(page);
  await expect(page.getByRole("button", { name: /prevents? this workflow from running/ })).toBeHidden();

  await app.run.start({ user_request: "Please approve my vacation for next week." });
  await app.run.expectEnd("Completed");
  await app.run.expectStatus("Get Approval Status", "completed");
  await app.run.expectStatus("Check Approval", "completed");
});
