import type { Page } from "@playwright/test";
import { api, expect, saved, settings, test } from "./app";
import { agent, edge, end, file, start } from "./run-graphs";

/** The panel beside the drawing of a run. */
const panel = (page: Page) => page.getByRole("complementary", { name: "About this run" });
const tab = (page: Page, name: string) => panel(page).getByRole("tab", { name });
const moment = (page: Page) => page.getByRole("slider", { name: "Moment of the run" });

const slow = (ms: number, answer = '"done"') =>
  `[[offline: delay ${ms}ms]] [[offline: text ${answer}]] Go on.`;

/** One node for each state that a node can be in. */
const everyState = file(
  "Every state",
  [
    start(),
    agent("first", "First of two", slow(8000), 1, 0, { concurrency_key: "one at a time" }),
    agent("second", "Second of two", slow(200), 1, 1, { concurrency_key: "one at a time" }),
    { id: "pause", name: "Pause", node_type: "wait", config: { ms: 8000 }, ui: { x: 320, y: 340 } },
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

test("every state of a node is shown on the drawing while it happens", async ({ app }) => {
  await app.openWorkflow(everyState);
  await app.run.start({ topic: "left" });
  await Promise.all([
    app.run.expectStatus("First of two", "running"),
    app.run.expectStatus("Second of two", "ready"),
    app.run.expectStatus("Pause", "waiting"),
    app.run.expectStatus("Broken", "failed"),
    app.run.expectStatus("Begin", "completed"),
    app.run.expectStatus("Left end", "idle"),
  ]);
  await app.run.expectEnd("Completed");
  await app.run.expectStatus("Left end", "completed");
  await app.run.expectStatus("Right end", "skipped");
});

test("cancelling stops what is under way and says so", async ({ app, page }) => {
  await app.openWorkflow(
    file(
      "Long",
      [start(), agent("long", "Long work", slow(60_000), 1), end("end", "End", 2)],
      [edge("start", "long"), edge("long", "end")],
    ),
  );
  await app.run.start({ topic: "x" });
  await app.run.expectStatus("Long work", "running");
  await app.run.cancel();
  await app.run.expectEnd("Cancelled", { timeout: 5_000 });
  await app.run.expectStatus("Long work", "cancelled");
  await expect(page.getByRole("button", { name: "Run again", exact: true })).toBeVisible();
});

test("a reload in mid-run goes on where the run is, and a second tab shows the same", async ({
  app,
  page,
  context,
}) => {
  await app.openWorkflow(
    file(
      "Two steps",
      [
        start(),
        agent("one", "Step one", slow(300), 1),
        agent("two", "Step two", slow(60_000), 2),
        end("end", "End", 3),
      ],
      [edge("start", "one"), edge("one", "two"), edge("two", "end")],
    ),
  );
  await app.run.start({ topic: "x" });
  await app.run.expectStatus("Step two", "running");
  await page.reload();
  await app.run.expectStatus("Step one", "completed");
  await app.run.expectStatus("Step two", "running");
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(other.getByRole("article", { name: "Step two", exact: true })).toHaveAttribute(
    "data-status",
    "running",
  );
  await app.run.cancel();
  await app.run.expectEnd("Cancelled");
  await expect(other.getByRole("group", { name: "Status of the run" }).getByText("Cancelled")).toBeVisible();
});

test("streamed text appears word by word while the model writes", async ({ app, page }) => {
  const words = Array.from({ length: 120 }, (_, at) => `word${at}`).join(" ");
  await app.openWorkflow(
    file(
      "Talkative",
      [start(), agent("talk", "Talk", `[[offline: text "${words}"]] Say it.`, 1), end("end", "End", 2)],
      [edge("start", "talk"), edge("talk", "end")],
    ),
  );
  await app.run.start({ topic: "x" });
  await tab(page, "Node").click();
  // The task quotes the words, too; what the model writes begins with them.
  await expect(
    panel(page)
      .getByText(/^word0 word1/)
      .first(),
  ).toBeVisible();
  await app.run.expectEnd("Completed");
  await app.canvas.select("Talk");
  await expect(panel(page).getByText("word119").filter({ visible: true }).first()).toBeVisible();
});

for (const [answer, taken, skipped] of [
  ["left", "Left end", "Right end"],
  ["right", "Right end", "Left end"],
] as const)
  test(`a router takes the branch "${answer}" and dims the other`, async ({ app, page }) => {
    await app.openWorkflow(
      file(
        "Fork",
        [
          start(["way"]),
          {
            id: "which",
            name: "Which way",
            node_type: "conditional_router",
            config: {
              kind: "expression",
              conditions: [
                { label: "left", when: 'state.way == "left"' },
                { label: "right", when: 'state.way == "right"' },
              ],
            },
            ui: { x: 320, y: 0 },
          },
          end("left", "Left end", 2, 0),
          end("right", "Right end", 2, 1),
        ],
        [edge("start", "which"), edge("which", "left", "left"), edge("which", "right", "right")],
      ),
    );
    await app.run.start({ way: answer });
    await app.run.expectEnd("Completed");
    await app.run.expectStatus(taken, "completed");
    await app.run.expectStatus(skipped, "skipped");
    await app.canvas.select("Which way");
    const decision = panel(page).getByRole("region", { name: "Decision" });
    await expect(decision).toContainText(`Took ${answer}`);
    await expect(decision).toContainText(`state.way == "${answer}"`);
  });

test("a loop counts its rounds, and each round can be looked at", async ({ app, page }) => {
  await app.openWorkflow(
    file(
      "Loop",
      [
        start(["topic"]),
        {
          id: "count",
          name: "Count",
          node_type: "transform",
          optional_input_keys: ["n"],
          output_keys: ["n"],
          config: { set: { n: "has(state.n) ? state.n + 1 : 1" } },
          ui: { x: 320, y: 0 },
        },
        {
          id: "enough",
          name: "Enough",
          node_type: "conditional_router",
          config: {
            kind: "expression",
            conditions: [{ label: "again", when: "state.n < 3" }],
            default_label: "enough",
          },
          ui: { x: 640, y: 0 },
        },
        end("end", "End", 3, 0, { input_keys: ["n"] }),
      ],
      [
        edge("start", "count"),
        edge("count", "enough"),
        edge("enough", "count", "again"),
        edge("enough", "end", "enough"),
      ],
    ),
  );
  await app.run.start({ topic: "x" });
  await app.run.expectEnd("Completed");
  await expect(app.canvas.card("Count").getByText("×3")).toBeVisible();
  await page.getByRole("button", { name: "Show the whole drawing" }).click();
  const second = panel(page).getByRole("radio", { name: "Time 2" });
  // The drawing still moves to its place, and a click on what moves may miss it.
  await expect(async () => {
    await app.canvas.select("Count");
    await expect(second).toBeVisible({ timeout: 1_000 });
  }).toPass();
  await second.click();
  await expect(panel(page).getByRole("region", { name: "Output" })).toContainText("2");
});

test("parallel branches run at the same time", async ({ app }) => {
  await app.openWorkflow(
    file(
      "Side by side",
      [
        start(),
        agent("a", "Branch A", slow(4000), 1, 0),
        agent("b", "Branch B", slow(4000), 1, 1),
        end("end", "End", 2),
      ],
      [edge("start", "a"), edge("start", "b"), edge("a", "end"), edge("b", "end")],
    ),
  );
  await app.run.start({ topic: "x" });
  await Promise.all([
    app.run.expectStatus("Branch A", "running"),
    app.run.expectStatus("Branch B", "running"),
  ]);
  await app.run.expectStatus("End", "idle");
  await app.run.expectEnd("Completed");
});

test("an old run can be gone through in time, and the drawing follows", async ({ app, page }) => {
  await app.openWorkflow(
    file(
      "Past",
      [
        start(),
        agent("one", "Step one", '[[offline: text "first"]]', 1),
        end("end", "End", 2, 0, { input_keys: ["one"] }),
      ],
      [edge("start", "one"), edge("one", "end")],
    ),
  );
  await app.run.start({ topic: "x" });
  await app.run.expectEnd("Completed");
  await page.reload();
  await moment(page).focus();
  await page.keyboard.press("Home");
  await app.run.expectStatus("Step one", "idle");
  await expect(page.getByText("In the past")).toBeVisible();
  await tab(page, "State").click();
  await expect(panel(page).getByText("The state is empty")).toBeVisible();
  await moment(page).focus();
  for (let step = 0; step < 60; step++) {
    const status = await app.canvas.card("Step one").getAttribute("data-status");
    if (status === "running") break;
    await page.keyboard.press("ArrowRight");
  }
  await app.run.expectStatus("Step one", "running");
  await app.run.expectStatus("End", "idle");
  await page.getByRole("button", { name: "End", exact: true }).click();
  await app.run.expectEnd("Completed");
  await expect(page.getByText("In the past")).toBeHidden();
  await expect(panel(page).getByRole("term").filter({ hasText: /^one/ })).toBeVisible();
});

test("the drawing of an old run is the one it ran on", async ({ app, page }) => {
  const drawing = (name: string) =>
    file("Old drawing", [start(), end("end", name, 1)], [edge("start", "end")]);
  const id = await app.openWorkflow(drawing("The old end"));
  await app.run.start({ topic: "x" });
  await app.run.expectEnd("Completed");
  const address = page.url();
  await api("PUT", `/workflows/${id}`, drawing("The new end"));
  await app.open(`/workflows/${id}`);
  await expect(app.canvas.card("The new end")).toBeVisible();
  await app.open(address);
  await expect(app.canvas.card("The old end")).toBeVisible();
});

test("a run that reached a limit goes on when the limit is raised", async ({ app, page }) => {
  await app.openWorkflow(
    file(
      "Limited",
      [
        start(),
        agent("one", "Step one", '[[offline: text "one"]]', 1),
        agent("two", "Step two", '[[offline: text "two"]]', 2),
        end("end", "End", 3),
      ],
      [edge("start", "one"), edge("one", "two"), edge("two", "end")],
      { config: { max_steps: 2 } },
    ),
  );
  await app.run.start({ topic: "x" });
  await app.run.expectEnd("Stopped at a limit");
  await page.getByRole("button", { name: "Raise limit and go on" }).click();
  await page.getByRole("button", { name: "Raise and go on" }).click();
  await app.run.expectEnd("Completed");
});

test("what is missing is said at its field, and earlier inputs can be taken again", async ({ app, page }) => {
  const id = await app.openWorkflow(
    file("Asks", [start(["topic"]), end("end", "End", 1)], [edge("start", "end")]),
  );
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const sheet = page.getByRole("dialog");
  await sheet.getByRole("button", { name: "Start" }).click();
  await expect(sheet.getByText("Please fill this in.")).toBeVisible();
  await sheet.getByLabel("Topic").fill("Bees");
  await page.keyboard.press("Control+Enter");
  await page.waitForURL(/\/runs\/run_/);
  await app.run.expectEnd("Completed");
  await app.open(`/workflows/${id}`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("dialog").getByLabel("Topic")).toHaveValue("Bees");
});

test("running again after a change says that it is the present drawing that runs, and what is new in it", async ({
  app,
  page,
}) => {
  const id = await app.openWorkflow(
    file(
      "Changing",
      [start(), agent("one", "Step one", '[[offline: text "one"]]', 1), end("end", "End", 2)],
      [edge("start", "one"), edge("one", "end")],
    ),
  );
  await app.run.start({ topic: "x" });
  await app.run.expectEnd("Completed");
  const old = page.url();
  await page.getByRole("button", { name: "Run again", exact: true }).click();
  await page.waitForURL((url) => url.href !== old);
  await app.run.expectEnd("Completed");
  await expect(page.getByText("This runs the workflow as it is now")).toBeHidden();

  await app.open(`/workflows/${id}`);
  await app.canvas.select("Step one");
  await settings(page).getByLabel("Name", { exact: true }).fill("Step one, renewed");
  await saved(page, "Change node");
  await page.goto(old);
  await app.run.expectEnd("Completed");
  await expect(app.canvas.card("Step one")).toBeVisible();
  await page.getByRole("button", { name: "Run again", exact: true }).click();
  await expect(page.getByText("This runs the workflow as it is now")).toBeVisible();
  await expect(page.getByText("Changed since that run: Node “Step one, renewed” changed")).toBeVisible();
  await expect(app.canvas.card("Step one, renewed")).toBeVisible();
});

test("the run of a deleted workflow can still be read, says so, and offers to bring the workflow back", async ({
  app,
  page,
}) => {
  const id = await app.openWorkflow(file("Gone", [start(), end("end", "End", 1)], [edge("start", "end")]));
  await app.run.start({ topic: "x" });
  await app.run.expectEnd("Completed");
  await api("DELETE", `/workflows/${id}`);
  await app.open("/runs");
  await page
    .getByRole("list", { name: "Runs" })
    .getByRole("link", { name: /^Gone,/ })
    .first()
    .click();
  await app.run.expectEnd("Completed");
  await app.run.expectStatus("End", "completed");
  await expect(page.getByText("The workflow of this run was deleted")).toBeVisible();
  await expect(page.getByRole("button", { name: "Run again", exact: true })).toBeHidden();
  await expect(page.getByRole("link", { name: "Edit workflow" })).toBeHidden();
  expect(await app.accessibilityFaults()).toEqual([]);
  await page.getByRole("button", { name: "Bring the workflow back" }).click();
  await page.getByRole("link", { name: "Edit workflow" }).click();
  await app.canvas.isShown();
  await expect(page).toHaveURL(new RegExp(`/workflows/${id}$`));
});

test("at its end a run shows its result, unless one reads something else, and again when it is opened later", async ({
  app,
  page,
}) => {
  await app.openWorkflow(
    file(
      "Answers",
      [start(), agent("one", "Step one", slow(1500, '"# The answer"'), 1), end("end", "End", 2)],
      [edge("start", "one"), edge("one", "end")],
    ),
  );
  await app.run.start({ topic: "x" });
  await app.run.expectStatus("Step one", "running");
  await tab(page, "State").click();
  await app.run.expectEnd("Completed");
  await expect(tab(page, "State")).toHaveAttribute("aria-selected", "true");
  await page.reload();
  await app.run.expectEnd("Completed");
  const result = panel(page).getByRole("region", { name: "Result" });
  await expect(result.getByRole("heading", { name: "The answer" })).toBeVisible();
  await expect(result.getByRole("button", { name: "Copy the result" })).toBeVisible();
  expect(await app.accessibilityFaults()).toEqual([]);
});

test("a run that failed shows where and why, and the way to its node", async ({ app, page }) => {
  await app.openWorkflow(
    file(
      "Fails",
      [start(), agent("one", "Step one", "[[offline: error 400 x9]] This fails.", 1), end("end", "End", 2)],
      [edge("start", "one"), edge("one", "end")],
    ),
  );
  await app.run.start({ topic: "x" });
  await app.run.expectEnd("Failed");
  const how = panel(page).getByRole("region", { name: "How it ended" });
  await expect(how.getByText("Step one failed.")).toBeVisible();
  await how.getByRole("button", { name: "Open node" }).click();
  await expect(panel(page).getByRole("article", { name: "Step one in this run" })).toBeVisible();
});

test("an input is edited and run again from the run's page", async ({ app, page }) => {
  await app.openWorkflow(file("Edited", [start(), end("end", "End", 1)], [edge("start", "end")]));
  await app.run.start({ topic: "Ebb" });
  await app.run.expectEnd("Completed");
  const old = page.url();
  await page.getByRole("button", { name: "Edit input and run again" }).click();
  const field = page.getByRole("dialog").getByLabel("Topic");
  await expect(field).toHaveValue("Ebb");
  await field.fill("Flood");
  await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
  await page.waitForURL((url) => url.href !== old);
  await app.run.expectEnd("Completed");
  await expect(panel(page).getByRole("region", { name: "Result" })).toContainText("Flood");
});

test("runs are found by what went in, deleted together, and come back from the bin", async ({
  app,
  page,
}) => {
  await app.openWorkflow(file("Found", [start(), end("end", "End", 1)], [edge("start", "end")]));
  await app.run.start({ topic: "A very rare herring" });
  await app.run.expectEnd("Completed");
  await app.open("/runs");
  const runs = page.getByRole("list", { name: "Runs" }).getByRole("listitem");
  await page.getByLabel("Search runs").fill("rare HERRING");
  await expect(runs).toHaveCount(1);
  await page.getByRole("checkbox", { name: /^Choose Found/ }).click();
  await page.getByRole("toolbar", { name: "Chosen runs" }).getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("No run is like that")).toBeVisible();
  await app.open("/bin");
  await page.getByRole("button", { name: "Bring back Found" }).first().click();
  await app.open("/runs");
  await page.getByLabel("Search runs").fill("rare herring");
  await expect(runs).toHaveCount(1);
  expect(await app.accessibilityFaults()).toEqual([]);
});

test("the history lists the runs and can be narrowed down", async ({ app, page }) => {
  const id = await app.openWorkflow(file("Listed", [start(), end("end", "End", 1)], [edge("start", "end")]));
  await app.run.start({ topic: "x" });
  await app.run.expectEnd("Completed");
  await app.open(`/workflows/${id}/runs`);
  const runs = page.getByRole("list", { name: "Runs" }).getByRole("listitem");
  await expect(runs).toHaveCount(1);
  await page.getByRole("radio", { name: "Failed" }).click();
  await expect(page.getByText("No run is like that")).toBeVisible();
  await page.getByRole("radio", { name: "All" }).click();
  await runs.first().getByRole("link").click();
  await app.run.expectEnd("Completed");
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("a run can be watched and read", async ({ app, page }) => {
    await app.openWorkflow(
      file(
        "Pocket",
        [start(), agent("one", "Step one", slow(4000), 1), end("end", "End", 2)],
        [edge("start", "one"), edge("one", "end")],
      ),
    );
    await app.run.start({ topic: "x" });
    const nodes = page.getByRole("list", { name: "Nodes in reading order" }).getByRole("listitem");
    await expect(nodes.filter({ hasText: "Step one" })).toContainText("Running");
    await page.getByRole("radio", { name: "Drawing" }).click();
    await app.run.expectStatus("Step one", "running");
    await expect(app.canvas.card("Step one")).toBeInViewport();
    await app.run.expectEnd("Completed");
    await page.getByRole("radio", { name: "List" }).click();
    await expect(nodes).toHaveText([/Begin.*Completed/, /Step one.*Completed/, /End.*Completed/]);
    await nodes.filter({ hasText: "Step one" }).getByRole("button").click();
    await expect(panel(page).getByRole("article", { name: "Step one in this run" })).toBeVisible();
    await panel(page).getByRole("tab", { name: "Result" }).click();
    await expect(panel(page).getByRole("region", { name: "Result" })).toBeVisible();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width, "nothing sticks out to the side").toBeLessThanOrEqual(390);
    expect(await app.accessibilityFaults()).toEqual([]);
  });
});
