import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { openDb } from "@/db/open";
import { emptyDb } from "@/db/testing";
import { draw } from "@/server/domain/testing/drawing";
import { programOf } from "@/server/testing/program";
import { savedGraph } from "@/server/testing/saved-graph";
import { WorkflowStore } from "../workflows";
import { MOST_POINTS } from "./restore-points";
import { newWorkflowVersions } from "./workflow-versions";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const START = Date.parse("2026-01-01T00:00:00Z");

function newDraft() {
  const clock = { now: START };
  const db = emptyDb();
  const workflows = new WorkflowStore(db, () => clock.now);
  const id = workflows.create({ name: "Draft", graph: savedGraph(0) });
  let count = 0;
  return {
    workflows,
    id,
    clock,
    points: () => workflows.points.list(id),
    save(minutes: number, more: Partial<Parameters<WorkflowStore["save"]>[0]> = {}) {
      clock.now += minutes * MINUTE;
      const revision = workflows.find(id)!.revision;
      return workflows.save({ id, revision, graph: savedGraph(++count), ...more });
    },
    graphOf: (point: number) => workflows.points.find(id, point)!.graph,
  };
}

test("every ten minutes of edits, the draft is kept before the next save", () => {
  const { save, points, graphOf } = newDraft();
  for (const minutes of [4, 5, 1, 9, 1, 30]) save(minutes);
  expect(points().map(({ created_at, reason }) => [(created_at - START) / MINUTE, reason])).toEqual([
    [50, "edit"],
    [20, "edit"],
    [10, "edit"],
  ]);
  expect(points().map(({ id }) => graphOf(id))).toEqual([5, 4, 2].map((n) => JSON.stringify(savedGraph(n))));
});

test("a save that changes nothing, or is rejected, leaves no restore point", () => {
  const { save, points } = newDraft();
  save(30, { graph: savedGraph(0) });
  expect(save(30, { revision: 1 }).saved).toBe(false);
  expect(points()).toEqual([]);
});

test("imports, merges, replacements and restores always leave a restore point", () => {
  const { save, points } = newDraft();
  for (const reason of ["import", "merge", "replace"] as const) save(1, { reason });
  expect(points().map(({ reason }) => reason)).toEqual(["replace", "merge", "import"]);
});

test("restoring a draft leaves a restore point and brings back no withdrawn permission", () => {
  const { save, points, workflows, id, graphOf } = newDraft();
  workflows.withhold(id, ["tool:a", "host:b", "allowed:host:c"]);
  save(20);
  workflows.withhold(id, ["host:c", "tool:d"]);
  const [point] = points();
  const { graph, withheld } = workflows.points.find(id, point!.id)!;
  expect(workflows.putBack(id, { graph, withheld })).toBe(3);
  expect(workflows.find(id)).toMatchObject({
    graph: savedGraph(0),
    withheld: ["host:b", "host:c", "tool:a", "tool:d"],
  });
  expect(points()).toMatchObject([{ reason: "restore" }, { reason: "edit" }]);
  expect(graphOf(points()[0]!.id)).toBe(JSON.stringify(savedGraph(1)));
  expect(workflows.putBack("wf_none", { graph, withheld: [] })).toBeUndefined();
});

test("all restore points of the last day stay, and one of each day before", () => {
  const { save, points, clock } = newDraft();
  for (let count = 0; count < 4 * 12; count++) save(120);
  const ages = points().map(({ created_at }) => clock.now - created_at);
  expect(ages.filter((age) => age <= DAY)).toHaveLength(13);
  const days = points().map(({ created_at }) => Math.floor(created_at / DAY));
  expect(new Set(days.slice(13)).size).toBe(days.length - 13);
});

test(`a workflow has at most ${MOST_POINTS} restore points`, () => {
  const { save, points } = newDraft();
  for (let count = 0; count < 120; count++) save(0.5, { reason: "import" });
  expect(points()).toHaveLength(MOST_POINTS);
});

const folder = mkdtempSync(path.join(tmpdir(), "troupe-points-"));
let child: ChildProcess | undefined;
afterAll(() => {
  child?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test("after 200 saves and a kill -9, every restore point and every published version is whole", {
  timeout: 120_000,
}, async () => {
  const program = await programOf("server/testing/saving-process.ts");
  child = spawn(process.execPath, [...program, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout?.on("data", (text) => {
    printed += String(text);
    if (printed.split("\n").length > 200) child?.kill("SIGKILL");
  });
  const signal = await new Promise((resolve) => child?.once("exit", (_code, by) => resolve(by)));
  expect(signal).toBe("SIGKILL");

  const db = openDb(path.join(folder, "troupe.db"));
  const workflows = new WorkflowStore(db);
  const versions = newWorkflowVersions(db);
  const [workflow] = workflows.list();
  const id = workflow!.id;
  const kept = workflows.points
    .list(id)
    .map((point) => ({ ...point, ...workflows.points.find(id, point.id)! }));
  expect(kept.length).toBeGreaterThan(50);
  const text = db.$client.prepare<[string], { graph: string }>("select graph from workflows where id = ?");
  for (const { created_at, graph } of kept) {
    const saved = Math.round((created_at - START) / (5 * MINUTE)) - 1;
    expect(graph).toBe(JSON.stringify(savedGraph(saved)));
    workflows.putBack(id, { graph, withheld: [] });
    expect(text.get(id)!.graph).toBe(graph);
  }
  const published = versions.list(id);
  expect(published.map(({ number }) => number).reverse()).toEqual(published.map((_, at) => at + 1));
  for (const { number, note } of published)
    expect([note, versions.find(id, number)!.graph]).toEqual([String(number), savedGraph(number)]);
  db.$client.close();
});

test("the restore points and versions of a workflow are deleted with it", () => {
  const db = emptyDb();
  const workflows = new WorkflowStore(db, () => START);
  const versions = newWorkflowVersions(db);
  const graph = draw("start > end", {});
  const id = workflows.create({ name: "Gone", graph });
  workflows.save({ id, revision: 1, graph: savedGraph(1), reason: "import" });
  versions.publish(id, { name: "Gone", note: "", by: "test", graph, roles: [], withheld: [] });
  workflows.remove(id);
  expect([workflows.points.list(id).length, versions.list(id).length]).toEqual([1, 1]);
  workflows.purge(START + 1);
  expect([workflows.points.list(id).length, versions.list(id).length]).toEqual([0, 0]);
});
