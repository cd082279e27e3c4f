import { screen, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { OnRunPage } from "@/components/run/testing";
import { openPage } from "@/components/testing/page";
import { present } from "@/server/domain/base/must";
import { draw } from "@/server/domain/testing/drawing";
import { NodeActions } from "./node-actions";

test("retrying a failed node from its details resumes the finished run", async () => {
  const graph = draw("start > sum > end", {
    sum: { config: { set: { n: "state.missing + 1" } }, output_keys: ["n"] },
  });
  const store = new RunViewStore((work) => work());
  const onResumed = vi.fn();
  const { ask, troupe, person, show } = openPage(
    <OnRunPage store={store} runId={() => runId} page={{ onResumed }}>
      {() => <NodeActions node={present(graph.nodes.sum, "sum")} activationId="sum#1" />}
    </OnRunPage>,
  );
  const { id } = await ask.workflows.create({ name: "Sum", graph });
  const { run_id: runId } = await ask.runs.start({ workflow_id: id });
  const now = () => {
    store.apply(troupe.runs.events(runId, store.view.getState().lastSeq, 500));
    store.flush();
    return store.view.getState().head;
  };
  await waitFor(() => expect(now().run.final_status).toBe("ERROR"));
  show();
  await person.click(screen.getByRole("button", { name: "Retry" }));
  await waitFor(() => expect(onResumed).toHaveBeenCalledOnce());
  await waitFor(() => expect(now().activations["sum#1"]?.attempt).toBe(2));
  await waitFor(() => expect(now().run.final_status).toBe("ERROR"));
});
