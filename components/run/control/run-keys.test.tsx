import { expect, test } from "vitest";
import { runKeyFor } from "./run-keys";

const press = (
  key: string,
  standing: { isActive: boolean; isPaused: boolean },
  more: KeyboardEventInit = {},
) => runKeyFor(new KeyboardEvent("keydown", { key, ...more }), standing)?.id ?? null;
const running = { isActive: true, isPaused: false };
const paused = { isActive: true, isPaused: true };
const over = { isActive: false, isPaused: false };

test("F5 resumes a paused run and otherwise reloads the page", () => {
  expect([press("F5", paused), press("F5", running), press("F5", over)]).toEqual(["resume", null, null]);
  expect(press("F5", paused, { ctrlKey: true })).toBeNull();
});

test("an active run can be paused, and a paused run can be stepped through", () => {
  expect([press("p", running), press("p", paused)]).toEqual(["pause", null]);
  expect(press("F10", paused)).toBe("step_node");
  expect(press("F11", paused)).toBe("step_turn");
  expect(press("F10", paused, { shiftKey: true })).toBe("run_to");
  expect(press("F10", running)).toBeNull();
});

test("breakpoints can be set while the run is active", () => {
  expect(press("F9", running)).toBe("breakpoint");
  expect(press("F9", paused)).toBe("breakpoint");
  expect(press("F9", over)).toBeNull();
});
