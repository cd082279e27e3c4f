import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { executing, type Hang, newWatchdog, type Watchdog } from "./watchdog";

let folder: string;
let watchdog: Watchdog;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "troupe-watchdog-"));
  watchdog = newWatchdog(folder, { everyMs: 20 });
  watchdog.start();
});
afterEach(() => {
  watchdog.close();
  rmSync(folder, { recursive: true, force: true });
});

/** As a next process would read it. */
const noted = () => newWatchdog(folder).last();
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Keeps the thread, so that no timer of it fires, until it is noted for what. */
const hangHere = () => {
  const end = Date.now() + 10_000;
  for (;;) {
    const hang = noted();
    if (hang?.stack !== undefined || Date.now() > end) return hang;
  }
};

test("a hang is recorded with its run, step and stack, even after an await in parallel work", async () => {
  const step = async (ms: number, hangs: boolean) => {
    await sleep(ms);
    return hangs ? hangHere() : null;
  };
  const [, hang] = await Promise.all(
    ["run_a", "run_b", "run_c"].map((run_id, at) =>
      executing.run({ run_id, step: `ask#${at}` }, () => step(60 + 20 * at, run_id === "run_b")),
    ),
  );
  expect(hang).toMatchObject({ ended: false, run_id: "run_b", step: "ask#1" });
  expect(hang?.stack).toContain("hangHere");
});

test("a hang inside a catastrophic regex is recorded", async () => {
  let hang: Hang | null = null;
  // A longer text doubles the time. A note taken while the test itself reads the file does not count.
  for (let size = 20; !hang?.stack?.includes("RegExp.test") && size < 32; size++) {
    while (noted() !== null) await sleep(10);
    hang = executing.run({ request: "POST /imports" }, () => {
      /^(a+)+$/.test(`${"a".repeat(size)}!`);
      return noted();
    });
  }
  expect(hang).toMatchObject({ request: "POST /imports" });
  expect(hang?.stack).toContain("RegExp.test");
});

test("the record is deleted once the thread responds again", async () => {
  expect(executing.run({ run_id: "run_slow" }, hangHere)?.run_id).toBe("run_slow");
  while (noted() !== null) await sleep(10);
});

test("nothing is recorded while the thread responds, however long a step takes", async () => {
  watchdog.close();
  watchdog = newWatchdog(folder, { everyMs: 200 });
  watchdog.start();
  await executing.run({ run_id: "run_in_a_long_call" }, async () => {
    for (let at = 0; at < 100; at++) {
      await sleep(10);
      expect(noted()).toBeNull();
    }
  });
});

test("a new process gets the last hang once", () => {
  executing.run({ run_id: "run_a" }, hangHere);
  const next = newWatchdog(folder);
  expect(next.last()?.run_id).toBe("run_a");
  next.forgetLast();
  expect(noted()).toBeNull();
});
