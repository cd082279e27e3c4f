import { expect, test } from "./app";

test("tools are found, read about and tried out for real", async ({ app, page }) => {
  await app.open("/tools");
  await page.getByRole("searchbox", { name: "Search tools" }).fill("arithmetic");
  await page.getByRole("link", { name: /^calculator/ }).click();
  const tool = page.getByRole("article", { name: "calculator" });
  await expect(tool.getByText("Reads only")).toBeVisible();
  await expect(tool.getByRole("row", { name: /^expression/ })).toContainText("Text");

  await tool.getByRole("button", { name: "Call it" }).click();
  await expect(tool.getByText("This is needed.")).toBeVisible();
  await tool.getByLabel("expression").fill("6 * 7");
  await tool.getByRole("button", { name: "Call it" }).click();
  const result = tool.getByRole("region", { name: "Result" });
  await expect(result).toContainText("Done");
  await expect(result).toContainText("42");

  await tool.getByLabel("expression").fill("six times seven");
  await tool.getByRole("button", { name: "Call it" }).click();
  await expect(result.getByRole("alert")).toBeVisible();
  expect(await app.accessibilityFaults()).toEqual([]);
});

test("what cannot be called says why, and crew tools say how they are granted", async ({ app, page }) => {
  await app.open("/tools?tool=run_javascript");
  await expect(page.getByRole("status").filter({ hasText: "TROUPE_ENABLE_CODE" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Call it" })).toBeDisabled();
  await page.getByRole("link", { name: /^handoff/ }).click();
  const tool = page.getByRole("article", { name: "handoff", exact: true });
  await expect(tool).toContainText("The way a crew works brings it along");
});

test("a tool of one's own is written, changed, brought back, removed and restored", async ({ app, page }) => {
  await app.open("/tools");
  await page.getByRole("button", { name: "New" }).click();
  await page.getByRole("menuitem", { name: "Tool of your own" }).click();
  await expect(page.getByText("Code is switched off here.")).toBeVisible();
  await page.getByLabel("Name", { exact: true }).fill("count_words");
  await page.getByLabel("Description").fill("Counts the words of a text");
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.getByText("Version 1", { exact: true })).toBeVisible();

  await page.getByLabel("Description").fill("Counts words, whatever the language");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Version 2", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Use version 1 again" }).click();
  await expect(page.getByLabel("Description")).toHaveValue("Counts the words of a text");

  await page.getByRole("button", { name: "Remove count_words" }).click();
  await expect(page.getByRole("link", { name: /^count_words/ })).toHaveCount(0);
  await page.getByRole("link", { name: /^Bin/ }).click();
  await page.getByRole("button", { name: "Restore count_words" }).click();
  await page.getByRole("link", { name: /^count_words/ }).click();
  await page.getByRole("button", { name: "Remove count_words" }).click();
  await expect(page.getByRole("link", { name: /^count_words/ })).toHaveCount(0);
});

test("an MCP server that cannot be reached says so, and can be removed", async ({ app, page }) => {
  await app.open("/tools?new-server=1");
  const form = page.getByRole("form", { name: "New MCP server" });
  await form.getByLabel("Name").fill("notes");
  await form.getByLabel("Address").fill("nowhere");
  await form.getByRole("button", { name: "Add and connect" }).click();
  await expect(form.getByText("Enter an address that begins with https:// or http://")).toBeVisible();
  await form.getByLabel("Address").fill("http://127.0.0.1:9/mcp");
  await form.getByRole("button", { name: "Add and connect" }).click();
  const server = page.getByRole("article", { name: "notes" });
  await expect(server.getByText("Not connected", { exact: true })).toBeVisible();
  await server.getByRole("button", { name: "Actions for notes" }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Remove server" }).click();
  await expect(page.getByRole("link", { name: /^notes/ })).toHaveCount(0);
});

test("a role's tools are picked by a search, and a name that is not here is marked", async ({
  app,
  page,
}) => {
  await app.open("/roles?role=Writer");
  await page.getByLabel("Add a tool").fill("calcul");
  await page.getByRole("button", { name: "Add calculator" }).click();
  await page.getByLabel("Add a tool").fill("hammer");
  await page.getByRole("button", { name: /^Add “hammer”/ }).click();
  const chosen = page.getByRole("list", { name: "Tools of this role" });
  await expect(chosen.getByRole("listitem").filter({ hasText: "hammer" })).toContainText("Not here");
  await chosen.getByRole("button", { name: "Remove hammer" }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Saved “Writer”")).toBeVisible();
  await app.open("/tools?tool=calculator");
  await expect(page.getByRole("list", { name: "Roles that may use it" })).toContainText("Writer");

  // Other specs count on the roles as they came.
  await app.open("/roles?role=Writer");
  await page.getByRole("button", { name: "Remove calculator" }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Saved “Writer”")).toBeVisible();
});
