import { api, expect, test } from "./app";

test("the settings tell who did what, by kind and page by page, and nothing of it can be changed there", async ({
  app,
  page,
}) => {
  const role = { name: "Audited", description: "Comes and goes", tools: ["http_write"] };
  for (let round = 0; round < 6; round++) {
    await api("POST", "/roles", role);
    await api("DELETE", "/roles/Audited");
  }
  await app.open("/settings");
  const audit = page.getByRole("region", { name: "Audit" });
  const entries = audit.getByRole("list", { name: "Audit" }).getByRole("listitem");
  await expect(entries).toHaveCount(10);
  await expect(entries.first()).toContainText("Changed what the role Audited may use");
  await expect(entries.first()).toContainText("no longer http_write");
  await expect(entries.first()).toContainText("by the token of the environment");
  await audit.getByRole("button", { name: "Show earlier" }).click();
  await expect(entries.nth(11)).toBeVisible();

  // What is done on this page shows at once.
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("For the record");
  await dialog.getByRole("button", { name: "Create token" }).click();
  const token = (await dialog.getByRole("code").textContent()) ?? "";
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(entries.first()).toContainText("Created the token “For the record”");
  await expect(entries.first()).toContainText("in this browser");
  await page.getByRole("button", { name: "Revoke For the record" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Revoke token" }).click();
  await expect(entries.first()).toContainText("Revoked the token “For the record”");
  await expect(audit).not.toContainText(token);

  await audit.getByLabel("What it is about").click();
  await page.getByRole("option", { name: "Keys and tokens" }).click();
  await expect(entries.filter({ hasText: "Audited" })).toHaveCount(0);
  await expect(entries.first()).toContainText("Revoked the token");
  await audit.getByLabel("What it is about").click();
  await page.getByRole("option", { name: "Signing in and out" }).click();
  await expect(audit.getByText("Nothing of this kind happened yet.")).toBeVisible();
  expect(await app.accessibilityFaults()).toEqual([]);
});
