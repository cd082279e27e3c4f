import { readFileSync } from "node:fs";
import { api, expect, test } from "./app";

/** Deletes roles that an earlier attempt left behind. */
async function withoutRoles(...names: string[]) {
  for (const name of names)
    await api("DELETE", `/roles/${encodeURIComponent(name)}?force=true`).catch(() => {});
}

test("a role edited in the form changes what the next run tells the model", async ({ app, page }) => {
  await withoutRoles("Copyist");
  await api("POST", "/roles", { name: "Copyist", description: "Copies texts." });
  await app.open("/roles?role=Copyist");
  await page.getByLabel("Description", { exact: true }).fill("Copies texts with a goose quill.");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Saved “Copyist”")).toBeVisible();

  const { id } = await api<{ id: string }>("POST", "/workflows", {
    graph_id: "copy",
    nodes: {
      start: { id: "start", node_type: "start", output_keys: ["text"] },
      copy: {
        id: "copy",
        node_type: "agent_task",
        name: "Copy",
        config: { required_role: "Copyist", task_description_template: "Copy {{text}}." },
        input_keys: ["text"],
        output_keys: ["copied"],
      },
      end: { id: "end", node_type: "end", input_keys: ["copied"] },
    },
    edges: [
      { id: "a", source_node_id: "start", target_node_id: "copy" },
      { id: "b", source_node_id: "copy", target_node_id: "end" },
    ],
    start_node_id: "start",
  });
  const { run_id } = await api<{ run_id: string }>("POST", `/workflows/${id}/runs`, {
    input: { text: "a line" },
  });
  await expect
    .poll(async () => JSON.stringify(await api("GET", `/runs/${run_id}/events?after=0`)), { timeout: 20_000 })
    .toContain("goose quill");
});

test("a guardrail made in the form of a role holds in a run", async ({ app, page }) => {
  await withoutRoles("Terse");
  await api("POST", "/roles", { name: "Terse" });
  await app.open("/roles?role=Terse");
  const rules = page.getByRole("group", { name: "Guardrails", exact: true });
  await rules.getByRole("button", { name: "Add a guardrail" }).click();
  await rules.getByLabel("Name", { exact: true }).fill("Short");

  // One that is not finished keeps the role from being saved, and says where.
  await page.getByLabel("Description", { exact: true }).fill("Says little.");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(rules.getByText(/^Say what must be true\./)).toBeVisible();
  await rules.getByLabel("How", { exact: true }).click();
  await page.getByRole("option", { name: "By a pattern" }).click();
  await rules.getByLabel("Pattern", { exact: true }).fill("^(\\w+");
  await expect(rules.getByText(/^This is no pattern yet/)).toBeVisible();
  await rules.getByLabel("Pattern", { exact: true }).fill("(?<=a)b");
  await expect(rules.getByText(/^This pattern is tried in the sandbox/)).toBeVisible();
  await rules.getByLabel("Pattern", { exact: true }).fill("^.{1,9}$");
  await expect(
    rules.getByText("Its answer: matches ^.{1,9}$; else it tries again, 2 times at most"),
  ).toBeVisible();
  expect(await app.accessibilityFaults()).toEqual([]);

  await rules.getByRole("button", { name: "Add a guardrail" }).click();
  const second = rules.getByRole("group", { name: "Guardrail rule", exact: true });
  await second.getByRole("textbox", { name: "What must be true" }).fill("output.copied != 'bee'");
  await second.getByLabel("If it does not hold", { exact: true }).click();
  await page.getByRole("option", { name: "It is only noted" }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Saved “Terse”")).toBeVisible();
  await page.reload();
  await expect(rules.getByText("Its answer: output.copied != 'bee'; else it is noted")).toBeVisible();

  const { id } = await api<{ id: string }>("POST", "/workflows", {
    graph_id: "terse",
    nodes: {
      start: { id: "start", node_type: "start", output_keys: ["text"] },
      copy: {
        id: "copy",
        node_type: "agent_task",
        name: "Copy",
        config: { required_role: "Terse", task_description_template: "Copy {{text}}" },
        input_keys: ["text"],
        output_keys: ["copied"],
      },
      end: { id: "end", node_type: "end", input_keys: ["copied"] },
    },
    edges: [
      { id: "a", source_node_id: "start", target_node_id: "copy" },
      { id: "b", source_node_id: "copy", target_node_id: "end" },
    ],
    start_node_id: "start",
  });
  const { run_id } = await api<{ run_id: string }>("POST", `/workflows/${id}/runs`, {
    input: { text: "[[offline: text much too long for this]] [[offline: text bee]]" },
  });
  await app.open(`/workflows/${id}/runs/${run_id}`);
  await app.run.expectEnd("Completed");
  await page.getByRole("tab", { name: "Timeline" }).click();
  const story = page.getByRole("region", { name: "Events" });
  await expect(
    story.getByRole("button", { name: /^The check “Short” did not pass: .*It will be tried again/ }),
  ).toBeVisible();
  await expect(
    story.getByRole("button", { name: /^The check “rule” did not pass: .*It goes on with a warning/ }),
  ).toBeVisible();
  expect(JSON.stringify(await api("GET", `/runs/${run_id}`))).toContain('"copied":"bee"');
});

test("changes that are not saved are not lost by a wrong click", async ({ app, page }) => {
  await withoutRoles("Careful");
  await api("POST", "/roles", { name: "Careful" });
  await app.open("/roles?role=Careful");
  await page.getByLabel("Description", { exact: true }).fill("Half a thought");
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("Discard the changes to “Careful”?");
  await question.getByRole("button", { name: "Keep editing" }).click();
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("option", { name: "Runs" }).click();
  await question.getByRole("button", { name: "Keep editing" }).click();
  await expect(page.getByLabel("Description", { exact: true })).toHaveValue("Half a thought");
  await page.keyboard.press("ControlOrMeta+s");
  await expect(page.getByText("Saved “Careful”")).toBeVisible();
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
});

test("a step back or forward with changes that are not saved asks first, and then goes where it was meant to", async ({
  app,
  page,
}) => {
  await withoutRoles("Careful", "Careful copy");
  await api("POST", "/roles", { name: "Careful" });
  const roles = page.getByRole("list", { name: "Roles" });
  await app.open("/roles");
  await roles.getByRole("link", { name: /^ApprovalAgent/ }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("ApprovalAgent");
  await roles.getByRole("link", { name: /^Careful/ }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Careful");
  await page.getByLabel("Description", { exact: true }).fill("Half a thought");

  const question = page.getByRole("alertdialog");
  for (let time = 0; time < 2; time++) {
    await page.goBack();
    await expect(question).toContainText("Discard the changes to “Careful”?");
    await question.getByRole("button", { name: "Keep editing" }).click();
    await expect(page).toHaveURL(/role=Careful$/);
    await expect(page.getByLabel("Description", { exact: true })).toHaveValue("Half a thought");
  }

  // A copy is of what is saved; what is not saved stays here until it is given up.
  await page.getByRole("button", { name: "Actions for Careful" }).click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await question.getByRole("button", { name: "Keep editing" }).click();
  await expect(page.getByLabel("Description", { exact: true })).toHaveValue("Half a thought");

  await page.goBack();
  await question.getByRole("button", { name: "Discard changes" }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("ApprovalAgent");
  await page.getByLabel("Description", { exact: true }).fill("Another half");
  await page.goForward();
  await question.getByRole("button", { name: "Discard changes" }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Careful");
  await expect(page.getByLabel("Description", { exact: true })).toHaveValue("");
  await page.goBack();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("ApprovalAgent");
  await page.goBack();
  await expect(page.getByText("Choose a role", { exact: true })).toBeVisible();
});

test("two people who edit the same role do not overwrite each other unseen", async ({
  app,
  page,
  context,
}) => {
  await withoutRoles("Shared");
  await api("POST", "/roles", { name: "Shared", description: "As it was" });
  await app.open("/roles?role=Shared");
  const other = await context.newPage();
  await other.goto("/roles?role=Shared");
  await other.getByLabel("Description", { exact: true }).fill("Theirs");
  await other.getByRole("button", { name: "Save", exact: true }).click();
  await expect(other.getByText("Saved “Shared”")).toBeVisible();

  await page.getByLabel("Description", { exact: true }).fill("Mine");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("This role was changed in another place.")).toBeVisible();
  await page.getByRole("button", { name: "Load the other version" }).click();
  await expect(page.getByLabel("Description", { exact: true })).toHaveValue("Theirs");
});

test("a new name reaches the workflows that use the role, and a used role is guarded against deletion", async ({
  app,
  page,
}) => {
  await withoutRoles("Old name", "New name");
  await api("POST", "/roles", { name: "Old name" });
  const { id } = await api<{ id: string }>("POST", "/workflows", {
    name: "Names a role",
    graph_id: "names_a_role",
    nodes: {
      start: { id: "start", node_type: "start" },
      work: {
        id: "work",
        node_type: "agent_task",
        name: "Work",
        config: { required_role: "Old name", task_description_template: "Work." },
        output_keys: ["work"],
      },
    },
    edges: [{ id: "a", source_node_id: "start", target_node_id: "work" }],
  });
  await app.open("/roles?role=Old%20name");
  await expect(page.getByRole("link", { name: "Names a role 1 node" })).toBeVisible();
  await page.getByLabel("Name", { exact: true }).fill("New name");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page).toHaveURL(/role=New/);
  expect(JSON.stringify(await api("GET", `/workflows/${id}`))).toContain('"required_role":"New name"');

  await page.getByRole("button", { name: "Actions for New name" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("Names a role");
  await question.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("New name");
});

test("roles go to a YAML file and come back from it", async ({ app, page }) => {
  await withoutRoles("Traveller");
  await api("POST", "/roles", { name: "Traveller", goals: ["See the world"] });
  await app.open("/roles?role=Traveller");
  await page.getByRole("button", { name: "Actions for Traveller" }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Export as YAML" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe("traveller.yaml");
  const file = await download.path();
  expect(readFileSync(file, "utf8")).toContain("See the world");

  await page.getByRole("button", { name: "Actions for Traveller" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await expect(page.getByText("Deleted “Traveller”")).toBeVisible();
  await expect(
    page.getByRole("list", { name: "Roles" }).getByRole("link", { name: /Traveller/ }),
  ).toBeHidden();

  await page.getByRole("button", { name: "Import roles" }).click();
  const dialog = page.getByRole("dialog", { name: "Import roles" });
  await dialog.getByLabel("Choose a file").setInputFiles(file);
  await expect(dialog.getByText("New", { exact: true })).toBeVisible();
  await dialog.getByRole("button", { name: "Import 1 role" }).click();
  await page
    .getByRole("list", { name: "Roles" })
    .getByRole("link", { name: /Traveller/ })
    .click();
  await expect(page.getByLabel("Goals, goal 1")).toHaveValue("See the world");
});
