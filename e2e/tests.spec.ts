import { api, expect, test } from "./app";
import { agent, edge, end, file, start } from "./run-graphs";

const say = (words: string) =>
  file(
    "Say it",
    [
      start(),
      agent("say", "Say it", `[[offline: text "${words} {{ topic }}"]] Say it.`, 1, 0),
      end("end", "End", 2, 0),
    ],
    [edge("start", "say"), edge("say", "end")],
  );

test("a run is kept as a test, passes, and fails after the workflow was changed", async ({ app, page }) => {
  const id = await app.openWorkflow(say("All about"));
  await app.run.start({ topic: "bees" });
  await app.run.expectEnd("Completed");

  await page.getByRole("button", { name: "Keep this as a test" }).click();
  const dialog = page.getByRole("dialog", { name: "Keep this run as a test" });
  await dialog.getByRole("textbox", { name: "Name" }).fill("Speaks of bees");
  await dialog.getByRole("button", { name: "Keep the test" }).click();

  const sheet = page.getByRole("dialog", { name: "Test" });
  await expect(sheet.getByText(/^All \d+ expectations hold\.$/)).toBeVisible();
  expect(await app.accessibilityFaults()).toEqual([]);
  await sheet.getByRole("tab", { name: "Test" }).click();
  await expect(sheet.getByRole("textbox", { name: "Name" })).toHaveValue("Speaks of bees");
  expect(await app.accessibilityFaults()).toEqual([]);
  await sheet.getByRole("button", { name: "Close" }).click();
  const row = page.getByRole("row", { name: /Speaks of bees/ });
  await expect(row.getByText("Passed", { exact: true })).toBeVisible();

  await api("PUT", `/workflows/${id}`, say("Nothing about"));
  await page.getByRole("button", { name: "Run all" }).click();
  await expect(page.getByRole("status").getByText("1 failed.")).toBeVisible();
  await expect(row.getByText("Failed", { exact: true })).toBeVisible();
  expect(await app.accessibilityFaults()).toEqual([]);
  await page.getByRole("link", { name: "Speaks of bees" }).click();
  await sheet.getByRole("link", { name: "Show Say it on the drawing" }).first().click();
  await page.waitForURL(/\/workflows\/[^/]+\?node=say$/);
  await expect(app.canvas.card("Say it")).toBeVisible();
});
