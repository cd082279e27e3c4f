import type { Page } from "@playwright/test";
import { api, expect, saved, settings, test } from "./support/app";
import { agent, edge, end, file, start } from "./support/run-graphs";

/** The panel beside the drawing of a run. */
const panel = (page: Page) => page.getByRole("complementary", { name: "Run details" });
const tab = (page: Page, name: string) => panel(page).getByRole("tab", { name });

const slow = (ms: number, answer = '"done"') =>
  `[[offline: delay ${ms}ms]] [[offline: text ${answer}]] Go on.`;

/** One node for each state that a node can be in. */
const everyState = file(
  "Every state",
  [
    start(),
    agent("first", "First of two", slow(240_000), 1, 0, { concurrency_key: "one at a time" }),
    agent("second", "Second of two", slow(200), 1, 1, { concurrency_key: "one at a time" }),
    { id: "pause", name: "Pause", node_type: "wait", config: { ms: 60_000 }, ui: { x: 320, y: 340 } },
    agent("broken", "Broken", "[[offline: error 400 x9]] This fails.", 1, 3, {
      on_error: "continue",
      default_output: { broken: "" },
    }),
    {
      id: "which",
      name: "Which way",
      node_type: "conditional_router",
      config: {
        kind: "expression",
        conditions: [{ label: "left", when: 'state.topic == "left"' }],
        default_label: "right",
      },
      ui: { x: 640, y: 0 },
    },
    end("left", "Left end", 3, 0),
    end("right", "Right end", 3, 1),
  ],
  [
    edge("start", "first"),
    edge("start", "second"),
    edge("start", "pause"),
    edge("start", "broken"),
    edge("first", "which"),
    edge("second", "which"),
    edge("pause", "which"),
    edge("broken", "which"),
    edge("which", "left", "left"),
    edge("which", "right", "right"),
  ],
);

test("node states are shown live, after a reload and in a second tab until cancellation", async ({
  app,
  page,
  context,
}) => {
  await app.openWorkflow(everyState);
  await app.run.start({ topic: "left" });
  const whileItRuns = () =>
    Promise.all([
      app.run.expectStatus("First of two", "running"),
      app.run.expectStatus("Second of two", "ready"),
      app.run.expectStatus("Pause", "waiting"),
      app.run.expectStatus("Broken", "failed"),
      app.run.expectStatus("Begin", "completed"),
      app.run.expectStatus("Left end", "idle"),
    ]);
  await whileItRuns();
  await page.reload();
  await whileItRuns();
  const other = await context.newPage();
  await other.goto(page.url());
  const otherCard = other.getByRole("article", { name: "First of two", exact: true });
  await expect(otherCard).toHaveAttribute("data-status", "running");
  await app.run.cancel();
  await app.run.expectEnd("Cancelled");
  await app.run.expectStatus("First of two", "cancelled");
  await expect(other.getByRole("group", { name: "Run status" }).getByText("Cancelled")).toBeVisible();
});

test("model output streams live, and a finished run shows its result and can be scrubbed", async ({
  app,
  page,
}) => {
  const text = Array.from({ length: 120 }, (_, at) => `word${at}`).join(" ");
  const id = await app.openWorkflow(
    file(
      "Talkative",
      [
        start(),
        agent("talk", "Talk", `[[offline: text "${text}"]] Say it.`, 1),
        end("end", "End", 2, 0, { input_keys: ["talk"] }),
      ],
      [edge("start", "talk"), edge("talk", "end")],
    ),
  );
  await app.run.start({ topic: "Ebb" });
  const first = page.url();
  await tab(page, "Node").click();
  // The task quotes the words, too; what the model writes begins with them.
  await expect(
    panel(page)
      .getByText(/^word0 word1/)
      .first(),
  ).toBeVisible();
  await app.run.expectEnd("Completed");
  // A person who has opened another tab stays there.
  await expect(tab(page, "Node")).toHaveAttribute("aria-selected", "true");
  await app.canvas.select("Talk");
  await expect(panel(page).getByText("word119").filter({ visible: true }).first()).toBeVisible();
  await page.reload();
  await app.run.expectEnd("Completed");
  const result = panel(page).getByRole("region", { name: "Result" });
  await expect(result).toContainText("word119");
  expect(await app.accessibilityViolations()).toEqual([]);

  const moment = page.getByRole("slider", { name: "Timeline position" });
  await moment.press("Home");
  await app.run.expectStatus("Talk", "idle");
  await expect(page.getByText("In the past")).toBeVisible();
  await tab(page, "State").click();
  await expect(panel(page).getByText("No state yet")).toBeVisible();
  await expect(async () => {
    await moment.press("ArrowRight");
    await app.run.expectStatus("Talk", "running", { timeout: 50 });
  }).toPass({ intervals: [0] });
  await app.run.expectStatus("End", "idle");
  await page.getByRole("button", { name: "End", exact: true }).click();
  await app.run.expectEnd("Completed");
  await expect(page.getByText("In the past")).toBeHidden();
  await expect(panel(page).getByRole("term").filter({ hasText: /^talk/ })).toBeVisible();

  await page.getByRole("button", { name: "Edit input and rerun" }).click();
  const field = page.getByRole("dialog").getByLabel("Topic");
  await expect(field).toHaveValue("Ebb");
  await field.fill("Flood");
  await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
  await page.waitForURL((url) => url.href !== first);
  await app.run.expectEnd("Completed");
  await expect(page.getByText("Running the current workflow version")).toBeHidden();

  await app.open(`/workflows/${id}`);
  await app.canvas.select("Talk");
  await settings(page).getByLabel("Name", { exact: true }).fill("Talk more");
  await saved(page, "Edit node");
  await app.open(first);
  await app.run.expectEnd("Completed");
  await expect(app.canvas.card("Talk")).toBeVisible();
  await page.getByRole("button", { name: "Rerun", exact: true }).click();
  await expect(page.getByText("Running the current workflow version")).toBeVisible();
  await expect(page.getByText("Changed since that run: Node “Talk more” changed")).toBeVisible();
  await expect(app.canvas.card("Talk more")).toBeVisible();
});

test("a run of a deleted workflow stays readable and offers to restore the workflow", async ({
  app,
  page,
}) => {
  const id = await app.openWorkflow(file("Gone", [start(), end("end", "End", 1)], [edge("start", "end")]));
  await app.run.start({ topic: "A very rare herring" });
  await app.run.expectEnd("Completed");
  await api("DELETE", `/workflows/${id}`);
  await app.open("/runs");
  const runs = page.getByRole("list", { name: "Runs" }).getByRole("listitem");
  await page.getByLabel("Search runs").fill("rare HERRING");
  await expect(runs).toHaveCount(1);
  expect(await app.accessibilityViolations()).toEqual([]);
  await runs.getByRole("link", { name: /^Gone,/ }).click();
  await app.run.expectEnd("Completed");
  await app.run.expectStatus("End", "completed");
  await expect(page.getByText("This run's workflow was deleted.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Rerun", exact: true })).toBeHidden();
  await expect(page.getByRole("link", { name: "Edit workflow" })).toBeHidden();
  expect(await app.accessibilityViolations()).toEqual([]);
  await page.getByRole("button", { name: "Restore workflow" }).click();
  await page.getByRole("link", { name: "Edit workflow" }).click();
  await app.canvas.isShown();
  await expect(page).toHaveURL(new RegExp(`/workflows/${id}$`));
});
