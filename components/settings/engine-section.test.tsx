import { screen, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { openPage } from "@/components/testing/page";
import { EMBEDDED, type EngineState } from "@/server/domain/run/engine-state";
import { engineOf, workerOf } from "@/server/domain/testing/engine";
import { EngineSection } from "./engine-section";

function open(...states: [EngineState, ...EngineState[]]) {
  const opened = openPage(<EngineSection version="1.0.0" />, "/settings");
  const stateSpy = vi.spyOn(opened.troupe.engine, "state");
  for (const state of states.slice(0, -1)) stateSpy.mockReturnValueOnce(state);
  stateSpy.mockReturnValue(states.at(-1) ?? states[0]);
  opened.show();
  return opened;
}
const panel = async () => within(await screen.findByRole("region", { name: "Engine" }));
/** The facts of the section, by name. */
const facts = () =>
  Object.fromEntries(
    screen.getAllByRole("term").map((term) => [term.textContent, term.nextElementSibling?.textContent]),
  );

test("an embedded engine is shown with instructions for adding workers", async () => {
  open(EMBEDDED);
  const engine = await panel();
  await engine.findByText("This server");
  expect(facts()).toEqual({ "Runs on": "This server" });
  expect(engine.getByText(/^To run workers in other processes/).textContent).toBe(
    "To run workers in other processes, start the engine with npm run engine, any number of workers with npm run worker, and this server with TROUPE_ENGINE=restate.",
  );
  expect(engine.queryByRole("list")).toBeNull();
  expect(engine.queryByRole("status")).toBeNull();
});

test("workers are listed with state, load, memory, version and last heartbeat, active workers first", async () => {
  open(
    engineOf({
      workers: [
        workerOf("old", { state: "gone", seen_at: Date.now() - 600_000 }),
        workerOf("leaving", { state: "draining", running: 1, limit: 1, version: "0.9.0" }),
        workerOf("gpu-1", { labels: ["gpu", "eu-west"], running: 5 }),
      ],
    }),
  );
  const workers = within(await (await panel()).findByRole("list", { name: "Workers" }));
  // Blanks between parts are the page's, not the text's.
  expect(workers.getAllByRole("listitem").map((row) => row.textContent)).toEqual([
    "gpu-1gpueu-westWorking5 of 16 runs210.0 MBTroupe 1.0.0Last heartbeat just now",
    "leavingDraining: accepts no new runs1 of 1 run210.0 MBTroupe 0.9.0 (this server: 1.0.0)Last heartbeat just now",
    "oldOffline: no heartbeatTroupe 1.0.0Last heartbeat 10 min ago",
  ]);
  expect(facts()).toEqual({
    "Runs on": "2 workers over Restate",
    "Active on workers": "6 runs",
    Outbox: "Empty",
  });
});

test("an engine problem is shown at the top, with the outbox size and age", async () => {
  const message =
    "Restate isn't responding at http://127.0.0.1:8080. Runs keep their position and continue when the engine is available again.";
  const at = Date.now() - 180_000;
  open(
    engineOf({ ok: false, message, is_away: true, outbox: { waiting: 4, oldest_at: at, away_since: at } }),
  );
  expect((await screen.findByRole("status")).textContent).toBe(message);
  expect(facts().Outbox).toBe("4 messages waiting for the engine; the oldest arrived 3 min ago");
});

test("a stalled run is listed with a link, its cause and what happens next", async () => {
  const cause = "It needs a worker with the Troupe version it started with.";
  open(
    engineOf({
      troubled: [
        { run_id: "run_1", state: "paused", tries: 3, cause },
        { run_id: "run_2", state: "tried_again", tries: 7, cause: "No worker was reachable." },
      ],
    }),
  );
  const region = within(await screen.findByRole("region", { name: "2 stalled runs" }));
  expect(region.getAllByRole("listitem").map((row) => row.textContent)).toEqual([
    `Workflow: ${cause} Paused in the engine after 3 tries. Resume it in Restate, or cancel the run.`,
    "Workflow: No worker was reachable. Retrying automatically; 7 tries so far.",
  ]);
  expect(region.getAllByRole("link").map((link) => link.getAttribute("href"))).toEqual([
    "/workflows/-/runs/run_1",
    "/workflows/-/runs/run_2",
  ]);
});

test("a server switched back to its embedded engine shows runs still finishing on workers", async () => {
  open({ ...EMBEDDED, at_work: 2 });
  await (await panel()).findByText("This server; 2 runs are still finishing over Restate");
  expect(facts()).toMatchObject({ "Active on workers": "2 runs", Outbox: "Empty" });
});

test("the engine section refreshes automatically while it is open", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    open(engineOf({ workers: [] }), engineOf());
    await screen.findByText("Workers over Restate; none available");
    vi.advanceTimersByTime(3_000);
    await screen.findByText("2 workers over Restate");
  } finally {
    vi.useRealTimers();
  }
});
