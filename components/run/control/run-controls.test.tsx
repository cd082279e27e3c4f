import { screen, waitFor, within } from "@testing-library/react";
import { type ReactNode, useEffect } from "react";
import { beforeEach, expect, test } from "vitest";
import { breakpointsOf } from "@/components/run/breakpoints/breakpoint-store";
import { BreakpointsOver } from "@/components/run/breakpoints/breakpoints-over";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { RunProvider } from "@/components/run/run-context";
import { openPage } from "@/components/testing/page";
import type { Breakpoint } from "@/server/domain/agent/breakpoint/breakpoint";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { PausedBar } from "./paused-bar";
import { RunControlProvider, useControlling } from "./run-control-context";

beforeEach(() => localStorage.clear());

/** Shows what is known only once it is shown. */
const Late = ({ children }: { children: () => ReactNode }) => children();

function Choose({ nodeId }: { nodeId: string }) {
  const select = useControlling()?.select;
  useEffect(() => select?.(nodeId), [select, nodeId]);
  return null;
}

const steps = draw("start > a > b > end");
/** As if a workflow's file had marked this node. */
const marked = (nodeId: string, breakpoint: "before" | "after") => ({
  ...steps,
  nodes: Object.fromEntries(
    Object.entries(steps.nodes).map(([id, node]) => [id, id === nodeId ? { ...node, breakpoint } : node]),
  ),
});

/** The controls of a run of `start > a > b > end` that was started so; `now` reads on what happened. */
async function watch(
  config: Partial<RunConfig>,
  {
    trigger = "api",
    graph = steps,
    kept = [],
  }: { trigger?: "api" | "editor"; graph?: WorkflowGraph; kept?: Breakpoint[] } = {},
) {
  const store = new RunViewStore((work) => work());
  let ids = { run: "", workflow: "" };
  const page = openPage(
    <Late>
      {() => (
        <RunProvider store={store}>
          <RunControlProvider runId={ids.run} workflowId={ids.workflow}>
            <Choose nodeId="b" />
            <BreakpointsOver />
            <PausedBar />
          </RunControlProvider>
        </RunProvider>
      )}
    </Late>,
  );
  const { id } = await page.ask.workflows.create({ name: "Steps", graph });
  for (const one of kept) breakpointsOf(id).add(one);
  const { run_id } = page.troupe.startRun({ workflow_id: id, input: {}, config, trigger }) ?? {
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
  const bar = () => screen.getByRole("status", { name: "Pause status" }).textContent;
  return { ...page, now, bar, run_id, store: () => breakpointsOf(id) };
}

test("stepping through a run shows the next node, by button or key", async () => {
  const { person, now, bar } = await watch({ mode: "step" });
  expect(bar()).toContain("Stepping. Next: start");
  const tools = screen.getByRole("toolbar", { name: "Run controls" });
  await person.click(within(tools).getByRole("button", { name: "Next node" }));
  await waitFor(() => expect(now().paused_at?.node_id).toBe("a"));
  expect(bar()).toContain("Stepping. Next: a");
  await person.keyboard("{F10}");
  await waitFor(() => expect(now().paused_at?.node_id).toBe("b"));
  await person.keyboard("{F5}");
  await waitFor(() => expect(now().final_status).toBe("COMPLETED"));
  expect(screen.queryByRole("toolbar")).toBeNull();
  expect(bar()).toBe("");
});

test("“Run to…” pauses at the chosen node and removes its temporary breakpoint", async () => {
  const { person, now, bar } = await watch({ mode: "step" });
  await person.click(screen.getByRole("button", { name: "Run to…" }));
  await person.click(await screen.findByRole("menuitem", { name: /^b/ }));
  await waitFor(() => expect(now().paused_at?.node_id).toBe("b"));
  expect(bar()).toContain("Paused before b");
  await waitFor(() => expect(now().breakpoints).toEqual([]));
});

test("breakpoints passed at the start are listed, and a breakpoint added later pauses the run", async () => {
  const { person, now, bar } = await watch({ breakpoints: [{ on: "node_start", node_id: "a" }] });
  expect(bar()).toContain("Paused at the breakpoint on a");
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

test("a run from the editor keeps the workflow's own breakpoints when others are added", async () => {
  const graph = { ...marked("a", "after"), config: RunConfig.parse({ mode: "breakpoint" }) };
  const { person, now, bar } = await watch({}, { trigger: "editor", graph });
  expect(bar()).toContain("Paused at the breakpoint after a");
  await screen.findByRole("button", { name: "Breakpoints (1)" });
  await person.keyboard("{F9}");
  await waitFor(() =>
    expect(now().breakpoints).toEqual([
      { on: "node_end", node_id: "a" },
      { on: "node_start", node_id: "b" },
    ]),
  );
});

test("“Run to…” keeps the workflow's own breakpoints", async () => {
  const graph = {
    ...steps,
    config: RunConfig.parse({ breakpoints: [{ on: "node_start", node_id: "a" }, { on: "error" }] }),
  };
  const { person, now } = await watch({}, { trigger: "editor", graph });
  await person.click(screen.getByRole("button", { name: "Run to…" }));
  await person.click(await screen.findByRole("menuitem", { name: /^b/ }));
  await waitFor(() => expect(now().paused_at?.node_id).toBe("b"));
  expect(now().breakpoints).toEqual([{ on: "node_start", node_id: "a" }, { on: "error" }]);
});

test("a one-time stop survives adding another breakpoint", async () => {
  const { person, now } = await watch(
    { breakpoints: [{ on: "node_start", node_id: "a" }], stop_at: "end" },
    { trigger: "editor" },
  );
  await person.keyboard("{F9}");
  await waitFor(() =>
    expect(now().breakpoints).toEqual([
      { on: "node_start", node_id: "a" },
      { on: "node_start", node_id: "b" },
      { on: "node_start", node_id: "end", once: true },
    ]),
  );
});

test("a breakpoint set during a run applies to that run, and optionally to later ones", async () => {
  const kept = { on: "node_start" as const, node_id: "a", condition: "true " };
  const { person, now, store } = await watch(
    { breakpoints: [{ ...kept, condition: "true" }] },
    { trigger: "editor", kept: [kept] },
  );
  await person.keyboard("{F9}");
  await waitFor(() => expect(now().breakpoints).toHaveLength(2));
  expect(store().getState().list).toEqual([{ id: "b1", ...kept }]);
  await person.click(screen.getByRole("button", { name: "Breakpoints (2)" }));
  const rows = within(await screen.findByRole("list", { name: "Run breakpoints" })).getAllByRole("listitem");
  const ticks = rows.map((row) => within(row).getByRole("checkbox", { name: "In every run" }));
  expect(
    ticks.map((tick) => tick.getAttribute("aria-checked") ?? String((tick as HTMLInputElement).checked)),
  ).toEqual(["true", "false"]);
  await person.click(ticks[1]!);
  expect(
    store()
      .getState()
      .list.map(({ node_id }) => node_id),
  ).toEqual(["a", "b"]);
  await person.click(screen.getByRole("button", { name: "Remove Before a" }));
  expect(
    store()
      .getState()
      .list.map(({ node_id }) => node_id),
  ).toEqual(["b"]);
});
