import type { Db } from "@/db/open";
import type { Settled } from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import type { RunEvent } from "@/server/domain/run/events";
import { ownJson } from "../own-json";

/** How a run begins as another one went. */
export interface ForkStart {
  from: string;
  /** It gives itself all answers that people gave the original. */
  isReplay?: boolean;
  /** The turn in which it goes its own way; those before are copied. */
  turn: StoredForkTurn;
}

/** The turn in which a fork goes its own way, as its row keeps it. */
export interface StoredForkTurn {
  turn: number;
  key: string | null;
  result: Settled | null;
  at: number;
  seq: number;
  forkedAt: number;
  shifts: { turn: number; ms: number }[];
}

/** A turn of the original as its row has it. */
export interface TurnCopy {
  turn: number;
  key: string | null;
  result: string | null;
  at: number;
  lastSeq: number;
  inlined: number;
  texts: string[];
}

/** Copies the data that belongs to a run's row to its fork. */
export function newForkCopies({ $client: client }: Db) {
  const selectTurns = client.prepare<
    [string, number],
    Omit<TurnCopy, "texts" | "lastSeq"> & { last_seq: number; events: string }
  >(
    "select turn, key, result, at, last_seq, inlined, events from run_turns where run_id = ? and turn > 0 and turn < ? order by turn",
  );
  const copySignals = client.prepare<{ from: string; to: string; turn: number }>(
    `insert or ignore into run_signals (run_id, name, value, sent_at) select @to, name, value, sent_at from run_signals s
     where run_id = @from and exists
       (select 1 from run_turns t where t.run_id = @from and t.turn <= @turn and t.key = s.name)`,
  );
  const copyAnswers = client.prepare<{ from: string; to: string }>(
    `insert into run_signals (run_id, name, value, sent_at) select @to, name, value, sent_at from run_signals
     where run_id = @from and name like 'answer:%'`,
  );
  const settledKeys = client.prepare<[string, number], { key: string }>(
    "select key from run_turns where run_id = ? and turn <= ? and key is not null",
  );
  const selectFiles = client.prepare<[string], { path: string; version: number; written_by: string }>(
    "select path, version, written_by from workspace_files where run_id = ?",
  );
  const copyFile = client.prepare<{
    from: string;
    to: string;
    path: string;
    version: number;
    written_by: string;
  }>(
    `insert into workspace_files (run_id, path, version, artifact_id, kind, media_type, size, content, source, tainted, written_by, created_at)
     select @to, path, version, artifact_id, kind, media_type, size, content, source, tainted, @written_by, created_at
     from workspace_files where run_id = @from and path = @path and version = @version`,
  );
  const copyMemories = client.prepare<{ from: string; to: string; at: number }>(
    `insert into memories (scope, scope_id, key, value, json, importance, tainted, source, created_at, updated_at, expires_at)
     select scope, @to || substr(scope_id, length(@from) + 1), key, value, json, importance, tainted, source, created_at, updated_at, expires_at
     from memories where scope in ('task', 'agent', 'run') and updated_at <= @at
       and (scope_id = @from or substr(scope_id, 1, length(@from) + 1) = @from || '/')`,
  );

  return {
    /** The turns of the original between its creation and the one that the fork begins with. */
    *turns({ from, turn }: ForkStart): Generator<TurnCopy> {
      for (const { last_seq, events, ...row } of selectTurns.all(from, turn.turn))
        yield {
          ...row,
          lastSeq: last_seq,
          texts: ownJson<RunEvent[]>(events).map((event) => JSON.stringify(event)),
        };
    },

    /** Signals that were taken, files and memories as of that turn. What was told or written later is the original's alone. */
    rest(to: string, { from, turn, isReplay }: ForkStart): void {
      if (isReplay) copyAnswers.run({ from, to });
      copySignals.run({ from, to, turn: turn.turn });
      const settled = new Set(settledKeys.all(from, turn.turn).map(({ key }) => callOf(key)));
      for (const { path, version, written_by } of selectFiles.all(from)) {
        const mark = `${from}:`;
        const key = written_by.startsWith(mark) ? written_by.slice(mark.length) : written_by;
        const step = key.slice(key.indexOf("/") + 1);
        if (!settled.has(step.replace(/\/write$/, ""))) continue;
        copyFile.run({ from, to, path, version, written_by: `${to}:${to}/${step}` });
      }
      copyMemories.run({ from, to, at: turn.at });
    },
  };
}

/** The call that a step belongs to: attempts at it, and its being made again with a person's answer, write as one. */
const callOf = (key: string): string =>
  must(key.split(/\/(?:again|answered|agreed)\d*$/), 0).replace(/\/again\d+$/, "");
