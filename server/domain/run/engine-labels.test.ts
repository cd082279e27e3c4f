import { expect, test } from "vitest";
import { engineOf, workerOf } from "@/server/domain/testing/engine";
import { engineLabel, outboxLabel, placeLabel, stalledRunText } from "./engine-labels";
import { EMBEDDED, type RunPlace } from "./engine-state";

test("the engine label names this server or counts the workers", () => {
  const gone = workerOf("worker-3", { state: "gone" });
  expect(engineLabel(EMBEDDED)).toBe("This server");
  expect(engineLabel({ ...EMBEDDED, at_work: 1 })).toBe("This server; 1 run is still finishing over Restate");
  expect(engineLabel({ ...EMBEDDED, at_work: 12 })).toBe(
    "This server; 12 runs are still finishing over Restate",
  );
  expect(engineLabel(engineOf())).toBe("2 workers over Restate");
  expect(engineLabel(engineOf({ workers: [workerOf("worker-1", { state: "draining" }), gone] }))).toBe(
    "1 worker over Restate",
  );
  expect(engineLabel(engineOf({ workers: [gone] }))).toBe("Workers over Restate; none available");
});

test("the outbox label counts the messages waiting for the engine", () => {
  expect(outboxLabel(0)).toBe("Empty");
  expect(outboxLabel(1)).toBe("1 message waiting for the engine");
  expect(outboxLabel(4)).toBe("4 messages waiting for the engine");
});

test("the text of a stalled run has the cause and the next step", () => {
  const cause = "No worker was reachable.";
  expect(stalledRunText({ state: "tried_again", tries: 7, cause })).toBe(
    "No worker was reachable. Retrying automatically; 7 tries so far.",
  );
  expect(stalledRunText({ state: "tried_again", tries: 0, cause })).toBe(
    "No worker was reachable. Retrying automatically.",
  );
  expect(stalledRunText({ state: "paused", tries: 1, cause: "It is too large" })).toBe(
    "It is too large. Paused in the engine after 1 try. Resume it in Restate, or cancel the run.",
  );
});

test("the place label of a run names its current and previous worker", () => {
  const at = (place: Partial<RunPlace>) =>
    placeLabel(
      { state: "at_work", worker: "worker-2", moved_from: null, moved_at: null, ...place },
      (moment) => `<${moment}>`,
    );
  expect(at({})).toBe("on worker-2");
  expect(at({ moved_from: "worker-1", moved_at: 5 })).toBe("on worker-2, moved from worker-1 at <5>");
  expect(at({ moved_from: "worker-2", moved_at: 5 })).toBe("on worker-2, restarted at <5>");
  expect(at({ state: "waits_for_worker", worker: null })).toBe("waiting for a worker");
  expect(at({ state: "waits_for_worker" })).toBe("worker-2 is offline: waiting for another worker");
  expect(at({ state: "engine_away" })).toBe("the engine is unreachable; the run keeps its position");
});
