import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { newStage } from "@/server/runner/testing";
import { verifyLogs } from "./verify-log";

const graph = draw("start > a > w > b > w2 > end");

async function twoRuns() {
  const stage = newStage();
  const { id } = await stage.run(graph);
  const { id: other } = await stage.run(graph);
  const { $client } = stage.db;
  return {
    db: stage.db,
    id,
    other,
    sql: (text: string, ...values: unknown[]) => void $client.prepare(text).run(...values),
    faults: () => verifyLogs(stage.db).faults.map(({ run_id, turn, seq }) => [run_id, turn, seq]),
  };
}

test("logs as they were written prove themselves", async () => {
  const { db, id } = await twoRuns();
  expect(verifyLogs(db)).toMatchObject({ runs: 2, unchained: 0, faults: [] });
  expect(verifyLogs(db, id)).toMatchObject({ runs: 1, turns: 4, faults: [] });
});

test("each altered event is found and named", async () => {
  const { db, id, sql, faults } = await twoRuns();
  const rows = db.$client
    .prepare<[string], { turn: number; events: string }>(
      "select turn, events from run_turns where run_id = ?",
    )
    .all(id);
  let count = 0;
  for (const { turn, events } of rows)
    for (const event of JSON.parse(events) as { seq: number; ts: number }[]) {
      const altered = events.replace(
        JSON.stringify(event),
        JSON.stringify({ ...event, payload: { altered: true } }),
      );
      sql("update run_turns set events = ? where run_id = ? and turn = ?", altered, id, turn);
      expect(faults()).toEqual([[id, turn, event.seq]]);
      sql("update run_turns set events = ? where run_id = ? and turn = ?", events, id, turn);
      count++;
    }
  expect([count > 10, faults()]).toEqual([true, []]);
});

test("events taken out or put in are found", async () => {
  const { id, other, sql, faults } = await twoRuns();
  sql("update run_turns set events = json_remove(events, '$[1]') where run_id = ? and turn = 2", id);
  const [fault] = faults();
  expect(fault!.slice(0, 2)).toEqual([id, 2]);
  sql("delete from run_turns where run_id = ? and turn = 2", id);
  expect(faults()).toEqual([[id, 2, (fault![2]! as number) - 1]]);
  sql(
    "update run_turns set events = json_insert(events, '$[#]', json('{\"seq\":99}')) where run_id = ? and turn = 3",
    other,
  );
  expect(faults().at(-1)!.slice(0, 2)).toEqual([other, 3]);
});

test("the end of a log, a whole log, and a log of no run are missed", async () => {
  const { id, other, sql, faults } = await twoRuns();
  sql("delete from run_turns where run_id = ? and turn = 3", id);
  expect(faults()).toEqual([[id, 3, null]]);
  sql("update runs set last_turn = 2 where id = ?", id);
  expect(faults()).toEqual([[id, 2, null]]);
  sql("delete from run_turns where run_id = ?", id);
  sql("delete from runs where id = ?", other);
  expect(faults()).toEqual([
    [id, 2, null],
    [other, null, null],
  ]);
});

test("what a record says besides its events is held, too", async () => {
  const { id, sql, faults } = await twoRuns();
  sql("update run_turns set result = '{\"ok\":false}', at = at + 1 where run_id = ? and turn = 2", id);
  expect(faults()).toEqual([[id, 2, null]]);
});
