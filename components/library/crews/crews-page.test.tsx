import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { goTo } from "@/components/testing/navigation";
import { openPage } from "@/components/testing/page";
import { RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import { AgentsPage, CrewsPage } from "./crews-page";

const CLERK = { name: "Clerk", description: "Files letters", tools: ["file_write", "write_board"] };

/** The page, with a dialog that shows what is in a file of crews. */
async function importing(text: string) {
  const page = openPage(<CrewsPage />, "/crews");
  for (const name of ["Writer", "Editor"]) page.troupe.roles.put(RoleDefinition.parse({ name }));
  page.show();
  await page.person.click(await screen.findByRole("button", { name: "Import crews" }));
  const dialog = within(await screen.findByRole("dialog"));
  await page.person.click(dialog.getByLabelText("Or paste contents"));
  await page.person.paste(text);
  await page.person.click(dialog.getByRole("button", { name: "Preview" }));
  return { ...page, dialog };
}

test("imported roles of a crew get only the selected tools", async () => {
  const crew = { crew_id: "post_office", agents: [{ agent_id: "clerk", role_name: "Clerk" }] };
  const { person, dialog, troupe } = await importing(JSON.stringify({ crews: [crew], roles: [CLERK] }));
  const asked = within(await screen.findByRole("region", { name: "Requested tools" }));
  await person.click(asked.getByRole("checkbox", { name: "write_board" }));
  await person.click(dialog.getByRole("button", { name: "Import 1 crew and 1 role" }));
  await screen.findByText(/Clerk was imported without file_write\./);
  expect(troupe.roles.find("Clerk")?.role.tools).toEqual(["write_board"]);
  await screen.findByRole("link", { name: /^Post office/ });
});

test("crews are imported with findings, and the steps of their pattern are editable", async () => {
  const { person, dialog } = await importing(
    "crews:\n  - crew_id: review_board\n    process: custom\n    colour: red\n    agents:\n      - {agent_id: writer, role_name: Writer}\n      - {agent_id: editor, role_name: Editor}\n    collaboration_patterns:\n      - type: custom\n        workflow:\n          - {step: write, agent: writer, next_on_done: check}\n          - {step: check, agent: editor, next_on_wrong: write}\n",
  );
  expect((await dialog.findByRole("list", { name: "Crews in the file" })).textContent).toContain(
    "review_board",
  );
  expect((await dialog.findByRole("list", { name: "Findings" })).textContent).toContain("colour");
  await person.click(dialog.getByRole("button", { name: "Import 1 crew" }));

  await person.click(await screen.findByRole("link", { name: /^Review board/ }));
  const step = await screen.findByLabelText("Step 1: name");
  await person.clear(step);
  await person.type(step, "draft");
  await waitFor(() => expect(screen.getByLabelText("After wrong of check").textContent).toContain("draft"));
  await person.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByText("Saved “Review board”");
  await person.click(screen.getByRole("button", { name: "Actions for Review board" }));
  await person.click(await screen.findByRole("menuitem", { name: /^Delete/ }));
  await waitFor(() => expect(screen.queryByRole("link", { name: /^Review board/ })).toBeNull());
  await person.click(await screen.findByRole("button", { name: "Undo" }));
  await screen.findByRole("link", { name: /^Review board/ });
});

test("an empty library offers built-in crews that are added in one click", async () => {
  const page = openPage(<CrewsPage />, "/crews");
  page.show();
  const ready = within(
    (await screen.findAllByRole("region", { name: "Ready-made crews" }))[0] as HTMLElement,
  );
  const templates = await page.ask.workflows.templates();
  const drawn = templates.filter(({ graph }) =>
    Object.values(graph.nodes).some(({ node_type }) => node_type === "crew_task"),
  );
  expect(ready.getAllByRole("heading", { level: 3 }).map(({ textContent }) => textContent)).toEqual(
    drawn.map(({ title }) => title),
  );
  await page.person.click(ready.getByRole("button", { name: "Add Research crew" }));
  await screen.findByRole("form", { name: "Crew Research crew" });
  const [added] = page.troupe.crews.list();
  expect(added?.crew.agents.map(({ role_name }) => role_name)).toEqual([
    "WebResearcher",
    "Analyst",
    "Writer",
  ]);
});

const desk = {
  agents: [
    { agent_id: "writer", role_name: "Writer" },
    { agent_id: "editor", role_name: "Editor" },
  ],
};
/** The library with this crew, opened at the crew. */
async function atDesk() {
  const page = openPage(<CrewsPage />);
  for (const name of ["Writer", "Editor"]) page.troupe.roles.put(RoleDefinition.parse({ name }));
  const { id } = await page.ask.crews.create({ name: "Writing desk", crew: desk });
  goTo(`/crews?crew=${id}`);
  return { ...page, id };
}

test("a handoff crew's form sets the first agent, and deletion names the workflows that use it", async () => {
  const { person, show, ask, id } = await atDesk();
  await ask.workflows.create({
    name: "Letters",
    graph: draw("start > crew > end", {
      crew: { node_type: "crew_task", config: { crew_id_or_config_ref: id }, output_keys: ["text"] },
    }),
  });
  show();
  await person.click(await screen.findByLabelText("Process"));
  await person.click(await screen.findByRole("option", { name: /^Swarm \(handoffs\)/ }));
  await person.click(await screen.findByLabelText("First agent"));
  await person.click(await screen.findByRole("option", { name: /^writer/ }));
  await person.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByText("Saved “Writing desk”");
  expect((await ask.crews.list())[0]?.crew).toMatchObject({ process: "swarm", entry_agent: "writer" });

  await person.click(screen.getByRole("button", { name: "Actions for Writing desk" }));
  await person.click(await screen.findByRole("menuitem", { name: /^Delete/ }));
  const question = await screen.findByRole("alertdialog");
  expect(question.textContent).toContain("1 workflow references this crew");
  await person.click(within(question).getByRole("button", { name: "Delete crew" }));
  await screen.findByText("Deleted “Writing desk”");
  await waitFor(() => expect(screen.queryByRole("link", { name: /^Writing desk/ })).toBeNull());
});

test("a conflicting save of a crew can overwrite or load the newer version", async () => {
  const { person, show, ask, id } = await atDesk();
  show();
  const name = await screen.findByLabelText<HTMLInputElement>("Name");
  const rename = async (to: string) => {
    await person.clear(name);
    await person.type(name, to);
    await person.click(screen.getByRole("button", { name: "Save" }));
  };
  const renameRemotely = async (to: string) => {
    const [now] = await ask.crews.list();
    await ask.crews.save({ id, name: to, crew: desk, revision: now?.revision ?? 0 });
  };
  await renameRemotely("Their desk");
  await rename("My desk");
  await screen.findByText(/^This crew was changed elsewhere\. Your changes aren't saved\./);
  expect(name.value).toBe("My desk");
  await person.click(screen.getByRole("button", { name: "Overwrite with mine" }));
  await screen.findByText("Saved “My desk”");
  expect((await ask.crews.list()).map(({ name }) => name)).toEqual(["My desk"]);

  await renameRemotely("Their desk again");
  await rename("My other desk");
  await person.click(await screen.findByRole("button", { name: "Load latest version" }));
  await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>("Name").value).toBe("Their desk again"));
});

test("an agent's form and delete dialog show where it is used, and deletion can be undone", async () => {
  const { person, show, ask, troupe } = openPage(<AgentsPage />);
  troupe.roles.put(RoleDefinition.parse({ name: "Writer" }));
  const { id } = await ask.agents.create({
    name: "Careful writer",
    agent: { agent_id: "x", role_name: "Writer" },
  });
  await ask.crews.create({
    name: "Careful desk",
    crew: { agents: [{ agent_id: "a", role_name: "Writer", agent_ref: id }] },
  });
  await ask.workflows.create({
    name: "Letters",
    graph: draw("start > write > end", {
      write: {
        node_type: "agent_task",
        config: { required_role: "Writer", agent_ref: id, task_description_template: "Write." },
        output_keys: ["text"],
      },
    }),
  });
  goTo(`/agents?agent=${id}`);
  show();
  await screen.findByRole("link", { name: /^Careful desk/ });
  await person.click(screen.getByRole("button", { name: "Actions for Careful writer" }));
  await person.click(await screen.findByRole("menuitem", { name: /^Delete/ }));
  const question = await screen.findByRole("alertdialog");
  expect(question.textContent).toContain("1 workflow and 1 crew reference this agent");
  await person.click(within(question).getByRole("button", { name: "Delete agent" }));
  await person.click(await screen.findByRole("button", { name: "Undo" }));
  await waitFor(async () => expect((await ask.agents.list()).map(({ id }) => id)).toEqual([id]));
});
