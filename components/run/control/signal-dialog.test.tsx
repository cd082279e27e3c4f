import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { OnRunPage } from "@/components/run/testing";
import { openPage } from "@/components/testing/page";
import { present } from "@/server/domain/base/must";
import { draw } from "@/server/domain/testing/drawing";
import { NodeActions } from "./node-actions";

test("a person sends the signal and values that a node waits for", async () => {
  const graph = draw("start > w > end", {
    w: {
      name: "Payment",
      node_type: "wait",
      output_keys: ["payer", "note"],
      config: { signal: "paid" },
    },
  });
  const store = new RunViewStore((work) => work());
  const { ask, troupe, person, show } = openPage(
    <OnRunPage store={store} runId={() => runId}>
      {() => <NodeActions node={present(graph.nodes.w, "w")} activationId="w#1" />}
    </OnRunPage>,
  );
  const { id } = await ask.workflows.create({ name: "Pay", graph });
  const { run_id: runId } = await ask.runs.start({ workflow_id: id });
  const now = () => {
    store.apply(troupe.runs.events(runId, store.view.getState().lastSeq, 500));
    store.flush();
    return store.view.getState().head;
  };
  await waitFor(() => expect(now().nodes.w?.status).toBe("waiting"));
  show();
  await person.click(screen.getByRole("button", { name: "Send signal…" }));
  const dialog = await screen.findByRole("dialog", { name: "Send signal “paid”" });
  await person.type(within(dialog).getByRole("textbox", { name: /payer/i }), "ann");
  await person.type(within(dialog).getByRole("textbox", { name: /note/i }), "thanks");
  await person.click(within(dialog).getByRole("button", { name: "Send" }));
  await waitFor(() => expect(now().run.status).toBe("finished"));
  expect(now().state).toEqual({ payer: "ann", note: "thanks" });
  expect(screen.queryByRole("button", { name: "Send signal…" })).toBeNull();
});
