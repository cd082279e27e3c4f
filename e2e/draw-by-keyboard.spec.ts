import type { Locator, Page } from "@playwright/test";
import { expect, saved, test } from "./support/app";

const focusedCard = (page: Page, name: string) =>
  expect(page.getByRole("article", { name, exact: true })).toBeFocused();

/** Types into whatever has the keyboard. */
async function pick(page: Page, text: string): Promise<void> {
  await expect(page.getByRole("dialog", { name: "Add node" })).toBeVisible();
  await page.keyboard.type(text);
  await expect(page.getByRole("option", { selected: true })).toContainText(text);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: "Add node" })).toBeHidden();
}

/** Presses a key until this field has the focus: a field that can't be reached this way is inaccessible by keyboard. */
async function keyTo(page: Page, key: "Tab" | "Shift+Tab", field: Locator): Promise<void> {
  await expect(field).toBeVisible();
  for (let press = 0; press < 60; press++) {
    if (await field.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${String(field)} was not reached with ${key}.`);
}
const tabTo = (page: Page, name: string, role: "textbox" | "combobox" | "button" = "textbox") =>
  keyTo(page, "Tab", page.getByRole(role, { name, exact: true }));

/** Renames the card that has the keyboard. */
async function rename(page: Page, name: string): Promise<void> {
  await page.keyboard.press("F2");
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toBeFocused();
  await page.keyboard.insertText(name);
  await expect(page.getByRole("article", { name, exact: true })).toBeVisible();
}

async function task(page: Page, text: string, writes: string): Promise<void> {
  await tabTo(page, "Task");
  await page.keyboard.insertText(text);
  await tabTo(page, "Writes", "combobox");
  await page.keyboard.insertText(writes);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
}

test("a branching workflow is built from scratch by keyboard alone and runs", async ({ app, page }) => {
  await app.newWorkflow();
  await page.getByRole("application").focus();
  await page.keyboard.press("ArrowRight");
  await focusedCard(page, "Start");

  await page.keyboard.press("n");
  await pick(page, "ApprovalAgent");
  await focusedCard(page, "ApprovalAgent");
  await rename(page, "Get Approval Status");
  await task(page, "Review request: {{user_request}} for approval.", "approval_status");
  await focusedCard(page, "Get Approval Status");

  await page.keyboard.press("Tab");
  await pick(page, "Router");
  await focusedCard(page, "Router");
  await rename(page, "Check Approval");
  // It was inserted between the task and the end, and its first branch leads to the end.
  for (const [at, way] of ["rejected", "approved"].entries()) {
    if (at > 0) {
      await tabTo(page, "Add route", "button");
      await page.keyboard.press("Enter");
    }
    await keyTo(page, at > 0 ? "Shift+Tab" : "Tab", page.getByLabel(`Route ${at + 1}`, { exact: true }));
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText(way);
    await tabTo(page, `Condition of route ${at + 1}, row 1: key`, "combobox");
    await page.keyboard.insertText("approval_status");
    await tabTo(page, `Condition of route ${at + 1}, row 1: value`, "combobox");
    await page.keyboard.insertText(way);
  }
  await page.keyboard.press("Escape");
  await focusedCard(page, "Check Approval");

  await page.keyboard.press("n");
  await pick(page, "ActionAgent");
  await rename(page, "Perform Approved Action");
  await task(page, "Execute action for approved request: {{user_request}}.", "action_result");
  await focusedCard(page, "Perform Approved Action");

  // Connect mode: through the possible targets to the end that is there already.
  await page.keyboard.press("c");
  const offer = page.getByRole("status").filter({ hasText: /^Connect Perform Approved Action to / });
  await expect(offer).toBeVisible();
  for (let press = 0; press < 6; press++) {
    const offered = await offer.textContent();
    if (offered?.includes("to End?")) break;
    await page.keyboard.press("ArrowRight");
    await expect(offer).not.toHaveText(offered ?? "");
  }
  await expect(offer).toContainText("to End?");
  await page.keyboard.press("Enter");
  await expect(offer).toBeHidden();

  await page.keyboard.press("Shift+L");
  await saved(page);
  await expect(page.getByRole("button", { name: /prevents? this workflow from running/ })).toHaveCount(0);

  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("dialog").getByLabel(/user.request/i)).toBeFocused();
  await page.keyboard.insertText("Please approve my vacation for next week.");
  await page.keyboard.press("ControlOrMeta+Enter");
  await page.waitForURL(/\/runs\/run_/);
  await app.run.expectEnd("Completed");
  await app.run.expectStatus("Get Approval Status", "completed");
  await app.run.expectStatus("Perform Approved Action", "completed");
});

test("the keyboard is never trapped in the canvas: Escape leaves a card and Tab leaves the controls", async ({
  app,
  page,
}) => {
  await app.fromTemplate("Approval");
  const canvas = page.getByRole("application");
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  await expect(canvas.locator(":focus")).toHaveRole("article");
  await page.keyboard.press("Escape");
  await expect(canvas).toBeFocused();
  for (const name of ["Zoom out", /^Reset zoom/, "Zoom in", "Zoom to fit"]) {
    await page.keyboard.press("Tab");
    await expect(canvas.getByRole("button", { name, exact: true })).toBeFocused();
  }
  await page.keyboard.press("Enter");
  await expect(canvas.getByRole("button", { name: "Zoom to fit" })).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(canvas.getByRole("link", { name: "React Flow attribution" })).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(canvas.locator(":focus")).toHaveCount(0);
  await expect(page.getByRole("dialog")).toHaveCount(0);
});
