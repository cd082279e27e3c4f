import { api, expect, overflow, settings, test } from "./support/app";
import { edge, end, file, start } from "./support/run-graphs";

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

test("the app on a phone is navigated by a bottom bar, and workflows and runs can be read", async ({
  app,
  page,
}) => {
  await api(
    "POST",
    "/workflows",
    file(
      "Pocket",
      [
        start(),
        { id: "one", name: "Step one", node_type: "wait", config: { signal: "go" }, ui: { x: 320, y: 0 } },
        end("end", "End", 2),
      ],
      [edge("start", "one"), edge("one", "end")],
    ),
  );
  await app.open("/roles");
  const main = page.getByRole("navigation", { name: "Main" });
  for (const [name, where] of [
    ["Settings", /\/settings$/],
    ["Workflows", /\/$/],
  ] as const) {
    await main.getByRole("link", { name, exact: true }).tap();
    await expect(page).toHaveURL(where);
  }
  const workflow = page.getByRole("link", { name: "Pocket", exact: true });
  await expect(workflow).toBeVisible();
  expect(await overflow(page), "nothing sticks out to the side").toBeLessThanOrEqual(0);
  expect(await app.accessibilityViolations()).toEqual([]);

  await workflow.tap();
  const nodes = page.getByRole("list", { name: "Nodes in reading order" }).getByRole("listitem");
  await expect(nodes).toHaveText([/Begin.*leads to Step one/, /Step one.*leads to End/, /End/]);
  await nodes.first().getByRole("button").tap();
  await expect(settings(page).getByLabel("Name", { exact: true })).toHaveValue("Begin");
  await page.getByRole("button", { name: "Close settings" }).tap();
  await page.getByRole("radio", { name: "Canvas" }).tap();
  for (const name of ["Begin", "Step one", "End"])
    await expect(app.canvas.card(name)).toBeInViewport({ ratio: 0.99 });
  expect(await app.accessibilityViolations()).toEqual([]);

  await app.run.start({ topic: "x" });
  await expect(nodes.filter({ hasText: "Step one" })).toContainText("Waiting");
  await page.getByRole("radio", { name: "Canvas" }).tap();
  await app.run.expectStatus("Step one", "waiting");
  await expect(app.canvas.card("Step one")).toBeInViewport();
  await api("POST", `/runs/${app.run.id}/signals`, { name: "go", data: {} });
  await app.run.expectEnd("Completed");
  await page.getByRole("tab", { name: "Workflow" }).tap();
  await page.getByRole("radio", { name: "List" }).tap();
  await expect(nodes).toHaveText([/Begin.*Completed/, /Step one.*Completed/, /End.*Completed/]);
  await nodes.filter({ hasText: "Step one" }).getByRole("button").tap();
  const panel = page.getByRole("complementary", { name: "Run details" });
  await expect(panel.getByRole("article", { name: "Step one in this run" })).toBeVisible();
  await panel.getByRole("tab", { name: "Result" }).tap();
  await expect(panel.getByRole("region", { name: "Result" })).toBeVisible();
  expect(await overflow(page), "nothing sticks out to the side").toBeLessThanOrEqual(0);
  expect(await app.accessibilityViolations()).toEqual([]);
});
