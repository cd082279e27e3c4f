import type { Locator, Page } from "@playwright/test";
import { api, expect, openQuestion, overflow, saved, settings, test } from "./support/app";
import { agent, edge, end, file, start } from "./support/run-graphs";

const place = (column: number) => ({ ui: { x: column * 280, y: 0 } });

/** Greets a name in the words of its node "Greet". */
const greeting = {
  graph_id: "greeting",
  start_node_id: "start",
  nodes: {
    start: { id: "start", node_type: "start", name: "Start", output_keys: ["name"], ...place(0) },
    greet: {
      id: "greet",
      node_type: "transform",
      name: "Greet",
      config: { set: { text: '"Hello, " + state.name' } },
      output_keys: ["text"],
      ...place(1),
    },
    end: { id: "end", node_type: "end", name: "End", input_keys: ["text"], ...place(2) },
  },
  edges: [
    { id: "a", source_node_id: "start", target_node_id: "greet" },
    { id: "b", source_node_id: "greet", target_node_id: "end" },
  ],
};

interface Run {
  status: string;
  workflow_version: number | null;
  output: { text?: string } | null;
}

const outputOf = async (run_id: string): Promise<string | undefined> => {
  await expect
    .poll(async () => (await api<Run>("GET", `/runs/${run_id}`)).status, { timeout: 15_000 })
    .toBe("finished");
  return (await api<Run>("GET", `/runs/${run_id}`)).output?.text;
};

/** Posts to a webhook as its sender would; answers the run. */
async function deliver(url: string, body: object, id: string): Promise<string> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "webhook-id": id },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(202);
  return ((await response.json()) as { run_id: string }).run_id;
}

/** Adds a webhook; answers its address. */
const newWebhook = async (workflow: string) =>
  (await api<{ url: string }>("POST", `/workflows/${workflow}/triggers`, { kind: "webhook", config: {} }))
    .url;

/** The action of a trigger in the settings of the start node. */
async function chooseForTrigger(page: Page, trigger: string, action: string): Promise<void> {
  await settings(page)
    .getByRole("button", { name: `More: ${trigger}` })
    .click();
  await page.getByRole("menuitem", { name: action }).click();
}

async function enterExpression(page: Page, expression: string): Promise<void> {
  await settings(page).getByRole("textbox", { name: "Expression for text" }).click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(expression);
  await saved(page);
}

async function openVersions(page: Page): Promise<Locator> {
  await page
    .getByRole("toolbar", { name: "Editor toolbar" })
    .getByRole("button", { name: "More", exact: true })
    .click();
  await page.getByRole("menuitem", { name: "Versions" }).click();
  return page.getByRole("dialog", { name: "Versions" });
}

test("a broken published version is compared with the one before it, and rolled back for the next delivery", async ({
  app,
  page,
}) => {
  const id = await app.openWorkflow(greeting);
  const url = await newWebhook(id);
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  const publishing = page.getByRole("dialog", { name: "Publish" });
  await publishing.getByLabel("Note").fill("Polite");
  await publishing.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByRole("button", { name: "Version 1", exact: true })).toBeVisible();
  expect(await outputOf(await deliver(url, { name: "Ann" }, "one"))).toBe("Hello, Ann");

  await app.canvas.card("Greet").click();
  await settings(page).getByLabel("Name", { exact: true }).fill("Insult");
  await enterExpression(page, '"Go away, " + state.name');
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  const changes = page.getByRole("dialog", { name: "Publish version 2" });
  await expect(changes.getByRole("list", { name: "Changes" })).toContainText("Go away");
  expect(await app.accessibilityViolations()).toEqual([]);
  await changes.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByRole("button", { name: "Version 2", exact: true })).toBeVisible();
  expect(await outputOf(await deliver(url, { name: "Ann" }, "two"))).toBe("Go away, Ann");

  const versions = await openVersions(page);
  await versions.getByRole("button", { name: /^Version 1/ }).click();
  await versions.getByRole("button", { name: "Show on canvas" }).click();
  await page.getByRole("button", { name: /^Compared with version 1: .*1 changed/ }).click();
  await versions.getByRole("button", { name: /^Version 1/ }).click();
  await versions.getByRole("button", { name: "Roll back" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Roll back" }).click();
  await expect(page.getByText("Version 1 is published again", { exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Version 3", exact: true })).toBeVisible();
  await expect(app.canvas.card("Greet")).toBeVisible();
  const third = await deliver(url, { name: "Ann" }, "three");
  expect(await outputOf(third)).toBe("Hello, Ann");
  expect((await api<Run>("GET", `/runs/${third}`)).workflow_version).toBe(3);
});

test("a webhook is added at the start, and a delivery runs the published version once", async ({
  app,
  page,
}) => {
  const id = await app.openWorkflow(greeting);
  await api("POST", `/workflows/${id}/versions`, {});
  await app.canvas.card("Start").click();
  await settings(page).getByRole("button", { name: "Add trigger" }).click();
  await page.getByRole("menuitem", { name: "Webhook" }).click();
  await page.getByRole("dialog", { name: "Webhook" }).getByRole("button", { name: "Add trigger" }).click();
  const shown = page.getByRole("dialog", { name: "Copy the address now" });
  const url = await shown.getByRole("code").first().innerText();
  await shown.getByRole("button", { name: "Done" }).click();
  // The focus is where the dialog was opened.
  await expect(settings(page).getByRole("button", { name: "Add trigger" })).toBeFocused();

  const run = await deliver(url, { name: "Ann" }, "one");
  expect(await outputOf(run)).toBe("Hello, Ann");
  expect(await deliver(url, { name: "Ann" }, "one")).toBe(run);
  expect((await api<Run>("GET", `/runs/${run}`)).workflow_version).toBe(1);

  await chooseForTrigger(page, "Webhook", "History");
  const history = page.getByRole("dialog", { name: "Trigger history" });
  await expect(history.getByRole("listitem")).toHaveCount(1);
  await expect(history.getByRole("listitem")).toContainText("Started");
  expect(await app.accessibilityViolations()).toEqual([]);
  await page.keyboard.press("Escape");

  // Switched off by its card, it refuses.
  await page.getByRole("button", { name: "Trigger: Webhook" }).click();
  await expect(page.getByRole("dialog", { name: "Edit webhook" })).toBeVisible();
  await page.keyboard.press("Escape");
  await settings(page).getByRole("switch", { name: "Webhook: on" }).click();
  await expect(page.getByRole("button", { name: "Trigger: Webhook (Off)" })).toBeVisible();
  expect((await fetch(url, { method: "POST" })).status).toBe(404);

  await settings(page).getByRole("switch", { name: "Webhook: on" }).click();
  await expect(page.getByRole("button", { name: "Trigger: Webhook", exact: true })).toBeVisible();
  await chooseForTrigger(page, "Webhook", "History");
  await history.getByRole("link", { name: "Open run" }).click();
  await app.run.expectEnd("Completed");
});

test("a schedule is added, changed by its card, tested, and backfilled to finished runs", async ({
  app,
  page,
}) => {
  await app.openWorkflow(greeting);
  await app.canvas.card("Start").click();
  await settings(page).getByRole("button", { name: "Add trigger" }).click();
  await page.getByRole("menuitem", { name: "Schedule" }).click();
  const dialog = page.getByRole("dialog", { name: "Schedule" });
  await dialog.getByLabel("Time zone").fill("Europe/Berlin");
  await dialog.getByRole("button", { name: "Add trigger" }).click();
  await expect(dialog.getByLabel("name")).toHaveAccessibleDescription(/Required/);
  await dialog.getByLabel("name").fill("Ben");
  await dialog.getByRole("button", { name: "Add trigger" }).click();
  await page.getByRole("button", { name: "Trigger: Every day at 09:00, Europe/Berlin" }).click();
  const edited = page.getByRole("dialog", { name: "Edit schedule" });
  await edited.getByLabel("Time", { exact: true }).fill("25:00");
  await edited.getByRole("button", { name: "Save" }).click();
  await expect(edited.getByLabel("Time", { exact: true })).toHaveAccessibleDescription(
    "Use a time such as 09:00",
  );
  await expect(edited.getByLabel("Time zone")).toHaveValue("Europe/Berlin");
  await edited.getByLabel("Time", { exact: true }).fill("10:30");
  await edited.getByRole("button", { name: "Save" }).click();
  const name = "Every day at 10:30, Europe/Berlin";
  await expect(page.getByRole("button", { name: `Trigger: ${name}` })).toBeVisible();

  await chooseForTrigger(page, name, "Test");
  const testing = page.getByRole("dialog", { name: "Test trigger" });
  await expect(testing.getByLabel("name")).toHaveValue("Ben");
  await testing.getByRole("button", { name: "Start test" }).click();
  await expect(page.getByText("Started a test run", { exact: true })).toBeVisible();

  await chooseForTrigger(page, name, "History");
  const history = page.getByRole("dialog", { name: "Trigger history" });
  await expect(history.getByRole("region", { name: "Next runs" }).getByRole("listitem")).toHaveCount(5);
  await history.getByRole("button", { name: "Backfill…" }).click();
  const backfill = page.getByRole("dialog", { name: "Backfill" });
  await backfill.getByLabel("From").fill("2026-01-05T00:00");
  await backfill.getByLabel("Before").fill("2026-01-04T00:00");
  await expect(backfill.getByRole("status")).toHaveText("Choose a start before the end.");
  await backfill.getByLabel("Before").fill("2026-01-08T00:00");
  await expect(backfill.getByRole("status")).toHaveText("3 planned times without a run");
  expect(await app.accessibilityViolations()).toEqual([]);
  await backfill.getByRole("button", { name: "Start 3 runs" }).click();
  await expect(page.getByText("Queued 3 runs", { exact: true })).toBeVisible();
  const fires = history.getByRole("list", { name: "Fires, newest first" }).getByRole("listitem");
  await expect(fires.filter({ hasText: "Started" })).toHaveCount(4);
  await fires.last().getByRole("link", { name: "Open run" }).click();
  await app.run.expectEnd("Completed");
  expect(await outputOf(app.run.id)).toBe("Hello, Ben");
});

/** Asks a person, then answers a text. */
const asking = (text: string) =>
  file(
    "Child",
    [
      start(["name"]),
      {
        id: "gate",
        node_type: "approval_gate",
        name: "Check",
        config: { options: ["Go on"] },
        ui: { x: 320, y: 0 },
      },
      {
        id: "greet",
        node_type: "transform",
        name: "Greet",
        config: { set: { text: `"${text}, " + state.name` } },
        output_keys: ["text"],
        ui: { x: 640, y: 0 },
      },
      end("end", "End", 3, 0, { input_keys: ["text"] }),
    ],
    [edge("start", "gate"), edge("gate", "greet", "Go on"), edge("greet", "end")],
  );

test("a sub-workflow that waits keeps its version, and the next run uses the newly published one", async ({
  app,
  page,
}) => {
  const { id: child } = await api<{ id: string }>("POST", "/workflows", asking("Old"));
  await api("POST", `/workflows/${child}/versions`, {});
  const call = { workflow_id: child, input: { name: "state.name" } };
  const { id: parent } = await api<{ id: string }>(
    "POST",
    "/workflows",
    file(
      "Parent",
      [
        start(["name"]),
        {
          id: "call",
          node_type: "sub_workflow",
          name: "Call",
          config: call,
          output_keys: ["text"],
          ui: { x: 320, y: 0 },
        },
        end("end", "End", 2, 0, { input_keys: ["text"] }),
      ],
      [edge("start", "call"), edge("call", "end")],
    ),
  );
  const begin = async () =>
    (await api<{ run_id: string }>("POST", `/workflows/${parent}/runs`, { input: { name: "Ann" } })).run_id;
  const waiting = async (run: string) => {
    const children = async () => (await api<{ runs: { id: string }[] }>("GET", `/runs/${run}/children`)).runs;
    await expect.poll(children).toHaveLength(1);
    return (await children())[0]?.id;
  };
  const finish = async (run: string) => {
    await app.open(`/runs/${await waiting(run)}`);
    const answer = page.getByRole("button", { name: "Go on", exact: true });
    await openQuestion(page, answer);
    await answer.click();
    await app.run.expectEnd("Completed");
    return outputOf(run);
  };
  const first = await begin();
  await waiting(first);
  await app.open(`/workflows/${child}`);
  await app.canvas.card("Greet").click();
  await enterExpression(page, '"New, " + state.name');
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page
    .getByRole("dialog", { name: "Publish version 2" })
    .getByRole("button", { name: "Publish" })
    .click();
  await expect(page.getByRole("button", { name: "Version 2", exact: true })).toBeVisible();
  expect(await finish(first)).toBe("Old, Ann");
  expect(await finish(await begin())).toBe("New, Ann");
});

test("a token that may only read one workflow is refused to run it, and does not find another", async ({
  app,
  page,
  request,
  baseURL,
}) => {
  const [{ id: own }, { id: other }] = (await Promise.all(
    ["Own", "Other"].map((name) =>
      api<{ id: string }>("POST", "/workflows", { ...greeting, name, graph_id: name }),
    ),
  )) as [{ id: string }, { id: string }];
  await app.open("/settings");
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: "Create token" });
  await dialog.getByLabel("Name").fill("Reader");
  await dialog.getByRole("checkbox", { name: "Run", exact: true }).uncheck();
  await dialog.getByRole("switch", { name: "All workflows" }).click();
  await expect(dialog.getByRole("button", { name: "Create token" })).toBeDisabled();
  await dialog.getByRole("checkbox", { name: "Own", exact: true }).check();
  expect(await app.accessibilityViolations()).toEqual([]);
  await dialog.getByRole("button", { name: "Create token" }).click();
  const shown = page.getByRole("dialog", { name: "Copy the token now" });
  const token = await shown.getByRole("code").innerText();
  await shown.getByRole("button", { name: "Done" }).click();
  await expect(
    page.getByRole("list", { name: "API tokens" }).getByRole("listitem").filter({ hasText: "Reader" }),
  ).toContainText("Read; 1 workflow; expires on");

  const headers = { authorization: `Bearer ${token}` };
  const at = (where: string) => `${baseURL}/api/v1/workflows${where}`;
  const status = async (where: string) => (await request.get(at(where), { headers })).status();
  expect(await status(`/${own}`)).toBe(200);
  expect(await status(`/${other}`)).toBe(404);
  const run = await request.post(at(`/${own}/runs`), { headers, data: { input: { name: "Ann" } } });
  expect(run.status()).toBe(403);
  expect(await run.text()).toContain("run");
  const foreign = await request.post(at(`/${other}/runs`), { headers, data: { input: { name: "Ann" } } });
  expect([403, 404]).toContain(foreign.status());
  const { workflows } = (await (await request.get(at(""), { headers })).json()) as {
    workflows: { id: string }[];
  };
  expect(workflows.map(({ id }) => id)).toEqual([own]);
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("a draft is published, and the next delivery runs it", async ({ app, page }) => {
    const id = await app.openWorkflow(greeting);
    const url = await newWebhook(id);
    const versions = await openVersions(page);
    await expect(versions).toContainText("Nothing is published yet");
    expect(await app.accessibilityViolations()).toEqual([]);
    await versions.getByRole("button", { name: "Publish draft" }).tap();
    const publishing = page.getByRole("dialog", { name: "Publish" });
    await publishing.getByLabel("Note").fill("From a train");
    await publishing.getByRole("button", { name: "Publish", exact: true }).tap();
    await expect(versions.getByRole("list", { name: "Published versions" })).toContainText("From a train");
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    const run = await deliver(url, { name: "Ann" }, "one");
    expect(await outputOf(run)).toBe("Hello, Ann");
    expect((await api<Run>("GET", `/runs/${run}`)).workflow_version).toBe(1);
  });
});

/** Greets Ann specially; others by the words of a model. */
const writing = (task: string) =>
  file(
    "Writes",
    [start(["name"]), agent("text", "Write", task, 1), end("end", "End", 2, 0, { input_keys: ["text"] })],
    [edge("start", "text"), edge("text", "end")],
  );

test("deliveries are replayed on the draft side by side, and models are asked only after a question", async ({
  app,
  page,
}) => {
  const replayOf = async (workflow: string, name: string) => {
    const history = page.getByRole("dialog", { name: "Trigger history" });
    await app.open(`/workflows/${workflow}`);
    await app.canvas.card(name).click();
    await chooseForTrigger(page, "Webhook", "History");
    await history.getByRole("button", { name: "Replay on draft" }).click();
    return page.getByRole("dialog", { name: "Replay on draft" });
  };
  const id = (await api<{ id: string }>("POST", "/workflows", greeting)).id;
  await api("POST", `/workflows/${id}/versions`, {});
  const url = await newWebhook(id);
  for (const name of ["Ann", "Ben"]) await outputOf(await deliver(url, { name }, name));
  const special = structuredClone(greeting);
  special.nodes.greet.config.set.text = 'state.name == "Ann" ? "Dear Ann" : "Hello, " + state.name';
  await api("PUT", `/workflows/${id}`, special);
  const replay = await replayOf(id, "Start");
  const [ben, ann] = [0, 1].map((at) => replay.getByRole("listitem").nth(at)) as [Locator, Locator];
  await expect(ben).toContainText("Same");
  await expect(ann).toContainText("Different");
  await expect(ann.getByRole("region", { name: "Recorded", exact: true })).toContainText("Hello, Ann");
  await expect(ann.getByRole("region", { name: "Draft", exact: true })).toContainText("Dear Ann");
  await expect(replay.getByRole("button", { name: "Replay with models" })).toBeHidden();
  expect(await app.accessibilityViolations()).toEqual([]);

  const first = '[[offline: json {"text": "First."}]]';
  const { id: model } = await api<{ id: string }>("POST", "/workflows", writing(first));
  await outputOf(await deliver(await newWebhook(model), { name: "Ann" }, "one"));
  await api("PUT", `/workflows/${model}`, writing(first.replace("First", "Second")));
  const asked = await replayOf(model, "Begin");
  await expect(asked.getByRole("listitem")).toContainText("New calls");
  await expect(asked.getByRole("region", { name: "Draft", exact: true })).toHaveCount(0);
  await asked.getByRole("textbox", { name: "Cost limit" }).fill("2");
  await asked.getByRole("button", { name: "Replay with models" }).click();
  await expect(asked.getByRole("region", { name: "Draft", exact: true })).toContainText("Second.");
  await expect(asked.getByRole("status")).toContainText("Spent $0");
});
