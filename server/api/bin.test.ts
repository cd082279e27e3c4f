import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { AgentConfig } from "@/server/domain/agent/role";
import { CrewConfig } from "@/server/domain/crew/crew";
import { placeAfter } from "@/server/domain/run/run-order";
import { draw } from "@/server/domain/testing/drawing";
import { newServices } from "@/server/services";
import { BinStore } from "@/server/store/library/bin";
import { Retention } from "@/server/store/runs/retention";
import { appRouter } from "./root";

function newCaller() {
  const db = emptyDb();
  const troupe = newServices(db, { dataDir: null });
  troupe.roles.seed(builtinRoles);
  const principal = { kind: "session" as const, id: "ses_1" };
  return { db, troupe, ask: appRouter.createCaller({ troupe, principal }) };
}
type Ask = ReturnType<typeof newCaller>["ask"];

async function finishedRun({ ask, troupe }: ReturnType<typeof newCaller>, name = "Herring") {
  const { id } = await ask.workflows.create({ name, graph: draw("start > end") });
  const { run_id } = await ask.runs.start({ workflow_id: id, input: { note: `About ${name}` } });
  await troupe.host.settled(run_id);
  return { run_id, workflow_id: id };
}
const crew = CrewConfig.parse({ agents: [{ agent_id: "a", role_name: "Writer" }] });
const agent = AgentConfig.parse({ agent_id: "scout", role_name: "Writer" });

/** How each kind is made, found among those that are there, and deleted. */
const KINDS: Record<
  string,
  (ask: Ask) => Promise<{ find: () => Promise<unknown>; remove: () => Promise<unknown> }>
> = {
  role: async (ask) => {
    const [first] = await ask.roles.list();
    const { name } = first!.role;
    return {
      find: async () => (await ask.roles.list()).find(({ role }) => role.name === name)?.role,
      remove: () => ask.roles.remove({ name }),
    };
  },
  crew: async (ask) => {
    const { id } = await ask.crews.create({ name: "Desk", crew });
    return {
      find: async () => (await ask.crews.list()).find((one) => one.id === id)?.crew,
      remove: () => ask.crews.remove({ id }),
    };
  },
  agent: async (ask) => {
    const { id } = await ask.agents.create({ name: "Scout", agent });
    return {
      find: async () => (await ask.agents.list()).find((one) => one.id === id)?.agent,
      remove: () => ask.agents.remove({ id }),
    };
  },
  workflow: async (ask) => {
    const { id } = await ask.workflows.create({ name: "Tides", graph: draw("start > end") });
    return {
      find: async () => (await ask.workflows.list()).find((one) => one.id === id)?.name,
      remove: () => ask.workflows.remove({ id }),
    };
  },
  memory: async (ask) => {
    const about = { value: { days: ["Friday"] }, importance: 0.8, expires_at: null };
    const made = await ask.memories.create({ key: "release_day", place: { scope: "project" }, ...about });
    return {
      // When it was written is when it came back.
      find: async () =>
        (await ask.memories.list({ limit: 9 })).memories.map(
          ({ id: _, created_at: _c, updated_at: _u, ...memory }) => memory,
        )[0],
      remove: () => ask.memories.remove({ id: made.id }),
    };
  },
  test: async (ask) => {
    const { id: workflow_id } = await ask.workflows.create({ name: "Tides", graph: draw("start > end") });
    const { id: test_id } = await ask.tests.create({
      workflow_id,
      name: "Ebb",
      input: { at: 5 },
      people: [],
      expect: [],
    });
    return {
      find: async () => {
        const found = (await ask.tests.list({ workflow_id })).length > 0;
        if (!found) return undefined;
        const { created_at: _c, updated_at: _u, ...test } = await ask.tests.get({ workflow_id, test_id });
        return test;
      },
      remove: () => ask.tests.remove({ workflow_id, test_id }),
    };
  },
};

test.each(Object.keys(KINDS))("a deleted %s is in the trash and can be restored unchanged", async (kind) => {
  const { ask } = newCaller();
  const { find, remove } = await KINDS[kind]!(ask);
  const before = await find();
  expect(before).toBeDefined();
  await remove();
  expect(await find()).toBeUndefined();
  const binned = await ask.bin.list();
  expect(binned).toMatchObject([{ kind }]);
  await ask.bin.restore({ kind: binned[0]!.kind, id: binned[0]!.id });
  expect(await find()).toEqual(before);
  expect(await ask.bin.list()).toEqual([]);
});

test("a deleted run is restored with its log", async () => {
  const caller = newCaller();
  const { ask, troupe } = caller;
  const { run_id, workflow_id } = await finishedRun(caller);
  const events = troupe.runs.events(run_id);
  expect(await ask.runs.removeMany({ run_ids: [run_id, "run_none"] })).toEqual({ removed: [run_id] });
  await expect(ask.runs.get({ run_id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await ask.runs.list({})).toEqual([]);
  expect((await ask.workflows.list())[0]).toMatchObject({ id: workflow_id, last_run: null, run_count: 0 });
  await ask.bin.restore({ kind: "run", id: run_id });
  expect(await ask.runs.list({})).toMatchObject([{ id: run_id, input_excerpt: "About Herring" }]);
  expect(troupe.runs.events(run_id)).toEqual(events);
});

/** A run with two runs that its map started. */
async function runWithChildren({ ask, troupe }: ReturnType<typeof newCaller>) {
  const inner = await ask.workflows.create({ name: "Inner", graph: draw("start > end") });
  const config = { items: "[1, 2]", workflow_id: inner.id };
  const graph = draw("start > m > end", { m: { node_type: "map", config, output_keys: ["results"] } });
  const { id } = await ask.workflows.create({ name: "Outer", graph });
  const { run_id } = await ask.runs.start({ workflow_id: id });
  await troupe.host.settled(run_id);
  const children = (await ask.runs.children({ run_id })).map((child) => child.id);
  return { run_id, children, inner: inner.id };
}

test("child runs are deleted and restored with the run that started them", async () => {
  const caller = newCaller();
  const { ask } = caller;
  const { run_id, children, inner } = await runWithChildren(caller);
  expect(children).toHaveLength(2);
  expect((await ask.workflows.list()).find(({ id }) => id === inner)?.last_run).toBeNull();
  await ask.runs.remove({ run_id: children[0]! });
  await ask.runs.remove({ run_id });
  expect((await ask.bin.list()).map(({ id }) => id)).toEqual([run_id]);
  for (const id of children)
    await expect(ask.runs.get({ run_id: id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await ask.bin.restore({ kind: "run", id: run_id });
  expect((await ask.runs.children({ run_id })).map(({ id }) => id)).toEqual([children[1]]);
  expect((await ask.bin.list()).map(({ id }) => id)).toEqual([children[0]]);
});

test("child runs of a run that is deleted permanently can't be read any longer, nor restored", async () => {
  const caller = newCaller();
  const { ask, db } = caller;
  const { run_id, children } = await runWithChildren(caller);
  const retention = new Retention(db, { dataDir: null, defaults: { days: null, runs: 1 } });
  retention.save({ days: null, runs: 1, workflows: {} });
  await finishedRun(caller);
  const sweep = retention.sweep();
  await expect(ask.runs.get({ run_id: children[1]! })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await ask.bin.list()).toEqual([]);
  await sweep;
  expect(db.$client.prepare("select count(*) as n from runs where parent_run = ?").get(run_id)).toEqual({
    n: 0,
  });
});

test("a run is not deleted while a run that it started is active", async () => {
  const caller = newCaller();
  const { ask, db } = caller;
  const { run_id, children } = await runWithChildren(caller);
  db.$client.prepare("update runs set status = 'waiting' where id = ?").run(children[1]);
  await expect(ask.runs.remove({ run_id })).rejects.toThrow(`Cancel its child run ${children[1]} first.`);
  expect(await ask.runs.removeMany({ run_ids: [run_id] })).toEqual({ removed: [] });
});

test("restoring from the trash doesn't overwrite an item that has taken the id", async () => {
  const { ask } = newCaller();
  const { id } = await ask.crews.create({ name: "Desk", crew });
  await ask.crews.remove({ id });
  const other = CrewConfig.parse({ crew_id: id, agents: [{ agent_id: "b", role_name: "Editor" }] });
  await ask.crews.restore({ name: "Other", crew: other });
  const [binned] = await ask.bin.list();
  await expect(ask.bin.restore({ kind: "crew", id: binned!.id })).rejects.toMatchObject({ code: "CONFLICT" });
  expect(await ask.bin.list()).toHaveLength(1);
});

test("undoing a deletion leaves nothing in the trash", async () => {
  const { ask } = newCaller();
  const { id } = await ask.crews.create({ name: "Desk", crew });
  const was = (await ask.crews.list())[0]!.crew;
  await ask.crews.remove({ id });
  await ask.crews.restore({ name: "Desk", crew: was });
  expect(await ask.bin.list()).toEqual([]);
});

test("a memory or test that is restored outside the trash leaves it", async () => {
  const { ask } = newCaller();
  const memory = await ask.memories.create({
    key: "k",
    place: { scope: "global" },
    value: "v",
    importance: 0.5,
    expires_at: null,
  });
  await ask.memories.remove({ id: memory.id });
  await ask.memories.restore(memory);
  const { id: workflow_id } = await ask.workflows.create({ name: "Tides", graph: draw("start > end") });
  const test = { name: "Ebb", input: {}, people: [], expect: [] };
  const { id } = await ask.tests.create({ workflow_id, ...test });
  await ask.tests.remove({ workflow_id, test_id: id });
  await ask.tests.create({ workflow_id, id, ...test });
  expect(await ask.bin.list()).toEqual([]);
});

test("a memory or test in the trash is purged with its run or workflow", async () => {
  const caller = newCaller();
  const { ask, troupe } = caller;
  const { run_id, workflow_id } = await finishedRun(caller);
  const source = { by: "agent" as const };
  const kept = troupe.memories.store({
    scope: "run",
    scope_id: run_id,
    key: "k",
    value: "v",
    tainted: false,
    source,
  });
  await ask.memories.remove({ id: kept.id });
  const { id: test_id } = await ask.tests.create({
    workflow_id,
    name: "Ebb",
    input: {},
    people: [],
    expect: [],
  });
  await ask.tests.remove({ workflow_id, test_id });
  const binned = async () => (await ask.bin.list()).map(({ kind }) => kind).sort();
  expect(await binned()).toEqual(["memory", "test"]);

  await ask.workflows.remove({ id: workflow_id });
  const test = (await ask.bin.list()).find(({ kind }) => kind === "test")!;
  await expect(ask.bin.restore({ kind: "test", id: test.id })).rejects.toThrow(
    "This test's workflow was deleted. Restore the workflow first.",
  );
  await ask.runs.removeMany({ run_ids: [run_id] });
  expect(await binned()).toEqual(["memory", "run", "test", "workflow"]);
  await ask.bin.purge({ kind: "workflow", id: workflow_id });
  await ask.bin.purge({ kind: "run", id: run_id });
  expect(await binned()).toEqual([]);
});

test("purged items are gone, individually or when the trash is emptied", async () => {
  const caller = newCaller();
  const { ask, troupe } = caller;
  const one = await finishedRun(caller, "Cod");
  const two = await finishedRun(caller, "Eel");
  await ask.runs.removeMany({ run_ids: [one.run_id, two.run_id] });
  await ask.workflows.remove({ id: two.workflow_id });
  await ask.bin.purge({ kind: "run", id: one.run_id });
  await expect(ask.bin.purge({ kind: "run", id: one.run_id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await ask.bin.empty()).toEqual({ deleted: 2 });
  expect(await ask.bin.list()).toEqual([]);
  await troupe.retention.sweep();
  expect(troupe.db.$client.prepare("select count(*) from run_turns").pluck().get()).toBe(0);
});

test("only items in the trash can be purged", async () => {
  const caller = newCaller();
  const { ask } = caller;
  const { run_id, workflow_id } = await finishedRun(caller);
  for (const which of [
    { kind: "run", id: run_id },
    { kind: "workflow", id: workflow_id },
  ] as const)
    await expect(ask.bin.purge(which)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await ask.runs.list({})).toHaveLength(1);
});

test("a run leaves the trash after thirty days, and not earlier", async () => {
  const caller = newCaller();
  const { ask, db } = caller;
  const { run_id } = await finishedRun(caller);
  await ask.runs.remove({ run_id });
  const days = (count: number) => Date.now() + count * 24 * 3_600_000;
  const keepAll = { dataDir: null, defaults: { days: null, runs: null } };
  await new Retention(db, { ...keepAll, now: () => days(29) }).sweep();
  expect(await ask.bin.list()).toHaveLength(1);
  await new Retention(db, { ...keepAll, now: () => days(31) }).sweep();
  expect(await ask.bin.list()).toEqual([]);
});

test("runs are found by words, case-insensitively, and by time and cost", async () => {
  const caller = newCaller();
  const { ask } = caller;
  const eel = await finishedRun(caller, "ÄLE im Fluß");
  const cod = await finishedRun(caller, "Cod");
  const found = async (query: Parameters<Ask["runs"]["list"]>[0]) =>
    (await ask.runs.list(query)).map(({ id }) => id);
  expect(await found({ search: "äle about" })).toEqual([eel.run_id]);
  expect(await found({ search: "cod äle" })).toEqual([]);
  expect(await found({ search: "100%" })).toEqual([]);
  expect(await found({ order: "oldest" })).toEqual([eel.run_id, cod.run_id]);
  expect(await found({ since: Date.now() + 60_000 })).toEqual([]);
  expect(await found({ until: Date.now() + 60_000, cost_from: 0 })).toHaveLength(2);
  expect(await found({ cost_from: 0.01 })).toEqual([]);
});

test.each(["newest", "oldest", "costliest", "longest"] as const)(
  "pages in %s order contain every run once",
  async (order) => {
    const caller = newCaller();
    const { ask } = caller;
    for (let at = 0; at < 5; at++) await finishedRun(caller, `Run ${at}`);
    const all = (await ask.runs.list({ order })).map(({ id }) => id);
    expect(all).toHaveLength(5);
    const paged: string[] = [];
    let after: Parameters<typeof placeAfter>[0] | undefined;
    for (;;) {
      const page = await ask.runs.list({
        order,
        limit: 2,
        ...(after ? { after: placeAfter(after, order) } : {}),
      });
      paged.push(...page.map(({ id }) => id));
      after = page.at(-1);
      if (page.length < 2) break;
    }
    expect(paged).toEqual(all);
  },
);

test("a run that waits for a person is distinguished from one that waits for a time", async () => {
  const caller = newCaller();
  const { ask, troupe } = caller;
  const { id } = await ask.workflows.create({
    name: "Long",
    graph: draw("start > w > end", { w: { node_type: "wait", config: { ms: 3_600_000 } } }),
  });
  const { run_id } = await ask.runs.start({ workflow_id: id });
  await expect.poll(() => troupe.runs.find(run_id)?.status).toBe("waiting");
  const [run] = await ask.runs.list({ waits_for: "time" });
  expect(run).toMatchObject({ id: run_id, waits_for: "time" });
  expect(run!.wakes_at).toBeGreaterThan(Date.now());
  expect(await ask.runs.list({ waits_for: "person" })).toEqual([]);
  await ask.runs.cancel({ run_id });
  await troupe.host.settled(run_id);
  expect(await ask.runs.get({ run_id })).toMatchObject({ waits_for: null, wakes_at: null });
});

test("a damaged memory or test can be deleted, and the trash says why it can't be restored", async () => {
  const { ask, db } = newCaller();
  const memory = await ask.memories.create({
    key: "k",
    place: { scope: "global" },
    value: "v",
    importance: 0.5,
    expires_at: null,
  });
  const { id: workflow_id } = await ask.workflows.create({ name: "Tides", graph: draw("start > end") });
  const { id: test_id } = await ask.tests.create({
    workflow_id,
    name: "Ebb",
    input: {},
    people: [],
    expect: [],
  });
  db.$client.exec("update scenario_tests set content = '{\"people\": 5}'; update memories set source = '{'");
  await ask.memories.remove({ id: memory.id });
  await ask.tests.remove({ workflow_id, test_id });
  expect(await ask.tests.list({ workflow_id })).toEqual([]);
  const binned = await ask.bin.list();
  expect(binned.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual(["memory k", "test Ebb"]);
  for (const { kind, id } of binned)
    await expect(ask.bin.restore({ kind, id })).rejects.toThrow(
      "This item can't be read, so it can't be restored.",
    );
});

test("a memory in the trash expires at its own time", async () => {
  const { ask, db } = newCaller();
  const expires_at = Date.now() + 60_000;
  for (const [key, until] of [
    ["short", expires_at],
    ["long", null],
  ] as const) {
    const about = { value: key, importance: 0.5, expires_at: until };
    const { id } = await ask.memories.create({ key, place: { scope: "global" }, ...about });
    await ask.memories.remove({ id });
  }
  expect(new BinStore(db, () => expires_at - 30_000).sweep()).toBe(0);
  expect(new BinStore(db, () => expires_at + 30_000).sweep()).toBe(1);
  expect((await ask.bin.list()).map(({ name }) => name)).toEqual(["long"]);
});
