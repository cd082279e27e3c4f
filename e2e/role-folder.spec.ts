import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "./app";

test("a role that is put into the folder appears, says where it is from, and cannot be changed", async ({
  app,
  page,
  server,
}) => {
  const folder = path.join(server.dataDir, "roles");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    path.join(folder, "gardener.md"),
    "---\nname: Gardener\ndescription: Looks after plants\ntools: calculator, hammer\n---\nYou look after plants.\n",
  );
  await app.open("/roles");
  // The folder is new: the server looks for it every ten seconds.
  await expect(async () => {
    await page.reload();
    await expect(page.getByRole("link", { name: /^Gardener/ })).toBeVisible({ timeout: 1_000 });
  }).toPass({ timeout: 30_000 });
  await page.getByText("One thing in the folder of roles needs a look").click();
  await expect(page.getByRole("list", { name: "Findings in the folder of roles" })).toContainText("hammer");

  await page.getByRole("link", { name: /^Gardener/ }).click();
  await expect(page.getByRole("status").filter({ hasText: "gardener.md" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Save" })).toHaveCount(0);
  await page.getByRole("button", { name: "Actions for Gardener" }).click();
  await expect(page.getByRole("menuitem", { name: "Delete" })).toHaveCount(0);
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Gardener copy");
  // Other specs count on the roles as they came.
  await page.getByRole("button", { name: "Actions for Gardener copy" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await expect(page.getByText("Deleted “Gardener copy”")).toBeVisible();
  await expect(page.getByRole("link", { name: /^Gardener copy/ })).toHaveCount(0);
});
