import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { type Db, openDb } from "@/db/open";
import { draw } from "@/server/domain/testing/drawing";
import { newRunningMarker } from "@/server/store/runs/running-marker";
import { newRunStore, type RunStore } from "@/server/store/runs/runs";
import { verifyLogs } from "@/server/store/runs/verify-log";
import type { Hang } from "@/server/store/watchdog";
import { sized } from "@/server/testing/thorough";
import type { StatusTick } from "../log/followers";
import { cutAt, endAt, fakeModels, newStage, role } from "../testing";
import { Host } from "./host";

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

test("a quarantined run that a person cancels ends with the next event of the next turn", async () => {
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
  expect(verifyLogs(db).errors).toEqual([]);
});

describe("a run that was executing when the server crashed", () => {
  test("a run interrupted by a crash resumes at the next start with the others", async () => {
    const { db, ids } = await unfinished(4);
    const stage = start(db, [ids[1]!]);
    await allResumed(stage.host, stage.store);
    await settledAll(stage);
    expect(standing(stage, ids)).toEqual(ids.map(() => "COMPLETED"));
  });

  test("a run without progress is quarantined at the third start, and the others continue", async () => {
    const { db, ids } = await unfinished(3);
    const ticks: StatusTick[] = [];
    newStage({ db, stopped: [ids[0]!] }).store.noteStops([ids[0]!]);
    const stage = newStage({ db, stopped: [ids[0]!] });
    stage.host.watchers.watch((tick) => ticks.push(tick));
    stage.host.recover();
    await settledAll(stage);
    expect(standing(stage, ids)).toEqual(["stopped_server", "COMPLETED", "COMPLETED"]);
    expect(stage.store.find(ids[0]!)!.held!.message).toMatch(/crashed while executing this run/);
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

  test("a run that made progress is not quarantined, but a resume alone is not progress", async () => {
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

  test("a quarantined run can be retried by a person and then counts from zero", async () => {
    const { db, ids } = await unfinished(1);
    newStage({ db }).store.noteStops(ids);
    const stage = start(db, ids);
    expect(standing(stage, ids)).toEqual(["stopped_server"]);
    expect(stage.host.tryAgain(ids[0]!)).toBe(true);
    expect(stage.host.tryAgain(ids[0]!)).toBe(false);
    await settledAll(stage);
    expect(stage.store.find(ids[0]!)).toMatchObject({ final_status: "COMPLETED", held: null });
  });

  test("a quarantined run is retried after 1, 5 and 30 minutes, then waits for a person", async () => {
    const { db, ids } = await unfinished(1);
    let now = Date.now();
    const clock = { now: () => now, monotonic: () => performance.now() };
    newStage({ db }).store.noteStops(ids);
    for (const minutes of [1, 5, 30]) {
      const crashed = newStage({ db, stopped: ids, clock });
      crashed.host.recover();
      expect(crashed.store.find(ids[0]!)!.held).toMatchObject({ retry_at: now + minutes * 60_000 });
      expect(crashed.store.quarantine()).toEqual({ quarantined: 1, next_retry_at: now + minutes * 60_000 });
      now += minutes * 60_000 - 1;
      const early = newStage({ db, clock });
      early.host.recover();
      expect(standing(early, ids)).toEqual(["stopped_server"]);
      now += 1;
      // It is taken up, and crashes the server before anything is written of it.
      const retried = newStage({ db, clock, models: fakeModels(() => new Promise(() => {})) });
      retried.host.recover();
      expect(retried.host.live.isHere(ids[0]!)).toBe(true);
      await retried.host.drain(0);
    }
    const last = newStage({ db, stopped: ids, clock });
    last.host.recover();
    expect(last.store.find(ids[0]!)!.held).not.toHaveProperty("retry_at");
    now += 1e9;
    const later = newStage({ db, clock });
    later.host.recover();
    expect(standing(later, ids)).toEqual(["stopped_server"]);
    later.host.tryAgain(ids[0]!);
    await settledAll(later);
    expect(standing(later, ids)).toEqual(["COMPLETED"]);
  });

  test("a quarantined run is cancelled without being executed", async () => {
    const { db, ids } = await unfinished(2);
    const models = fakeModels(() => "done");
    newStage({ db }).store.noteStops(ids);
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

/** No run waits for anything but its turn. */
async function allResumed(host: Host, store: Pick<RunStore, "list">, isOver = () => false) {
  const waits = () =>
    store
      .list({ status: ["queued", "running", "held"], limit: 100 })
      .filter(({ id, held, workflow_id }) => (held ? workflow_id !== "guilty" : !host.live.isHere(id)));
  for (let at = 0; at < 100 && !isOver() && waits().length > 0; at++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  if (!isOver()) expect(waits()).toEqual([]);
}

/** Kills at random moments; one run also hangs or crashes the server from its fourth turn on. */
test.each(Array.from({ length: sized(4, 300) }, (_, at) => at))(
  "kills quarantine no innocent run, and the run that causes them is identified (seed %i)",
  async (seed) => {
    const folder = mkdtempSync(path.join(tmpdir(), "troupe-kills-"));
    let state = seed + 1;
    const random = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return Math.floor((state / 0x7fffffff) * below);
    };
    const hangs = seed % 2 === 0;
    let ids: string[] = [];
    let guilty = "";
    let fatal = 0;
    let file = path.join(folder, "0.db");
    let left: { marks: string[]; hang: Hang | null; crashed: boolean } = {
      marks: [],
      hang: null,
      crashed: false,
    };
    for (let start = 0, kills = 3 + random(6); ; start++) {
      const db = openDb(file);
      const store = newRunStore(db);
      const last = left;
      let marks: string[] = [];
      let die = () => {};
      const death = new Promise<void>((resolve) => {
        die = resolve;
      });
      let isDead = false;
      /** The process ends here: what it wrote stays, what it would do next never happens. */
      const end = (how: Partial<typeof left>) => {
        if (isDead) return;
        isDead = true;
        file = path.join(folder, `${start + 1}.db`);
        writeFileSync(file, db.$client.serialize());
        left = { marks, hang: null, crashed: false, ...how };
        die();
      };
      let moments = kills > 0 ? random(40) : Number.POSITIVE_INFINITY;
      const moment = () => {
        if (moments-- <= 0) end({});
      };
      const write = store.write.bind(store);
      store.write = (writes) => {
        moment();
        write(writes);
        moment();
      };
      const models = fakeModels(async () => {
        moment();
        if (isDead) return new Promise<string>(() => {});
        await new Promise((resolve) => setTimeout(resolve, random(3)));
        return "done";
      });
      const host = new Host({
        store,
        effects: { models },
        crashed: last.crashed,
        runningMarker: {
          last: () => last.marks,
          note: (noted) => {
            marks = [...noted];
            if (isDead || marks.join() !== guilty || store.lastTurn(guilty).turn < 3) return;
            fatal++;
            end(hangs ? { hang: { ended: true, run_id: guilty } } : { crashed: true });
          },
          clear: () => {
            marks = [];
          },
          close: () => {},
        },
        watchdog: {
          last: () => last.hang,
          forgetLast: () => {},
          around: (_, work) => work(),
          start: () => {},
          close: () => {},
        },
      });
      if (start === 0) {
        const stage = newStage({ db, host });
        const names = ["one", "two", "three", "four"];
        ids = names.map((name) => stage.start(GRAPH, { roles: [role("Worker")], workflow: name }));
        guilty = stage.start(GRAPH, { roles: [role("Worker")], workflow: "guilty" });
      } else {
        host.recover();
        await allResumed(host, store, () => isDead);
      }
      const done = (async () => {
        while (!isDead && (store.countUnfinished() > 0 || store.find(guilty)!.status !== "held"))
          await new Promise((resolve) => setTimeout(resolve, 2));
      })();
      await Promise.race([death, done]);
      if (!isDead) {
        expect(ids.map((id) => store.find(id)!.final_status)).toEqual(ids.map(() => "COMPLETED"));
        expect(store.find(guilty)!.held?.message).toMatch(hangs ? /stopped responding/ : /crashed/);
        expect(fatal).toBe(hangs ? 1 : 2);
        await host.drain(0);
        db.$client.close();
        break;
      }
      if (left.hang === null && !left.crashed) kills--;
      await host.drain(0);
      db.$client.close();
    }
    rmSync(folder, { recursive: true, force: true });
  },
);

describe("a run with a damaged log", () => {
  const damages: Record<string, (db: Db, id: string) => void> = {
    "a turn that can't be parsed": (db, id) =>
      db.$client.prepare(`update run_turns set events = '[{"type":' where run_id = ? and turn = 2`).run(id),
    "an answer that can't be parsed": (db, id) =>
      db.$client.prepare(`update run_turns set result = '{' where run_id = ? and turn = 3`).run(id),
    "a missing turn": (db, id) =>
      db.$client.prepare("delete from run_turns where run_id = ? and turn = 2").run(id),
    "a missing beginning": (db, id) =>
      db.$client.prepare("delete from run_turns where run_id = ? and turn = 0").run(id),
    "a missing end": (db, id) =>
      db.$client.prepare("delete from run_turns where run_id = ? and turn = 3").run(id),
    "an empty log": (db, id) => db.$client.prepare("delete from run_turns where run_id = ?").run(id),
    "events that differ from a replay": (db, id) =>
      db.$client
        .prepare(
          `update run_turns set events = json_set(events, '$[0].type', 'warning') where run_id = ? and turn = 2`,
        )
        .run(id),
  };
  for (const [name, damage] of Object.entries(damages))
    test(`a run with a damaged log (${name}) is quarantined and shown as far as readable`, async () => {
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

  test("a quarantined run whose log degrades further stays quarantined and blocks no other", async () => {
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

  test("a run on a damaged database page is quarantined", async () => {
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

test("a run of a newer Troupe version is quarantined for its version, not as damaged", async () => {
  const { db, ids } = await unfinished(2);
  db.$client.prepare("update runs set interpreter_version = 99 where id = ?").run(ids[0]!);
  const stage = start(db, []);
  await settledAll(stage);
  expect(standing(stage, ids)).toEqual(["unknown_version", "COMPLETED"]);
});

describe("the marker of executing runs", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "troupe-at-work-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("executing runs are known to the next process only after a crash", () => {
    const first = newRunningMarker(folder);
    first.note(["run_a-very-long-name", "run_b"]);
    first.note(["run_c"]);
    const second = newRunningMarker(folder);
    expect(second.last()).toEqual(["run_c"]);
    second.clear();
    expect(newRunningMarker(folder).last()).toEqual([]);
    second.note(["run_d"]);
    second.close();
    expect(newRunningMarker(folder).last()).toEqual([]);
    first.close();
  });

  test("no run is marked while a model is called, so a kill during a long call doesn't count", async () => {
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
      runningMarker: {
        last: () => [],
        note: (ids) => notes.push([...ids]),
        clear: () => notes.push([]),
        close: () => {},
      },
    });
    const id = stage.start(GRAPH, { roles: [role("Worker")] });
    await isAsked;
    expect(notes.at(-1)).toEqual([id]);
    await vi.waitFor(() => expect(notes.at(-1)).toEqual([]), { timeout: 10_000 });
    answer("done");
    await stage.host.settled(id);
  });
});
