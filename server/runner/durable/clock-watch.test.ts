import { expect, test } from "vitest";
import { WorkTime } from "./clock";
import { ClockWatch } from "./clock-watch";

/** Two clocks that a test moves by hand, in milliseconds. */
function clocks() {
  const at = { wall: 1_000_000, work: 0 };
  const time = new WorkTime({ now: () => at.wall, monotonic: () => at.work });
  const pass = (ms: number) => {
    at.wall += ms;
    at.work += ms;
    time.read();
  };
  return { at, pass, watch: new ClockWatch(time) };
}

test("a clock that was never read has not jumped", () => {
  const { watch, at } = clocks();
  expect(watch.jump(at.wall + 60_000)).toBe(0);
});

test("a clock change is reported by its amount, and small deviations are ignored", () => {
  const { watch, at, pass } = clocks();
  watch.note(at.wall);
  pass(5_000);
  expect(watch.jump(at.wall)).toBe(0);
  expect(watch.jump(at.wall + 900)).toBe(0);
  expect(watch.jump(at.wall + 60_000)).toBe(60_000);
  expect(watch.jump(at.wall - 60_000)).toBe(-60_000);
});
