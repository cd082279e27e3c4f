import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { openDb } from "@/db/open";
import { newRunStore } from "@/server/store/runs";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

type Told = Record<string, string>;

/** Starts the process and kills it where it stops to live, or once `isDone`. Answers what it told last. */
async function live(
  folder: string,
  isFirst: boolean,
  when: string,
  isDone: (told: Told) => boolean,
): Promise<Told & { end: string }> {
  const child = spawn(
    process.execPath,
    [
      "--conditions=react-server",
      "--import",
      "tsx",
      path.join(import.meta.dirname, "../testing/freezing-host.ts"),
      folder,
      isFirst ? "first" : "again",
      when,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let told: Told = {};
  let heardAt: number | null = null;
  child.stdout.on("data", (text) => {
    heardAt = Date.now();
    const lines = String(text).trim().split("\n");
    told = JSON.parse(lines.at(-1)!) as Told;
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  let end = "";
  while (end === "") {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (child.exitCode !== null) end = `left with ${child.exitCode}`;
    else if (isDone(told)) end = "done";
    else if (heardAt !== null && Date.now() - heardAt > 2_000) end = "frozen";
  }
  child.kill("SIGKILL");
  await exited;
  return { ...told, end };
}

test.each([
  ["at once", "computed this run"],
  ["later", "while a step of this run was under way"],
])(
  "a run that freezes the server, %s in a step, is held at the third start, and the others end",
  {
    timeout: 60_000,
  },
  async (when, why) => {
    const folder = mkdtempSync(path.join(tmpdir(), "troupe-freeze-"));
    folders.push(folder);
    const isOver = (told: Told) =>
      Object.keys(told).length === 4 && !/queued|running|waiting/.test(JSON.stringify(told));

    expect((await live(folder, true, when, isOver)).end).toBe("frozen");

    expect((await live(folder, false, when, isOver)).end).toBe("frozen");

    const third = await live(folder, false, when, isOver);
    expect(third).toEqual({
      one: "COMPLETED",
      two: "COMPLETED",
      three: "COMPLETED",
      freezer: "stopped_server",
      end: "done",
    });
    const db = openDb(path.join(folder, "troupe.db"));
    const [held] = newRunStore(db).list({ status: "held" });
    expect(held!.held!.message).toContain(why);
    db.$client.close();
  },
);
