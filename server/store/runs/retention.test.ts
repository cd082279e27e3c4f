import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openDb } from "@/db/open";
import { emptyDb } from "@/db/testing";
import { draw } from "@/server/domain/testing/drawing";
import { newStage } from "@/server/runner/testing";
import { MemoryStore } from "../library/memories/memories";
import { KeepRules, Retention } from "./retention";
import { WorkspaceStore } from "./workspace";

const DAY = 24 * 3_600_000;
const folder = mkdtempSync(path.join(tmpdir(), "troupe-keep-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Finished runs, the first the oldest by a day each; the last ended now. */
async function finished(workflows: readonly string[], db = emptyDb()) {
  const stage = newStage({ db });
  const now = Date.now();
  const ids: string[] = [];
  for (const [at, workflow] of workflows.entries()) {
    const { id } = await stage.run(draw("start > a > end"), { workflow });
    const ended = now - (workflows.length - 1 - at) * DAY;
    db.$client
      .prepare("update runs set created_at = ?, finished_at = ? where id = ?")
      .run(ended - 5, ended, id);
    ids.push(id);
  }
  const retention = new Retention(db, {
    dataDir: null,
    defaults: { days: null, runs: null },
    now: () => now,
  });
  const left = () => ids.flatMap((id, at) => (stage.store.find(id) ? [at] : []));
  return { ...stage, ids, retention, left };
}
const rules = (value: object) => KeepRules.parse(value);

describe("deletion of old runs", () => {
  test("old runs are kept forever by default", async () => {
    const { retention, left } = await finished(["a", "a"]);
    expect([retention.countOutdated(), await retention.sweep(), left()]).toEqual([0, 0, [0, 1]]);
  });

  test("old runs are deleted by age and count, oldest first, as many as announced", async () => {
    const { retention, left } = await finished(["a", "a", "b", "a", "b", "a"]);
    retention.save(rules({ days: 4 }));
    expect([retention.countOutdated(), await retention.sweep(), left()]).toEqual([1, 1, [1, 2, 3, 4, 5]]);
    retention.save(rules({ days: 4, runs: 2 }));
    expect([retention.countOutdated(), await retention.sweep(), left()]).toEqual([3, 3, [4, 5]]);
  });

  test("an error in the background after a purge is left to the next sweep", async () => {
    const { retention, ids, store } = await finished(["a"]);
    store.remove(ids[0]!);
    Object.assign(retention, {
      step() {
        throw new Error("The disk is full.");
      },
    });
    expect(retention.purge(ids[0]!)).toBe(true);
    // Vitest reports rejections that nothing handles.
    await new Promise((resolve) => setTimeout(resolve, 50));
  });

  test("a workflow's own rule replaces the general one", async () => {
    const { retention, left } = await finished(["a", "b", "a", "b", "a"]);
    retention.save(rules({ runs: 1, workflows: { b: { days: 3650 } } }));
    await retention.sweep();
    expect(left()).toEqual([1, 3, 4]);
    retention.save(rules({ workflows: { b: { runs: 1 } } }));
    await retention.sweep();
    expect(left()).toEqual([3, 4]);
  });

  test("a deleted run's data is deleted with it, and unfinished runs are kept", async () => {
    const { retention, ids, db, store, left, start } = await finished(["a", "a", "a"]);
    const workspace = new WorkspaceStore(db);
    const memories = new MemoryStore(db);
    for (const id of ids.slice(0, 2)) {
      for (let at = 0; at < 9; at++)
        workspace.write(id, `note-${at}.md`, "x".repeat(20_000), {
          kind: "file",
          source: {},
          writtenBy: `${id}/${at}`,
        });
      memories.store({
        scope: "run",
        scope_id: id,
        key: "k",
        value: "v",
        tainted: false,
        source: {},
      });
    }
    db.$client.prepare("update runs set status = 'held' where id = ?").run(ids[1]!);
    const waiting = start(draw("start > w > end", { w: { config: { ms: 60_000 } } }));
    retention.save(rules({ runs: 1 }));
    expect(await retention.sweep()).toBe(1);
    expect(left()).toEqual([1, 2]);
    expect(store.find(waiting)).not.toBeNull();
    for (const table of ["run_turns", "run_timers", "run_signals", "workspace_files"])
      expect(db.$client.prepare(`select count(*) as n from ${table} where run_id = ?`).get(ids[0]!)).toEqual({
        n: 0,
      });
    expect(db.$client.prepare("select scope_id from memories").all()).toEqual([{ scope_id: ids[1] }]);
    expect(retention.sizes()).toMatchObject({ files: 9 * 20_000, runs: { finished: 1, held: 1, other: 1 } });
  });

  test("runs that a run started are kept and deleted with it", async () => {
    const { ids, retention, left, ...stage } = await finished(["a", "a"]);
    const inner = draw("start > a > end");
    const outer = draw("start > sub > end", {
      sub: { node_type: "sub_workflow", config: { workflow_id: "inner" } },
    });
    const { id } = await stage.run(outer, { workflow: "a", workflows: { inner } });
    const [child] = stage.store.children(id, { limit: 1 });
    retention.save(rules({ runs: 2 }));
    expect([await retention.sweep(), left(), stage.store.find(child!.id)?.id]).toEqual([1, [1], child!.id]);
    stage.store.remove(id);
    retention.purge(id);
    await retention.sweep();
    expect([stage.store.find(id), stage.store.find(child!.id)]).toEqual([null, null]);
    expect(stage.store.events(child!.id, 0, 10)).toEqual([]);
  });

  test("a deletion that a shutdown interrupted is completed afterwards", async () => {
    const { retention, ids, db, left } = await finished(["a", "a"]);
    retention.save(rules({ runs: 1 }));
    const sweep = retention.sweep();
    expect(left()).toEqual([1]);
    const turns = () =>
      db.$client.prepare("select count(*) as n from run_turns where run_id = ?").get(ids[0]!) as {
        n: number;
      };
    expect(turns().n).toBeGreaterThan(0);
    const next = new Retention(db, { dataDir: null, defaults: { days: null, runs: null } });
    await next.sweep();
    expect(turns().n).toBe(0);
    await sweep;
  });
});

test("the database file shrinks when runs are deleted, even one created without that ability", async () => {
  const file = path.join(folder, "troupe.db");
  const db = openDb(file);
  db.$client.pragma("auto_vacuum = NONE");
  db.$client.exec("vacuum");
  const { retention, ids } = await finished(["a", "a"], db);
  expect(retention.sizes().can_shrink).toBe(false);
  retention.allowShrinking();
  expect(retention.sizes().can_shrink).toBe(true);
  const workspace = new WorkspaceStore(db);
  workspace.write(ids[0]!, "big.md", "x".repeat(2_000_000), { kind: "file", source: {}, writtenBy: "x" });
  const before = retention.sizes();
  retention.save(rules({ runs: 1 }));
  await retention.sweep();
  const after = retention.sizes();
  expect(after.database).toBeLessThan(before.database - 1_500_000);
  expect(after.free).toBe(0);
  db.$client.close();
});

test("a database with a damaged page is left unchanged, and the error is reported", () => {
  const file = path.join(folder, "damaged.db");
  const before = openDb(file).$client;
  before.pragma("auto_vacuum = NONE");
  before.exec("vacuum; create table damaged (x)");
  const page = before
    .prepare<[], number>("select rootpage from sqlite_master where name = 'damaged'")
    .pluck()
    .get();
  const size = Number(before.pragma("page_size", { simple: true }));
  before.close();
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xff, (Number(page) - 1) * size, Number(page) * size));

  const db = openDb(file);
  const retention = new Retention(db, { dataDir: null, defaults: { days: null, runs: null } });
  const calls: unknown[] = [];
  retention.allowShrinking((...all) => calls.push(all));
  expect(calls).toEqual([
    [
      "Couldn't rewrite the database so that it can shrink; continuing without.",
      expect.objectContaining({ message: expect.stringContaining("malformed") as string }),
    ],
  ]);
  expect([retention.sizes().can_shrink, retention.sizes().runs.finished]).toEqual([false, 0]);
  db.$client.close();
});

test("copies made before updates count toward the storage size", () => {
  writeFileSync(path.join(folder, "troupe.db.before-1.bak"), "x".repeat(1000));
  const retention = new Retention(emptyDb(), { dataDir: folder, defaults: { days: 9, runs: null } });
  expect(retention.sizes().copies).toEqual({ count: 1, bytes: 1000 });
  expect(retention.rules()).toEqual({ days: 9, runs: null, workflows: {} });
});
