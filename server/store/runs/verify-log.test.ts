import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { RunEvent } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { newRunStore } from "./runs";
import { verifyLogs } from "./verify-log";

/** Two runs of four records each, with events 1; 2 to 4; 5 to 7; 8 to 10. */
function twoRuns() {
  const db = emptyDb();
  const store = newRunStore(db);
  const event = (seq: number): RunEvent => ({
    type: "warning",
    seq,
    ts: 1_000 + seq,
    payload: { code: "TEST", message: `number ${seq}` },
  });
  for (const id of ["run_a", "run_b"]) {
    store.create({
      id,
      created: {
        type: "run_created",
        seq: 1,
        ts: 1_000,
        payload: {
          graph: draw("start > end"),
          roles: [],
          workflow_id: null,
          workflow_name: "",
          input: {},
          config: RunConfig.parse({}),
          trigger: "test",
          provider_summary: null,
        },
      },
      interpreterVersion: 1,
      idempotencyKey: null,
    });
    for (let turn = 1; turn < 4; turn++)
      store.write([
        {
          runId: id,
          turn,
          key: `step ${turn}`,
          result: { ok: true, value: turn },
          at: 1_000 + turn,
          lastSeq: 3 * turn + 1,
          inlined: 0,
          events: [3 * turn - 1, 3 * turn, 3 * turn + 1].map(event),
          timers: [],
        },
      ]);
  }
  return {
    db,
    id: "run_a",
    other: "run_b",
    sql: (text: string, ...values: unknown[]) => void db.$client.prepare(text).run(...values),
    errors: () => verifyLogs(db).errors.map(({ run_id, turn, seq }) => [run_id, turn, seq]),
  };
}

test("unchanged logs are verified without errors", () => {
  const { db, id } = twoRuns();
  expect(verifyLogs(db)).toMatchObject({ runs: 2, unchained: 0, errors: [] });
  expect(verifyLogs(db, id)).toMatchObject({ runs: 1, turns: 4, errors: [] });
});

test("each altered event is located", () => {
  const { db, id, sql, errors } = twoRuns();
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
      expect(errors()).toEqual([[id, turn, event.seq]]);
      sql("update run_turns set events = ? where run_id = ? and turn = ?", events, id, turn);
      count++;
    }
  expect([count, errors()]).toEqual([10, []]);
});

test("removed and added events are located", () => {
  const { id, other, sql, errors } = twoRuns();
  sql("update run_turns set events = json_remove(events, '$[1]') where run_id = ? and turn = 2", id);
  expect(errors()).toEqual([[id, 2, 6]]);
  sql("delete from run_turns where run_id = ? and turn = 2", id);
  expect(errors()).toEqual([[id, 2, 5]]);
  sql(
    "update run_turns set events = json_insert(events, '$[#]', json('{\"seq\":99}')) where run_id = ?",
    other,
  );
  expect(errors()).toEqual([
    [id, 2, 5],
    [other, 0, 2],
    [other, 1, 5],
    [other, 2, 8],
    [other, 3, 11],
  ]);
});

test("a missing end of a log, a missing log and a log without a run are found", () => {
  const { id, other, sql, errors } = twoRuns();
  sql("delete from run_turns where run_id = ? and turn = 3", id);
  expect(errors()).toEqual([[id, 3, null]]);
  sql("update runs set last_turn = 2 where id = ?", id);
  expect(errors()).toEqual([[id, 2, null]]);
  sql("delete from run_turns where run_id = ?", id);
  sql("delete from runs where id = ?", other);
  expect(errors()).toEqual([
    [id, 2, null],
    [other, null, null],
  ]);
});

test("changes to a record's other fields are found", () => {
  const { id, sql, errors } = twoRuns();
  sql("update run_turns set result = '{\"ok\":false}', at = at + 1 where run_id = ? and turn = 2", id);
  expect(errors()).toEqual([[id, 2, null]]);
});
