import type { Db } from "@/db/open";
import { Rejection } from "@/server/domain/errors/rejection";
import type { RunEventOf } from "@/server/domain/run/events";
import type { OpenQuestion } from "@/server/domain/run/questions/open-questions";
import { valuesText } from "@/server/domain/run/result";
import type { WorkDone } from "@/server/domain/run/work-done";
import type { CrewWorkStore, WorkPlace } from "./crew-work";
import { type ForkStart, newForkCopies } from "./fork-copies";
import { CHAIN_START, chainTurn } from "./log-chain";
import type { RunQuestions } from "./questions";
import type { StoredTurn } from "./read-log";
import { progressRow, type RunOrigin, type RunProgress } from "./run-summaries";

export interface TurnWrite extends StoredTurn {
  runId: string;
  /** The events as they are stored, one text each; made from them where absent. */
  texts?: readonly string[];
  /** The result as stored; computed from `result` if absent. */
  resultText?: string;
  timers: readonly { key: string; dueAt: number }[];
  /** When the first of the run's sleeps is over. */
  wakeAt?: number | null;
  /** Set where the row of the run changes with this turn. */
  progress?: RunProgress;
  /** What people are asked after it; set where that changes with this turn. */
  questions?: readonly OpenQuestion[];
  /** What its crews did, recorded in the turn that ends the run for good. */
  work?: WorkPlace & { done: readonly WorkDone[] };
}

export interface NewRun {
  id: string;
  created: RunEventOf<"run_created">;
  interpreterVersion: number;
  idempotencyKey: string | null;
  /** Of what was asked for; the same key with another one is refused. */
  requestHash?: string;
  origin?: RunOrigin;
  /** Of a fork: with what it begins. */
  fork?: ForkStart;
}

/** The trigger that started a run; null: none. */
const triggerOf = ({ trigger, origin }: NewRun["created"]["payload"]): string | null =>
  trigger === "webhook" || trigger === "schedule" || trigger === "form" || trigger === "event"
    ? (origin?.id ?? null)
    : null;

/** Writes the logs of runs: all effects of a turn on other tables are written with it, or not at all. */
export function newLogWriter(
  db: Db,
  parts: { questions: RunQuestions; crewWork: Pick<CrewWorkStore, "add"> },
) {
  const { $client: client } = db;
  const { questions, crewWork } = parts;
  const forkCopies = newForkCopies(db);
  // The hot path uses its own prepared statements: a run writes one row per turn.
  const insertTurn = client.prepare<
    [string, number, number, number, string | null, string | null, string, number, Buffer]
  >(
    `insert into run_turns (run_id, turn, last_seq, at, key, result, events, inlined, chain)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const selectEnd = client.prepare<[string], { last_turn: number; log_hash: string | null }>(
    "select last_turn, log_hash from runs where id = ?",
  );
  const updateEnd = client.prepare(
    "update runs set last_turn = @turn, log_hash = @hash, wake_at = @wakeAt where id = @id",
  );
  const insertTimer = client.prepare<[string, string, number]>(
    "insert or ignore into run_timers (run_id, key, due_at) values (?, ?, ?)",
  );
  const updateOrigin = client.prepare(
    "update runs set forked_from = @run_id, forked_seq = @seq, root_run = @root, lineage = @kind, fork_turn = @turn where id = @id",
  );
  const dropTimers = client.prepare<[string]>("delete from run_timers where run_id = ?");
  const updateRun = client.prepare(
    `update runs set status = @status, held = null, final_status = @final_status, reason_code = @reason_code, simulated = @simulated,
     cost_usd = coalesce(@cost_usd, 0), unknown_cost_calls = @unknown_cost_calls, input_tokens = @input_tokens, output_tokens = @output_tokens,
     started_at = @started_at, finished_at = @finished_at, outcome_text = @outcome_text, waits_for = @waits_for where id = @id`,
  );
  const updateEndAndRun = client.prepare(
    `update runs set last_turn = @turn, log_hash = @hash, wake_at = @wakeAt,
     status = @status, held = null, final_status = @final_status, reason_code = @reason_code, simulated = @simulated,
     cost_usd = coalesce(@cost_usd, 0), unknown_cost_calls = @unknown_cost_calls, input_tokens = @input_tokens, output_tokens = @output_tokens,
     started_at = @started_at, finished_at = @finished_at, outcome_text = @outcome_text, waits_for = @waits_for where id = @id`,
  );
  const findByKey = client.prepare<[string], { id: string; request_hash: string | null }>(
    "select id, request_hash from runs where idempotency_key = ?",
  );
  const startedWith = (key: string, requestHash: string | undefined): string | null => {
    const known = findByKey.get(key);
    if (!known) return null;
    // Runs from before this was kept have none.
    if (known.request_hash !== null && requestHash !== undefined && known.request_hash !== requestHash)
      throw new Rejection(
        "key_reused",
        `This idempotency key already started the run ${known.id} with another workflow, input or settings. Use a new key.`,
        { run_id: known.id },
      );
    return known.id;
  };
  const insertRun = client.prepare<
    [
      ...[string, string | null, string, number, string, string | null, string | null, number, string],
      ...[string, number | null, string | null, string | null],
    ]
  >(
    `insert into runs (id, workflow_id, workflow_name, status, interpreter_version, trigger, simulated, idempotency_key,
     request_hash, created_at, log_hash, input_text, workflow_version, trigger_id, started_by)
     values (?, ?, ?, 'queued', ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const updateParent = client.prepare(
    "update runs set parent_run = @run_id, parent_activation = @activation_id, parent_item = @item where id = @id",
  );
  /** Appends a turn to what its log ends with; answers the hash that it ends with then. */
  const appendTurn = (write: TurnWrite, before: string): string => {
    const { runId, turn, at, key, inlined } = write;
    const result = write.resultText ?? (write.result === null ? null : JSON.stringify(write.result));
    const texts = write.texts ?? write.events.map((event) => JSON.stringify(event));
    const { chain, last } = chainTurn(before, { runId, turn, at, key, result, inlined }, texts);
    insertTurn.run(runId, turn, write.lastSeq, at, key, result, `[${texts.join(",")}]`, inlined, chain);
    return last;
  };
  /** At least once is how turns may come: one that is there already changes nothing, nor does one of a deleted run. */
  const writeTurn = (write: TurnWrite) => {
    const end = selectEnd.get(write.runId);
    if (!end || write.turn <= end.last_turn) return;
    if (write.turn > end.last_turn + 1)
      throw new Error(`Turn ${write.turn} of run ${write.runId} arrived before the one it follows.`);
    const hash = appendTurn(write, end.log_hash ?? CHAIN_START);
    const now = { id: write.runId, turn: write.turn, hash, wakeAt: write.wakeAt ?? null };
    if (write.progress) updateEndAndRun.run({ ...progressRow(write.progress), ...now });
    else updateEnd.run(now);
    for (const { key, dueAt } of write.timers) insertTimer.run(write.runId, key, dueAt);
    if (write.questions) questions.replace(write.runId, write.questions);
    if (write.progress?.status === "finished") {
      dropTimers.run(write.runId);
      questions.drop(write.runId);
    }
    if (write.work) crewWork.add(write.work, write.work.done);
  };
  const writeTurns = client.transaction((writes: readonly TurnWrite[]) => {
    for (const write of writes) writeTurn(write);
  });

  /** Writes down where a run comes from, and copies what it begins with. */
  const beginAsAnother = ({ id, origin, fork }: NewRun) => {
    const turn = fork ? JSON.stringify(fork.turn) : null;
    if (origin) updateOrigin.run({ id, ...origin, turn });
    if (!fork) return;
    for (const { texts, ...copy } of forkCopies.turns(fork)) {
      const before = selectEnd.get(id)?.log_hash ?? CHAIN_START;
      const { chain, last } = chainTurn(before, { runId: id, ...copy }, texts);
      const { lastSeq: seq, at, key, result, inlined } = copy;
      insertTurn.run(id, copy.turn, seq, at, key, result, `[${texts.join(",")}]`, inlined, chain);
      updateEnd.run({ id, turn: copy.turn, hash: last, wakeAt: null });
    }
    forkCopies.rest(id, fork);
  };
  const createRun = client.transaction((run: NewRun): { id: string; created: boolean } => {
    if (run.idempotencyKey !== null) {
      const known = startedWith(run.idempotencyKey, run.requestHash);
      if (known !== null) return { id: known, created: false };
    }
    const { payload, ts } = run.created;
    const first = {
      runId: run.id,
      turn: 0,
      key: null,
      result: null,
      at: ts,
      lastSeq: 1,
      inlined: 0,
      events: [run.created],
      timers: [],
    };
    insertRun.run(
      run.id,
      payload.workflow_id,
      payload.workflow_name,
      run.interpreterVersion,
      payload.trigger,
      run.idempotencyKey,
      run.requestHash ?? null,
      run.fork?.turn.forkedAt ?? ts,
      appendTurn(first, CHAIN_START),
      valuesText(payload.input),
      (payload.forks?.findLast(({ latest }) => latest)?.latest ?? payload).workflow_version ?? null,
      run.fork ? null : triggerOf(payload),
      payload.origin ? JSON.stringify(payload.origin) : null,
    );
    if (run.origin || run.fork) beginAsAnother(run);
    // A fork that a person makes of such a run stands for itself.
    if (payload.parent && payload.trigger === "workflow") {
      const { run_id, activation_id, item = null } = payload.parent;
      updateParent.run({ id: run.id, run_id, activation_id, item });
    }
    return { id: run.id, created: true };
  });

  return {
    /** The run that an idempotency key started before, or null. Throws Rejection where it was asked for something else. */
    startedWith,

    /**
     * Creates a run with its first event. With an idempotency key that was used before for the same: that run, unchanged;
     * for something else: throws Rejection.
     */
    create(run: NewRun): { id: string; created: boolean } {
      return createRun.immediate(run);
    },

    /**
     * Writes turns of any runs in one transaction. A turn that the log holds already is passed over, so is one of a
     * run that there is not (any more); throws where a turn before it is missing.
     */
    write(writes: readonly TurnWrite[]): void {
      writeTurns.immediate(writes);
    },

    /** Puts a run's row right where the log says more than it does. */
    setProgress(id: string, progress: RunProgress): void {
      updateRun.run({ ...progressRow(progress), id });
      if (progress.status === "finished") questions.drop(id);
    },
  };
}
