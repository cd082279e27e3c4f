import { expect, saved, settings, test } from "./app";

const flow = (node: object) => ({
  name: "A tool by itself",
  nodes: {
    start: {
      id: "start",
      node_type: "start",
      name: "Start",
      config: { input_schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
      output_keys: ["n"],
    },
    work: { id: "work", name: "Work", ...node },
    end: { id: "end", node_type: "end", name: "End" },
  },
  edges: [
    { id: "e1", source_node_id: "start", target_node_id: "work" },
    { id: "e2", source_node_id: "work", target_node_id: "end" },
  ],
  start_node_id: "start",
});

test("a tool's arguments are filled in as the tool has them, with values of the run in braces", async ({
  app,
  page,
}) => {
  await app.openWorkflow(
    flow({ node_type: "tool_call", output_keys: ["answer"], config: { tool_name: "" } }),
  );
  await app.canvas.select("Work");
  const form = settings(page);
  await form.getByRole("combobox", { name: "Tool" }).click();
  await page.getByRole("option", { name: /^calculator/ }).click();
  await expect(form.getByText("This is needed.")).toBeVisible();
  await form.getByRole("textbox", { name: "expression" }).fill("6 * {{n}}");
  await expect(form.getByText("This is needed.")).toHaveCount(0);
  await saved(page);
  expect(await app.accessibilityFaults()).toEqual([]);

  await app.run.start({ n: "7" });
  await app.run.expectEnd("Completed");
  await app.canvas.select("Work");
  await expect(page.getByRole("complementary")).toContainText("42");
});

test("an argument can be computed, and be entered as it is again", async ({ app, page }) => {
  await app.openWorkflow(
    flow({
      node_type: "tool_call",
      output_keys: ["answer"],
      config: { tool_name: "calculator", args: { expression: "1 + 1", old_name: 3 } },
    }),
  );
  await app.canvas.select("Work");
  const form = settings(page);
  await expect(form.getByText("calculator has no argument old_name.")).toBeVisible();
  await form.getByRole("button", { name: "Remove old_name" }).click();
  await form.getByRole("button", { name: "Compute expression with an expression" }).click();
  const field = form.getByRole("textbox", { name: "expression" });
  await expect(field).toHaveText('"1 + 1"');
  await field.fill('string(state.n) + " + 1"');
  await saved(page);

  await app.run.start({ n: "7" });
  await app.run.expectEnd("Completed");
  await app.canvas.select("Work");
  await expect(page.getByRole("complementary")).toContainText("8");
});

test("headers and query of a request are rows of a form", async ({ app, page }) => {
  await app.openWorkflow(
    flow({ node_type: "http_request", output_keys: ["response"], config: { url: "https://example.test" } }),
  );
  await app.canvas.select("Work");
  const query = settings(page).getByRole("group", { name: "Query" });
  await query.getByRole("button", { name: "Add a line" }).click();
  await query.getByLabel("Name 1").fill("topic");
  await query.getByRole("textbox", { name: "Value of topic" }).fill("tea {{n}}");
  await saved(page);
  await page.reload();
  await app.canvas.select("Work");
  await expect(query.getByLabel("Name 1")).toHaveValue("topic");
  await expect(query.getByRole("textbox", { name: "Value of topic" })).toHaveText("tea {{n}}");
});
