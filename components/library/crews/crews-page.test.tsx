import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { RoleDefinition } from "@/server/domain/agent/role";
import { CrewsPage } from "./crews-page";

const CLERK = { name: "Clerk", description: "Files letters", tools: ["file_write", "write_board"] };

/** The page, with a dialog that shows what is in a file of crews. */
async function importing(text: string) {
  const page = openPage(<CrewsPage />, "/crews");
  for (const name of ["Writer", "Editor"]) page.troupe.roles.put(RoleDefinition.parse({ name }));
  page.show();
  await page.person.click(await screen.findByRole("button", { name: "Import crews" }));
  const dialog = within(await screen.findByRole("dialog"));
  await page.person.click(dialog.getByLabelText("Or paste its text"));
  await page.person.paste(text);
  await page.person.click(dialog.getByRole("button", { name: "Show what is in it" }));
  return { ...page, dialog };
}

test("a crew's new roles get what is ticked", async () => {
  const crew = { crew_id: "post_office", agents: [{ agent_id: "clerk", role_name: "Clerk" }] };
  const { person, dialog, troupe } = await importing(JSON.stringify({ crews: [crew], roles: [CLERK] }));
  const asked = within(await screen.findByRole("region", { name: "What the roles want to use" }));
  await person.click(asked.getByRole("checkbox", { name: "write_board" }));
  await person.click(dialog.getByRole("button", { name: "Import 1 crew and 1 role" }));
  await screen.findByText(/Clerk came without file_write\./);
  expect(troupe.roles.find("Clerk")?.role.tools).toEqual(["write_board"]);
  await screen.findByRole("link", { name: /^Post office/ });
});

test("crews come from files, with findings, and steps of a pattern can be changed", async () => {
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

test("an empty library offers the ready-made crews, each added by one press", async () => {
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
