import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";

const folder = mkdtempSync(path.join(tmpdir(), "troupe-freeze-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Told = Record<string, string>;

/** Starts the process and kills it where it stops to live, or once `isDone`. Answers what it told last. */
async function live(isFirst: boolean, isDone: (told: Told) => boolean): Promise<Told & { end: string }> {
  const child = spawn(
    process.execPath,
    [
      "--conditions=react-server",
      "--import",
      "tsx",
      path.join(import.meta.dirname, "../testing/freezing-host.ts"),
      folder,
      isFirst ? "first" : "again",
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

test("a run that freezes the server is held at the third start, and the others end", {
  timeout: 60_000,
}, async () => {
  const isOver = (told: Told) =>
    Object.keys(told).length === 4 && !/queued|running|waiting/.test(JSON.stringify(told));

  expect((await live(true, isOver)).end).toBe("frozen");

  expect((await live(false, isOver)).end).toBe("frozen");

  const third = await live(false, isOver);
  expect(third).toEqual({
    one: "COMPLETED",
    two: "COMPLETED",
    three: "COMPLETED",
    freezer: "stopped_server",
    end: "done",
  });
});
