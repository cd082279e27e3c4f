import type { Page } from "@playwright/test";
import { expect, test } from "./app";

const focusedCard = (page: Page, name: string) =>
  expect(page.getByRole("article", { name, exact: true })).toBeFocused();

/** Types into whatever has the keyboard. */
async function pick(page: Page, words: string): Promise<void> {
  await expect(page.getByRole("dialog", { name: "Add a node" })).toBeVisible();
  await page.keyboard.type(words);
  await expect(page.getByRole("option", { selected: true })).toContainText(words);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: "Add a node" })).toBeHidden();
}

/** Walks with Tab until this field has the keyboard: what cannot be reached so does not exist for a keyboard. */
async function tabTo(
  page: Page,
  name: string,
  role: "textbox" | "combobox" | "button" = "textbox",
): Promise<void> {
  const field = page.getByRole(role, { name, exact: true });
  for (let press = 0; press < 60; press++) {
    if (await field.evaluate((element) => element === document.activeElement).catch(() => false)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`"${name}" was not reached with Tab.`);
}

/** Renames the card that has the keyboard. */
async function rename(page: Page, name: string): Promise<void> {
  await page.keyboard.press("F2");
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toBeFocused();
  await page.keyboard.type(name);
}

async function task(page: Page, text: string, writes: string[]): Promise<void> {
  await tabTo(page, "Task");
  await page.keyboard.insertText(text);
  await tabTo(page, "Writes", "combobox");
  for (const key of writes) {
    await page.keyboard.type(key);
    await page.keyboard.press("Enter");
  }
  await page.keyboard.press("Escape");
}

test("the approval workflow is drawn from nothing with the keyboard alone, and runs", async ({
  app,
  page,
}) => {
  // Hundreds of keys, one after the other.
  test.slow();
  await app.newWorkflow();
  await page.getByRole("application").focus();
  await page.keyboard.press("ArrowRight");
  await focusedCard(page, "Start");

  await page.keyboard.press("n");
  await pick(page, "ApprovalAgent");
  await focusedCard(page, "ApprovalAgent");
  await rename(page, "Get Approval Status");
  await task(page, "Review request: {{user_request}} for approval.", [
    "approval_status",
    "approver_comments",
  ]);
  await focusedCard(page, "Get Approval Status");

  await page.keyboard.press("Tab");
  await pick(page, "Router");
  await focusedCard(page, "Router");
  await rename(page, "Check Approval");
  for (const [at, way] of ["approved", "rejected"].entries()) {
    await tabTo(page, "Add a way out", "button");
    await page.keyboard.press("Enter");
    const field = page.getByLabel(`Way out ${at + 1}`, { exact: true });
    await expect(field).toBeVisible();
    for (let press = 0; press < 40 && !(await field.evaluate((it) => it === document.activeElement)); press++)
      await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type(way);
    await tabTo(page, `Condition of way ${at + 1}, row 1: key`, "combobox");
    await page.keyboard.type("approval_status");
    await tabTo(page, `Condition of way ${at + 1}, row 1: value`, "combobox");
    await page.keyboard.type(way);
  }
  await page.keyboard.press("Escape");
  await focusedCard(page, "Check Approval");

  await page.keyboard.press("n");
  await pick(page, "ActionAgent");
  await rename(page, "Perform Approved Action");
  await task(page, "Execute action for approved request: {{user_request}}.", ["action_result"]);
  await focusedCard(page, "Perform Approved Action");

  // Connect mode: through the possible targets to the end that is there already.
  await page.keyboard.press("c");
  const offer = page.getByRole("status").filter({ hasText: "Connect Perform Approved Action to End?" });
  for (let press = 0; press < 6 && (await offer.count()) === 0; press++)
    await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");

  await page.keyboard.press("ArrowLeft");
  await focusedCard(page, "Check Approval");
  await page.keyboard.press("n");
  await pick(page, "NotificationAgent");
  await rename(page, "Handle Rejection");
  await task(page, "Notify user of rejection for: {{user_request}}. Comments: {{approver_comments}}.", [
    "notification_status",
  ]);
  await page.keyboard.press("n");
  await pick(page, "End");
  await rename(page, "End (Rejected)");
  await page.keyboard.press("Escape");
  await focusedCard(page, "End (Rejected)");

  await page.keyboard.press("Shift+L");
  await expect(page.getByRole("status").getByText("Saved", { exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: /keeps? this workflow from running/ })).toHaveCount(0);

  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("dialog").getByLabel(/user.request/i)).toBeFocused();
  await page.keyboard.type("Please approve my vacation for next week.");
  await page.keyboard.press("ControlOrMeta+Enter");
  await page.waitForURL(/\/runs\/run_/);
  await app.run.expectEnd("Completed");
  await app.run.expectStatus("Get Approval Status", "completed");
});

test("the keyboard never gets stuck in the drawing", async ({ app, page }) => {
  await app.fromTemplate("Approval");
  await page.getByRole("application").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("application")).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("application")).not.toBeFocused();
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("Tab walks through the zoom controls and out of the canvas", async ({ app, page }) => {
  await app.fromTemplate("Approval");
  const canvas = page.getByRole("application");
  await canvas.focus();
  for (const name of ["Zoom out", /^Zoom is/, "Zoom in", "Show the whole drawing"]) {
    await page.keyboard.press("Tab");
    await expect(canvas.getByRole("button", { name, exact: true })).toBeFocused();
  }
  await page.keyboard.press("Enter");
  await expect(canvas.getByRole("button", { name: "Show the whole drawing" })).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(canvas.getByRole("link", { name: "React Flow attribution" })).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(canvas.locator(":focus")).toHaveCount(0);
  await expect(page.getByRole("dialog")).toHaveCount(0);
});
