import { screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, test } from "vitest";
import { RunProvider } from "@/components/run/run-context";
import { RunPageProvider } from "@/components/run/run-page-context";
import { newRunViewStore } from "@/components/run/run-view-store";
import { openPage } from "@/components/testing/page";
import { present } from "@/server/domain/base/must";
import { draw } from "@/server/domain/testing/drawing";
import { NodeActions } from "./node-actions";

/** Shows what is known only once it is shown. */
const Late = ({ children }: { children: () => ReactNode }) => children();
const nothing = () => undefined;

test("another run goes on from just before a node, and the first one stays as it was", async () => {
  const graph = draw("start > a > b > end");
  const store = newRunViewStore((work) => work());
  let runId = "";
  const page = () => ({
    runId,
    held: null,
    onResumed: nothing,
    openFile: nothing,
    openCrew: nothing,
    openNode: nothing,
    openAsks: nothing,
  });
  const { ask, troupe, person, show } = openPage(
    <Late>
      {() => (
        <RunProvider store={store}>
          <RunPageProvider value={page()}>
            <NodeActions node={present(graph.nodes.b, "b")} activationId="b#1" />
          </RunPageProvider>
        </RunProvider>
      )}
    </Late>,
  );
  const { id } = await ask.workflows.create({ name: "Steps", graph });
  ({ run_id: runId } = await ask.runs.start({ workflow_id: id }));
  await troupe.host.settled(runId);
  const events = troupe.runs.events(runId, 0, 500);
  store.apply(events);
  show();
  await person.click(screen.getByRole("button", { name: "Run from here…" }));
  await person.click(await screen.findByRole("button", { name: "Fork" }));
  await waitFor(() => expect(window.location.pathname).toMatch(/^\/workflows\/.+\/runs\/run_/));
  const forked = window.location.pathname.split("/").at(-1) ?? "";
  expect(forked).not.toBe(runId);
  await troupe.host.settled(forked);
  expect(troupe.runs.find(forked)?.final_status).toBe("COMPLETED");
  expect(troupe.runs.events(runId, 0, 500)).toEqual(events);
});
