import { api, expect, overflow, test } from "./support/app";
import { agent, edge, end, file, start } from "./support/run-graphs";

const place = (column: number) => ({ ui: { x: column * 320, y: 0 } });

/** Writes for two seconds, then is done. */
const summarize = file(
  "Summarize",
  [
    start(["topic"]),
    agent("summary", "Write summary", '[[offline: delay 2s]] [[offline: json {"summary": "Short."}]]', 1),
    end("end", "Done", 2, 0, { input_keys: ["summary"] }),
  ],
  [edge("start", "summary"), edge("summary", "end")],
);

/** Runs the workflow of that id for a topic. */
const report = (workflow_id: string) =>
  file(
    "Weekly report",
    [
      start(["topic"]),
      {
        id: "call",
        node_type: "sub_workflow",
        name: "Summary",
        config: { workflow_id, input: { topic: "state.topic" } },
        output_keys: ["summary"],
        ...place(1),
      },
      end("end", "Finished", 2, 0, { input_keys: ["summary"] }),
    ],
    [edge("start", "call"), edge("call", "end")],
  );

const created = async (workflow: object) => (await api<{ id: string }>("POST", "/workflows", workflow)).id;

/** Starts a run of a workflow that runs another one; answers the address of its page. */
async function began(
  parent: (child: string) => object,
  child: object,
  body: { input: object; config?: object },
): Promise<string> {
  const id = await created(parent(await created(child)));
  const { run_id } = await api<{ run_id: string }>("POST", `/workflows/${id}/runs`, body);
  return `/workflows/${id}/runs/${run_id}`;
}

/** Waits for a signal before it writes. */
const held = file(
  "Summarize",
  [
    start(["topic"]),
    { id: "hold", node_type: "wait", name: "Hold", config: { signal: "go" }, ...place(1) },
    agent("summary", "Write summary", '[[offline: json {"summary": "Short."}]]', 2),
    end("end", "Done", 3, 0, { input_keys: ["summary"] }),
  ],
  [edge("start", "hold"), edge("hold", "summary"), edge("summary", "end")],
);

test("a sub-workflow opens in its card while it runs, and stays open after it ended", async ({
  app,
  page,
}) => {
  await app.open(await began(report, held, { input: { topic: "Tea" } }));
  await page.getByRole("button", { name: "Open run of Summary" }).click();
  const inside = page.getByRole("region", { name: "Run of Summary" });
  const writing = inside.getByRole("article", { name: "Write summary" });
  await expect(inside.getByRole("article", { name: "Hold" })).toHaveAttribute("data-status", "waiting");
  const { runs } = await api<{ runs: { id: string }[] }>("GET", `/runs/${app.run.id}/children`);
  await api("POST", `/runs/${runs[0]?.id}/signals`, { name: "go", data: {} });
  await app.run.expectEnd("Completed");
  await expect(writing).toHaveAttribute("data-status", "completed");
  await expect(inside.getByText("Completed", { exact: true }).first()).toBeVisible();
  // Its own size is what the card has room for: nothing lies outside.
  const [outer, last] = await Promise.all([
    inside.boundingBox(),
    inside.getByRole("article", { name: "Done" }).boundingBox(),
  ]);
  expect(last!.x + last!.width).toBeLessThanOrEqual(outer!.x + outer!.width);
  expect(await app.accessibilityViolations()).toEqual([]);

  // The past of the parent is the past of the run within it.
  await page.getByRole("slider", { name: "Timeline position" }).focus();
  await page.keyboard.press("Home");
  await expect(inside.getByText("Not started")).toBeVisible();
  await page.keyboard.press("End");
  await expect(writing).toHaveAttribute("data-status", "completed");

  // Escape closes it; Enter on the card opens it again.
  await inside.focus();
  await page.keyboard.press("Escape");
  await expect(inside).toHaveCount(0);
  await page.keyboard.press("Enter");
  await expect(writing).toBeVisible();

  await inside.getByRole("link", { name: "Open run" }).click();
  const trail = page.getByRole("navigation", { name: "Parent run" });
  await expect(trail).toContainText("Weekly report");
  await expect(trail).toContainText("Summary");
  await trail.getByRole("link", { name: "Weekly report" }).click();
  await expect(app.canvas.card("Finished")).toBeVisible();
});

test("an opened run fits into the visible canvas, on a phone too, and stays open after a reload", async ({
  app,
  page,
}) => {
  const steps = ["one", "two", "three", "four"];
  const wide = file(
    "Summarize",
    [
      start(["topic"]),
      ...steps.map((id, at) => agent(id, `Step ${id}`, '[[offline: json {"a": 1}]]', at + 1)),
      end("end", "Done", 5, 0, { input_keys: ["one"] }),
    ],
    ["start", ...steps].map((from, at) => edge(from, [...steps, "end"][at] ?? "end")),
  );
  const where = await began(report, wide, { input: { topic: "Tea" } });
  const close = page.getByRole("button", { name: "Close run", exact: true });
  const inside = page.getByRole("region", { name: "Run of Summary" });
  const expectInside = async () => {
    await app.canvas.still();
    for (const part of [close, inside.getByRole("article", { name: "Done" })])
      await expect(part).toBeInViewport({ ratio: 0.99 });
  };
  await app.open(where);
  await app.run.expectEnd("Completed");
  await page.getByRole("button", { name: "Open run of Summary" }).click();
  await expectInside();
  await inside.getByRole("article", { name: "Step two" }).click();
  await expect(page.getByRole("article", { name: "Step two in this run" })).toBeVisible();
  await page.reload();
  await expectInside();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("tab", { name: "Workflow" }).click();
  await page.getByRole("radio", { name: "Canvas" }).click();
  await expectInside();
  expect(await app.accessibilityViolations()).toEqual([]);
});

test("on a phone a sub-workflow opens below its node in the list", async ({ app, page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await app.open(await began(report, summarize, { input: { topic: "Tea" } }));
  await page.getByRole("tab", { name: "Workflow" }).click();
  await page.getByRole("button", { name: "Open run of Summary" }).click();
  const inside = page.getByRole("region", { name: "Run of Summary" });
  await expect(inside.getByRole("button", { name: /Write summary/ })).toBeVisible();
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  expect(await app.accessibilityViolations()).toEqual([]);
});

test("a sub-workflow of a stepped run pauses, and a person steps into it or over it", async ({
  app,
  page,
}) => {
  const where = await began(report, summarize, { input: { topic: "Tea" }, config: { mode: "step" } });
  await app.open(where);
  const steps = page.getByRole("button", { name: "Next node" });
  await expect(steps).toBeVisible();
  const bar = page.getByRole("status", { name: "Paused child run" });
  const into = bar.getByRole("link", { name: "Step into" });
  await expect(async () => {
    if (await steps.isVisible()) await steps.click({ timeout: 1_000 });
    await expect(into).toBeVisible({ timeout: 3_000 });
  }).toPass({ timeout: 30_000 });
  await expect(page.getByRole("status").getByText("Run paused")).toBeVisible();
  await into.click();
  await expect(page.getByRole("navigation", { name: "Parent run" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Next node" })).toBeVisible();
  await app.open(where);
  await bar.getByRole("button", { name: "Step over" }).click();
  await expect(app.canvas.card("Summary")).toHaveAttribute("data-status", "completed", { timeout: 20_000 });
});

test("a map lists its items, and retrying those that failed runs only these again", async ({ app, page }) => {
  const double = file(
    "Double",
    [
      start(["number"]),
      {
        id: "double",
        node_type: "transform",
        name: "Double it",
        config: { set: { doubled: "int(state.number) * 2" } },
        output_keys: ["doubled"],
        ...place(1),
      },
      end("end", "Done", 2, 0, { input_keys: ["doubled"] }),
    ],
    [edge("start", "double"), edge("double", "end")],
  );
  const all = (workflow_id: string) =>
    file(
      "Doubles",
      [
        start(["numbers"]),
        {
          id: "all",
          node_type: "map",
          name: "Each number",
          config: {
            items: "state.numbers",
            workflow_id,
            input: { number: "item" },
            output: "output.doubled",
            on_item_error: "collect",
          },
          output_keys: ["doubles"],
          ...place(1),
        },
        end("end", "Finished", 2, 0, { input_keys: ["doubles"] }),
      ],
      [edge("start", "all"), edge("all", "end")],
    );
  await app.open(await began(all, double, { input: { numbers: ["1", "two", "3"] } }));
  await app.run.expectEnd("Completed");
  const original = app.run.id;
  await expect(app.canvas.card("Each number")).toContainText(/3 of 3\s+·\s+1 failed/);
  await app.canvas.select("Each number");
  const items = page.getByRole("list", { name: "Items" });
  await expect(items.getByRole("listitem")).toHaveCount(3);
  await page.getByRole("radio", { name: "Failed" }).click();
  await expect(items.getByRole("listitem")).toHaveCount(1);
  await expect(items.getByRole("listitem")).toContainText("Item 2");

  await items.getByRole("button", { name: "Show Item 2 here" }).click();
  const inside = page.getByRole("region", { name: "Run of Each number" });
  await expect(inside.getByRole("article", { name: "Double it" })).toHaveAttribute("data-status", "failed");
  await inside.getByRole("button", { name: "Next item" }).click();
  await expect(inside.getByRole("article", { name: "Double it" })).toHaveAttribute(
    "data-status",
    "completed",
  );
  // Its progress stays below the open card.
  await expect(app.canvas.card("Each number").first()).toContainText(/3 of 3\s+·\s+1 failed/);
  expect(await app.accessibilityViolations()).toEqual([]);

  await page.getByRole("button", { name: "Retry failed items" }).click();
  await expect.poll(() => app.run.id).not.toBe(original);
  await app.run.expectEnd("Completed");
  const { runs } = await api<{ runs: { parent: { run_id: string; item: number } }[] }>(
    "GET",
    `/runs/${app.run.id}/children`,
  );
  // The others are those of the original.
  expect(runs.map(({ parent: { run_id, item } }) => [item, run_id])).toEqual([
    [0, original],
    [1, app.run.id],
    [2, original],
  ]);
});
