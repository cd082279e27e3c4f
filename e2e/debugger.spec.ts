import type { Page } from "@playwright/test";
import { expect, test } from "./support/app";

/** Counts n up from 0 until it is 4, then goes one of two ways by it. */
const counting = {
  name: "Counting",
  graph: {
    graph_id: "counting",
    start_node_id: "start",
    global_state_schema: {
      type: "object",
      properties: { n: { type: "number", default: 0 }, kind: { type: "string", default: "plain" } },
    },
    nodes: {
      start: { id: "start", node_type: "start", name: "Start", config: {}, ui: { x: 0, y: 0 } },
      inc: {
        id: "inc",
        node_type: "transform",
        name: "Count up",
        config: { set: { n: "state.n + 1" } },
        input_keys: ["n"],
        output_keys: ["n"],
        ui: { x: 304, y: 0 },
      },
      enough: {
        id: "enough",
        node_type: "conditional_router",
        name: "Enough",
        config: {
          kind: "expression",
          conditions: [{ label: "again", when: "state.n < 4" }],
          default_label: "on",
        },
        input_keys: ["n"],
        ui: { x: 608, y: 0 },
      },
      which: {
        id: "which",
        node_type: "conditional_router",
        name: "Which way",
        config: {
          kind: "expression",
          conditions: [{ label: "fancy", when: 'state.kind == "fancy"' }],
          default_label: "plain",
        },
        input_keys: ["kind"],
        ui: { x: 912, y: 0 },
      },
      plain: {
        id: "plain",
        node_type: "end",
        name: "Plain end",
        config: {},
        input_keys: ["n"],
        ui: { x: 1216, y: 0 },
      },
      fancy: {
        id: "fancy",
        node_type: "end",
        name: "Fancy end",
        config: {},
        input_keys: ["n"],
        ui: { x: 1216, y: 160 },
      },
    },
    edges: [
      { id: "e1", source_node_id: "start", target_node_id: "inc" },
      { id: "e2", source_node_id: "inc", target_node_id: "enough" },
      { id: "e3", source_node_id: "enough", target_node_id: "inc", edge_label: "again" },
      { id: "e4", source_node_id: "enough", target_node_id: "which", edge_label: "on" },
      { id: "e5", source_node_id: "which", target_node_id: "plain", edge_label: "plain" },
      { id: "e6", source_node_id: "which", target_node_id: "fancy", edge_label: "fancy" },
    ],
  },
};

const paused = (page: Page) => page.getByRole("status", { name: "Pause status" });

test("a conditional breakpoint pauses at the matching iteration, and edited state or a fork changes the route", async ({
  app,
  page,
}) => {
  await app.openWorkflow(counting);
  await app.canvas.select("Count up");
  await page.keyboard.press("F9");
  await app.canvas.card("Count up").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Conditional breakpoint…" }).click();
  const list = page.getByRole("region", { name: "Breakpoints" });
  await list.getByRole("textbox", { name: "Condition" }).click();
  await page.keyboard.insertText("state.n == 2");
  await expect(list.getByText("if state.n == 2")).toBeVisible();
  expect(await app.accessibilityViolations()).toEqual([]);
  await list.getByRole("button", { name: "Close" }).click();
  await expect(app.canvas.card("Count up")).toHaveAccessibleDescription(/Before Count up, if state.n == 2/);
  await app.run.start();
  await expect(paused(page)).toContainText("Paused at the breakpoint on Count up (if state.n == 2)");
  await page.getByRole("button", { name: "Next node" }).click();
  await expect(paused(page)).toContainText("Next: Enough");
  expect(await app.accessibilityViolations()).toEqual([]);
  await page.keyboard.press("F10");
  await expect(paused(page)).toContainText("Next: Count up");

  await page.getByRole("tab", { name: "State" }).click();
  await page.getByRole("button", { name: "Edit kind" }).click();
  const form = page.getByRole("form", { name: "Edit kind" });
  await form.getByRole("textbox").fill("fancy");
  await form.getByRole("button", { name: "Save" }).click();
  await expect(form).toHaveCount(0);
  await page.keyboard.press("F5");
  await app.run.expectEnd("Completed");
  await app.run.expectStatus("Fancy end", "completed");
  await app.run.expectStatus("Plain end", "skipped");

  // Selecting a router shows its decision; selecting a node in a loop offers each iteration.
  const panel = page.getByRole("complementary", { name: "Run details" });
  await expect(app.canvas.card("Count up").getByText("×4")).toBeVisible();
  await app.canvas.select("Which way");
  await expect(panel.getByRole("region", { name: "Decision" })).toContainText("Took fancy");
  await app.canvas.select("Count up");
  await panel.getByRole("radio", { name: "Run 2" }).click();
  await expect(panel.getByRole("region", { name: "Output" })).toContainText("2");

  const first = page.url();
  await page.getByRole("slider", { name: "Timeline position" }).press("Home");
  for (let k = 0; k < 3; k++) await page.keyboard.press("ArrowRight");
  await page.getByRole("button", { name: "Fork from this point" }).click();
  const dialog = page.getByRole("dialog", { name: "Fork this run" });
  await dialog.getByRole("button", { name: "Edit as JSON" }).click();
  await dialog.getByRole("textbox", { name: "State" }).fill('{"n": 3, "kind": "plain"}');
  await expect(dialog.getByText(/^Sets .*“n”/)).toBeVisible();
  expect(await app.accessibilityViolations()).toEqual([]);
  await dialog.getByRole("button", { name: "Fork", exact: true }).click();
  await expect(page).not.toHaveURL(first);
  await app.run.expectEnd("Completed");
  await app.run.expectStatus("Plain end", "completed");
  await app.run.expectStatus("Fancy end", "skipped");
  await page
    .getByText(/^Forked from/)
    .getByRole("link")
    .click();
  await expect(page).toHaveURL(first);
  await app.run.expectStatus("Fancy end", "completed");
});

test("a node runs alone, its output is pinned, and a run from the editor uses the pin", async ({
  app,
  page,
}) => {
  await app.openWorkflow(counting);
  await app.canvas.select("Count up");
  await page.keyboard.press("Shift+Enter");
  const dialog = page.getByRole("dialog", { name: "Try Count up" });
  await dialog.getByRole("textbox").fill("8");
  await dialog.getByRole("button", { name: "Try this node" }).click();
  await expect(app.canvas.card("Count up").getByText("Tried: 9")).toBeVisible();
  await app.canvas.select("Count up");
  await page.keyboard.press("p");
  await page.getByRole("dialog").getByRole("button", { name: "Pin", exact: true }).click();
  await expect(app.canvas.card("Count up").getByText("Pinned: 9")).toBeVisible();
  expect(await app.accessibilityViolations()).toEqual([]);
  await app.run.start();
  await app.run.expectEnd("Completed");
  // Pinned, it is 9 after the first turn already.
  await expect(app.canvas.card("Count up").getByText("×4")).toHaveCount(0);
});
