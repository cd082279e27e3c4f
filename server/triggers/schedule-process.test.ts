import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { openDb } from "@/db/open";
import { newSealer } from "@/server/secrets/sealer";
import { newRunStore } from "@/server/store/runs/runs";
import { newTriggerStore } from "@/server/store/triggers/triggers";
import { programOf } from "@/server/testing/program";

const program = await programOf("server/testing/scheduled-server.ts");
const root = path.resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(path.join(os.tmpdir(), "troupe-schedule-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a server until it kills itself or has nothing to do; returns how it ended. */
const live = (when: string, nth: number): Promise<string> =>
  new Promise((resolve) => {
    spawn(process.execPath, [...program, folder, when, String(nth)], { cwd: root, stdio: "inherit" }).once(
      "exit",
      (code, signal) => resolve(String(signal ?? code)),
    );
  });

test("a server killed while it catches up starts each planned time once", { timeout: 240_000 }, async () => {
  expect(await live("after a start", 7)).toBe("SIGKILL");
  expect(await live("before a start", 5)).toBe("SIGKILL");
  expect(await live("after a decision", 4)).toBe("SIGKILL");
  expect(await live("never", 0)).toBe("0");

  const db = openDb(path.join(folder, "troupe.db"));
  const store = newTriggerStore(db, newSealer(null, {}));
  const runs = newRunStore(db);
  for (const { id, config, next_at, workflow_id } of store.ofKind("schedule")) {
    const fires = store.fires(id).reverse();
    const [first] = fires;
    expect(fires.length).toBeGreaterThanOrEqual(40);
    expect(fires.map(({ planned_at }) => planned_at)).toEqual(
      Array.from({ length: fires.length }, (_, k) => first!.planned_at + k * 60_000),
    );
    expect(next_at).toBe(first!.planned_at + fires.length * 60_000);
    const started = fires.filter(({ status }) => status === "started");
    expect(
      runs
        .list({ workflow_id, limit: 200 })
        .map((run) => run.id)
        .sort(),
    ).toEqual(started.map(({ run_id }) => run_id).sort());
    if (config.overlap !== "skip") expect(started).toHaveLength(fires.length);
    else expect(new Set(fires.map(({ status }) => status))).toEqual(new Set(["started", "skipped"]));
  }
  db.$client.close();
});
