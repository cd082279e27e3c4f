import { api, expect, test } from "./support/app";

test("leaving unsaved changes asks for confirmation and then continues to the original target", async ({
  app,
  page,
}) => {
  await api("POST", "/roles", { name: "Careful" });
  const roles = page.getByRole("list", { name: "Roles" });
  await app.open("/roles");
  await roles.getByRole("link", { name: /^ApprovalAgent/ }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("ApprovalAgent");
  await roles.getByRole("link", { name: /^Careful/ }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Careful");
  await page.getByLabel("Description", { exact: true }).fill("Half a thought");

  const question = page.getByRole("alertdialog");
  for (let time = 0; time < 2; time++) {
    await page.goBack();
    await expect(question).toContainText("Discard changes to “Careful”?");
    await question.getByRole("button", { name: "Keep editing" }).click();
    await expect(page).toHaveURL(/role=Careful$/);
    await expect(page.getByLabel("Description", { exact: true })).toHaveValue("Half a thought");
  }

  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await question.getByRole("button", { name: "Keep editing" }).click();
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("option", { name: "Runs" }).click();
  await question.getByRole("button", { name: "Keep editing" }).click();
  await expect(page.getByLabel("Description", { exact: true })).toHaveValue("Half a thought");

  // A copy is of what is saved; what is not saved stays here until it is given up.
  await page.getByRole("button", { name: "Actions for Careful" }).click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await question.getByRole("button", { name: "Keep editing" }).click();
  await expect(page.getByLabel("Description", { exact: true })).toHaveValue("Half a thought");

  await page.goBack();
  await question.getByRole("button", { name: "Discard changes" }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("ApprovalAgent");
  await page.getByLabel("Description", { exact: true }).fill("Another half");
  await page.goForward();
  await question.getByRole("button", { name: "Discard changes" }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Careful");
  await expect(page.getByLabel("Description", { exact: true })).toHaveValue("");
  await page.goBack();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("ApprovalAgent");
  await page.goBack();
  await expect(page.getByText("Choose a role", { exact: true })).toBeVisible();

  await roles.getByRole("link", { name: /^Careful(?! copy)/ }).click();
  await page.getByLabel("Description", { exact: true }).fill("A whole thought");
  await page.keyboard.press("ControlOrMeta+s");
  await expect(page.getByText("Saved “Careful”")).toBeVisible();
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
});
