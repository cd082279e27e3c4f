import { screen, waitFor, within } from "@testing-library/react";
import { type ReactNode, useEffect } from "react";
import { beforeEach, expect, test } from "vitest";
import { RunProvider } from "@/components/run/run-context";
import { newRunViewStore } from "@/components/run/run-view-store";
import { openPage } from "@/components/testing/page";
import type { RunConfig } from "@/server/domain/agent/outcome";
import { draw } from "@/server/domain/testing/drawing";
import { PausedBar } from "./paused-bar";
import { RunControlProvider, useControlling } from "./run-control-context";
import { RunControls } from "./run-controls";

beforeEach(() => localStorage.clear());

/** Shows what is known only once it is shown. */
const Late = ({ children }: { children: () => ReactNode }) => children();

function Choose({ nodeId }: { nodeId: string }) {
  const select = useControlling()?.select;
  useEffect(() => select?.(nodeId), [select, nodeId]);
  return null;
}

/** The controls of a run of `start > a > b > end` that was started so; `now` reads on what happened. */
async function watch(config: Partial<RunConfig>) {
  const store = newRunViewStore((work) => work());
  let ids = { run: "", workflow: "" };
  const page = openPage(
    <Late>
      {() => (
        <RunProvider store={store}>
          <RunControlProvider runId={ids.run} workflowId={ids.workflow}>
            <Choose nodeId="b" />
            <RunControls isHeld={false} />
            <PausedBar />
          </RunControlProvider>
        </RunProvider>
      )}
    </Late>,
  );
  const { id } = await page.ask.workflows.create({ name: "Steps", graph: draw("start > a > b > end") });
  const { run_id } = page.troupe.startRun({ workflow_id: id, input: {}, config, trigger: "api" }) ?? {
    run_id: "",
  };
  ids = { run: run_id, workflow: id };
  const now = () => {
    store.apply(page.troupe.runs.events(run_id, 0, 500));
    store.flush();
    return store.view.getState().head.run;
  };
  await waitFor(() => expect(now().paused_at ?? now().final_status).toBeTruthy());
  page.show();
  const bar = () => screen.getByRole("status", { name: "Where the run is paused" }).textContent;
  return { ...page, now, bar, run_id };
}

test("a run that is gone through step by step says where it is, and takes the next step by button or key", async () => {
  const { person, now, bar } = await watch({ mode: "step" });
  expect(bar()).toContain("Paused before start: one step further");
  const tools = screen.getByRole("toolbar", { name: "Control of the run" });
  await person.click(within(tools).getByRole("button", { name: "Step: one node further" }));
  await waitFor(() => expect(now().paused_at?.node_id).toBe("a"));
  expect(bar()).toContain("Paused before a: one step further");
  await person.keyboard("{F10}");
  await waitFor(() => expect(now().paused_at?.node_id).toBe("b"));
  await person.keyboard("{F5}");
  await waitFor(() => expect(now().final_status).toBe("COMPLETED"));
  expect(screen.queryByRole("toolbar")).toBeNull();
  expect(bar()).toBe("");
});

test("it is let go on to the node that is chosen, and the breakpoint for that is gone afterwards", async () => {
  const { person, now, bar } = await watch({ mode: "step" });
  await person.click(screen.getByRole("button", { name: "Run to the selected node" }));
  await waitFor(() => expect(now().paused_at?.node_id).toBe("b"));
  expect(bar()).toContain("Paused before b: breakpoint");
  await waitFor(() => expect(now().breakpoints).toEqual([]));
});

test("breakpoints that the run began with come to the list, and one that is set holds it", async () => {
  const { person, now, bar } = await watch({ breakpoints: [{ on: "node_start", node_id: "a" }] });
  expect(bar()).toContain("Paused before a: breakpoint");
  await screen.findByRole("button", { name: "Breakpoints (1)" });
  await person.keyboard("{F9}");
  await waitFor(() =>
    expect(now().breakpoints).toEqual([
      { on: "node_start", node_id: "a" },
      { on: "node_start", node_id: "b" },
    ]),
  );
  await person.click(screen.getByRole("button", { name: "Resume" }));
  await waitFor(() => expect(now().paused_at?.node_id).toBe("b"));
});
