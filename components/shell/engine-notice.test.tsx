import { useQuery } from "@tanstack/react-query";
import { screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { openPage } from "@/components/testing/page";
import { useTrpc } from "@/components/trpc";
import { EMBEDDED, type EngineState } from "@/server/domain/run/engine-state";
import { engineOf } from "@/server/domain/testing/engine";
import { EngineNotice } from "./shell";

const message =
  "Restate isn't responding at http://127.0.0.1:8080. Runs keep their position and continue when the engine is available again.";
const away = { ok: false, message, is_away: true };

/** What the notice says at each of these states, looked at one after another. */
async function over(states: EngineState[]) {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const { troupe, show } = openPage(
      <>
        <EngineNotice />
        <PollMarker />
      </>,
    );
    const stateSpy = vi.spyOn(troupe.engine, "state");
    for (const [at, state] of states.entries()) stateSpy.mockReturnValueOnce({ ...state, at_work: at + 1 });
    show();
    const seen: (string | null)[] = [];
    for (const at of states.keys()) {
      if (at > 0) vi.advanceTimersByTime(5_000);
      await screen.findByText(`Look ${at + 1}`);
      seen.push(screen.queryByRole("status")?.textContent ?? null);
    }
    return seen;
  } finally {
    vi.useRealTimers();
  }
}

/** Says which look the page has come to, so that what the notice does not say is not merely yet to come. */
function PollMarker() {
  const { data } = useQuery({ ...useTrpc().engine.get.queryOptions() });
  return <p>Look {data?.at_work}</p>;
}

test("every page shows a notice during a long engine outage and removes it on recovery", async () => {
  const since = { waiting: 1, oldest_at: 1, away_since: 1 };
  expect(
    await over([engineOf(), engineOf({ outbox: since }), engineOf({ ...away, outbox: since }), engineOf()]),
  ).toEqual([null, null, `${message}View engine status`, null]);
});

test("missing workers or an abandoned engine cause no notice", async () => {
  const noWorker = {
    ok: false,
    message: "No worker is available. Start one with npm run worker.",
  };
  expect(await over([engineOf({ ...noWorker, workers: [] }), { ...EMBEDDED, ...away }])).toEqual([
    null,
    null,
  ]);
});
