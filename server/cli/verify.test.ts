import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { openDb } from "@/db/open";
import { draw } from "@/server/domain/testing/drawing";
import { newStage } from "@/server/runner/testing";
import { newRunStore } from "@/server/store/runs/runs";
import { verify } from "./verify";

const folder = mkdtempSync(path.join(os.tmpdir(), "troupe-verify-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const runVerify = (...args: string[]) => {
  const lines: string[] = [];
  return { code: verify(args, folder, (line) => lines.push(line)), lines };
};

test("verify says whether a data folder's logs are unchanged, and names altered events", async () => {
  const db = openDb(path.join(folder, "data", "troupe.db"));
  const { id, events } = await newStage({ db }).run(draw("start > a > w > end"));
  const { turns } = newRunStore(db).journal(id);
  expect(runVerify("data")).toEqual({
    code: 0,
    lines: [`1 run, ${turns.length} records, ${events.length} events read: all unchanged.`],
  });
  expect(runVerify("data/troupe.db", "--run", id).code).toBe(0);
  db.$client.exec("update run_turns set events = replace(events, 'timer_fired', 'timer_faked')");
  const { seq } = events.find(({ type }) => type === "timer_fired")!;
  const { turn } = turns.find((one) => one.lastSeq >= seq)!;
  expect(runVerify("data")).toEqual({
    code: 1,
    lines: [
      `Run ${id}, record ${turn}, event ${seq}: Altered, missing or added: this event.`,
      `1 run, ${turns.length} records, ${events.length} events read: 1 error found.`,
    ],
  });
  db.$client.close();
});

test("verify exits with code 2 if there is nothing to read", () => {
  expect([
    runVerify("nowhere").code,
    runVerify("data", "--run", "run_x").code,
    runVerify("--what").code,
  ]).toEqual([2, 2, 2]);
});
