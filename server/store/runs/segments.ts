import type { Db } from "@/db/open";
import { present } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import { ownJson } from "../own-json";

/** A segment of a run that executes remotely. Times in Unix milliseconds. */
export interface ActiveSegment {
  run_id: string;
  stretch: number;
  /** The last turn of the log at its start. */
  from_turn: number;
  /** How many of the run's signals it began with, and how many after those the engine was told of. */
  signals_before: number;
  signals_sent: number;
  is_posted: boolean;
  begun_at: number;
  /** When it last said something; null where it has not yet. */
  heard_at: number | null;
}

/** Where a run executes, for display; `moved_from`: the previous worker, until `moved_at`. */
export interface RunPlace {
  worker: string | null;
  moved_from: string | null;
  moved_at: number | null;
  is_posted: boolean;
  begun_at: number;
}

export type SegmentStore = ReturnType<typeof newSegmentStore>;

/**
 * Which runs execute remotely, and what the engine was told. It is also the outbox: segments that were begun but not
 * posted, and signals beyond those sent, are still to be delivered.
 */
export function newSegmentStore(db: Db, now: () => number = Date.now) {
  const { $client: client } = db;
  const statements = statementsOf(client);
  const active = (row: Row | undefined): ActiveSegment | null =>
    row ? { ...row, is_posted: row.is_posted === 1 } : null;

  return {
    /**
     * Records that the run continues remotely from the end of its log, before the engine hears of it. Returns the
     * segment's number.
     */
    begin(runId: string): number {
      return present(statements.insert.get({ id: runId, at: now() }), "the new segment");
    },

    /** The remote segment in which a run executes; null if it doesn't. */
    active: (runId: string): ActiveSegment | null => active(statements.selectActive.get(runId)),

    all: (): ActiveSegment[] => statements.selectAll.all().flatMap((row) => active(row) ?? []),

    /** How many segments and signals are still to be delivered to the engine, and since when the oldest waits. */
    outbox: () => present(statements.selectOutbox.get(), "a row of counts"),

    /** Signals of a run after the first `skip`, in the order in which they were sent. */
    signals: (runId: string, skip = 0) =>
      statements.selectSignals
        .all(runId, skip)
        .map(({ value, ...row }) => ({ ...row, value: ownJson<Json>(value) })),

    signalCount: (runId: string): number => statements.selectCount.get(runId) ?? 0,

    posted(runId: string, segment: number): void {
      statements.setPosted.run(runId, segment);
    },

    /** The engine received this many signals after those that the segment began with. */
    sent(runId: string, segment: number, signals: number): void {
      statements.setSent.run(signals, runId, segment);
    },

    /** A worker executes it from now on. */
    taken(runId: string, segment: number, worker: string): void {
      statements.setTaken.run({ id: runId, stretch: segment, worker, at: now() });
    },

    /** Something was said of it; what a worker made may be told by the one that took it over. */
    heard(runId: string, segment: number, worker: string): void {
      statements.setHeard.run({ id: runId, stretch: segment, worker, at: now() });
    },

    /** Whether that worker still executes it, as far as is known. */
    isHeldBy(runId: string, segment: number, worker: string): boolean {
      const place =
        statements.selectActive.get(runId)?.stretch === segment
          ? statements.selectPlace.get(runId)
          : undefined;
      return place !== undefined && (place.worker === null || place.worker === worker);
    },

    over(runId: string, segment: number): void {
      statements.setOver.run(runId, segment);
    },

    /** Where a run executes remotely; null if it doesn't. */
    place(runId: string): RunPlace | null {
      const row = statements.selectPlace.get(runId);
      return row ? { ...row, is_posted: row.is_posted === 1 } : null;
    },
  };
}

type Row = Omit<ActiveSegment, "is_posted"> & { is_posted: number };

function statementsOf(client: Db["$client"]) {
  return {
    insert: client
      .prepare<{ id: string; at: number }, number>(
        `insert into stretches (run_id, stretch, is_active, is_posted, from_turn, signals_before, signals_sent, begun_at)
     select @id, 1, 1, 0, r.last_turn, (select count(*) from run_signals where run_id = @id), 0, @at from runs r where r.id = @id
     on conflict (run_id) do update set stretch = stretch + 1, is_active = 1, is_posted = 0, from_turn = excluded.from_turn,
     signals_before = excluded.signals_before, signals_sent = 0, begun_at = excluded.begun_at, heard_at = null, worker = null,
     moved_from = null, moved_at = null returning stretch`,
      )
      .pluck(),
    selectActive: client.prepare<[string], Row>(
      `select run_id, stretch, from_turn, signals_before, signals_sent, is_posted, begun_at, heard_at from stretches
     where run_id = ? and is_active = 1`,
    ),
    selectAll: client.prepare<[], Row>(
      `select run_id, stretch, from_turn, signals_before, signals_sent, is_posted, begun_at, heard_at from stretches
     where is_active = 1 order by begun_at`,
    ),
    selectSignals: client.prepare<[string, number], { name: string; value: string; sent_at: number }>(
      "select name, value, sent_at from run_signals where run_id = ? order by rowid limit -1 offset ?",
    ),
    selectCount: client
      .prepare<[string], number>("select count(*) from run_signals where run_id = ?")
      .pluck(),
    setPosted: client.prepare<[string, number]>(
      "update stretches set is_posted = 1 where run_id = ? and stretch = ?",
    ),
    setSent: client.prepare<[number, string, number]>(
      "update stretches set signals_sent = ? where run_id = ? and stretch = ?",
    ),
    setOver: client.prepare<[string, number]>(
      "update stretches set is_active = 0 where run_id = ? and stretch = ?",
    ),
    setHeard: client.prepare<{ id: string; stretch: number; worker: string; at: number }>(
      `update stretches set heard_at = @at, worker = coalesce(worker, @worker)
     where run_id = @id and stretch = @stretch and is_active = 1`,
    ),
    setTaken: client.prepare<{ id: string; stretch: number; worker: string; at: number }>(
      `update stretches set heard_at = @at, worker = @worker,
     moved_from = case when worker is not null and worker <> @worker then worker else moved_from end,
     moved_at = case when worker is not null and worker <> @worker then @at else moved_at end
     where run_id = @id and stretch = @stretch and is_active = 1`,
    ),
    selectPlace: client.prepare<[string], Omit<RunPlace, "is_posted"> & { is_posted: number }>(
      "select worker, moved_from, moved_at, is_posted, begun_at from stretches where run_id = ? and is_active = 1",
    ),
    selectOutbox: client.prepare<[], { waiting: number; oldest_at: number | null }>(
      `with numbered as (
       select run_id, sent_at, row_number() over (partition by run_id order by rowid) as nth from run_signals
       where run_id in (select run_id from stretches where is_active = 1))
     select count(*) as waiting, min(at) as oldest_at from (
       select begun_at as at from stretches where is_active = 1 and is_posted = 0
       union all
       select n.sent_at from stretches s join numbered n on n.run_id = s.run_id
       where s.is_active = 1 and n.nth > s.signals_before + s.signals_sent)`,
    ),
  };
}
