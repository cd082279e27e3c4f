import { render, screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { stillView } from "@/components/canvas/layout/still-view";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { RunProvider } from "@/components/run/run-context";
import { ShownRun } from "@/components/run/run-screen";
import { openPage } from "@/components/testing/page";
import { TroupeApi } from "@/components/trpc";
import { defined } from "@/server/domain/base/defined";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { newRun } from "@/server/domain/run";
import { childKey } from "@/server/domain/run/state";
import { draw } from "@/server/domain/testing/drawing";
import { cursorAt, likelyChild } from "./child-runs";
import { ParentLink } from "./parent-link";

/** The page of a run of a workflow that runs another one, on a phone: nodes are a list there. */
async function watch(
  graphOf: (child: string) => WorkflowGraph,
  { child, input = {}, mode }: { child: WorkflowGraph; input?: JsonObject; mode?: "step" },
) {
  vi.stubGlobal("matchMedia", (query: string) => ({
    matches: query.includes("max-width"),
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }));
  const store = new RunViewStore((work) => work());
  const ids = { run: "", workflow: "" };
  const Watched = () => (
    <RunProvider store={store}>
      <ShownRun runId={ids.run} workflowId={ids.workflow} onResumed={() => undefined} />
    </RunProvider>
  );
  const page = openPage(<Watched />);
  const called = await page.ask.workflows.create({ name: "Summarize", graph: child });
  ids.workflow = (await page.ask.workflows.create({ name: "Weekly report", graph: graphOf(called.id) })).id;
  const begin = async () => {
    ids.run = (
      await page.ask.runs.start({ workflow_id: ids.workflow, input, config: defined({ mode }) })
    ).run_id;
    return ids.run;
  };
  const read = (run = ids.run) => {
    store.apply(page.troupe.runs.events(run, store.received(), 500));
    store.flush();
    return store.view.getState();
  };
  await begin();
  const ended = () => waitFor(() => expect(read().head.run.status).toBe("finished"));
  return { ...page, ids, store, read, ended };
}

const summarize = draw("start > sum > end", {
  start: { node_type: "start", output_keys: ["text"] },
  sum: { name: "Shorten", config: { set: { short: "state.text + '!'" } }, output_keys: ["short"] },
  end: { node_type: "end", input_keys: ["short"] },
});
const report = (workflow_id: string) =>
  draw("start > call > end", {
    call: {
      node_type: "sub_workflow",
      name: "Summary",
      config: { workflow_id, input: { text: "'news'" } },
      output_keys: ["short"],
    },
  });
const each = (workflow_id: string) =>
  draw("start > all > end", {
    start: { node_type: "start", output_keys: ["texts"] },
    all: {
      node_type: "map",
      name: "Summaries",
      config: {
        items: "state.texts",
        workflow_id,
        input: { text: "item" },
        output: "output.short",
        on_item_error: "collect",
      },
      output_keys: ["shorts"],
    },
  });
/** Fails for texts that can't be read as numbers. */
const double = draw("start > sum > end", {
  start: { node_type: "start", output_keys: ["text"] },
  sum: { config: { set: { short: "int(state.text) * 2" } }, output_keys: ["short"] },
  end: { node_type: "end", input_keys: ["short"] },
});

test("a run opens below the node that started it, and follows the cursor into the past", async () => {
  const { person, show, store, ended, ids } = await watch(report, { child: summarize });
  await ended();
  show();
  await person.click(screen.getByRole("tab", { name: "Workflow" }));
  await person.click(await screen.findByRole("button", { name: "Open run of Summary" }));
  const run = await screen.findByRole("region", { name: "Run of Summary" });
  const shorten = await within(run).findByRole("button", { name: /Shorten.*news!/ });
  const [child] = store.view.getState().head.children.values();
  expect(within(run).getByRole("link", { name: "Open run" }).getAttribute("href")).toBe(
    `/runs/${child?.run_id}`,
  );
  expect(child?.run_id).not.toBe(ids.run);
  const before = store.view.getState().events.find(({ type }) => type === "child_started");
  store.goTo((before?.seq ?? 0) - 1);
  await within(run).findByText("Not started");
  expect(shorten.isConnected).toBe(false);
  store.goTo(null);
  await within(run).findByRole("button", { name: /Shorten.*news!/ });
  await person.click(within(run).getByRole("button", { name: "Close run" }));
  expect(screen.queryByRole("region", { name: "Run of Summary" })).toBeNull();
});

test("a node of an opened run is shown in the panel, and the URL keeps what is open", async () => {
  const { person, show, ended, store } = await watch(report, { child: summarize });
  await ended();
  const { unmount } = show();
  await person.click(screen.getByRole("tab", { name: "Workflow" }));
  await person.click(await screen.findByRole("button", { name: "Open run of Summary" }));
  expect(window.location.search).toBe("?open=call");
  unmount();
  show();
  await person.click(screen.getByRole("tab", { name: "Workflow" }));
  const run = await screen.findByRole("region", { name: "Run of Summary" });
  await person.click(await within(run).findByRole("button", { name: /Shorten.*news!/ }));
  const node = await screen.findByRole("article", { name: "Shorten in this run" });
  expect(within(node).getByRole("region", { name: "Output" }).textContent).toContain("news!");
  const [child] = store.view.getState().head.children.values();
  expect(screen.getByRole("link", { name: "Open run" }).getAttribute("href")).toBe(`/runs/${child?.run_id}`);
  await person.click(screen.getByRole("tab", { name: "Workflow" }));
  await person.click(await screen.findByRole("button", { name: "Close run of Summary" }));
  expect(window.location.search).toBe("");
});

test("a run that is stepped through says where its child run is paused, stops its clock, and steps over it", async () => {
  const { person, show, ask, ids, read, store } = await watch(report, {
    child: summarize,
    mode: "step",
  });
  for (const next of ["start", "call"]) {
    await waitFor(() => expect(read().head.run.paused_at?.node_id).toBe(next));
    await ask.runs.step({ run_id: ids.run, granularity: "node" });
  }
  await waitFor(async () => {
    const [child] = await ask.runs.children({ run_id: ids.run, limit: 9 });
    expect(child?.status).toBe("paused");
  });
  read();
  show();
  const bar = await screen.findByRole("status", { name: "Paused child run" });
  expect(bar.textContent).toContain("Paused in Summary");
  expect(screen.getByRole("group", { name: "Run status" }).textContent).toBe("Paused");
  await waitFor(() => expect(store.view.getState().pausedBelow).toBeGreaterThan(0));
  const time = () => screen.getByText("Time").nextElementSibling?.textContent;
  const before = time();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(time()).toBe(before);
  const [child] = store.view.getState().head.children.values();
  expect(within(bar).getByRole("link", { name: "Step into" }).getAttribute("href")).toBe(
    `/runs/${child?.run_id}`,
  );
  await person.click(within(bar).getByRole("button", { name: "Step over" }));
  await waitFor(() => expect(read().head.run.paused_at?.node_id).toBe("end"));
});

test("the page of a run that a node started leads back to the run of that node", async () => {
  const { troupe, store, ended, ids } = await watch(report, { child: summarize });
  await ended();
  const [child] = store.view.getState().head.children.values();
  const own = new RunViewStore((work) => work());
  own.apply(troupe.runs.events(child!.run_id, 0, 500));
  own.flush();
  render(
    <TroupeApi>
      <RunProvider store={own}>
        <ParentLink />
      </RunProvider>
    </TroupeApi>,
  );
  const trail = screen.getByRole("navigation", { name: "Parent run" });
  await within(trail).findByText("Summary");
  expect(within(trail).getByRole("link", { name: "Weekly report" }).getAttribute("href")).toBe(
    `/runs/${ids.run}`,
  );
});

test("a map lists its items, narrows them down to those that failed, and retries these in a fork", async () => {
  const { person, show, ended, troupe, ids } = await watch(each, {
    child: double,
    input: { texts: ["1", "two", "3"] },
  });
  await ended();
  show();
  await person.click(screen.getByRole("tab", { name: "Workflow" }));
  await person.click(await screen.findByRole("button", { name: /^Summaries/ }));
  const items = await screen.findByRole("list", { name: "Items" });
  const node = screen.getByRole("article", { name: "Summaries in this run" });
  expect(node.textContent).toMatch(/Completed with failures.*Map: Summarize for each of state\.texts/);
  within(node).getByText("1 failed");
  await within(items).findByText("2");
  await within(items).findByText("two");
  expect(
    within(items)
      .getAllByRole("link")
      .map(({ textContent }) => textContent),
  ).toEqual(["Item 1", "Item 2", "Item 3"]);
  await person.click(screen.getByRole("radio", { name: "Failed" }));
  expect(
    within(items)
      .getAllByRole("link")
      .map(({ textContent }) => textContent),
  ).toEqual(["Item 2"]);
  await waitFor(() => expect(within(items).getByRole("listitem").textContent).toMatch(/Item 2.*two/s));
  await person.click(screen.getByRole("button", { name: "Retry failed items" }));
  await waitFor(() => expect(window.location.pathname).toMatch(/\/runs\/run_/));
  const fork = window.location.pathname.split("/").at(-1) ?? "";
  expect(fork).not.toBe(ids.run);
  await waitFor(() => expect(troupe.runs.find(fork)?.status).toBe("finished"));
  // The others have the recorded results.
  expect(troupe.runs.children(fork, { limit: 50 }).map(({ parent }) => parent?.item)).toEqual([1]);
});

test("a map says that its items were computed without runs", async () => {
  const graph = () =>
    draw("start > all > end", {
      start: { node_type: "start", output_keys: ["texts"] },
      all: {
        node_type: "map",
        name: "Lengths",
        config: { items: "state.texts", node: "size", input: { text: "item" }, output: "output.n" },
        output_keys: ["lengths"],
      },
      size: { config: { set: { n: "size(state.text)" } }, output_keys: ["n"] },
    });
  const withBody = () => {
    const drawn = graph();
    const body = draw("start > size > end", {
      size: { config: { set: { n: "size(state.text)" } }, output_keys: ["n"] },
    }).nodes.size;
    return { ...drawn, nodes: { ...drawn.nodes, size: body! } };
  };
  const { person, show, ended } = await watch(withBody, { child: double, input: { texts: ["a", "bc"] } });
  await ended();
  show();
  await person.click(screen.getByRole("tab", { name: "Workflow" }));
  await person.click(await screen.findByRole("button", { name: /^Lengths.*2 of 2/ }));
  await screen.findByText("The items were computed here, without separate runs.");
  expect(screen.queryByRole("button", { name: "Retry failed items" })).toBeNull();
});

test("a run is shown at a past time", () => {
  const events = [10, 20, 20, 30].map((ts) => ({ ts }));
  expect([5, 10, 20, 25, 30, 99].map((time) => cursorAt(events, time))).toEqual([1, 1, 3, 3, 4, 4]);
});

test("of the runs of a map, one that is running is opened, else one that failed, else the first", () => {
  const run = newRun();
  run.nodes.m = { status: "running", count: 1, activation: "m#1" };
  const put = (item: number, status: "running" | "completed" | "failed") =>
    run.children.set(childKey("m#1", item), { run_id: `r${item}`, activation_id: "m#1", item, status });
  put(1, "completed");
  put(0, "completed");
  expect(likelyChild(run, "m")?.item).toBe(0);
  put(3, "failed");
  expect(likelyChild(run, "m")?.item).toBe(3);
  put(4, "running");
  expect(likelyChild(run, "m")?.item).toBe(4);
});

test("a run within a card is as large as its cards need, or scaled down", () => {
  const graph = draw("start > a > end");
  const own = stillView(graph, new Map(), { width: 4000, height: 4000 });
  expect(own.view.zoom).toBe(1);
  const grown = stillView(graph, new Map([["a", { width: 900, height: 600 }]]), {
    width: 4000,
    height: 4000,
  });
  expect(grown.size.width).toBe(own.size.width + 900 - 208);
  const small = stillView(graph, new Map(), { width: 400, height: 4000 });
  expect(small.size.width).toBe(400);
  expect(small.view.zoom).toBeLessThan(1);
});
