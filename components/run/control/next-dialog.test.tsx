import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { OnRunPage } from "@/components/run/testing";
import { openPage } from "@/components/testing/page";
import { present } from "@/server/domain/base/must";
import { draw } from "@/server/domain/testing/drawing";
import { NodeActions } from "./node-actions";

const nothing = () => undefined;

test("a person can override the route that a router chose in a paused run", async () => {
  const graph = draw("start > set > r; r a> a > end; r b> b > end", {
    set: { output_keys: ["r"], config: { set: { r: "'a'" } } },
    b: { name: "Plan B" },
  });
  const store = new RunViewStore((work) => work());
  const page = {
    onResumed: nothing,
    openFile: nothing,
    openCrew: nothing,
    openNode: nothing,
    openAsks: nothing,
  };
  const { ask, troupe, person, show } = openPage(
    <OnRunPage store={store} runId={() => runId} page={{ ...page }}>
      {() => <NodeActions node={present(graph.nodes.r, "r")} activationId="r#1" />}
    </OnRunPage>,
  );
  const { id } = await ask.workflows.create({ name: "Ways", graph });
  const config = { breakpoints: [{ on: "node_end" as const, node_id: "r" }] };
  const { run_id: runId } = await ask.runs.start({ workflow_id: id, config });
  const now = () => {
    store.apply(troupe.runs.events(runId, store.view.getState().lastSeq, 500));
    store.flush();
    return store.view.getState().head;
  };
  await waitFor(() => expect(now().run.paused_at?.node_id).toBe("r"));
  show();
  await person.click(screen.getByRole("button", { name: "Override next…" }));
  const dialog = await screen.findByRole("dialog", { name: "Override next after r" });
  await person.click(within(dialog).getByRole("combobox", { name: "Next" }));
  await person.click(await screen.findByRole("option", { name: /Plan B/ }));
  await person.click(within(dialog).getByRole("button", { name: "Override next" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await ask.runs.resume({ run_id: runId });
  await waitFor(() => expect(now().run.final_status).toBe("COMPLETED"));
  expect([now().nodes.a?.count, now().nodes.b?.count]).toEqual([undefined, 1]);
});
