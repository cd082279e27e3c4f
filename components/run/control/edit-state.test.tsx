import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { StateView } from "@/components/run/state-view";
import { OnRunPage } from "@/components/run/testing";
import { openPage } from "@/components/testing/page";
import { present } from "@/server/domain/base/must";
import { draw } from "@/server/domain/testing/drawing";
import { NodeActions } from "./node-actions";

const nothing = () => undefined;

/** The state and the actions at node `b` of a run of `start > a > b > end` that is paused before `b`. */
async function paused() {
  const graph = draw("start > a > b > end", {
    a: { config: { set: { n: "state.n + 1" } }, output_keys: ["n"] },
    b: { config: { set: { n: "state.n + 1" } }, output_keys: ["n"] },
  });
  const drawn = { ...graph, global_state_schema: { properties: { n: { type: "number" } } } };
  const store = new RunViewStore((work) => work());
  const page = openPage(
    <OnRunPage store={store} runId={() => runId}>
      {() => (
        <>
          <StateView onSelectNode={nothing} />
          <NodeActions node={present(graph.nodes.b, "b")} activationId="b#1" />
        </>
      )}
    </OnRunPage>,
  );
  const { ask, troupe } = page;
  const { id } = await ask.workflows.create({ name: "Count", graph: drawn });
  const { run_id: runId } = await ask.runs.start({
    workflow_id: id,
    input: { n: 1, note: "x" },
    config: { breakpoints: [{ on: "node_start", node_id: "b" }] },
  });
  const now = () => {
    store.apply(troupe.runs.events(runId, store.view.getState().lastSeq, 500));
    store.flush();
    return store.view.getState().head;
  };
  await waitFor(() => expect(now().run.paused_at?.node_id).toBe("b"));
  page.show();
  return { ...page, store, now, runId };
}

test("state values of a paused run can be edited, added and removed before it resumes", async () => {
  const { person, now, ask, runId } = await paused();
  await person.click(screen.getByRole("button", { name: "Edit n" }));
  const edit = await screen.findByRole("form", { name: "Edit n" });
  const field = within(edit).getByRole("textbox");
  await person.clear(field);
  await person.type(field, "40{Enter}");
  await waitFor(() => expect(now().state.n).toBe(40));
  await person.click(screen.getByRole("button", { name: "Edit note" }));
  await person.click(await screen.findByRole("button", { name: "Remove" }));
  await waitFor(() => expect(now().state.note).toBeUndefined());
  await person.click(screen.getByRole("button", { name: "Add key" }));
  const add = await screen.findByRole("form", { name: "Add key" });
  // Also where the value is written before the key.
  await person.type(within(add).getByRole("textbox", { name: "Value" }), "true");
  await person.type(within(add).getByRole("textbox", { name: "Key" }), "more");
  await person.click(within(add).getByRole("button", { name: "Add" }));
  await waitFor(() => expect(now().state).toEqual({ n: 40, more: true }));
  expect(screen.getAllByText("changed by a person")).toHaveLength(2);
  await ask.runs.resume({ run_id: runId });
  await waitFor(() => expect(now().state).toEqual({ n: 41, more: true }));
  await waitFor(() => expect(now().run.final_status).toBe("COMPLETED"));
  expect(screen.queryByRole("button", { name: "Edit n" })).toBeNull();
});

test("invalid values are reported at their field, and a server error keeps the form's contents", async () => {
  const { person, now, ask, runId } = await paused();
  await person.click(screen.getByRole("button", { name: "Edit n" }));
  const edit = await screen.findByRole("form", { name: "Edit n" });
  const field = within(edit).getByRole("textbox");
  await person.clear(field);
  await person.type(field, "many{Enter}");
  expect(within(edit).getByText("Enter a number.")).toBeDefined();
  await person.clear(field);
  await person.type(field, "7");
  // In another window it goes on meanwhile.
  await ask.runs.resume({ run_id: runId });
  await person.click(within(edit).getByRole("button", { name: "Save" }));
  expect((await within(edit).findByRole("alert")).textContent).toBe("This run has ended.");
  expect(field).toHaveProperty("value", "7");
  await waitFor(() => expect(now().state.n).toBe(3));
});

test("a state key that is invalid or already exists can't be added", async () => {
  const { person } = await paused();
  await person.click(screen.getByRole("button", { name: "Add key" }));
  const add = await screen.findByRole("form", { name: "Add key" });
  const key = within(add).getByRole("textbox", { name: "Key" });
  const button = within(add).getByRole("button", { name: "Add" });
  for (const [text, message] of [
    ["a b", "Use letters, digits and _ (at most 64), no spaces"],
    ["note", "This key already exists. Edit its value instead."],
  ] as const) {
    await person.clear(key);
    await person.type(key, text);
    expect(within(add).getByText(message)).toBeDefined();
    expect(button).toHaveProperty("disabled", true);
  }
});

test("state can't be edited in the past or after the run resumes", async () => {
  const { store, now, runId, ask } = await paused();
  store.goTo(2);
  await waitFor(() => expect(screen.queryByRole("button", { name: "Add key" })).toBeNull());
  store.goTo(null);
  await screen.findByRole("button", { name: "Add key" });
  await ask.runs.resume({ run_id: runId });
  await waitFor(() => expect(now().run.final_status).toBe("COMPLETED"));
  expect(screen.queryByRole("button", { name: "Add key" })).toBeNull();
});

test("a node is skipped with an output that the person enters", async () => {
  const { person, now, ask, runId } = await paused();
  await person.click(screen.getByRole("button", { name: "Skip…" }));
  const dialog = await screen.findByRole("dialog", { name: "Skip b" });
  const skip = within(dialog).getByRole("button", { name: "Skip node" });
  await person.click(skip);
  expect(within(dialog).getByText("Required.")).toBeDefined();
  await person.type(within(dialog).getByRole("textbox"), "100");
  await person.click(skip);
  await waitFor(() => expect(now().nodes.b?.status).toBe("completed"));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(screen.queryByRole("button", { name: "Skip…" })).toBeNull();
  await ask.runs.resume({ run_id: runId });
  await waitFor(() => expect(now().run.final_status).toBe("COMPLETED"));
  expect(now().state).toEqual({ n: 100, note: "x" });
});

test("the dialog shows why a node can no longer be skipped", async () => {
  const { person, ask, runId, troupe } = await paused();
  await person.click(screen.getByRole("button", { name: "Skip…" }));
  const dialog = await screen.findByRole("dialog", { name: "Skip b" });
  await ask.runs.resume({ run_id: runId });
  await troupe.host.settled(runId);
  await person.type(within(dialog).getByRole("textbox"), "100");
  await person.click(within(dialog).getByRole("button", { name: "Skip node" }));
  expect((await within(dialog).findByRole("alert")).textContent).toBe("This run has ended.");
});
