import { readFileSync } from "node:fs";
import { api, expect, test } from "./app";

const graphNamed = (name: string) => ({
  name,
  graph_id: "small",
  nodes: {
    start: { id: "start", node_type: "start", name: "Start", output_keys: ["topic"] },
    write: {
      id: "write",
      node_type: "agent_task",
      name: "Write",
      config: { required_role: "Writer", task_description_template: "Write about {{topic}}." },
      input_keys: ["topic"],
      output_keys: ["article"],
    },
    end: { id: "end", node_type: "end", name: "End", input_keys: ["article"] },
  },
  edges: [
    { id: "a", source_node_id: "start", target_node_id: "write" },
    { id: "b", source_node_id: "write", target_node_id: "end" },
  ],
  start_node_id: "start",
});

/** Deletes what an earlier attempt left behind under a name. */
async function without(name: string) {
  const { workflows } = await api<{ workflows: { id: string; name: string }[] }>("GET", "/workflows");
  for (const earlier of workflows) if (earlier.name === name) await api("DELETE", `/workflows/${earlier.id}`);
}

/** Puts a workflow in place under a name that no other has. */
async function place(name: string): Promise<string> {
  await without(name);
  const { id } = await api<{ id: string }>("POST", "/workflows", graphNamed(name));
  return id;
}

test("an exported workflow is imported again with a preview, and nothing is saved before", async ({
  app,
  page,
}) => {
  const id = await place("To the file and back");
  await app.open();
  await page.getByRole("button", { name: "Actions for To the file and back" }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: /^Workflow file JSON/ }).click();
  const file = await (await downloading).path();
  const text = readFileSync(file, "utf8");
  expect(JSON.parse(text), "the file is JSON").toBeInstanceOf(Object);
  expect(text).toContain("Write about {{topic}}.");

  const count = async () => (await api<{ workflows: unknown[] }>("GET", "/workflows")).workflows.length;
  const before = await count();
  await page.getByRole("button", { name: "Import", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Import a workflow" });
  await dialog.getByLabel("Choose a file").setInputFiles(file);
  await expect(dialog.getByText("3 nodes, 2 edges")).toBeVisible();
  await expect(dialog.getByText("Everything in the file was understood.")).toBeVisible();
  expect(await count(), "a preview saves nothing").toBe(before);
  expect(await app.accessibilityFaults()).toEqual([]);

  await dialog.getByLabel("Name", { exact: true }).fill("Back from the file");
  await dialog.getByRole("button", { name: "Import workflow" }).click();
  await page.waitForURL(/\/workflows\/wf_/);
  const [original, copy] = await Promise.all(
    [id, /wf_\w+/.exec(page.url())?.[0]].map((which) => api<object>("GET", `/workflows/${which}`)),
  );
  expect({ ...copy, name: "" }).toEqual({ ...original, name: "" });
});

test("what the OpenHands format cannot carry is said before the file is downloaded", async ({
  app,
  page,
}) => {
  const where = "Where the nodes stand on the canvas is not part of this format.";
  const graph = graphNamed("Leaves things behind");
  await without(graph.name);
  await api("POST", "/workflows", {
    ...graph,
    nodes: {
      ...graph.nodes,
      write: { ...graph.nodes.write, retry: { max_attempts: 3 }, ui: { x: 9, y: 9 } },
    },
  });
  await app.open();
  const exportIt = async () => {
    await page.getByRole("button", { name: "Actions for Leaves things behind" }).click();
    await page.getByRole("menuitem", { name: /^OpenHands WorkflowGraph/ }).click();
  };
  await exportIt();
  const dialog = page.getByRole("dialog", { name: "Not everything fits into this file" });
  const losses = dialog.getByRole("list", { name: "What the file does not hold" });
  await expect(losses).toContainText(where);
  await expect(losses).toContainText("nodes.write.retry");
  expect(await app.accessibilityFaults()).toEqual([]);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(dialog).toBeHidden();

  await exportIt();
  const downloading = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download" }).click();
  const text = readFileSync(await (await downloading).path(), "utf8");
  expect(JSON.parse(text)).toMatchObject({
    graph_id: "small",
    nodes: { write: { node_type: "agent_task" } },
  });
  expect(text).not.toContain("max_attempts");
  await expect(dialog).toBeHidden();
});

test("the palette goes to a workflow by its name, from any page", async ({ app, page }) => {
  const id = await place("Reached by typing");
  await app.open("/settings");
  await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByPlaceholder(/Find a page/).fill("reached by");
  await page.getByRole("option", { name: "Reached by typing" }).click();
  await page.waitForURL(new RegExp(`/workflows/${id}`));
});

test("the theme that a person chooses is there again after a reload, before anything is drawn", async ({
  app,
  page,
}) => {
  await app.open("/settings");
  await page.getByRole("radio", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload({ waitUntil: "commit" });
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expect(page.getByRole("radio", { name: "Dark" })).toBeChecked();
  expect(await app.accessibilityFaults()).toEqual([]);
  await page.getByRole("radio", { name: "Light" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
});

test("on a phone the list fits, and the bar below leads everywhere", async ({ app, page }) => {
  await place("Read on the train");
  await page.setViewportSize({ width: 390, height: 844 });
  await app.open();
  await expect(page.getByRole("link", { name: "Read on the train", exact: true })).toBeVisible();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow, "nothing sticks out to the side").toBeLessThanOrEqual(0);
  for (const [name, where] of [
    ["Roles", /\/roles$/],
    ["Settings", /\/settings$/],
    ["Workflows", /\/$/],
  ] as const) {
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();
    await expect(page).toHaveURL(where);
  }
  expect(await app.accessibilityFaults()).toEqual([]);
});
