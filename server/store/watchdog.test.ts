import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newWatchdog, type Watchdog } from "./watchdog";

let folder: string;
let watchdog: Watchdog;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "troupe-watchdog-"));
  watchdog = newWatchdog(folder, { everyMs: 20 });
});
afterEach(() => {
  watchdog.close();
  rmSync(folder, { recursive: true, force: true });
});

const noted = () => {
  const file = path.join(folder, "standing-still");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};
/** Keeps the thread, so that no timer of it fires, until something is noted. */
const standStill = () => {
  const end = Date.now() + 10_000;
  while (noted() === "" && Date.now() < end);
};
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("names the runs whose steps were under way when the thread stood still, and nobody else", async () => {
  const over = watchdog.stepBegins("run_over");
  const again = watchdog.stepBegins("run_again");
  watchdog.stepBegins("run_again");
  over();
  again();
  watchdog.stepBegins("run_b");
  standStill();
  expect(newWatchdog(folder).last().sort()).toEqual(["run_again", "run_b"]);
});

test("takes it back once the thread goes on", async () => {
  watchdog.stepBegins("run_slow");
  standStill();
  expect(noted()).toBe("run_slow");
  while (noted() !== "") await sleep(10);
  expect(newWatchdog(folder).last()).toEqual([]);
});

test("names nobody while the thread comes round, however long a step takes", async () => {
  watchdog.stepBegins("run_in_a_long_call");
  for (let at = 0; at < 40; at++) {
    await sleep(10);
    expect(noted()).toBe("");
  }
});

test("a new process is told once", () => {
  watchdog.stepBegins("run_a");
  standStill();
  const next = newWatchdog(folder);
  expect(next.last()).toEqual(["run_a"]);
  next.forgetLast();
  expect(newWatchdog(folder).last()).toEqual([]);
});
