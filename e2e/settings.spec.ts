import { expect, test } from "./app";
import { startModelServer } from "./model-server";

test("a provider is added, tested in words, used by default, and its key never comes back", async ({
  app,
  page,
}) => {
  const server = await startModelServer(
    () => "Fine.",
    () => 0,
  );
  try {
    await app.open("/settings");
    await page.getByRole("button", { name: "Add provider" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: /^Other/ }).click();
    await dialog.getByRole("button", { name: "Add provider" }).click();
    await expect(dialog.getByText("Give it a name.")).toBeVisible();

    await dialog.getByLabel("Name").fill("Our own server");
    await dialog.getByLabel("Address").fill(server.url);
    await dialog.getByLabel("API key").fill("sk-not-for-anyone-1234");
    await dialog.getByRole("button", { name: "Test", exact: true }).click();
    await expect(dialog.getByRole("status")).toContainText("1 model");
    await dialog.getByLabel("Model", { exact: true }).fill("test-model");
    expect(await app.accessibilityFaults()).toEqual([]);
    await dialog.getByRole("button", { name: "Add provider" }).click();

    const row = page.getByRole("list", { name: "Model providers" }).getByRole("listitem").filter({
      hasText: "Our own server",
    });
    await expect(row).toContainText("Default");
    await expect(row).toContainText("key ends in");
    await page.reload();
    await expect(row).toBeVisible();
    expect(await page.content(), "no page holds the key").not.toContain("sk-not-for-anyone-1234");
    await expect(page.getByText("Answers are simulated, not an AI. Connect a model.")).toBeHidden();

    await page.getByRole("button", { name: /^Make Offline demo/ }).click();
    await expect(page.getByText("Answers are simulated, not an AI. Connect a model.")).toBeVisible();
    await page.getByRole("button", { name: "Actions for Our own server" }).click();
    await page.getByRole("menuitem", { name: "Remove" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove provider" }).click();
    await expect(page.getByText("Removed “Our own server”")).toBeVisible();
    await expect(row).toBeHidden();
  } finally {
    await server.close();
  }
});

test("a provider that does not answer is explained in words", async ({ app, page }) => {
  await app.open("/settings");
  await page.getByRole("button", { name: "Add provider" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: /^LM Studio/ }).click();
  // A port that nobody serves on.
  await dialog.getByLabel("Address").fill("http://127.0.0.1:9/v1");
  await dialog.getByRole("button", { name: "Test", exact: true }).click();
  await expect(dialog.getByRole("status")).not.toBeEmpty({ timeout: 20_000 });
  await expect(dialog.getByRole("status")).not.toContainText(/undefined|\[object|Error:/);
});

test("a token is shown once, opens the HTTP API, and stops when it is revoked", async ({
  app,
  page,
  request,
  baseURL,
}) => {
  await app.open("/settings");
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Nightly report");
  await dialog.getByRole("button", { name: "Create token" }).click();
  const token = (await dialog.getByRole("code").textContent()) ?? "";
  expect(token).toMatch(/^wf_/);
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("list", { name: "API tokens" })).toContainText("Nightly report");
  expect(await page.content()).not.toContain(token);

  const ask = () =>
    request.get(`${baseURL}/api/v1/workflows`, { headers: { authorization: `Bearer ${token}` } });
  expect((await ask()).status()).toBe(200);
  await page.getByRole("button", { name: "Revoke Nightly report" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Revoke token" }).click();
  await expect(page.getByText("Revoked the token")).toBeVisible();
  await expect(page.getByRole("button", { name: "Revoke Nightly report" })).toBeHidden();
  expect((await ask()).status()).toBe(401);
});
