import { api, expect, test } from "./support/app";

test("a token is shown once and can be revoked, the theme persists, and the palette opens a workflow", async ({
  app,
  page,
  request,
  baseURL,
}) => {
  const { id } = await api<{ id: string }>("POST", "/workflows", {
    name: "Reached by typing",
    graph_id: "small",
    nodes: { start: { id: "start", node_type: "start", name: "Start" } },
    edges: [],
    start_node_id: "start",
  });
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

  const ask = async () =>
    (
      await request.get(`${baseURL}/api/v1/workflows`, { headers: { authorization: `Bearer ${token}` } })
    ).status();
  expect(await ask()).toBe(200);
  await page.getByRole("button", { name: "Revoke Nightly report" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Revoke token" }).click();
  await expect(page.getByText("Revoked the token", { exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Revoke Nightly report" })).toBeHidden();
  expect(await ask()).toBe(401);

  const theme = page.locator("html");
  await page.getByRole("radio", { name: "Dark" }).click();
  await expect(theme).toHaveAttribute("data-theme", "dark");
  await page.reload({ waitUntil: "commit" });
  await expect(theme).toHaveAttribute("data-theme", "dark");
  await expect(page.getByRole("radio", { name: "Dark" })).toBeChecked();
  expect(await app.accessibilityViolations()).toEqual([]);

  await page.keyboard.press("ControlOrMeta+k");
  await page.getByPlaceholder(/^Search pages/).fill("reached by");
  await page.getByRole("option", { name: "Reached by typing" }).click();
  await page.waitForURL(new RegExp(`/workflows/${id}`));
});
