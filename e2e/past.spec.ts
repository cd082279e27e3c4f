import { readFileSync } from "node:fs";
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

test("two runs are ticked and compared; one is shared as a file that opens offline and scrubs", async ({
  app,
  page,
  context,
}) => {
  const id = await app.openWorkflow(say("All about"));
  const runs: string[] = [];
  for (const topic of ["bees", "owls"]) {
    const { run_id } = await api<{ run_id: string }>("POST", `/workflows/${id}/runs`, { input: { topic } });
    runs.push(run_id);
    await expect
      .poll(async () => (await api<{ status: string }>("GET", `/runs/${run_id}`)).status)
      .toBe("finished");
  }

  await app.open("/runs");
  const boxes = page.getByRole("checkbox", { name: /^Choose Say it/ });
  await expect(boxes).toHaveCount(2);
  await boxes.first().check();
  await boxes.last().check();
  await page.getByRole("link", { name: "Compare" }).click();
  const panel = page.getByRole("complementary", { name: "What is other" });
  await expect(panel.getByText("The same up to")).toBeVisible();
  await expect(panel.getByRole("region", { name: "Input" }).getByText("owls")).toBeVisible();

  await app.open(`/runs/${runs[0]}`);
  await page.getByRole("button", { name: "Share this run" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save the file" }).click();
  const html = readFileSync(await (await download).path(), "utf8");
  await context.setOffline(true);
  const reader = await context.newPage();
  await reader.setContent(html);
  await expect(reader.getByRole("heading", { name: "Say it" })).toBeVisible();
  await reader.getByRole("button", { name: "One step back" }).click();
  await expect(reader.getByRole("slider", { name: "Moment of the run" })).toHaveAttribute(
    "aria-valuetext",
    /Step \d+ of \d+: /,
  );
});
