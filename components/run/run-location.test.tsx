import { screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { openPage } from "@/components/testing/page";
import type { RunPlace } from "@/server/domain/run/engine-state";
import { draw } from "@/server/domain/testing/drawing";
import { useRunNow } from "./live/run-now";
import { RunViewStore } from "./live/run-view-store";
import { RunProvider } from "./run-context";
import { approvalRun } from "./run-example";
import { RunLocation } from "./run-location";

const activeRun = approvalRun.slice(0, -1);
const at = (place: Partial<RunPlace>): RunPlace => ({
  state: "at_work",
  worker: "worker-2",
  moved_from: null,
  moved_at: null,
  ...place,
});

function show(place: RunPlace | null, cursor: number | null = null) {
  const store = new RunViewStore((work) => work());
  store.apply(activeRun);
  if (cursor !== null) store.goTo(cursor);
  const opened = openPage(
    <RunProvider store={store}>
      <RunLocation place={place} />
    </RunProvider>,
  );
  return opened.show().container.textContent;
}

test.each<[string, RunPlace | null]>([
  ["on worker-2", at({})],
  [
    "on worker-2, moved from worker-1 at 12:03",
    at({ moved_from: "worker-1", moved_at: new Date(2026, 0, 5, 12, 3).getTime() }),
  ],
  ["waiting for a worker", at({ state: "waits_for_worker", worker: null })],
  ["worker-2 is offline: waiting for another worker", at({ state: "waits_for_worker" })],
  ["the engine is unreachable; the run keeps its position", at({ state: "engine_away" })],
  ["", null],
])("the header shows %o", (expected, place) => {
  expect(show(place)).toBe(expected);
});

test("a run viewed in the past shows no current location", () => {
  expect(show(at({}), 2)).toBe("");
});

test("the run page polls the run's location until the run ends", async () => {
  const store = new RunViewStore((work) => work());
  store.apply(activeRun);
  let runId = "";
  const Page = () => (
    <RunProvider store={store}>
      <PlaceOf runId={runId} />
    </RunProvider>
  );
  const { troupe, ask, show: open } = openPage(<Page />);
  const nap = { node_type: "wait", config: { signal: "go" } } as const;
  const { id } = await ask.workflows.create({ name: "Nap", graph: draw("start > nap > end", { nap }) });
  ({ run_id: runId } = await ask.runs.start({ workflow_id: id }));
  const placeSpy = vi.spyOn(troupe.engine, "place").mockReturnValueOnce(at({ worker: "worker-1" }));
  placeSpy.mockReturnValue(at({ moved_from: "worker-1" }));
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    open();
    await screen.findByText("on worker-1");
    vi.advanceTimersByTime(3_000);
    await screen.findByText("on worker-2, moved from worker-1");
    store.apply(approvalRun.slice(-1));
    await expect.poll(() => screen.queryByText(/worker/)).toBeNull();
  } finally {
    vi.useRealTimers();
  }
});

function PlaceOf({ runId }: { runId: string }) {
  return <RunLocation place={useRunNow(runId).place} />;
}
