import { readFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "@playwright/test";
import { api, expect, test } from "./app";
import { edge, end, file, start } from "./run-graphs";

// A file may ask for any tool; its roles get those that somebody ticked.

const NAMES = ["Courier", "Clerk"];
const COURIER = `name: Courier\ndescription: Carries letters\ntools: [http_request, file_write, "mcp:post/send"]\n`;
const CLERK = { name: "Clerk", description: "Files letters", tools: ["file_write", "write_board"] };

test.beforeEach(withoutThem);
test.afterEach(withoutThem);
async function withoutThem() {
  const { roles } = await api<{ roles: { role: { name: string } }[] }>("GET", "/roles?limit=100");
  for (const { role } of roles) if (NAMES.includes(role.name)) await api("DELETE", `/roles/${role.name}`);
}
const toolsOf = async (name: string) =>
  (await api<{ role: { tools: string[] } }>("GET", `/roles/${name}`)).role.tools;

const asked = (page: Page) => page.getByRole("region", { name: "Tools that the roles ask for" });
const wanted = (page: Page) => page.getByRole("region", { name: "What it would use" });

test("roles come with the tools that were ticked, and say what they came without", async ({ app, page }) => {
  await app.open("/roles");
  await page.getByRole("button", { name: "Import roles" }).click();
  const dialog = page.getByRole("dialog", { name: "Import roles" });
  await dialog.getByLabel("Or paste its text").fill(COURIER);
  await dialog.getByRole("button", { name: "Show what is in it" }).click();
  const tools = asked(page).getByRole("checkbox");
  await expect(tools).toHaveCount(3);
  for (const tool of await tools.all()) await expect(tool).not.toBeChecked();
  const rows = asked(page).getByRole("listitem");
  await expect(rows.filter({ hasText: "http_request" })).toContainText(
    /brings in content of strangers.*Asked for by Courier/,
  );
  await expect(rows.filter({ hasText: "mcp:post/send" })).toContainText("what it will do is unknown");
  expect(await app.accessibilityFaults()).toEqual([]);

  await asked(page).getByRole("checkbox", { name: "file_write" }).press("Space");
  await dialog.getByRole("button", { name: "Import 1 role" }).click();
  await expect(page.getByText(/Courier came without http_request, mcp:post\/send/)).toBeVisible();
  expect(await toolsOf("Courier")).toEqual(["file_write"]);

  // The same file again asks for the rest.
  await page.getByRole("button", { name: "Import roles" }).click();
  await dialog.getByLabel("Or paste its text").fill(COURIER);
  await dialog.getByRole("button", { name: "Show what is in it" }).click();
  await expect(dialog.getByText("Differs from yours")).toBeVisible();
  await expect(asked(page)).toBeHidden();
  await dialog.getByText("Replace 1 of mine").click();
  await expect(tools).toHaveCount(2);
  await asked(page).getByRole("button", { name: "Allow all" }).click();
  await expect(asked(page).getByRole("button", { name: "Allow none" })).toBeVisible();
  await dialog.getByRole("button", { name: "Import 1 role" }).click();
  await expect(dialog).toBeHidden();
  expect(await toolsOf("Courier")).toEqual(["http_request", "file_write", "mcp:post/send"]);
});

test("a workflow's roles, on a small screen, get nothing unless it is allowed; leaving them out asks for nothing", async ({
  app,
  page,
}) => {
  const { id } = await api<{ id: string }>(
    "POST",
    "/workflows",
    file("Something", [start(), end("done", "Done", 1)], [edge("start", "done")]),
  );
  await page.setViewportSize({ width: 390, height: 844 });
  await app.open();
  const dialog = page.getByRole("dialog", { name: "Import a workflow" });
  const look = async () => {
    await page.getByRole("button", { name: "Import", exact: true }).click();
    const drawn = file("By post", [start(), end("done", "Done", 1)], [edge("start", "done")]);
    await dialog.getByLabel("Or paste its text").fill(JSON.stringify({ ...drawn, roles: [CLERK] }));
    await dialog.getByRole("button", { name: "Show what is in it" }).click();
  };
  await look();
  await expect(wanted(page).getByRole("listitem").filter({ hasText: "write_board" })).toContainText(
    "Works within its crew. Asked for by Clerk",
  );
  await dialog.getByText("Leave out", { exact: true }).click();
  await expect(wanted(page)).toBeHidden();
  await dialog.getByText("Add new", { exact: true }).click();
  await expect(wanted(page).getByRole("checkbox", { checked: true })).toHaveCount(0);
  await dialog.getByRole("button", { name: "Import workflow" }).click();
  await expect(page.getByText(/Clerk came without file_write, write_board/)).toBeVisible();
  await app.canvas.isShown();
  const [, made = ""] = /workflows\/(wf_\w+)/.exec(page.url()) ?? [];
  expect(await toolsOf("Clerk")).toEqual([]);
  for (const workflow of [id, made]) await api("DELETE", `/workflows/${workflow}`);
});

test("a crew's new roles get what is ticked", async ({ app, page }) => {
  await app.open("/crews");
  await page.getByRole("button", { name: "Import crews" }).click();
  const dialog = page.getByRole("dialog");
  const crew = { crew_id: "post_office", agents: [{ agent_id: "clerk", role_name: "Clerk" }] };
  await dialog.getByLabel("Or paste its text").fill(JSON.stringify({ crews: [crew], roles: [CLERK] }));
  await dialog.getByRole("button", { name: "Show what is in it" }).click();
  await asked(page).getByRole("checkbox", { name: "write_board" }).click();
  await dialog.getByRole("button", { name: "Import 1 crew" }).click();
  await expect(page.getByText(/Clerk came without file_write\./)).toBeVisible();
  expect(await toolsOf("Clerk")).toEqual(["write_board"]);
  await page.getByRole("link", { name: /^Post office/ }).click();
  await page.getByRole("button", { name: "Actions for Post office" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await expect(page.getByRole("link", { name: /^Post office/ })).toHaveCount(0);
});

test("what a workflow's nodes would use is shown, and runs only once it was allowed", async ({
  app,
  page,
}) => {
  const text = readFileSync(path.join(import.meta.dirname, "fixtures", "asking-workflow.json"), "utf8");
  // A first visit shows another page.
  const { id: other } = await api<{ id: string }>(
    "POST",
    "/workflows",
    file("Something", [start(), end("done", "Done", 1)], [edge("start", "done")]),
  );
  await app.open();
  await page.getByRole("button", { name: "Import", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Import a workflow" });
  await dialog.getByLabel("Or paste its text").fill(text);
  await dialog.getByRole("button", { name: "Show what is in it" }).click();
  const boxes = wanted(page).getByRole("checkbox");
  await expect(boxes).toHaveCount(4);
  for (const box of await boxes.all()) await expect(box).not.toBeChecked();
  await expect(wanted(page)).toContainText("collector.example");
  await expect(wanted(page)).toContainText("Memories that every workflow sees");
  expect(await app.accessibilityFaults()).toEqual([]);
  await wanted(page).getByRole("checkbox", { name: "http_request" }).press("Space");
  await wanted(page).getByRole("checkbox", { name: "collector.example" }).press("Space");
  await dialog.getByRole("button", { name: "Import workflow" }).click();
  await app.canvas.isShown();
  const [, id = ""] = /workflows\/(wf_\w+)/.exec(page.url()) ?? [];

  await page.getByRole("tab", { name: /Problems/ }).click();
  const problems = page.getByRole("list", { name: "Problems" }).getByRole("listitem");
  await expect(problems).toHaveCount(2);
  await expect(problems.first()).toContainText("would use the tool store_memory, which nobody has allowed");
  await problems.first().getByRole("button", { name: "Allow it" }).click();
  await expect(problems).toHaveCount(1);
  await problems.first().getByRole("button", { name: "Allow it" }).click();
  await expect(page.getByText("No problems: this workflow can run.")).toBeVisible();

  // The same file again, over the first: nothing in it is new.
  await app.open();
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await dialog.getByLabel("Or paste its text").fill(text);
  await dialog.getByRole("button", { name: "Show what is in it" }).click();
  await dialog.getByText("Replace “Asking”").click();
  await expect(wanted(page).getByRole("checkbox", { checked: true })).toHaveCount(4);
  await expect(wanted(page).getByText("New", { exact: true })).toHaveCount(0);
  await dialog.getByRole("button", { name: "Replace mine" }).click();
  await app.canvas.isShown();
  expect(page.url()).toContain(id);
  for (const workflow of [id, other]) await api("DELETE", `/workflows/${workflow}`);
});
