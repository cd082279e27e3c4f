import type { Locator, Page } from "@playwright/test";
import { type App, expect, test } from "./app";
import { agent, edge, end, file, start } from "./run-graphs";

// Each way of working is a template that runs on the offline demo; here a person watches it.

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

/** Opens the crew of a node, where it stands on the drawing. */
async function openCrew(page: Page, node: string): Promise<Locator> {
  await page.getByRole("button", { name: `Open the crew of ${node}` }).click();
  const crew = page.getByRole("region", { name: `Crew of ${node}` });
  await expect(crew.getByRole("listitem").first()).toBeVisible();
  return crew;
}

/** One of the views of an open crew, which the panel beside the drawing shows. */
async function look(page: Page, crew: Locator, view: string): Promise<Locator> {
  await crew.getByRole("button", { name: new RegExp(`^${view}\\s?\\d*$`) }).click();
  return page
    .getByRole("complementary", { name: "About this run" })
    .getByRole("tabpanel", { name: new RegExp(`^${view}`) });
}

test("a customer's letter is handed over from the front desk to billing", async ({ app, page }) => {
  await play(app, page, "Support desk");
  const crew = await openCrew(page, "Support");
  await expect(crew.getByRole("button", { name: "Front desk to Billing: hands over" })).toBeVisible();
  await app.run.expectEnd("Completed");
  await expect(crew.getByRole("button", { name: /^Billing/ })).toContainText("Done");
  await expect(crew.getByRole("button", { name: /^Technical/ })).toContainText("Idle");
  expect(await app.accessibilityFaults()).toEqual([]);

  await crew.getByRole("button", { name: "Fold the crew" }).click();
  await expect(crew).toBeHidden();
});

test("a manager sends each of its crew and nobody talks past it", async ({ app, page }) => {
  await play(app, page, "Data analysis with a manager");
  const crew = await openCrew(page, "Analyse");
  await expect(crew.getByRole("button", { name: /^Manager to \w+: writes$/ }).first()).toBeVisible();
  await app.run.expectEnd("Completed");
  const messages = (await look(page, crew, "Messages"))
    .getByRole("list", { name: "Messages" })
    .getByRole("listitem");
  // Three workers are written to and answer, then the manager answers.
  await expect(messages).toHaveCount(7);
  for (const message of await messages.all()) await expect(message).toContainText("Manager");
  const board = await look(page, crew, "Board");
  await expect(board.getByRole("list", { name: "Board" })).toContainText("Plan:");
  await expect(board.getByRole("region", { name: "How the manager sees it" })).toContainText(
    "Is the request satisfied?Yes",
  );
});

test("a crew votes in two rounds, and the drawing shows how it came out", async ({ app, page }) => {
  await play(app, page, "Decide together");
  const crew = await openCrew(page, "Vote");
  await expect(crew.getByRole("button", { name: /to the proposal: votes/ }).first()).toBeVisible();
  await app.run.expectEnd("Completed");
  await expect(
    crew.getByRole("button", { name: "Analyst to the proposal: votes against, then for" }),
  ).toBeVisible();
  await expect(await look(page, crew, "Votes")).toContainText("round 2");
});

test("a team works side by side and meets where its lead brings the work together", async ({ app, page }) => {
  await play(app, page, "Development team");
  const crew = await openCrew(page, "Design and build");
  const plan = await look(page, crew, "Plan");
  await expect(plan.getByText("8 of 8 tasks done")).toBeVisible({ timeout: 30_000 });
  await plan.getByRole("radio", { name: "By dependency" }).click();
  await expect(plan.getByRole("region", { name: "Plan as a graph" })).toBeVisible();
  await app.run.expectEnd("Completed");
});

test("a review cycle follows its own pattern until the reviewer is content", async ({ app, page }) => {
  await play(app, page, "Code review cycle");
  const crew = await openCrew(page, "Code, review, test");
  await app.run.expectEnd("Completed");
  await expect(crew.getByRole("button", { name: "Reviewer to Coder: reject" })).toBeVisible();
  await expect(crew.getByRole("button", { name: "Tester to The requester: ready" })).toBeVisible();
  const cost = await look(page, crew, "Cost");
  await expect(cost.getByRole("row", { name: /^Reviewer/ })).toBeVisible();
});

test("a research crew passes results on, and its search can be read call by call", async ({ app, page }) => {
  await play(app, page, "Research crew");
  const crew = await openCrew(page, "Research");
  await app.run.expectEnd("Completed");
  await expect(crew.getByRole("button", { name: /^Scout to Writer: passes on/ })).toBeVisible();
  await crew.getByRole("button", { name: /^Scout(?! to)/ }).click();
  const about = page.getByRole("region", { name: "About Scout" });
  await about.getByText(/^Search for what is known/).click();
  await expect(about).toContainText("web_search");
});

test("a crew opens in place: neighbours move aside, keys walk among its members, and Escape folds it", async ({
  app,
  page,
}) => {
  await play(app, page, "Support desk");
  await app.run.expectEnd("Completed");
  const card = page.getByRole("article", { name: "Support", exact: true });
  const next = page.getByRole("article", { name: "Reply", exact: true });
  const gap = async () => {
    const [from, to] = [await card.boundingBox(), await next.boundingBox()];
    return from && to && Math.round((to.x - from.x - from.width) / 10) >= 1;
  };
  await card.focus();
  await page.keyboard.press("Enter");
  const crew = page.getByRole("region", { name: "Crew of Support" });
  await expect(crew).toBeFocused();
  // The next card stands beside it, not on it.
  await expect.poll(gap).toBe(true);
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

test("a crew that is over can be seen as it was before it began", async ({ app, page }) => {
  await play(app, page, "Support desk");
  await app.run.expectEnd("Completed");
  const crew = await openCrew(page, "Support");
  const time = page.getByRole("slider", { name: "Moment of the run" });
  await time.focus();
  await time.press("End");
  await expect(crew.getByRole("button", { name: "Front desk to Billing: hands over" })).toBeVisible();
  for (let step = 0; step < 40; step++) await time.press("ArrowLeft");
  await expect(crew.getByRole("button", { name: "Front desk to Billing: hands over" })).toBeHidden();
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

test("a tool that needs agreement waits for a person, who sees exactly what it would do", async ({
  app,
  page,
}) => {
  await app.openWorkflow(keeper("Written."));
  await app.run.start({ topic: "tea" });
  await page.getByRole("button", { name: "Look and answer" }).click();
  const question = page.getByRole("region", { name: "Question: Keeper wants to use file_write" });
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

test("a declined call is told to the agent with the reason, and nothing is written", async ({
  app,
  page,
}) => {
  await app.openWorkflow(keeper("Then not."));
  await app.run.start({ topic: "tea" });
  await page.getByRole("button", { name: "Look and answer" }).click();
  const question = page.getByRole("region", { name: "Question: Keeper wants to use file_write" });
  await question.getByRole("button", { name: "Reject…" }).click();
  await question.getByRole("textbox").fill("not on paper");
  await question.getByRole("button", { name: "Reject", exact: true }).click();
  await app.run.expectEnd("Completed");
  await expect(page.getByRole("tab", { name: /^Files/ })).toBeHidden();
  await app.canvas.select("Note it");
  await expect(page.getByText(/A person declined this call: not on paper/).first()).toBeVisible();
});

test("a person changes the plan while the crew is at work, and the crew follows it", async ({
  app,
  page,
}) => {
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
  const plan = await look(page, crew, "Plan");
  const toDo = plan.getByRole("region", { name: "To do" });
  const dialog = page.getByRole("dialog");

  await toDo.getByRole("button", { name: /Print the text/ }).click();
  await plan.getByRole("button", { name: "Change", exact: true }).click();
  await dialog.getByRole("button", { name: "Take it out" }).click();
  await expect(plan.getByRole("region", { name: "Finished" })).toContainText("Print the text");

  await toDo.getByRole("button", { name: /Polish the text/ }).click();
  await plan.getByRole("button", { name: "Change", exact: true }).click();
  await dialog.getByLabel("What is to be done").fill("Shorten the text");
  await dialog.getByRole("combobox", { name: "Who does it" }).click();
  await page.getByRole("option", { name: /^Writer/ }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(toDo).toContainText("Shorten the text");

  await plan.getByRole("button", { name: "Add a task" }).click();
  await dialog.getByLabel("What is to be done").fill("Find a title");
  await dialog.getByRole("combobox", { name: "Who does it" }).click();
  await page.getByRole("option", { name: /^Editor/ }).click();
  expect(await app.accessibilityFaults()).toEqual([]);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(toDo).toContainText("Find a title");
  await expect(plan.getByRole("list", { name: "Changes of the plan" })).toContainText(
    "A person added 1 task",
  );

  for (const title of ["Draft the text", "Shorten the text", "Find a title"]) {
    const question = page.getByRole("region", { name: `Question: Begin "${title}"?` });
    await page.getByText(`Begin "${title}"?`).first().waitFor();
    if (!(await question.isVisible())) await page.getByRole("button", { name: "Look and answer" }).click();
    await question.getByRole("button", { name: "Approve", exact: true }).click();
    await expect(question).toBeHidden();
  }
  await app.run.expectEnd("Completed");
  await look(page, crew, "Plan");
  await expect(plan.getByRole("region", { name: "Finished" })).toContainText("Find a title");
  await expect(plan.getByRole("button", { name: "Add a task" })).toBeHidden();
});
