import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { OnRunPage } from "@/components/run/testing";
import { openPage } from "@/components/testing/page";
import { present } from "@/server/domain/base/must";
import { draw } from "@/server/domain/testing/drawing";
import { NodeActions } from "./node-actions";

test("a fork starts just before a node and leaves the original run unchanged", async () => {
  const graph = draw("start > a > b > end");
  const store = new RunViewStore((work) => work());
  let runId = "";
  const { ask, troupe, person, show } = openPage(
    <OnRunPage store={store} runId={() => runId}>
      {() => <NodeActions node={present(graph.nodes.b, "b")} activationId="b#1" />}
    </OnRunPage>,
  );
  const { id } = await ask.workflows.create({ name: "Steps", graph });
  ({ run_id: runId } = await ask.runs.start({ workflow_id: id }));
  await troupe.host.settled(runId);
  const events = troupe.runs.events(runId, 0, 500);
  store.apply(events);
  show();
  await person.click(screen.getByRole("button", { name: "Fork from here…" }));
  await person.click(await screen.findByRole("button", { name: "Fork" }));
  await waitFor(() => expect(window.location.pathname).toMatch(/^\/workflows\/.+\/runs\/run_/));
  const forked = window.location.pathname.split("/").at(-1) ?? "";
  expect(forked).not.toBe(runId);
  await troupe.host.settled(forked);
  expect(troupe.runs.find(forked)?.final_status).toBe("COMPLETED");
  expect(troupe.runs.events(runId, 0, 500)).toEqual(events);
});
