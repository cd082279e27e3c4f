import { expect, test } from "./support/app";

test("a first visit leads to a completed run", async ({ app, page }) => {
  await app.startFresh();
  await app.open();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  expect(await app.accessibilityViolations()).toEqual([]);

  await app.fromTemplate("Approval");
  await app.canvas.still();
  expect(await app.canvas.smallestFontSize()).toBeGreaterThanOrEqual(11);
  expect(await app.accessibilityViolations()).toEqual([]);

  await app.run.start({ user_request: "Please approve my vacation for next week." });
  await app.run.expectEnd("Completed");
  await expect(
    page.locator("header").getByText(/^Demo/).first(),
    "nobody is led to believe that an AI answered",
  ).toBeVisible();
  await app.canvas.still();
  expect(await app.canvas.smallestFontSize()).toBeGreaterThanOrEqual(11);
  expect(await app.accessibilityViolations()).toEqual([]);

  await page.reload();
  await app.run.expectEnd("Completed");

  await app.open();
  // Whoever does not see the mark hears how the run went.
  await expect(page.getByRole("link", { name: /^Last run of Approval: Completed/ })).toBeVisible();
});
