import { readFileSync } from "node:fs";
import { api, expect, test } from "./support/app";
import { agent, edge, end, file, start } from "./support/run-graphs";

const echoWorkflow = (text: string) =>
  file(
    "Say it",
    [
      start(),
      agent("say", "Say it", `[[offline: text "${text} {{ topic }}"]] Say it.`, 1, 0),
      end("end", "End", 2, 0),
    ],
    [edge("start", "say"), edge("say", "end")],
  );

test("two runs are compared, and a run is shared as an offline file and kept as a test", async ({
  app,
  page,
  context,
}) => {
  const { id } = await api<{ id: string }>("POST", "/workflows", echoWorkflow("All about"));
  const runs: string[] = [];
  for (const topic of ["bees", "owls"]) {
    const { run_id } = await api<{ run_id: string }>("POST", `/workflows/${id}/runs`, { input: { topic } });
    runs.push(run_id);
    await expect
      .poll(async () => (await api<{ status: string }>("GET", `/runs/${run_id}`)).status)
      .toBe("finished");
  }

  await app.open(`/workflows/${id}/runs`);
  const boxes = page.getByRole("checkbox", { name: /^Select Say it/ });
  await expect(boxes).toHaveCount(2);
  await boxes.first().check();
  await boxes.last().check();
  await page.getByRole("link", { name: "Compare" }).click();
  const panel = page.getByRole("complementary", { name: "Differences" });
  await expect(panel.getByText("Different inputs")).toBeVisible();
  await expect(panel.getByRole("region", { name: "Input" }).getByText("owls")).toBeVisible();

  await app.open(`/runs/${runs[0]}`);
  await page.getByRole("button", { name: "Share this run" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const html = readFileSync(await (await download).path(), "utf8");
  await context.setOffline(true);
  const reader = await context.newPage();
  await reader.setContent(html);
  await expect(reader.getByRole("heading", { name: "Say it" })).toBeVisible();
  await reader.getByRole("button", { name: "Step back" }).click();
  await expect(reader.getByRole("slider", { name: "Timeline position" })).toHaveAttribute(
    "aria-valuetext",
    /Step \d+ of \d+: /,
  );
  await reader.close();
  await context.setOffline(false);

  await app.open(`/runs/${runs[0]}`);
  await app.run.expectEnd("Completed");
  await page.getByRole("button", { name: "Save as test" }).click();
  const dialog = page.getByRole("dialog", { name: "Save run as test" });
  await dialog.getByRole("textbox", { name: "Name" }).fill("Speaks of bees");
  await dialog.getByRole("button", { name: "Save test" }).click();
  const sheet = page.getByRole("dialog", { name: "Test" });
  await expect(sheet.getByText(/^All \d+ expectations passed\.$/)).toBeVisible();
  await sheet.getByRole("tab", { name: "Test" }).click();
  await expect(sheet.getByRole("textbox", { name: "Name" })).toHaveValue("Speaks of bees");
  expect(await app.accessibilityViolations()).toEqual([]);
  await sheet.getByRole("button", { name: "Close" }).click();
  const row = page.getByRole("row", { name: /Speaks of bees/ });
  await expect(row.getByText("Passed", { exact: true })).toBeVisible();

  await api("PUT", `/workflows/${id}`, echoWorkflow("Nothing about"));
  await page.getByRole("button", { name: "Run all" }).click();
  await expect(page.getByRole("status").getByText("1 failed.")).toBeVisible();
  await expect(row.getByText("Failed", { exact: true })).toBeVisible();
  expect(await app.accessibilityViolations()).toEqual([]);
  await page.getByRole("link", { name: "Speaks of bees" }).click();
  await sheet.getByRole("link", { name: "Show Say it on the canvas" }).first().click();
  await page.waitForURL(/\/workflows\/[^/]+\?node=say$/);
  await expect(app.canvas.card("Say it")).toBeVisible();
});
