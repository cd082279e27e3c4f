import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { emptyDb } from "@/db/testing";
import { RunConfig } from "@/server/domain/agent/outcome";
import { draw } from "@/server/domain/testing/drawing";
import { newRunStore } from "@/server/store/runs/runs";
import { systemClock } from "../durable/clock";
import { Followers, type StatusTick, Watchers } from "../log/followers";
import { LogWriter, TRY_AGAIN_MS } from "../log/log-writer";
import type { HostLog } from "./host-log";
import { LiveRuns } from "./live-runs";
import { RunEndings } from "./run-endings";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const BUSY = Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });
const CORRUPT = Object.assign(new Error("database disk image is malformed"), { code: "SQLITE_CORRUPT" });

/** A run whose quarantine can't be recorded at first: each of these errors is thrown once. */
function failing(errors: readonly Error[], log?: HostLog) {
  const store = newRunStore(emptyDb());
  const { id } = store.create({
    id: "run_a",
    created: {
      type: "run_created",
      seq: 1,
      ts: 1_000,
      payload: {
        graph: draw("start > end"),
        roles: [],
        workflow_id: "wf_test",
        workflow_name: "Test",
        input: {},
        config: RunConfig.parse({}),
        trigger: "test",
        provider_summary: null,
      },
    },
    interpreterVersion: 1,
    idempotencyKey: null,
  });
  const left = [...errors];
  const watchers = new Watchers();
  const ticks: StatusTick[] = [];
  watchers.watch((tick) => ticks.push(tick));
  const endings = new RunEndings({
    store: {
      ...store,
      hold(runId, reason) {
        const error = left.shift();
        if (error) throw error;
        return store.hold(runId, reason);
      },
    },
    writer: new LogWriter(store.write, () => {}),
    live: new LiveRuns(),
    followers: new Followers(),
    watchers,
    clock: systemClock,
    log,
    ended: () => {},
  });
  return {
    ticks,
    hold: () => endings.hold(id, "damaged_log", "The log can't be read."),
    status: () => store.find(id)?.status,
    reason: () => store.find(id)?.held?.code,
  };
}

test("a quarantine that can't be recorded at first is retried until it is recorded", () => {
  const log = vi.fn<HostLog>();
  const { hold, status, reason, ticks } = failing([BUSY, BUSY], log);
  hold();
  vi.advanceTimersByTime(TRY_AGAIN_MS);
  expect(status()).toBe("queued");
  // Watchers are notified of stored events only.
  expect(ticks).toEqual([]);
  vi.advanceTimersByTime(TRY_AGAIN_MS);
  expect([status(), reason()]).toEqual(["held", "damaged_log"]);
  expect(ticks).toEqual([{ run_id: "run_a", workflow_id: "wf_test", status: "held", final_status: null }]);
  expect(log.mock.calls.filter(([level]) => level === "error")).toEqual([]);
});

test("a quarantine that can never be recorded is reported to the admin and not retried", () => {
  const log = vi.fn<HostLog>();
  const { hold, status, ticks } = failing([CORRUPT], log);
  hold();
  vi.advanceTimersByTime(10 * TRY_AGAIN_MS);
  expect([status(), ticks]).toEqual(["queued", []]);
  expect(log.mock.calls.filter(([level]) => level === "error")).toEqual([
    ["error", "The quarantine of a run could not be recorded.", { error: CORRUPT.message }],
  ]);
});

test("a quarantine that can't be recorded stops nothing where no one reads the log", () => {
  const { hold, status } = failing([CORRUPT]);
  expect(hold).not.toThrow();
  expect(status()).toBe("queued");
});
