import type { Db } from "@/db/open";
import { defined } from "@/server/domain/base/defined";
import type { Settled } from "@/server/domain/base/durable";
import { errorCode, errorMessage } from "@/server/domain/base/guards";
import { present } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { evolve, newRun, type RunState } from "@/server/domain/run";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import { DamagedLog } from "@/server/domain/run/quarantine";
import { ownJson } from "../own-json";
import type { StoredForkTurn } from "./fork-copies";

export interface StoredTurn {
  turn: number;
  key: string | null;
  result: Settled | null;
  at: number;
  lastSeq: number;
  /** How many inline steps were settled in it. */
  inlined: number;
  events: RunEvent[];
}

/** The logs of runs, read. Where one cannot be read, that is said as DamagedLog. */
export function newLogReader({ $client: client }: Db) {
  const selectTurns = client.prepare<[string], TurnRow>(
    "select turn, key, at, last_seq, inlined, result, events from run_turns where run_id = ? order by turn",
  );
  const selectEvents = client.prepare<[string, number, number], { turn: number; events: string }>(
    "select turn, events from run_turns where run_id = ? and last_seq > ? order by turn limit ?",
  );
  const selectLastTurn = client.prepare<[string], { turn: number; lastSeq: number; at: number }>(
    "select turn, last_seq as lastSeq, at from run_turns where run_id = ? order by turn desc limit 1",
  );
  const selectEnd = client.prepare<[string], { last_turn: number }>(
    "select last_turn from runs where id = ?",
  );
  /** Its row names the last turn of a run, so that turns which are missing there are missed. */
  const expectEnd = (id: string, turn: number | undefined): void => {
    const end = selectEnd.get(id);
    if (turn === undefined || turn < 0) throw new DamagedLog("This run's log no longer exists.");
    if (end && end.last_turn !== turn)
      throw new DamagedLog(
        `This run's log ends with turn ${turn}; it should end with turn ${end.last_turn}.`,
      );
  };
  const selectTimers = client.prepare<[string], { key: string; due_at: number }>(
    "select key, due_at from run_timers where run_id = ?",
  );
  const selectSignals = client.prepare<[string], { name: string; value: string }>(
    "select name, value from run_signals where run_id = ?",
  );
  const selectAnswers = client.prepare<[string], { key: string; turn: number; at: number; result: string }>(
    `select key, turn, at, result from run_turns
     where run_id = ? and key is not null and result is not null order by turn`,
  );
  const selectForkTurn = client.prepare<[string], { fork_turn: string | null }>(
    "select fork_turn from runs where id = ?",
  );
  const selectVersion = client.prepare<[string], { version: number }>(
    "select interpreter_version as version from runs where id = ?",
  );

  return {
    /**
     * Events after a number, in order; at least whole turns, so slightly more than `limit` may come. Throws DamagedLog;
     * `asFarAsReadable` answers what comes before the damage instead.
     */
    events(id: string, after = 0, limit = 2000, asFarAsReadable = false): RunEvent[] {
      const found: RunEvent[] = [];
      try {
        for (const events of readEvents(selectEvents.iterate(id, after, limit))) {
          for (const event of events) if (event.seq > after) found.push(event);
          if (found.length >= limit) break;
        }
      } catch (error) {
        if (!(asFarAsReadable && error instanceof DamagedLog)) throw error;
      }
      return found;
    },

    /**
     * The state after the whole log; null if there is none. Throws DamagedLog, or returns the state before the damage.
     */
    state(id: string, asFarAsReadable = false): RunState | null {
      let state: RunState | null = null;
      try {
        for (const events of readEvents(selectEvents.iterate(id, 0, -1)))
          for (const event of events) state = evolve(state ?? newRun(id), event);
      } catch (error) {
        // What can be parsed may still make no sense to the fold.
        if (!asFarAsReadable) throw error;
      }
      return state;
    },

    /** What a run was started with; empty where its log does not tell. Throws DamagedLog. */
    input(id: string): JsonObject {
      for (const [first] of readEvents(selectEvents.iterate(id, 0, 1)))
        return first?.type === "run_created" ? first.payload.input : {};
      return {};
    },

    /** A run's first event, and the interpreter that it began with. Throws DamagedLog. */
    creation(id: string): { created: RunEventOf<"run_created">; version: number } {
      const version = selectVersion.get(id)?.version ?? 0;
      for (const [created] of readEvents(selectEvents.iterate(id, 0, 1)))
        if (created?.type === "run_created") return { created, version };
      throw new DamagedLog("The start of this run's log is missing.");
    },

    /** Where a run's log ends, without reading it. Throws DamagedLog where the end is missing. */
    lastTurn(id: string): { turn: number; lastSeq: number; at: number } {
      const last = selectLastTurn.get(id);
      expectEnd(id, last?.turn);
      return present(last, "last");
    },

    /** Everything that the engine needs to take a run up again. Throws DamagedLog. */
    journal(id: string): {
      version: number;
      turns: StoredTurn[];
      timers: Map<string, number>;
      signals: Map<string, Json>;
      fork?: StoredForkTurn;
    } {
      return reading("This run's log", () => {
        const turns = selectTurns.all(id).map((row, at) => readTurn(row, at));
        expectEnd(id, turns.length - 1);
        const timers = new Map(selectTimers.all(id).map(({ key, due_at }) => [key, due_at]));
        const signals = new Map(selectSignals.all(id).map(({ name, value }) => [name, ownJson<Json>(value)]));
        const turn = selectForkTurn.get(id)?.fork_turn ?? null;
        return {
          version: selectVersion.get(id)?.version ?? 0,
          turns,
          timers,
          signals,
          ...defined({ fork: turn === null ? undefined : ownJson<StoredForkTurn>(turn) }),
        };
      });
    },

    /** The answers of a run to what was asked outside, in the order of its log. Throws DamagedLog. */
    answers(id: string): { key: string; turn: number; at: number; result: Settled }[] {
      return reading("This run's log", () =>
        selectAnswers.all(id).map(({ result, ...row }) => ({ ...row, result: ownJson<Settled>(result) })),
      );
    },
  };
}

interface TurnRow {
  turn: number;
  key: string | null;
  at: number;
  last_seq: number;
  inlined: number;
  result: string | null;
  events: string;
}

/** One turn as it was written. `place`: its expected number; a gap is damage. */
function readTurn({ result, events, last_seq, ...row }: TurnRow, place: number): StoredTurn {
  if (row.turn !== place) throw new DamagedLog(`Turn ${place} of this run's log is missing.`);
  return reading(`Turn ${place} of this run's log`, () => ({
    ...row,
    lastSeq: last_seq,
    result: result === null ? null : ownJson<Settled>(result),
    events: parseEvents(events),
  }));
}

function* readEvents(rows: Iterable<{ turn: number; events: string }>): Generator<RunEvent[]> {
  let at = "This run's log";
  try {
    for (const { turn, events } of rows) {
      at = `Turn ${turn} of this run's log`;
      yield parseEvents(events);
      at = `This run's log after turn ${turn}`;
    }
  } catch (error) {
    throw asDamage(at, error);
  }
}

function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw asDamage(what, error);
  }
}

/** Reports damaged text or a damaged file as DamagedLog; a busy or unresponsive disk is not damage. */
function asDamage(what: string, error: unknown): unknown {
  const code = errorCode(error);
  return error instanceof SyntaxError || /^SQLITE_(CORRUPT|NOTADB)/.test(code ?? "")
    ? new DamagedLog(`${what} can't be read: ${errorMessage(error)}.`, { cause: error })
    : error;
}

/** Our own log: written by this server only, so its events are not checked again one by one. */
const parseEvents = (text: string) => ownJson<RunEvent[]>(text);
