import type { Page } from "@playwright/test";
import { type App, expect, settings, test } from "./app";

/** The smallest words that the drawing shows, in pixels of the screen. */
function smallestWords(page: Page): Promise<number> {
  return page.getByRole("application").evaluate((drawing) => {
    const sizes: number[] = [];
    const walker = document.createTreeWalker(drawing, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      const element = text.parentElement;
      if (!element || !text.textContent?.trim() || !element.checkVisibility()) continue;
      const { width, height } = element.getBoundingClientRect();
      // Words for screen readers only are a pixel large.
      if (width < 3 || height < 3) continue;
      const scale = width / (element.offsetWidth || width);
      sizes.push(Number.parseFloat(getComputedStyle(element).fontSize) * scale);
    }
    return Math.min(...sizes);
  });
}

/** Points along the line between two nodes, in shares of its length, on the screen. */
function pointsOn(page: Page, name: string, shares: number[]): Promise<{ x: number; y: number }[]> {
  return page.getByRole("img", { name }).evaluate((group, at) => {
    const path = group.querySelector("path");
    const matrix = path?.getScreenCTM();
    if (!path || !matrix) throw new Error("There is no line.");
    return at.map((share) => {
      const { x, y } = path.getPointAtLength(path.getTotalLength() * share).matrixTransform(matrix);
      return { x, y };
    });
  }, shares);
}

async function twoInARow(app: App): Promise<void> {
  await app.openWorkflow({
    graph_id: "row",
    start_node_id: "start",
    nodes: {
      start: { id: "start", node_type: "start", name: "Begin", ui: { x: 0, y: 0 } },
      end: { id: "end", node_type: "end", name: "Finish", ui: { x: 560, y: 0 } },
    },
    edges: [{ id: "e1", source_node_id: "start", target_node_id: "end" }],
  });
  await app.canvas.still();
}

const LINE = "Connection from Begin to Finish";

for (const title of ["Approval", "Code and review", "Decide together"])
  test(`${title} opens with words of 11 pixels at least, in the editor and in its run`, async ({
    app,
    page,
  }) => {
    await app.fromTemplate(title);
    await app.canvas.still();
    expect(await smallestWords(page)).toBeGreaterThanOrEqual(11);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const sheet = page.getByRole("dialog");
    await sheet.getByRole("textbox").first().fill("Open the library on Sundays");
    await sheet.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL(/\/runs\/run_/);
    await app.run.expectEnd("Completed");
    await app.canvas.still();
    expect(await smallestWords(page)).toBeGreaterThanOrEqual(11);
  });

test("a line is selected wherever it is clicked, also in its middle, and nothing is deleted", async ({
  app,
  page,
}) => {
  await twoInARow(app);
  for (const share of [0.1, 0.3, 0.45, 0.5, 0.52, 0.55, 0.7, 0.9]) {
    const [point] = await pointsOn(page, LINE, [share]);
    if (!point) throw new Error("There is no point.");
    await page.mouse.move(point.x, point.y);
    // Long enough for the buttons to come.
    await page.waitForTimeout(500);
    await page.mouse.click(point.x, point.y);
    await expect(settings(page).getByRole("heading", { name: /Connection/ })).toBeVisible();
    await page.getByRole("button", { name: "Close the settings" }).click();
  }
  await expect(page.getByRole("img", { name: LINE })).toBeVisible();
});

test("a double click anywhere on a line writes its name", async ({ app, page }) => {
  await twoInARow(app);
  const [point] = await pointsOn(page, LINE, [0.52]);
  if (!point) throw new Error("There is no point.");
  await page.mouse.dblclick(point.x, point.y);
  await expect(settings(page)).toBeVisible();
  await expect(settings(page).locator("[data-field=edge_label] :focus")).toHaveCount(1);
});

test("what is dropped from the palette onto a line comes in between, with room", async ({ app, page }) => {
  await twoInARow(app);
  const [point] = await pointsOn(page, LINE, [0.4]);
  const box = await page.getByRole("application").boundingBox();
  if (!point || !box) throw new Error("There is no drawing.");
  await page
    .getByRole("button", { name: /^Add Wait\b/ })
    .dragTo(page.getByRole("application"), { targetPosition: { x: point.x - box.x, y: point.y - box.y } });
  await expect(page.getByRole("img", { name: "Connection from Begin to Wait" })).toBeAttached();
  await expect(page.getByRole("img", { name: "Connection from Wait to Finish" })).toBeAttached();
  await app.canvas.still();
  const [left, middle, right] = await Promise.all(
    ["Begin", "Wait", "Finish"].map((name) => app.canvas.card(name).boundingBox()),
  );
  if (!left || !middle || !right) throw new Error("A card is missing.");
  expect(left.x + left.width).toBeLessThan(middle.x);
  expect(middle.x + middle.width).toBeLessThan(right.x);
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("a workflow is a list that opens each node, with the drawing one tap away", async ({ app, page }) => {
    await twoInARow(app);
    const nodes = page.getByRole("list", { name: "Nodes in reading order" }).getByRole("listitem");
    await expect(nodes).toHaveText([/Begin.*leads to Finish/, /Finish/]);
    await nodes.first().getByRole("button").click();
    await expect(settings(page).getByLabel("Name", { exact: true })).toHaveValue("Begin");
    await page.getByRole("button", { name: "Close the settings" }).click();
    await page.getByRole("radio", { name: "Drawing" }).click();
    await expect(app.canvas.card("Begin")).toBeInViewport();
    expect(await smallestWords(page)).toBeGreaterThanOrEqual(11);
    expect(await app.accessibilityFaults()).toEqual([]);
  });
});
