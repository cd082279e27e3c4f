import { expect, test } from "./app";

test("a tool of one's own is written, changed, brought back, removed and restored", async ({ app, page }) => {
  await app.open("/tools");
  await page.getByRole("button", { name: "New" }).click();
  await page.getByRole("menuitem", { name: "Tool of your own" }).click();
  await expect(page.getByText("Code is switched off here.")).toBeVisible();
  await page.getByLabel("Name", { exact: true }).fill("count_words");
  await page.getByLabel("Description", { exact: true }).fill("Counts the words of a text");
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.getByText("Version 1", { exact: true })).toBeVisible();

  await page.getByLabel("Description", { exact: true }).fill("Counts words, whatever the language");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Version 2", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Use version 1 again" }).click();
  await expect(page.getByLabel("Description", { exact: true })).toHaveValue("Counts the words of a text");

  await page.getByRole("button", { name: "Remove count_words" }).click();
  await expect(page.getByRole("link", { name: /^count_words/ })).toHaveCount(0);
  await page.getByRole("link", { name: /^Bin \d/ }).click();
  await page.getByRole("button", { name: "Restore count_words" }).click();
  await page.getByRole("link", { name: /^count_words/ }).click();
  await page.getByRole("button", { name: "Remove count_words" }).click();
  await expect(page.getByRole("link", { name: /^count_words/ })).toHaveCount(0);
});
