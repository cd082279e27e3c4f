import type { Db } from "@/db/open";
import { ownJson } from "../own-json";
import { CHAIN_START, firstBreak, lastOf } from "./log-chain";

/** A difference between a run's log and what was written. */
export interface LogError {
  run_id: string;
  turn: number | null;
  /** The number of the event, where one can be named. */
  seq: number | null;
  message: string;
}

interface TurnRow {
  turn: number;
  at: number;
  key: string | null;
  result: string | null;
  inlined: number;
  last_seq: number;
  events: string;
  chain: Buffer | null;
}

export interface LogReport {
  runs: number;
  turns: number;
  events: number;
  /** Runs from before logs carried hashes: only the numbers of their events are checked. */
  unchained: number;
  errors: LogError[];
}

/**
 * Reads the logs of all runs, or of one, and compares each event with its stored hashes. It can't detect a row changed
 * by someone who also recomputed all later hashes: compare the run's last hash with a copy kept in another place.
 */
export function verifyLogs({ $client: client }: Pick<Db, "$client">, runId?: string): LogReport {
  const report: LogReport = { runs: 0, turns: 0, events: 0, unchained: 0, errors: [] };
  const runs = client
    .prepare<
      [string | null, string | null],
      { id: string; status: string; last_turn: number; log_hash: string | null }
    >("select id, status, last_turn, log_hash from runs where ? is null or id = ? order by created_at, id")
    .all(runId ?? null, runId ?? null);
  const turnsOf = client.prepare<[string], TurnRow>(
    "select turn, at, key, result, inlined, last_seq, events, chain from run_turns where run_id = ? order by turn",
  );
  for (const run of runs) {
    report.runs++;
    if (run.log_hash === null) report.unchained++;
    verifyRun(run, turnsOf.iterate(run.id), report);
  }
  if (runId === undefined) {
    const orphans = client
      .prepare<[], { run_id: string }>(
        "select distinct run_id from run_turns where run_id not in (select id from runs)",
      )
      .all();
    for (const { run_id } of orphans)
      report.errors.push({ run_id, turn: null, seq: null, message: "Events of a run that doesn't exist." });
  }
  return report;
}

function verifyRun(
  run: { id: string; status: string; last_turn: number; log_hash: string | null },
  rows: Iterable<TurnRow>,
  report: LogReport,
): void {
  const addError = (turn: number | null, seq: number | null, message: string) =>
    report.errors.push({ run_id: run.id, turn, seq, message });
  const isChained = run.log_hash !== null;
  let before = CHAIN_START;
  let turn = -1;
  let seq = 0;
  for (const row of rows) {
    report.turns++;
    const missing = row.turn - turn - 1;
    if (missing > 0)
      addError(turn + 1, seq + 1, missing === 1 ? "Missing: this record." : `Missing: ${missing} records.`);
    turn = row.turn;
    const texts = textsOf(row.events);
    report.events += texts?.length ?? 0;
    const error = isChained
      ? chainError({ ...row, runId: run.id }, texts, { before, seq, isGap: missing > 0 })
      : orderError(texts, seq);
    if (error) addError(turn, error.seq, error.message);
    before = row.chain ? lastOf(row.chain) : before;
    seq = row.last_seq;
  }
  if (turn !== run.last_turn)
    addError(
      run.last_turn,
      null,
      turn < run.last_turn ? "Missing: the end of the log." : "Added: records after the end of the log.",
    );
  else if (isChained && before !== run.log_hash)
    addError(turn, null, "Altered: the log doesn't end as recorded.");
}

interface RowError {
  seq: number | null;
  message: string;
}

const UNREADABLE: RowError = { seq: null, message: "Its events can't be read." };

/** The error of a row in a log without hashes. */
function orderError(texts: string[] | null, before: number): RowError | null {
  if (texts === null) return UNREADABLE;
  const gap = numbersOf(texts).find((number, at) => number !== before + at + 1);
  return gap === undefined ? null : { seq: gap, message: "This event is out of order." };
}

/** The error of a row in a log with hashes. */
function chainError(
  row: TurnRow & { runId: string },
  texts: string[] | null,
  { before, seq, isGap }: { before: string; seq: number; isGap: boolean },
): RowError | null {
  if (texts === null) return UNREADABLE;
  if (!row.chain) return { seq: null, message: "Added: a record without hashes." };
  // A row after a missing one can't be checked: the hash that it builds on is gone.
  if (isGap) return null;
  const place = firstBreak(before, row, texts, row.chain);
  if (place === null) return null;
  return place === "head"
    ? {
        seq: null,
        message: "Altered: the start or time of this record, or what precedes it.",
      }
    : { seq: seq + place + 1, message: "Altered, missing or added: this event." };
}

/** The texts of a row's events as they were written; null if it isn't a list. */
function textsOf(events: string): string[] | null {
  try {
    const list: unknown = JSON.parse(events);
    if (!Array.isArray(list)) return null;
    const texts = list.map((event) => JSON.stringify(event));
    // Only what is exactly as we write it counts; else the row is one text that fits no hash.
    return `[${texts.join(",")}]` === events ? texts : [events];
  } catch {
    return null;
  }
}

const numbersOf = (texts: readonly string[]) => texts.map((text) => ownJson<{ seq?: number }>(text).seq ?? 0);
