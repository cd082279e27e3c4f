import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Db } from "@/db/open";
import { draw } from "@/server/domain/testing/drawing";
import { newAtWork } from "@/server/store/at-work";
import { verifyLogs } from "@/server/store/verify-log";
import type { StatusTick } from "./followers";
import { cutAt, endAt, fakeModels, newStage, role } from "./testing";

const asks = (id: string) => ({
  node_type: "agent_task",
  config: { required_role: "Worker", task_description_template: `do ${id}` },
  output_keys: [`${id}_out`],
});
// Each question to a model is a turn of its own.
const GRAPH = draw("start > a > b > c > d > end", { a: asks("a"), b: asks("b"), c: asks("c"), d: asks("d") });

/** A database with unfinished runs, each as it was after `turns` turns. */
async function unfinished(count: number, turns = 4): Promise<{ db: Db; ids: string[] }> {
  const whole = newStage();
  const ids: string[] = [];
  for (let at = 0; at < count; at++) ids.push((await whole.run(GRAPH, { roles: [role("Worker")] })).id);
  const db = cutAt(whole, ids[0]!, turns);
  for (const id of ids) endAt(db, id, turns);
  return { db, ids };
}

const settledAll = async (stage: ReturnType<typeof newStage>) => {
  while (stage.store.countUnfinished() > 0) await new Promise((resolve) => setTimeout(resolve, 2));
};
const standing = (stage: ReturnType<typeof newStage>, ids: readonly string[]) =>
  ids.map((id) => {
    const { status, final_status, held } = stage.store.find(id)!;
    return held?.code ?? final_status ?? status;
  });
/** A start of the server that ends the same way at once: the run is named again. */
const start = (db: Db, stopped: string[]) => {
  const stage = newStage({ db, stopped });
  stage.host.recover();
  return stage;
};

test("a held run that a person gives up ends with the next event of the next turn", async () => {
  const { db, ids } = await unfinished(1);
  newStage({ db, stopped: ids }).store.noteStops(ids);
  const stage = start(db, ids);
  expect(standing(stage, ids)).toEqual(["stopped_server"]);
  const [id] = ids as [string];
  const before = stage.store.lastTurn(id);
  stage.host.cancel(id, { by: "user", reason: "" });
  await settledAll(stage);
  while (stage.store.find(id)!.status !== "finished") await new Promise((resolve) => setTimeout(resolve, 2));
  const after = stage.store.lastTurn(id);
  expect([after.turn, after.lastSeq]).toEqual([before.turn + 1, before.lastSeq + 1]);
  const events = stage.store.events(id, 0, 1000);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  expect(events.at(-1)).toMatchObject({ type: "run_finished", payload: { final_status: "CANCELLED" } });
  expect(verifyLogs(db).faults).toEqual([]);
});

describe("a run that the server was computing when it ended", () => {
  test("comes after the others at the next start, and goes on", async () => {
    const { db, ids } = await unfinished(4);
    const stage = start(db, [ids[1]!]);
    expect(stage.host.isLive(ids[0]!)).toBe(true);
    expect(stage.host.isLive(ids[1]!)).toBe(false);
    await settledAll(stage);
    expect(standing(stage, ids)).toEqual(ids.map(() => "COMPLETED"));
  });

  test("is held at the third start if it made no progress, with the reason; the others go on", async () => {
    const { db, ids } = await unfinished(3);
    const ticks: StatusTick[] = [];
    newStage({ db, stopped: [ids[0]!] }).store.noteStops([ids[0]!]);
    const stage = newStage({ db, stopped: [ids[0]!] });
    stage.host.watch((tick) => ticks.push(tick));
    stage.host.recover();
    await settledAll(stage);
    expect(standing(stage, ids)).toEqual(["stopped_server", "COMPLETED", "COMPLETED"]);
    expect(stage.store.find(ids[0]!)!.held!.message).toMatch(/ended 2 times while it computed this run/);
    expect(ticks).toContainEqual({
      run_id: ids[0],
      workflow_id: "wf_test",
      status: "held",
      final_status: null,
    });
    expect(stage.store.list({ status: "held" }).map(({ id }) => id)).toEqual([ids[0]]);
    // It stays so over further starts.
    const next = start(db, []);
    await settledAll(next);
    expect(standing(next, [ids[0]!])).toEqual(["stopped_server"]);
  });

  test("is not held if it got any further in between; being taken up again is not getting further", async () => {
    const { db, ids } = await unfinished(2);
    const stage = newStage({ db });
    stage.store.noteStops(ids);
    for (const [id, key] of [
      [ids[0]!, "ask#1/other"],
      [ids[1]!, "recovered#5"],
    ] as const)
      db.$client
        .prepare(
          "insert into run_turns (run_id, turn, last_seq, at, key, result, events) values (?, 4, 99, 1, ?, null, '[]')",
        )
        .run(id, key);
    stage.store.noteStops(ids);
    expect(stage.store.unfinished().map(({ stops }) => stops)).toEqual([1, 2]);
  });

  test("can be tried again by a person, and then counts from the beginning", async () => {
    const { db, ids } = await unfinished(1);
    newStage({ db }).store.noteStops(ids);
    const stage = start(db, ids);
    expect(standing(stage, ids)).toEqual(["stopped_server"]);
    expect(stage.host.tryAgain(ids[0]!)).toBe(true);
    expect(stage.host.tryAgain(ids[0]!)).toBe(false);
    await settledAll(stage);
    expect(stage.store.find(ids[0]!)).toMatchObject({ final_status: "COMPLETED", held: null });
  });

  test("is cancelled without being computed: held, or while it is left alone", async () => {
    const { db, ids } = await unfinished(2);
    const models = fakeModels(() => "done");
    newStage({ db }).store.noteStops([ids[0]!]);
    const stage = newStage({ db, models, stopped: ids });
    stage.host.recover();
    for (const id of ids) expect(stage.host.cancel(id, { by: "user", reason: "" })).toBe(true);
    while (stage.store.list({ status: "finished" }).length < 2)
      await new Promise((resolve) => setTimeout(resolve, 2));
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(standing(stage, ids)).toEqual(["CANCELLED", "CANCELLED"]);
    for (const id of ids) {
      const events = stage.store.events(id);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
      expect(stage.store.state(id)!.run.final_status).toBe("CANCELLED");
    }
    expect(models.requests).toEqual([]);
    expect(stage.host.cancel(ids[0]!, { by: "user", reason: "" })).toBe(false);
  });
});

describe("a run whose log is damaged", () => {
  const damages: Record<string, (db: Db, id: string) => void> = {
    "a turn that cannot be parsed": (db, id) =>
      db.$client.prepare(`update run_turns set events = '[{"type":' where run_id = ? and turn = 2`).run(id),
    "an answer that cannot be parsed": (db, id) =>
      db.$client.prepare(`update run_turns set result = '{' where run_id = ? and turn = 3`).run(id),
    "a missing turn": (db, id) =>
      db.$client.prepare("delete from run_turns where run_id = ? and turn = 2").run(id),
    "a missing beginning": (db, id) =>
      db.$client.prepare("delete from run_turns where run_id = ? and turn = 0").run(id),
    "a missing end": (db, id) =>
      db.$client.prepare("delete from run_turns where run_id = ? and turn = 3").run(id),
    "nothing left": (db, id) => db.$client.prepare("delete from run_turns where run_id = ?").run(id),
    "another story than it would tell now": (db, id) =>
      db.$client
        .prepare(
          `update run_turns set events = json_set(events, '$[0].type', 'warning') where run_id = ? and turn = 2`,
        )
        .run(id),
  };
  for (const [name, damage] of Object.entries(damages))
    test(`(${name}) is held; the others go on, and it is shown as far as it can be read`, async () => {
      const { db, ids } = await unfinished(3);
      damage(db, ids[1]!);
      const stage = start(db, []);
      await settledAll(stage);
      expect(standing(stage, [ids[0]!, ids[2]!])).toEqual(["COMPLETED", "COMPLETED"]);
      const { status, held } = stage.store.find(ids[1]!)!;
      expect(status).toBe("held");
      expect(held!.message.length).toBeGreaterThan(20);
      const shown = stage.store.events(ids[1]!, 0, 1000, true);
      expect(shown.length).toBeLessThanOrEqual(stage.store.events(ids[0]!).length);
      const frames = stage.host.follow(ids[1]!, 0);
      if (shown.length > 0)
        expect((await frames.next()).value).toMatchObject({
          kind: "events",
          events: { length: shown.length },
        });
      await frames.return(undefined);
      stage.store.state(ids[1]!, true);
      // Whatever is left of it, a person can be rid of it.
      stage.host.cancel(ids[1]!, { by: "user", reason: "" });
      while (stage.store.find(ids[1]!)!.status !== "finished")
        await new Promise((resolve) => setTimeout(resolve, 2));
      expect(standing(stage, [ids[1]!])).toEqual(["CANCELLED"]);
    });

  test("of which a later start makes no sense at all stays held and stops no other", async () => {
    const { db, ids } = await unfinished(2);
    db.$client.prepare("delete from run_turns where run_id = ? and turn = 2").run(ids[0]!);
    // Where it was held, its log goes bad in such a way that it can be parsed and cannot be told.
    db.$client
      .prepare("update runs set status = 'held', waits_for = null, held = ? where id = ?")
      .run(JSON.stringify({ code: "damaged_log", message: "It cannot be read.", at: 1 }), ids[0]!);
    db.$client
      .prepare(
        "update run_turns set events = json_remove(events, '$[0].payload') where run_id = ? and turn = 0",
      )
      .run(ids[0]!);
    const stage = start(db, []);
    await settledAll(stage);
    expect(standing(stage, ids)).toEqual(["damaged_log", "COMPLETED"]);
  });

  test("by a damaged page of the file is held, too", async () => {
    const { db, ids } = await unfinished(3);
    const stage = newStage({ db });
    const { store } = stage;
    const corrupt = <T extends unknown[], R>(read: (id: string, ...rest: T) => R) => {
      return (id: string, ...rest: T): R => {
        if (id !== ids[1]) return read(id, ...rest);
        throw Object.assign(new Error("database disk image is malformed"), { code: "SQLITE_CORRUPT" });
      };
    };
    store.journal = corrupt(store.journal.bind(store));
    store.lastTurn = corrupt(store.lastTurn.bind(store));
    stage.host.recover();
    await settledAll(stage);
    expect(standing(stage, ids)).toEqual(["COMPLETED", "damaged_log", "COMPLETED"]);
    stage.host.cancel(ids[1]!, { by: "user", reason: "" });
    await settledAll(stage);
    expect(standing(stage, [ids[1]!])).toEqual(["CANCELLED"]);
  });
});

test("a run of a newer Troupe is held and not taken for a broken one", async () => {
  const { db, ids } = await unfinished(2);
  db.$client.prepare("update runs set interpreter_version = 99 where id = ?").run(ids[0]!);
  const stage = start(db, []);
  await settledAll(stage);
  expect(standing(stage, ids)).toEqual(["unknown_version", "COMPLETED"]);
});

describe("what the server computes", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "troupe-at-work-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("is known to the next process if this one ends in the middle, and only then", () => {
    const first = newAtWork(folder);
    first.note(["run_a-very-long-name", "run_b"]);
    first.note(["run_c"]);
    const second = newAtWork(folder);
    expect(second.last()).toEqual(["run_c"]);
    second.clear();
    expect(newAtWork(folder).last()).toEqual([]);
    second.note(["run_d"]);
    second.close();
    expect(newAtWork(folder).last()).toEqual([]);
    first.close();
  });

  test("is nothing while a model is asked, so that no kill during long calls counts", async () => {
    const notes: string[][] = [[]];
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let answer = (_: string) => {};
    const models = fakeModels(({ call_id }) => {
      if (!call_id.includes("a#1")) return "done";
      asked();
      return new Promise<string>((resolve) => {
        answer = resolve;
      });
    });
    const stage = newStage({
      models,
      atWork: {
        last: () => [],
        note: (ids) => notes.push([...ids]),
        clear: () => notes.push([]),
        close: () => {},
      },
    });
    const id = stage.start(GRAPH, { roles: [role("Worker")] });
    await isAsked;
    expect(notes.at(-1)).toEqual([id]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(notes.at(-1)).toEqual([]);
    answer("done");
    await stage.host.settled(id);
  });
});
