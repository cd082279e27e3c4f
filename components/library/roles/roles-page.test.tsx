import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { EditorView } from "@codemirror/view";
import { act, screen, waitFor, within } from "@testing-library/react";
import { expect, onTestFinished, test, vi } from "vitest";
import { openPage } from "@/components/testing/page";
import { RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import { RolesPage } from "./roles-page";

const name = () => screen.findByLabelText<HTMLInputElement>("Name");

test("a new role is created field by field, and its prompt preview follows the form", async () => {
  const { person, show, ask } = openPage(<RolesPage />, "/roles?new=1");
  show();
  await person.click(await screen.findByRole("button", { name: "Create role" }));
  await screen.findByText("A role needs a name");
  expect(document.activeElement).toBe(await name());

  await person.type(await name(), "Prompter");
  await person.click(screen.getByLabelText(/^Description/));
  await person.paste("Whispers forgotten lines.");
  await person.click(screen.getByRole("button", { name: "Add goal" }));
  await person.paste("Nobody gets stuck");
  await person.keyboard("{Enter}");
  await person.paste("The audience hears nothing");
  await person.keyboard("{Alt>}{ArrowUp}{/Alt}");
  expect(screen.getByLabelText<HTMLInputElement>("Goals, goal 1").value).toBe("The audience hears nothing");
  const prompt = await screen.findByRole("region", { name: "Prompt text" });
  await waitFor(() => {
    expect(prompt.textContent).toContain("You are Prompter. Whispers forgotten lines.");
    expect(prompt.textContent).toContain("- The audience hears nothing\n- Nobody gets stuck");
  });
  await person.click(screen.getByRole("button", { name: "Create role" }));
  await waitFor(() => expect(window.location.search).toContain("role=Prompter"));
  await within(await screen.findByRole("list", { name: "Roles" })).findByRole("link", { name: /Prompter/ });
  const { role } = await ask.roles.get({ name: "Prompter" });
  expect(role.goals).toEqual(["The audience hears nothing", "Nobody gets stuck"]);
});

test("choosing a role's knowledge source updates its prompt immediately", async () => {
  const { person, show, troupe } = openPage(<RolesPage />, "/roles?role=Clerk");
  troupe.roles.put(RoleDefinition.parse({ name: "Clerk" }));
  show();
  const prompt = await screen.findByRole("region", { name: "Prompt text" });
  expect(prompt.textContent).toContain("you may use general knowledge; say when you do");
  await person.click(await screen.findByLabelText("Knowledge"));
  await person.click(await screen.findByRole("option", { name: "Provided material only" }));
  await waitFor(() => expect(prompt.textContent).toContain("Use only the material provided."));
  await person.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByText("Saved “Clerk”");
  expect(troupe.roles.find("Clerk")?.role.knowledge).toBe("material");
});

test("a role that answers by rule has an expression instead of a prompt", async () => {
  const { person, show, troupe } = openPage(<RolesPage />, "/roles?role=Clerk");
  troupe.roles.put(RoleDefinition.parse({ name: "Clerk" }));
  show();
  await screen.findByRole("region", { name: "Prompt text" });
  await person.click(await screen.findByLabelText("Answered by"));
  await person.click(await screen.findByRole("option", { name: "Expression" }));
  expect(screen.queryByRole("region", { name: "Prompt text" })).toBeNull();
  await screen.findByText("Enter an expression, for example state.count > 3.");
  const editor = EditorView.findFromDOM(await screen.findByRole("textbox", { name: "Answer" }))!;
  act(() => editor.dispatch({ changes: { from: 0, insert: "input.task.upperAscii()" } }));
  await person.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByText("Saved “Clerk”");
  expect(troupe.roles.find("Clerk")?.role.rule).toEqual({
    kind: "expression",
    expression: "input.task.upperAscii()",
  });
});

test("tools of a role are picked by search, and unknown names are marked", async () => {
  const { person, show, troupe } = openPage(<RolesPage />, "/roles?role=Clerk");
  troupe.roles.put(RoleDefinition.parse({ name: "Clerk" }));
  show();
  const search = await screen.findByLabelText("Add tool");
  await person.type(search, "calcul");
  await person.click(await screen.findByRole("button", { name: "Add calculator" }));
  await person.type(search, "hammer");
  await person.click(await screen.findByRole("button", { name: /^Add “hammer”/ }));
  const chosen = within(await screen.findByRole("list", { name: "Tools of this role" }));
  const hammer = chosen.getAllByRole("listitem").find(({ textContent }) => textContent?.includes("hammer"));
  expect(hammer?.textContent).toContain("Not installed");
  await person.click(chosen.getByRole("button", { name: "Remove hammer" }));
  await person.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByText("Saved “Clerk”");
  expect(troupe.roles.find("Clerk")?.role.tools).toEqual(["calculator"]);
});

const COURIER = `name: Courier\ndescription: Carries letters\ntools: [http_request, file_write, "mcp:post/send"]\n`;

test("imported roles get only the selected tools and report the missing ones", async () => {
  const { person, show, troupe } = openPage(<RolesPage />, "/roles");
  const tools = () => troupe.roles.find("Courier")?.role.tools;
  show();
  const openPreview = async () => {
    await person.click(await screen.findByRole("button", { name: "Import roles" }));
    const dialog = within(await screen.findByRole("dialog", { name: "Import roles" }));
    await person.click(dialog.getByLabelText("Or paste contents"));
    await person.paste(COURIER);
    await person.click(dialog.getByRole("button", { name: "Preview" }));
    return dialog;
  };
  const asked = async () => within(await screen.findByRole("region", { name: "Requested tools" }));
  let dialog = await openPreview();
  await (await asked()).findByText(/returns untrusted content/);
  const boxes = (await asked()).getAllByRole("checkbox");
  expect(boxes.map((box) => box.getAttribute("aria-checked"))).toEqual(["false", "false", "false"]);
  const rows = (await asked()).getAllByRole("listitem").map(({ textContent }) => textContent);
  expect(rows.find((row) => row?.includes("http_request"))).toMatch(
    /returns untrusted content.*Requested by Courier/,
  );
  expect(rows.find((row) => row?.includes("mcp:post/send"))).toContain("Not installed, effects unknown");
  await person.click((await asked()).getByRole("checkbox", { name: "file_write" }));
  await person.click(dialog.getByRole("button", { name: "Import 1 role" }));
  await screen.findByText(/Courier was imported without http_request, mcp:post\/send/);
  expect(tools()).toEqual(["file_write"]);
  await waitFor(() => expect(screen.queryByRole("dialog", { name: "Import roles" })).toBeNull());

  // The same file again asks for the rest.
  dialog = await openPreview();
  await dialog.findByText("Differs from existing");
  expect(screen.queryByRole("region", { name: "Requested tools" })).toBeNull();
  await person.click(dialog.getByText("Replace 1 existing"));
  await waitFor(async () => expect((await asked()).getAllByRole("checkbox")).toHaveLength(2));
  await person.click((await asked()).getByRole("button", { name: "Allow all" }));
  await (await asked()).findByRole("button", { name: "Block all" });
  await person.click(dialog.getByRole("button", { name: "Import 1 role" }));
  await waitFor(() => expect(tools()).toEqual(["http_request", "file_write", "mcp:post/send"]));
});

const save = () => screen.getByRole("button", { name: "Save" });

/** A workflow with one agent of this role, whose answer is stored in "copied". */
const copying = (role: string) =>
  draw("start > copy > end", {
    start: { output_keys: ["text"] },
    copy: {
      node_type: "agent_task",
      config: { required_role: role, task_description_template: "Copy {{text}}" },
      input_keys: ["text"],
      output_keys: ["copied"],
    },
  });

test("an incomplete guardrail reports missing values, and a complete guardrail applies to the next run", async () => {
  const { person, show, troupe, ask } = openPage(<RolesPage />, "/roles?role=Terse");
  troupe.roles.put(RoleDefinition.parse({ name: "Terse" }));
  show();
  const rules = within(await screen.findByRole("group", { name: "Guardrails" }));
  await person.click(rules.getByRole("button", { name: "Add guardrail" }));
  await person.clear(rules.getByLabelText("Name"));
  await person.type(rules.getByLabelText("Name"), "Short");
  await person.click(save());
  await rules.findByText(/^Enter a condition\./);
  await person.click(rules.getByLabelText("Check type"));
  await person.click(await screen.findByRole("option", { name: /^Regular expression/ }));
  const pattern = async (text: string) => {
    const field = await rules.findByLabelText("Pattern");
    await person.clear(field);
    await person.click(field);
    await person.paste(text);
  };
  await pattern("^(\\w+");
  await rules.findByText(/^Invalid pattern/);
  await pattern("(?<=a)b");
  await rules.findByText(/^Runs in the sandbox, one pattern at a time/);
  await pattern("^.{1,9}$");
  await rules.findByText("Output: matches ^.{1,9}$; otherwise retries up to 2 times");
  await person.click(rules.getByRole("button", { name: "Add guardrail" }));
  const second = within(await rules.findByRole("group", { name: "Guardrail rule" }));
  const rule = EditorView.findFromDOM(await second.findByRole("textbox", { name: "Condition" }));
  const insert = "output.copied != 'bee'";
  act(() => rule?.dispatch({ changes: { from: 0, to: rule.state.doc.length, insert } }));
  await person.click(second.getByLabelText("On failure"));
  await person.click(await screen.findByRole("option", { name: "Warn" }));
  await rules.findByText("Output: output.copied != 'bee'; otherwise warns");
  await person.click(save());
  await screen.findByText("Saved “Terse”");

  const { id } = await ask.workflows.create({ name: "Copies", graph: copying("Terse") });
  const text = "[[offline: text much too long for this]] [[offline: text bee]]";
  const { run_id } = await ask.runs.start({ workflow_id: id, input: { text } });
  await troupe.host.settled(run_id);
  expect(troupe.runs.state(run_id)?.state.copied).toBe("bee");
  const failed = troupe.runs
    .events(run_id, 0, 500)
    .flatMap((event) => (event.type === "guardrail_checked" && !event.payload.ok ? [event.payload] : []));
  expect(failed.map(({ name, action }) => [name, action])).toEqual([
    ["Short", "retry"],
    ["rule", "warn"],
  ]);
});

test("the next run's prompt contains the text entered in the role form", async () => {
  const { person, show, troupe, ask } = openPage(<RolesPage />, "/roles?role=Copyist");
  troupe.roles.put(RoleDefinition.parse({ name: "Copyist", description: "Copies texts." }));
  show();
  await person.click(await screen.findByLabelText(/^Description/));
  await person.paste(" With a goose quill.");
  await person.click(save());
  await screen.findByText("Saved “Copyist”");
  const { id } = await ask.workflows.create({ name: "Copies", graph: copying("Copyist") });
  const { run_id } = await ask.runs.start({ workflow_id: id, input: { text: "a line" } });
  await troupe.host.settled(run_id);
  expect(JSON.stringify(troupe.runs.events(run_id, 0, 500))).toContain("Copies texts. With a goose quill.");
});

test("concurrent edits of a role don't overwrite each other silently", async () => {
  const { person, show, troupe, ask } = openPage(<RolesPage />, "/roles?role=Shared");
  troupe.roles.put(RoleDefinition.parse({ name: "Shared", description: "As it was" }));
  show();
  const description = await screen.findByLabelText<HTMLInputElement>(/^Description/);
  const { role, revision } = await ask.roles.get({ name: "Shared" });
  await ask.roles.save({ name: "Shared", role: { ...role, description: "Theirs" }, revision });
  await person.clear(description);
  await person.type(description, "Mine");
  await person.click(save());
  await screen.findByText(/^This role was changed elsewhere\. Your changes aren't saved\./);
  expect(description.value).toBe("Mine");
  await person.click(screen.getByRole("button", { name: "Load latest version" }));
  await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>(/^Description/).value).toBe("Theirs"));
});

test("renaming a role updates its references, and deletion shows where it is used", async () => {
  const { person, show, troupe, ask } = openPage(<RolesPage />, "/roles?role=Scribbler");
  troupe.roles.put(RoleDefinition.parse({ name: "Scribbler" }));
  const { id } = await ask.workflows.create({ name: "Copies", graph: copying("Scribbler") });
  const agent = { agent_id: "hand", role_name: "Scribbler" };
  await ask.agents.create({ name: "Quick hand", agent });
  await ask.crews.create({ name: "Scriptorium", crew: { agents: [agent] } });
  show();
  await screen.findByRole("link", { name: /^Copies/ });
  await person.clear(await name());
  await person.type(await name(), "Chronicler");
  await person.click(save());
  await screen.findByText(/Renamed in 1 workflow, 1 crew and 1 agent\./);
  expect(troupe.workflows.find(id)?.graph.nodes.copy?.config).toMatchObject({ required_role: "Chronicler" });
  expect((await ask.crews.list())[0]?.crew.agents[0]?.role_name).toBe("Chronicler");
  expect((await ask.agents.list())[0]?.agent.role_name).toBe("Chronicler");

  await person.click(screen.getByRole("button", { name: "Actions for Chronicler" }));
  await person.click(await screen.findByRole("menuitem", { name: /^Delete/ }));
  const question = await screen.findByRole("alertdialog");
  for (const user of ["Copies", "Scriptorium", "Quick hand"]) expect(question.textContent).toContain(user);
  await person.click(within(question).getByRole("button", { name: "Cancel" }));
  expect(troupe.roles.find("Chronicler")).toBeDefined();
});

test("a role survives export to YAML and reimport", async () => {
  const { person, show, troupe } = openPage(<RolesPage />, "/roles?role=Traveller");
  troupe.roles.put(RoleDefinition.parse({ name: "Traveller", goals: ["See the world"] }));
  const saved: Blob[] = [];
  vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => {
    saved.push(blob as Blob);
    return "#";
  });
  show();
  await person.click(await screen.findByRole("button", { name: "Actions for Traveller" }));
  await person.click(await screen.findByRole("menuitem", { name: "Export as YAML" }));
  await waitFor(() => expect(saved).toHaveLength(1));
  const file = await (saved[0] as Blob).text();
  expect(file).toContain("See the world");

  await person.click(screen.getByRole("button", { name: "Actions for Traveller" }));
  await person.click(await screen.findByRole("menuitem", { name: /^Delete/ }));
  await screen.findByText("Deleted “Traveller”");
  await person.click(await screen.findByRole("button", { name: "Import roles" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Import roles" }));
  await person.upload(dialog.getByLabelText("Choose a file"), new File([file], "traveller.yaml"));
  await dialog.findByText("New", { exact: true });
  await person.click(dialog.getByRole("button", { name: "Import 1 role" }));
  await waitFor(() => expect(troupe.roles.find("Traveller")?.role.goals).toEqual(["See the world"]));
});

test("a role from the roles folder is read-only and copyable, and its file's issues are shown", async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "troupe-roles-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    path.join(folder, "gardener.md"),
    "---\nname: Gardener\ndescription: Looks after plants\ntools: calculator, hammer\n---\nYou look after plants.\n",
  );
  const { person, show } = openPage(<RolesPage />, "/roles", { TROUPE_ROLES_DIR: folder });
  show();
  await person.click(await screen.findByText("1 issue in the roles folder needs attention"));
  expect((await screen.findByRole("list", { name: "Roles folder findings" })).textContent).toContain(
    "hammer",
  );
  await person.click(await screen.findByRole("link", { name: /^Gardener/ }));
  await screen.findByText(/gardener\.md/, { selector: "[role=status] *, [role=status]" });
  expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
  await person.click(screen.getByRole("button", { name: "Actions for Gardener" }));
  expect(screen.queryByRole("menuitem", { name: /^Delete/ })).toBeNull();
  await person.click(await screen.findByRole("menuitem", { name: "Duplicate" }));
  await waitFor(async () => expect((await name()).value).toBe("Gardener copy"));
});
