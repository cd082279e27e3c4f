import { readFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "@playwright/test";
import { api, expect, test } from "./app";
import { edge, end, file, start } from "./run-graphs";

// A file may ask for any tool; its roles get those that somebody ticked.

const CLERK = { name: "Clerk", description: "Files letters", tools: ["file_write", "write_board"] };

const toolsOf = async (name: string) =>
  (await api<{ role: { tools: string[] } }>("GET", `/roles/${name}`)).role.tools;

const wanted = (page: Page) => page.getByRole("region", { name: "What it would use" });

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
  await expect(page.getByRole("list", { name: "Nodes in reading order" })).toBeVisible();
  const [, made = ""] = /workflows\/(wf_\w+)/.exec(page.url()) ?? [];
  expect(await toolsOf("Clerk")).toEqual([]);
  for (const workflow of [id, made]) await api("DELETE", `/workflows/${workflow}`);
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

  await page.getByRole("button", { name: /problems keep this workflow from running/ }).click();
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
