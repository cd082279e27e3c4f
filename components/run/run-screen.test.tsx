import { act, screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { formatDuration } from "@/components/display/format";
import { stories } from "@/components/run/crew/testing/stories";
import { RunViewStore } from "@/components/run/live/run-view-store";
import { RunProvider } from "@/components/run/run-context";
import { openPage } from "@/components/testing/page";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { RunEvent } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { approvalRun } from "./run-example";
import { ShownRun } from "./run-screen";

/** The page of a run of this workflow; `read` applies the events since the last call. */
async function watch(graph: WorkflowGraph, { phone = false } = {}) {
  vi.stubGlobal("matchMedia", (query: string) => ({
    matches: phone && query.includes("max-width"),
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
  ids.workflow = (await page.ask.workflows.create({ name: "Letters", graph })).id;
  ids.run = (await page.ask.runs.start({ workflow_id: ids.workflow })).run_id;
  const read = () => {
    store.apply(page.troupe.runs.events(ids.run, store.received(), 500));
    store.flush();
    return store.view.getState();
  };
  return { ...page, ids, store, read };
}

const tab = () => screen.getByRole("tab", { selected: true }).textContent;

const asks = draw("start > ask; ask approved> good; ask rejected> bad; ask > end", {
  ask: { node_type: "approval_gate", name: "Your decision", config: { title: "Send it?" } },
  good: { node_type: "end" },
  bad: { node_type: "end" },
});

for (const phone of [false, true])
  test(`a run that waits for a person shows its question and answers${phone ? ", on a phone too" : ""}`, async () => {
    const { person, read, show, troupe, ids } = await watch(asks, { phone });
    await waitFor(() => expect(Object.values(read().head.interactions)).toHaveLength(1));
    show();
    expect(tab()).toBe("Question");
    const question = await screen.findByRole("region", { name: "Question: Send it?" });
    expect(screen.queryByRole("dialog")).toBeNull();
    // On another tab, a notice appears that leads back.
    await person.click(screen.getByRole("tab", { name: "State" }));
    expect(screen.queryByRole("region", { name: "Question: Send it?" })).toBeNull();
    await person.click(
      within(screen.getByText("Send it?").closest("div")!).getByRole("button", { name: "Answer" }),
    );
    await waitFor(() =>
      expect(document.activeElement).toBe(screen.getByRole("region", { name: "Questions for you" })),
    );
    await person.click(await screen.findByRole("button", { name: "approved" }));
    await troupe.host.settled(ids.run);
    await waitFor(() => expect(read().head.run.status).toBe("finished"));
    await waitFor(() => expect(tab()).toBe("Result"));
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("tab", { name: "Result" })));
    expect(question.isConnected).toBe(false);
  });

test("a finished run can be watched from its start, and its menu offers a replay", async () => {
  const { person, read, show, store } = await watch(draw("start > a > end"));
  await waitFor(() => expect(read().head.run.status).toBe("finished"));
  show();
  await person.click(screen.getByRole("button", { name: "More" }));
  await screen.findByRole("menuitem", { name: "Replay run" });
  await person.keyboard("{Escape}");
  expect(screen.queryByRole("button", { name: "Cancel" })).toBeNull();
  const cursors: (number | null)[] = [];
  store.view.subscribe(({ cursor }) => cursors.push(cursor));
  await person.click(screen.getByRole("button", { name: "Watch again" }));
  await waitFor(() => expect(cursors).toContain(4));
  expect([...new Set(cursors)].slice(0, 4)).toEqual([1, 2, 3, 4]);
});

test("a crew that starts while watched expands, unless a person collapsed it", async () => {
  const events = stories.hierarchical;
  const started = events.findIndex(({ type }) => type === "crew_started") + 1;
  const { person, show, store } = await watch(draw("start > end"), { phone: true });
  store.apply(events.slice(0, started - 1));
  store.flush();
  show();
  store.apply(events.slice(0, started));
  act(() => store.flush());
  const door = await screen.findByRole("button", { name: /^Collapse the crew/ });
  await person.click(door);
  store.apply(events.slice(0, started + 5));
  act(() => store.flush());
  expect(
    (await screen.findByRole("button", { name: /^Expand the crew/ })).getAttribute("aria-expanded"),
  ).toBe("false");
});

test("a node shows its output once, and the raw model answer on demand", async () => {
  const { person, show, store } = await watch(draw("start > end"), { phone: true });
  store.apply(approvalRun);
  store.flush();
  show();
  await person.click(screen.getByRole("tab", { name: "Workflow" }));
  await person.click(await screen.findByRole("button", { name: /^Get approval/ }));
  const node = await screen.findByRole("article", { name: "Get approval in this run" });
  expect(within(node).getByRole("region", { name: "Output" }).textContent).toContain("Enjoy.");
  const raw = within(node).getByText("Answer").closest("details");
  expect(raw?.open).toBe(false);
});

test("the header shows working and waiting time separately, consistent with the timeline", async () => {
  const { person, show, store } = await watch(draw("start > end"), { phone: true });
  const at = approvalRun[0]?.ts ?? 0;
  const node = { node_id: "get", activation_id: "get#1" };
  store.apply([
    ...approvalRun.slice(0, 9),
    { ...node, seq: 10, ts: at + 1_000, type: "node_waiting", payload: { for: "human" } },
    {
      ...{ seq: 11, ts: at + 61_000, type: "run_finished" },
      payload: { final_status: "CANCELLED", reason_code: "CANCELLED", output: {}, warnings: [] },
    },
  ] as RunEvent[]);
  store.flush();
  show();
  expect(screen.getByText("Time").nextElementSibling?.textContent).toBe("900 ms");
  expect(screen.getByText("Waited").nextElementSibling?.textContent).toBe("1 min");
  await person.click(screen.getByRole("tab", { name: "Timeline" }));
  const rows = within(screen.getByRole("region", { name: "Events" })).getAllByRole("listitem");
  expect(rows.at(-1)?.textContent).toBe(
    `Run cancelledGo to this point: Run cancelled, ${formatDuration(60_900)}`,
  );
});

test("a paused run on a phone shows step controls at the bottom and a menu for the rest", async () => {
  const { person, read, show, ids, ask } = await watch(
    draw("start > pause > end", { pause: { node_type: "wait", config: { ms: 60_000 } } }),
    { phone: true },
  );
  await waitFor(() => expect(read().head.running.size).toBe(1));
  await ask.runs.pause({ run_id: ids.run });
  await waitFor(() => expect(read().head.run.paused_at).toBeTruthy());
  show();
  expect(screen.getByRole("status", { name: "Pause status" }).textContent).toContain("Paused by you");
  const tools = screen.getByRole("toolbar", { name: "Run controls" });
  expect(
    within(tools)
      .getAllByRole("button")
      .map(({ textContent }) => textContent),
  ).toEqual(["Resume", "Next node", ""]);
  await person.click(within(tools).getByRole("button", { name: "More controls" }));
  await screen.findByRole("menuitem", { name: /^Message agents/ });
  await person.click(screen.getByRole("menuitem", { name: "Cancel" }));
  await waitFor(() => expect(read().head.run.final_status).toBe("CANCELLED"));
});
