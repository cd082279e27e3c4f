import { api, expect, test } from "./support/app";

// What these pages do is tested where they are (components/*/*.test.tsx); how they look to everybody needs a browser.

test("library and settings pages with content have no accessibility violations", async ({ app, page }) => {
  await api("POST", "/roles", {
    name: "Clerk",
    description: "Files letters",
    tools: ["file_write", "hammer"],
  });
  await app.open("/tools?tool=store_memory");
  const tool = page.getByRole("article", { name: "store_memory" });
  await tool.getByRole("button", { name: "Run tool" }).click();
  await expect(tool.getByText("Required.").first()).toBeVisible();
  expect(await app.accessibilityViolations()).toEqual([]);
  await tool.getByLabel("key").fill("release_day");
  await tool.getByLabel("value").fill("Never on a Friday");
  await tool.getByLabel("scope").click();
  await page.getByRole("option", { name: "project" }).click();
  await tool.getByRole("button", { name: "Run tool" }).click();
  await expect(tool.getByRole("region", { name: "Result" })).toContainText("Done");
  expect(await app.accessibilityViolations()).toEqual([]);

  await app.open("/memory");
  await expect(page.getByRole("list", { name: "Memories" })).toContainText("release_day");
  expect(await app.accessibilityViolations()).toEqual([]);

  await app.open("/roles?role=Clerk");
  await expect(page.getByRole("list", { name: "Tools of this role" })).toContainText("Not installed");
  await page.getByRole("button", { name: "Add goal" }).click();
  expect(await app.accessibilityViolations()).toEqual([]);
  await page.getByRole("button", { name: "Import roles" }).click();
  const dialog = page.getByRole("dialog", { name: "Import roles" });
  await dialog.getByLabel("Or paste contents").fill("name: Courier\ntools: [http_request]\n");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByRole("region", { name: "Requested tools" })).toBeVisible();
  expect(await app.accessibilityViolations()).toEqual([]);

  await app.open("/settings");
  const audit = page.getByRole("region", { name: "Audit log" });
  await expect(audit.getByRole("listitem").filter({ hasText: "Clerk" }).first()).toBeVisible();
  expect(await app.accessibilityViolations()).toEqual([]);
});
