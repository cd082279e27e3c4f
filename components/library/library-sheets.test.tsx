import { screen, waitFor, within } from "@testing-library/react";
import { useState } from "react";
import { expect, test } from "vitest";
import { AgentRefField } from "@/components/forms/fields/agent-choice";
import { RoleField } from "@/components/forms/fields/role-field";
import { FormScopeContext } from "@/components/forms/form-scope";
import { openPage } from "@/components/testing/page";
import { RoleDefinition } from "@/server/domain/agent/role";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { LibrarySheets } from "./library-sheets";

const graph = WorkflowGraph.parse({ graph_id: "g", nodes: {}, edges: [] });
const roles = [
  RoleDefinition.parse({
    name: "Interpreter",
    description: "Speaks with the person. Asks back where something is missing, and never guesses.",
  }),
  RoleDefinition.parse({ name: "Writer", description: "Writes" }),
];

/** A form with a role and an agent, as the editor has it. */
function Form() {
  const [role, setRole] = useState<unknown>("");
  const [agent, setAgent] = useState<unknown>(undefined);
  return (
    <LibrarySheets>
      <FormScopeContext.Provider value={{ graph, node: null, roles, keys: [] }}>
        <RoleField label="Role" value={role} onChange={setRole} />
        <AgentRefField label="Agent" value={agent} onChange={setAgent} />
        <output>{`${String(role)} ${String(agent)}`}</output>
      </FormScopeContext.Provider>
    </LibrarySheets>
  );
}

const chosen = () => screen.getByRole("status").textContent;

test("a role is found by a word of its description, which is shown in full", async () => {
  const { person, show } = openPage(<Form />);
  show();
  await person.click(await screen.findByRole("combobox", { name: "Role" }));
  await person.type(await screen.findByRole("combobox", { name: "Search: Role" }), "never guess");
  const found = await screen.findAllByRole("option");
  expect(found[0]?.textContent).toContain(
    "Speaks with the person. Asks back where something is missing, and never guesses.",
  );
  await person.keyboard("{Enter}");
  await waitFor(() => expect(chosen()).toBe("Interpreter undefined"));
});

test("a missing role is created where it is needed and selected once it is saved", async () => {
  const { person, show, troupe } = openPage(<Form />, "/workflows/wf_1");
  show();
  await person.click(await screen.findByRole("combobox", { name: "Role" }));
  await person.type(await screen.findByRole("combobox", { name: "Search: Role" }), "Approver");
  await person.click(await screen.findByRole("option", { name: "Create “Approver”…" }));
  const sheet = within(await screen.findByRole("dialog", { name: "New role" }));
  expect((await sheet.findByLabelText<HTMLInputElement>("Name")).value).toBe("Approver");
  expect((await sheet.findByRole("region", { name: "Prompt text" })).textContent).toContain(
    "You are Approver",
  );
  await person.click(sheet.getByRole("button", { name: "Create role" }));
  await waitFor(() => expect(chosen()).toBe("Approver undefined"));
  expect(troupe.roles.find("Approver")).toBeDefined();
  // Where one was, is where one is again.
  expect(window.location.pathname).toBe("/workflows/wf_1");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(document.activeElement).toBe(screen.getByRole("combobox", { name: "Role" }));
});

test("an agent is created in place, including a new role for it", async () => {
  const { person, show, troupe } = openPage(<Form />);
  show();
  await person.click(await screen.findByRole("combobox", { name: "Agent" }));
  await person.type(await screen.findByRole("combobox", { name: "Search: Agent" }), "Judge");
  await person.click(await screen.findByRole("option", { name: "Create “Judge”…" }));
  const sheet = within(await screen.findByRole("dialog", { name: "New agent" }));
  await person.click(await sheet.findByRole("combobox", { name: "Role" }));
  await person.type(await screen.findByRole("combobox", { name: "Search: Role" }), "Approver");
  await person.click(await screen.findByRole("option", { name: "Create “Approver”…" }));
  const inner = within(await screen.findByRole("dialog", { name: "New role" }));
  await person.click(await inner.findByRole("button", { name: "Create role" }));
  await waitFor(() =>
    expect(sheet.getByRole("combobox", { name: "Role", hidden: true }).textContent).toContain("Approver"),
  );
  await person.click(await sheet.findByRole("button", { name: "Create agent" }));
  await waitFor(() => expect(chosen()).toBe(" judge"));
  expect(troupe.agents.find("judge")?.agent.role_name).toBe("Approver");
});

test("closing a sheet with unsaved changes doesn't lose them", async () => {
  const { person, show } = openPage(<Form />);
  show();
  await person.click(await screen.findByRole("combobox", { name: "Role" }));
  await person.click(await screen.findByRole("option", { name: "New role…" }));
  const sheet = within(await screen.findByRole("dialog", { name: "New role" }));
  await person.type(await sheet.findByLabelText("Name"), "Scribe");
  await person.click(sheet.getByRole("button", { name: "Close" }));
  await person.click(await screen.findByRole("button", { name: "Keep editing" }));
  expect(sheet.getByLabelText<HTMLInputElement>("Name").value).toBe("Scribe");
});
