import { expect, test } from "./app";

test("what is remembered is found, corrected, deleted, and brought back", async ({ app, page }) => {
  await app.open("/tools?tool=store_memory");
  const tool = page.getByRole("article", { name: "store_memory" });
  await tool.getByLabel("key").fill("release_day");
  await tool.getByLabel("value").fill("We never release on a Friday");
  await tool.getByLabel("scope").click();
  await page.getByRole("option", { name: "project" }).click();
  await tool.getByRole("button", { name: "Call it" }).click();
  await expect(tool.getByRole("region", { name: "Result" })).toContainText("Done");

  await app.open("/memory");
  await page.getByRole("searchbox", { name: "Search memories" }).fill("frid");
  const list = page.getByRole("list", { name: "Memories" });
  const memory = list.getByRole("listitem").filter({ hasText: "release_day" });
  await expect(memory).toContainText("This project");
  await expect(memory).toContainText("store_memory");
  expect(await app.accessibilityFaults()).toEqual([]);

  await memory.getByRole("button", { name: "Change release_day" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("What is remembered").fill("We release on Tuesdays");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("searchbox", { name: "Search memories" }).fill("tuesdays");
  await expect(memory).toContainText("Corrected by a person");

  await memory.getByRole("button", { name: "Delete release_day" }).click();
  await expect(memory).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(memory).toContainText("We release on Tuesdays");
});

test("a person can tell agents something, once under each name", async ({ app, page }) => {
  await app.open("/memory");
  const remember = async (text: string) => {
    await page.getByRole("button", { name: "New" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Key").fill("house_style");
    await dialog.getByLabel("What is remembered").fill(text);
    await dialog.getByRole("button", { name: "Remember" }).click();
  };
  await remember("Short sentences");
  const memory = page
    .getByRole("list", { name: "Memories" })
    .getByRole("listitem")
    .filter({ hasText: "house_style" });
  await expect(memory).toContainText("Short sentences");
  await expect(memory).toContainText("This project");
  await expect(memory).toContainText("Written by a person");

  await remember("Long sentences");
  await expect(page.getByRole("alert")).toContainText("Change that one");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await expect(memory).toContainText("Short sentences");
});
