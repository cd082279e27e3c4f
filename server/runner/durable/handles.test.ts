import { expect, test } from "vitest";
import { type Handle, Handles } from "./handles";

/** Something under way, and what has become of it. */
function inProgress(handles: Handles, key: string) {
  const abort = new AbortController();
  const heard: string[] = [];
  const handle: Handle = {
    key,
    kind: "step",
    started: true,
    abort,
    waiting: { stop: () => heard.push("its timer stopped") },
  };
  abort.signal.addEventListener("abort", () => heard.push("it was aborted"));
  handles.add(handle);
  return { handle, heard };
}

test("settled handles are released, and abandoned or remaining handles are aborted, each once", () => {
  const handles = new Handles("run");
  const [settled, abandoned, left] = ["a", "b", "c"].map((key) => inProgress(handles, key));
  if (!settled || !abandoned || !left) throw new Error("three were begun");
  const before = handles.inFlight;
  handles.settle(settled.handle);
  handles.giveUp(abandoned.handle);
  const after = handles.inFlight;
  handles.clear();
  handles.clear();
  expect([before, after, handles.inFlight]).toEqual([3, 1, 0]);
  expect([settled, abandoned, left].map(({ heard }) => heard)).toEqual([
    ["its timer stopped"],
    ["its timer stopped", "it was aborted"],
    ["its timer stopped", "it was aborted"],
  ]);
});
