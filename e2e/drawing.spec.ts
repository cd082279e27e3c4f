import type { Page } from "@playwright/test";
import { expect, settings, test } from "./support/app";

/** The screen position of a point on the line with this name, at a fraction of its length. */
function pointOn(page: Page, name: string, share: number): Promise<{ x: number; y: number }> {
  return page.getByRole("img", { name, exact: true }).evaluate((group, share) => {
    const path = group.querySelector("path");
    const matrix = path?.getScreenCTM();
    if (!path || !matrix) throw new Error("No line.");
    const { x, y } = path.getPointAtLength(path.getTotalLength() * share).matrixTransform(matrix);
    return { x, y };
  }, share);
}

const LINE = "Connection from Begin to Finish";

test("an edge is selected anywhere along it, labeled by double click and split by a dropped node", async ({
  app,
  page,
}) => {
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
  // Also in the middle, where buttons appear on hover: nothing is deleted.
  for (const share of [0.1, 0.5, 0.52, 0.9]) {
    const { x, y } = await pointOn(page, LINE, share);
    await page.mouse.move(x, y);
    await expect(page.getByRole("button", { name: "Remove connection" })).toBeVisible();
    await page.mouse.click(x, y);
    await expect(settings(page).getByRole("heading", { name: /Connection/ })).toBeVisible();
    await page.getByRole("button", { name: "Close settings" }).click();
  }
  await expect(page.getByRole("img", { name: LINE })).toBeVisible();

  const middle = await pointOn(page, LINE, 0.52);
  await page.mouse.dblclick(middle.x, middle.y);
  await expect(settings(page).locator("[data-field=edge_label] :focus")).toHaveCount(1);
  await page.getByRole("button", { name: "Close settings" }).click();

  // Drag a new node from the palette onto the line.
  const drawing = page.getByRole("application");
  const palette = page.getByRole("button", { name: /^Add Wait\b/ });
  const box = await drawing.boundingBox();
  if (!box) throw new Error("No drawing.");
  const onto = await pointOn(page, LINE, 0.4);
  await palette.dragTo(drawing, { targetPosition: { x: onto.x - box.x, y: onto.y - box.y } });
  await expect(page.getByRole("img", { name: "Connection from Begin to Wait" })).toBeAttached();
  await expect(page.getByRole("img", { name: "Connection from Wait to Finish" })).toBeAttached();
  await page.getByRole("button", { name: "Close settings" }).click();
  await app.canvas.still();

  // Then one that was first placed away from the line.
  await palette.dragTo(drawing, { targetPosition: { x: 500, y: 620 } });
  await settings(page).getByLabel("Name", { exact: true }).fill("Loose");
  await page.getByRole("button", { name: "Close settings" }).click();
  await app.canvas.still();
  const card = await app.canvas.card("Loose").boundingBox();
  const half = await pointOn(page, "Connection from Wait to Finish", 0.5);
  if (!card) throw new Error("The card is not there.");
  await app.canvas.move("Loose", {
    x: half.x - card.x - card.width / 2,
    y: half.y - card.y - card.height / 2,
  });
  await expect(page.getByRole("img", { name: "Connection from Wait to Loose" })).toBeAttached();
  await expect(page.getByRole("img", { name: "Connection from Loose to Finish" })).toBeAttached();
  await app.canvas.still();

  const boxes = await Promise.all(
    ["Begin", "Wait", "Loose", "Finish"].map((name) => app.canvas.card(name).boundingBox()),
  );
  for (const [at, next] of boxes.entries()) {
    const before = boxes[at - 1];
    if (!next) throw new Error("A card is missing.");
    if (before) expect(before.x + before.width).toBeLessThan(next.x);
  }
});
