import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { RunProvider } from "@/components/run/run-context";
import { openPage } from "@/components/testing/page";
import { RoleDefinition } from "@/server/domain/agent/role";
import { writersNode } from "@/server/domain/testing/crew-node";
import { draw } from "@/server/domain/testing/drawing";
import { TeamDialog } from "./team-dialog";

const graph = draw("start > crew > end", {
  crew: { ...writersNode(), name: "Writers" },
});

test("a person adds a role to an active crew and sees why another can't be removed", async () => {
  const store = new RunViewStore((work) => work());
  let about: { runId: string; member?: string } = { runId: "" };
  let closed = 0;
  const Shown = () => (
    <RunProvider store={store}>
      <TeamDialog {...about} nodeId="crew" onClose={() => closed++} />
    </RunProvider>
  );
  const { ask, troupe, person, show } = openPage(<Shown />);
  for (const role of [
    { name: "Writer" },
    { name: "Reader" },
    { name: "Editor", description: "Edits texts", tools: ["calculator", "current_time"] },
  ])
    troupe.roles.put(RoleDefinition.parse(role));
  const { id } = await ask.workflows.create({ name: "Write", graph });
  const { run_id: runId } = await ask.runs.start({
    workflow_id: id,
    config: { breakpoints: [{ on: "node_start", node_id: "crew" }] },
  });
  const now = () => {
    store.apply(troupe.runs.events(runId, store.view.getState().lastSeq, 500));
    store.flush();
    return store.view.getState().head;
  };
  await waitFor(() => expect(now().run.paused_at?.node_id).toBe("crew"));
  about = { runId };
  show();
  const dialog = await screen.findByRole("dialog", { name: "Edit crew of Writers" });
  const button = (name: string) => within(dialog).getByRole("button", { name });
  await person.click(button("Add"));
  expect(within(dialog).getByRole("alert").textContent).toBe("Choose a role for the new member.");
  await person.click(within(dialog).getByRole("combobox", { name: "Role" }));
  await person.click(await screen.findByRole("option", { name: /Editor/ }));
  await person.click(await within(dialog).findByRole("checkbox", { name: "calculator" }));
  await person.type(within(dialog).getByRole("textbox", { name: /Extra instructions/ }), "Be strict.");
  await person.click(button("Add"));
  await waitFor(() => expect(closed).toBe(1));
  const { agent, tools } = now().team_changes.crew?.editor ?? {};
  expect([agent?.role_name, agent?.backstory, tools]).toEqual(["Editor", "Be strict.", ["current_time"]]);

  await person.click(within(dialog).getByRole("combobox", { name: "Member" }));
  await person.click(await screen.findByRole("option", { name: /^Ann/ }));
  await person.click(button("Remove Ann from the crew"));
  await waitFor(() =>
    expect(within(dialog).getByRole("alert").textContent).toBe(
      'ann is still assigned to the plan\'s task "write". Reassign it first.',
    ),
  );
  expect(now().team_changes.crew?.ann).toBeUndefined();
  troupe.host.cancel(runId, { by: "user", reason: "" });
});
