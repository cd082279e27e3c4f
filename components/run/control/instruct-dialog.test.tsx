import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { OnRunPage } from "@/components/run/testing";
import { openPage } from "@/components/testing/page";
import { RoleDefinition } from "@/server/domain/agent/role";
import { present } from "@/server/domain/base/must";
import { draw } from "@/server/domain/testing/drawing";
import { NodeActions } from "./node-actions";

test("a person can send an instruction to an agent of a paused run", async () => {
  const graph = draw("start > ask > end", {
    ask: {
      name: "Asker",
      node_type: "agent_task",
      output_keys: ["answer"],
      config: { required_role: "Planner", task_description_template: "Say something." },
    },
  });
  const store = new RunViewStore((work) => work());
  const { ask, troupe, person, show } = openPage(
    <OnRunPage store={store} runId={() => runId}>
      {() => <NodeActions node={present(graph.nodes.ask, "ask")} activationId="ask#1" />}
    </OnRunPage>,
  );
  troupe.roles.put(RoleDefinition.parse({ name: "Planner" }));
  const { id } = await ask.workflows.create({ name: "Ask", graph });
  const { run_id: runId } = await ask.runs.start({
    workflow_id: id,
    config: { breakpoints: [{ on: "llm_call" }] },
  });
  const now = () => {
    store.apply(troupe.runs.events(runId, store.view.getState().lastSeq, 500));
    store.flush();
    return store.view.getState().head;
  };
  await waitFor(() => expect(now().run.paused_at?.node_id).toBe("ask"));
  show();
  await person.click(screen.getByRole("button", { name: "Message…" }));
  const dialog = await screen.findByRole("dialog", { name: "Message agents" });
  const send = within(dialog).getByRole("button", { name: "Send" });
  expect(within(dialog).getByRole("combobox", { name: "To" }).textContent).toContain("Asker");
  await person.click(send);
  expect(within(dialog).getByRole("alert").textContent).toBe("Enter a message.");
  await person.type(within(dialog).getByRole("textbox", { name: "Message" }), "Be brief.");
  await person.click(send);
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(now().instructions).toMatchObject([{ target: { node_id: "ask" }, text: "Be brief.", read_by: [] }]);
  await ask.runs.resume({ run_id: runId });
  await waitFor(() => expect(now().instructions).toMatchObject([{ read_by: ["Planner"] }]));
  troupe.host.cancel(runId, { by: "user", reason: "" });
  await waitFor(() => expect(now().run.final_status).toBe("CANCELLED"));
  expect(screen.queryByRole("button", { name: "Message…" })).toBeNull();
});
