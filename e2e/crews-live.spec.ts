import type { Locator, Page } from "@playwright/test";
import { type App, expect, openCrew, openQuestion, saved, settings, test } from "./support/app";
import { agent, edge, end, file, start } from "./support/run-graphs";

/** Opens a template, takes its example inputs, and starts it. */
async function play(app: App, page: Page, template: string): Promise<void> {
  await app.fromTemplate(template);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const sheet = page.getByRole("dialog");
  const examples = sheet.getByRole("button", { name: /^Try / });
  await expect(examples.first()).toBeVisible();
  for (let left = await examples.count(); left > 0; left--) {
    await examples.first().click();
    await expect(examples).toHaveCount(left - 1);
  }
  await sheet.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/runs\/run_/);
}

/** One of the views of an open crew, which the panel beside the drawing shows. */
async function openView(page: Page, crew: Locator, view: string): Promise<Locator> {
  await crew.getByRole("button", { name: new RegExp(`^${view}\\s?\\d*$`) }).click();
  return page
    .getByRole("complementary", { name: "Run details" })
    .getByRole("tabpanel", { name: new RegExp(`^${view}`) });
}

test("a customer letter is handed off within a crew that supports keyboard navigation and time travel", async ({
  app,
  page,
}) => {
  await play(app, page, "Support desk");
  const crew = await openCrew(page, "Support");
  const handsOver = crew.getByRole("button", { name: "Front desk to Billing: handed off" });
  await expect(handsOver).toBeVisible();
  await app.run.expectEnd("Completed");
  await expect(crew.getByRole("button", { name: /^Billing/ })).toContainText("Done");
  await expect(crew.getByRole("button", { name: /^Technical/ })).toContainText("Idle");
  expect(await app.accessibilityViolations()).toEqual([]);

  const time = page.getByRole("slider", { name: "Timeline position" });
  await time.press("Home");
  await expect(handsOver).toBeHidden();
  await time.press("End");
  await expect(handsOver).toBeVisible();
  await crew.getByRole("button", { name: "Collapse crew" }).click();
  await expect(crew).toBeHidden();
  await app.canvas.still();

  const card = app.canvas.card("Support");
  await card.focus();
  await page.keyboard.press("Enter");
  await expect(crew).toBeFocused();
  // The next card stands beside it, not on it.
  await expect
    .poll(async () => {
      const [from, to] = [await card.boundingBox(), await app.canvas.card("Reply").boundingBox()];
      return from && to && to.x - from.x - from.width >= 5;
    })
    .toBe(true);
  await page.keyboard.press("ArrowRight");
  await expect(crew.getByRole("button", { name: /^Front desk(?! to)/ })).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect(crew.getByRole("button", { name: /^Billing(?! to)/ })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "About Billing" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(crew).toBeHidden();
  await expect(card).toBeFocused();
});

test("a review crew unfolds into equivalent nodes, and one undo folds it again", async ({ app, page }) => {
  await app.fromTemplate("Code review cycle");
  const name = "Code, review, test";
  await app.canvas.still();
  expect(await app.canvas.smallestFontSize()).toBeGreaterThanOrEqual(11);
  await app.canvas.select(name);
  await settings(page).getByRole("button", { name: "Expand into nodes…" }).click();
  const sheet = page.getByRole("dialog", { name: `Expand “${name}” into nodes` });
  await expect(sheet.getByRole("list", { name: "Agent nodes" }).getByRole("listitem")).toHaveText([
    "Code generationDeveloper",
    "Code reviewQualityReviewer",
    "TestingTester",
  ]);
  await expect(sheet.getByRole("list", { name: "What changes" })).toHaveCount(0);
  expect(await app.accessibilityViolations()).toEqual([]);
  await sheet.getByRole("button", { name: "Expand into nodes", exact: true }).click();
  await expect(app.canvas.card("Code review")).toBeVisible();
  await expect(app.canvas.card(name)).toHaveCount(0);
  await page.getByRole("button", { name: "Undo: Expand into nodes" }).click();
  await expect(app.canvas.card(name)).toBeVisible();
  await page.getByRole("application").focus();
  await page.keyboard.press("ControlOrMeta+Shift+z");
  await expect(app.canvas.card("Testing")).toBeVisible();
  await saved(page);
  const question = { "What should be built": "A function that converts Roman numerals to numbers" };
  await app.run.start(question);
  await app.run.expectEnd("Completed");
  await app.canvas.expectStatus("Ready", "completed");

  await app.fromTemplate("Code review cycle");
  await app.run.start(question);
  const crew = await openCrew(page, name);
  await app.run.expectEnd("Completed");
  await expect(crew.getByRole("button", { name: "Reviewer to Coder: reject" })).toBeVisible();
  await expect(crew.getByRole("button", { name: "Tester to The requester: ready" })).toBeVisible();
  const cost = await openView(page, crew, "Cost");
  await expect(cost.getByRole("row", { name: /^Reviewer/ })).toBeVisible();
});

/** A drawing in which a keeper of notes is to write one, and every tool needs a person's agreement. */
function keeper(answer: string) {
  const task = `Write it down. [[offline: tool file_write {"path": "notes.md", "content": "Tea at four."}]] [[offline: text "${answer}"]]`;
  const drawn = file(
    "Keeper of notes",
    [
      start(["topic"]),
      agent("note", "Note it", task, 1, 0, {
        config: { required_role: "Keeper", task_description_template: task },
      }),
      end("done", "Done", 2),
    ],
    [edge("start", "note"), edge("note", "done")],
    { config: { confirmation: { kind: "always" } } },
  );
  return { ...drawn, roles: [{ name: "Keeper", description: "Keeps notes", tools: ["file_write"] }] };
}

test("a tool call that needs confirmation waits and shows its exact arguments", async ({ app, page }) => {
  await app.openWorkflow(keeper("Written."));
  await app.run.start({ topic: "tea" });
  const question = page.getByRole("region", { name: "Question: Keeper wants to use file_write" });
  await openQuestion(page, question);
  await expect(question).toContainText("Tea at four.");
  const approve = question.getByRole("button", { name: "Approve", exact: true });
  await approve.focus();
  await page.keyboard.press("Enter");
  await expect(approve).toBeEnabled();
  await approve.click();
  await app.run.expectEnd("Completed");
  await page.getByRole("tab", { name: /^Files/ }).click();
  await page.getByRole("button", { name: /notes\.md/ }).click();
  await expect(page.getByText("Tea at four.").last()).toBeVisible();
});

test("a person edits the plan of an active crew, and the crew follows it", async ({ app, page }) => {
  await app.openWorkflow(
    file(
      "Two steps",
      [
        start(["topic"]),
        {
          id: "crew",
          node_type: "crew_task",
          name: "Make it",
          output_keys: ["text"],
          config: {
            plan_description_template: "A text on tea",
            crew: {
              agents: [
                { agent_id: "writer", role_name: "Writer" },
                { agent_id: "editor", role_name: "Editor" },
              ],
            },
            plan: {
              execution_mode: "step",
              tasks: [
                { task_id: "draft", description: "Draft the text", assigned_agent: "writer" },
                { task_id: "polish", description: "Polish the text", assigned_agent: "editor" },
                { task_id: "print", description: "Print the text", assigned_agent: "editor" },
              ],
            },
          },
          ui: { x: 320, y: 0 },
        },
        end("done", "Done", 2),
      ],
      [edge("start", "crew"), edge("crew", "done")],
    ),
  );
  await app.run.start({ topic: "tea" });
  const crew = await openCrew(page, "Make it");
  const plan = await openView(page, crew, "Plan");
  const toDo = plan.getByRole("region", { name: "To do" });
  const dialog = page.getByRole("dialog");

  await toDo.getByRole("button", { name: /Print the text/ }).click();
  await plan.getByRole("button", { name: "Edit", exact: true }).click();
  await dialog.getByRole("button", { name: "Remove task" }).click();
  await expect(plan.getByRole("region", { name: "Finished" })).toContainText("Print the text");

  await toDo.getByRole("button", { name: /Polish the text/ }).click();
  await plan.getByRole("button", { name: "Edit", exact: true }).click();
  await dialog.getByLabel("Task").fill("Shorten the text");
  await dialog.getByRole("combobox", { name: "Assignee" }).click();
  await page.getByRole("option", { name: /^Writer/ }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(toDo).toContainText("Shorten the text");

  await plan.getByRole("button", { name: "Add task" }).click();
  await dialog.getByLabel("Task").fill("Find a title");
  await dialog.getByRole("combobox", { name: "Assignee" }).click();
  await page.getByRole("option", { name: /^Editor/ }).click();
  expect(await app.accessibilityViolations()).toEqual([]);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(toDo).toContainText("Find a title");
  await expect(plan.getByRole("list", { name: "Plan changes" })).toContainText("A person added 1 task");

  for (const title of ["Draft the text", "Shorten the text", "Find a title"]) {
    const question = page.getByRole("region", { name: `Question: Start "${title}"?` });
    await page.getByText(`Start "${title}"?`).first().waitFor();
    await openQuestion(page, question);
    await question.getByRole("button", { name: "Approve", exact: true }).click();
    await expect(question).toBeHidden();
  }
  await app.run.expectEnd("Completed");
  await openView(page, crew, "Plan");
  await expect(plan.getByRole("region", { name: "Finished" })).toContainText("Find a title");
  await expect(plan.getByRole("button", { name: "Add task" })).toBeHidden();
});
