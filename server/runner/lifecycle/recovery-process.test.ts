import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { openDb } from "@/db/open";
import { newRunStore } from "@/server/store/runs/runs";
import { programOf } from "@/server/testing/program";

const program = await programOf("server/testing/freezing-host.ts");
const folders: string[] = [];
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

type Report = Record<string, string>;

/** Starts the process and lets it live until it ends or `isDone`. Answers what it told last, and how it ended. */
async function live(
  folder: string,
  isFirst: boolean,
  when: string,
  isDone: (report: Report) => boolean,
): Promise<Report & { end: string }> {
  const child = spawn(process.execPath, [...program, folder, isFirst ? "first" : "again", when], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let report: Report = {};
  child.stdout.on("data", (text) => {
    report = JSON.parse(String(text).trim().split("\n").at(-1)!) as Report;
    if (isDone(report)) child.kill("SIGTERM");
  });
  const end = await new Promise<string>((resolve) =>
    child.once("exit", (code, signal) => resolve(String(signal ?? code))),
  );
  return { ...report, end };
}

test.each([
  ["immediately in a step", "at once", "stopped_server"],
  ["after an await in a step", "later", "stopped_server"],
  ["in a request", "request", "COMPLETED"],
])(
  "the watchdog kills a server that hangs %s, and the next server recovers the other runs",
  { timeout: 240_000 },
  async (_name, when, outcome) => {
    const folder = mkdtempSync(path.join(tmpdir(), "troupe-freeze-"));
    folders.push(folder);
    const isOver = (report: Report) =>
      Object.keys(report).length === 4 && !/queued|running|waiting/.test(JSON.stringify(report));

    expect((await live(folder, true, when, isOver)).end).toBe("SIGKILL");
    expect(await live(folder, false, when, isOver)).toEqual({
      ...{ one: "COMPLETED", two: "COMPLETED", three: "COMPLETED", freezer: outcome },
      end: "SIGTERM",
    });
    if (when === "request") return;
    const db = openDb(path.join(folder, "troupe.db"));
    const [held] = newRunStore(db).list({ status: "held" });
    expect(held!.held!.message).toMatch(/stopped responding while executing this run \(step .*b#1/);
    db.$client.close();
  },
);
