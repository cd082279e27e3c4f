import type { Page } from "@playwright/test";
import { api, expect, saved, settings, test } from "./support/app";

const node = (id: string, x: number, y: number, more: object) => ({ id, ui: { x, y }, ...more });
const edge = (source_node_id: string, target_node_id: string) => ({
  id: `${source_node_id}_${target_node_id}`,
  source_node_id,
  target_node_id,
});

/** The list of problems says so: before it has looked, it says nothing. */
async function noProblems(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Add nodes" }).click();
  await page.getByRole("tab", { name: /^Problems/ }).click();
  await expect(page.getByText("No problems. Ready to run.")).toBeVisible();
}

test("two nodes become a workflow that one node runs, and undo brings them back", async ({ app, page }) => {
  await app.openWorkflow({
    graph_id: "letters",
    start_node_id: "start",
    nodes: {
      start: node("start", 0, 0, { node_type: "start", name: "Start", output_keys: ["topic"] }),
      draft: node("draft", 280, 0, {
        node_type: "transform",
        name: "Draft",
        config: { set: { draft: '"About " + state.topic' } },
      }),
      polish: node("polish", 560, 0, {
        node_type: "transform",
        name: "Polish",
        config: { set: { letter: 'state.draft + "."' } },
      }),
      end: node("end", 840, 0, { node_type: "end", name: "End", input_keys: ["letter"] }),
    },
    edges: [edge("start", "draft"), edge("draft", "polish"), edge("polish", "end")],
  });
  await app.canvas.still();
  await app.canvas.card("Draft").click();
  await app.canvas.card("Polish").click({ modifiers: ["Shift"] });
  await settings(page).getByRole("button", { name: "Extract to workflow" }).click();
  const dialog = page.getByRole("dialog", { name: "Extract to workflow" });
  await dialog.getByLabel("Name").fill("Letter");
  await dialog.getByRole("button", { name: "Extract", exact: true }).click();

  await expect(app.canvas.card("Letter")).toContainText("Runs Letter");
  await expect(app.canvas.card("Draft")).toHaveCount(0);
  await saved(page, "Extract to workflow");
  const { workflows } = await api<{
    workflows: { name: string; inputs: { key: string }[]; outputs: string[] }[];
  }>("GET", "/workflows/callable");
  expect(workflows.find(({ name }) => name === "Letter")).toMatchObject({
    inputs: [{ key: "topic" }],
    outputs: ["draft", "letter"],
  });
  await noProblems(page);

  await page.getByRole("button", { name: "Undo: Extract to workflow" }).click();
  await expect(app.canvas.card("Draft")).toBeVisible();
  await expect(app.canvas.card("Letter")).toHaveCount(0);
  await expect(page.getByRole("img", { name: "Connection from Draft to Polish" })).toBeAttached();
});

test("a map runs a node for each item, and the problem list is empty", async ({ app, page }) => {
  await app.openWorkflow({
    graph_id: "tickets",
    start_node_id: "start",
    nodes: {
      start: node("start", 0, 0, { node_type: "start", name: "Start", output_keys: ["tickets"] }),
      end: node("end", 560, 0, { node_type: "end", name: "End" }),
      short: node("short", 280, 200, {
        node_type: "transform",
        name: "Shorten",
        config: { set: { line: "state.ticket" } },
      }),
    },
    edges: [edge("start", "end")],
  });
  await app.canvas.still();
  await app.canvas.card("Start").click();
  await page.keyboard.press("n");
  await page.getByRole("option", { name: /^Map\b/ }).click();
  const form = settings(page);
  await expect(form.getByText("Runs for each item")).toBeVisible();
  await form.getByRole("textbox", { name: "Items" }).fill("state.tickets");
  await form.getByRole("combobox", { name: "Runs" }).click();
  await page.getByRole("option", { name: /^Shorten/ }).click();

  await expect(form.getByRole("textbox", { name: "Expression for ticket" })).toContainText("item");
  await expect(app.canvas.card("Map")).toContainText("Shorten for each of state.tickets");
  await expect(app.canvas.card("Shorten")).toContainText("Runs in Map");
  await page.getByRole("button", { name: "Close settings" }).click();
  await app.canvas.connect("Map", "End");
  await noProblems(page);
  expect(await app.accessibilityViolations()).toEqual([]);
});
