import { and, asc, desc, eq, gte, inArray, isNotNull, isNull, or, sql } from "drizzle-orm";
import { z } from "zod";
import type { Db } from "@/db/open";
import {
  notices,
  runQuestions,
  runSignals,
  runs,
  runTimers,
  runTurns,
  stretches,
  workspaceFiles,
} from "@/db/schema";
import { ErrorCode, type FinalStatus, type ReasonCode } from "@/server/domain/agent/outcome";
import type { Settled } from "@/server/domain/base/durable";
import { errorCode, errorMessage } from "@/server/domain/base/guards";
import { present } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { knownCost, type Paid } from "@/server/domain/model/cost";
import { evolve, newRun, type RunState } from "@/server/domain/run";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import { DamagedLog, type HeldReason } from "@/server/domain/run/held";
import { KeyReused } from "@/server/domain/run/key-reused";
import { type OpenQuestion, openQuestions } from "@/server/domain/run/open-questions";
import { RUN_TEXT, wordsOf } from "@/server/domain/run/result";
import type { WorkDone } from "@/server/domain/run/work-done";
import { newCrewWorkStore, type WorkPlace } from "./crew-work";
import { type ForkStart, newForkCopies, type StoredForkTurn } from "./fork-copies";
import { CHAIN_START, chainTurn } from "./log-chain";
import { forgetMemoriesOf } from "./memories";
import { ownJson } from "./own-json";
import { newRunQuestions } from "./questions";
import { listRuns, type RunQuery, type RunStatus } from "./run-list";

export type { RunStatus };

/** What lists show of a run. Times in Unix milliseconds, cost in US dollars. */
export interface RunSummary {
  id: string;
  workflow_id: string | null;
  workflow_name: string;
  status: RunStatus;
  /** Set while the run is held. */
  held: HeldReason | null;
  final_status: FinalStatus | null;
  reason_code: ReasonCode | null;
  simulated: boolean;
  /** What is known of it; null where nothing is. */
  cost_usd: number | null;
  unknown_cost_calls: number;
  input_tokens: number;
  output_tokens: number;
  trigger: string;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  /** The beginning of its input, and of its result or of why there is none, in one line each. */
  input_excerpt: string;
  outcome_excerpt: string;
  /** What stands between it and its going on; null where it waits for nothing. */
  waits_for: "person" | "time" | null;
  /** When it goes on by itself, or no longer waits for a person; null where neither is to come. */
  wakes_at: number | null;
  /** Where it comes from; null where it began by itself. */
  origin: RunOrigin | null;
}

/** The run that another one began as. `root`: the first of the lineage; `seq`: the last event that both have. */
export interface RunOrigin {
  kind: "fork" | "replay";
  run_id: string;
  root: string;
  seq: number;
}

/** The columns of a run's row that change while it goes on. */
export type RunProgress = Pick<
  RunSummary,
  | "status"
  | "final_status"
  | "reason_code"
  | "simulated"
  | "cost_usd"
  | "unknown_cost_calls"
  | "input_tokens"
  | "output_tokens"
  | "started_at"
  | "finished_at"
  | "waits_for"
> & {
  /** What it came to in words; empty before its end. */
  outcome_text: string;
};

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

export interface TurnWrite extends StoredTurn {
  runId: string;
  /** The events as they are stored, one text each; made from them where absent. */
  texts?: readonly string[];
  /** The result as it is stored; made from it where absent. */
  resultText?: string;
  timers: readonly { key: string; dueAt: number }[];
  /** When the first of the run's sleeps is over. */
  wakeAt?: number | null;
  /** Set where the row of the run changes with this turn. */
  progress?: RunProgress;
  /** What people are asked after it; set where that changes with this turn. */
  questions?: readonly OpenQuestion[];
  /** What its crews did, in the turn that ends it for good. */
  work?: WorkPlace & { done: readonly WorkDone[] };
}

export interface UnfinishedRun {
  id: string;
  status: RunStatus;
  workflow_id: string | null;
  interpreter_version: number;
  /** How many times in a row the server ended while it computed this run, without progress since. */
  stops: number;
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

export type RunStore = ReturnType<typeof newRunStore>;

/** Runs and their logs. All methods are synchronous: each is one statement or one transaction. */
export function newRunStore(db: Db, now: () => number = Date.now) {
  const { $client: client } = db;
  const crewWork = newCrewWorkStore(db);
  const questions = newRunQuestions(db, now);
  const forkCopies = newForkCopies(db);
  // The hot path uses prepared statements of its own: a run writes one row for each turn.
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
  const selectDue = client.prepare<[number], { id: string; workflow_id: string | null }>(
    `select id, workflow_id from runs where wake_at <= ? and status in ('waiting', 'paused')
     order by wake_at`,
  );
  const insertTimer = client.prepare<[string, string, number]>(
    "insert or ignore into run_timers (run_id, key, due_at) values (?, ?, ?)",
  );
  const selectTurns = client.prepare<[string], TurnRow>(
    "select turn, key, at, last_seq, inlined, result, events from run_turns where run_id = ? order by turn",
  );
  const selectEvents = client.prepare<[string, number, number], { turn: number; events: string }>(
    "select turn, events from run_turns where run_id = ? and last_seq > ? order by turn limit ?",
  );
  const selectLastTurn = client.prepare<[string], { turn: number; lastSeq: number; at: number }>(
    "select turn, last_seq as lastSeq, at from run_turns where run_id = ? order by turn desc limit 1",
  );
  /** Its row names the last turn of a run, so that turns which are missing there are missed. */
  const expectEnd = (id: string, turn: number | undefined): void => {
    const end = selectEnd.get(id);
    if (turn === undefined || turn < 0)
      throw new DamagedLog("Nothing that was recorded of this run is there any more.");
    if (end && end.last_turn !== turn)
      throw new DamagedLog(
        `What was recorded of this run ends with turn ${turn}; its last was turn ${end.last_turn}.`,
      );
  };
  const selectCounts = client.prepare<[], { status: RunStatus; count: number }>(
    "select status, count(*) as count from runs group by status",
  );
  const selectAnswerBy = client.prepare<[string], { at: number | null }>(
    "select min(expires_at) as at from run_questions where run_id = ?",
  );
  const summaryOf = (row: typeof runs.$inferSelect): RunSummary =>
    toSummary(row, row.waitsFor === "person" ? (selectAnswerBy.get(row.id)?.at ?? null) : null);
  /** A held run is shown although its log may be damaged. */
  const lastSeq = ({ id, status }: RunSummary): number => {
    try {
      return selectLastTurn.get(id)?.lastSeq ?? 0;
    } catch (error) {
      if (status === "held") return 0;
      throw error;
    }
  };
  // What a run records when it is taken up again is not progress.
  const selectProgress = client.prepare<[string], { turn: number }>(
    "select turn from run_turns where run_id = ? and (key is null or key not like 'recovered#%') order by turn desc limit 1",
  );
  const progressTurn = (id: string) => selectProgress.get(id)?.turn ?? 0;
  const noteStop = client.prepare<{ id: string; turn: number }>(
    `update runs set stops = case when stopped_turn = @turn then stops + 1 else 1 end, stopped_turn = @turn
     where id = @id and status in ('queued', 'running', 'waiting', 'paused')`,
  );
  const noteAll = client.transaction((ids: readonly string[]) => {
    for (const id of ids) noteStop.run({ id, turn: progressTurn(id) });
  });
  const holdRun = client.prepare<[string, string]>(
    "update runs set status = 'held', held = ? where id = ? and status <> 'finished'",
  );
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
  const updateOrigin = client.prepare(
    "update runs set forked_from = @run_id, forked_seq = @seq, root_run = @root, lineage = @kind, fork_turn = @turn where id = @id",
  );
  const selectForkTurn = client.prepare<[string], { fork_turn: string | null }>(
    "select fork_turn from runs where id = ?",
  );
  const selectVersion = client.prepare<[string], { version: number }>(
    "select interpreter_version as version from runs where id = ?",
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
  const selectUnlisted = client.prepare<[], string>(
    `select id from runs where status in ('running', 'waiting', 'held') and (waits_for = 'person' or
     (waits_for is null and status <> 'running')) and not exists (select 1 from run_questions q where q.run_id = runs.id)`,
  );
  const findByKey = client.prepare<[string], { id: string; request_hash: string | null }>(
    "select id, request_hash from runs where idempotency_key = ?",
  );
  const startedWith = (key: string, requestHash: string | undefined): string | null => {
    const known = findByKey.get(key);
    if (!known) return null;
    // Runs from before this was kept have none.
    if (known.request_hash !== null && requestHash !== undefined && known.request_hash !== requestHash)
      throw new KeyReused(known.id);
    return known.id;
  };
  const insertRun = client.prepare<
    [string, string | null, string, number, string, string | null, string | null, number, string, string]
  >(
    `insert into runs (id, workflow_id, workflow_name, status, interpreter_version, trigger, simulated, idempotency_key,
     request_hash, created_at, log_hash, input_text) values (?, ?, ?, 'queued', ?, ?, 0, ?, ?, ?, ?, ?)`,
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
      throw new Error(`Turn ${write.turn} of run ${write.runId} came before the one that it follows.`);
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
      wordsOf(payload.input),
    );
    if (run.origin || run.fork) beginAsAnother(run);
    return { id: run.id, created: true };
  });

  return {
    /** What the members of a graph's crews did in earlier runs. */
    pastWork: crewWork.past,

    /** The run that an idempotency key started before, or null. Throws KeyReused where it was asked for something else. */
    startedWith,

    /**
     * Creates a run with its first event. With an idempotency key that was used before for the same: that run, unchanged;
     * for something else: throws KeyReused.
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

    find(id: string): (RunSummary & { last_seq: number; interpreter_version: number }) | null {
      const row = db
        .select()
        .from(runs)
        .where(and(eq(runs.id, id), isNull(runs.deletedAt)))
        .get();
      if (!row) return null;
      const run = summaryOf(row);
      return { ...run, last_seq: lastSeq(run), interpreter_version: row.interpreterVersion };
    },

    list: (query: RunQuery = {}): RunSummary[] => listRuns(db, query).map(summaryOf),

    /** What runs since a time cost together, also those in the bin. */
    spent(since: number): { runs: number } & Paid {
      const sums = db
        .select({
          runs: sql<number>`count(*)`,
          cost: sql<number>`coalesce(sum(${runs.costUsd}), 0)`,
          unknown: sql<number>`coalesce(sum(${runs.unknownCostCalls}), 0)`,
        })
        .from(runs)
        .where(gte(runs.createdAt, since))
        .get();
      const paid = { cost_usd: sums?.cost ?? 0, unknown_cost_calls: sums?.unknown ?? 0 };
      return {
        runs: sums?.runs ?? 0,
        cost_usd: knownCost(paid),
        unknown_cost_calls: paid.unknown_cost_calls,
      };
    },

    /** The newest run of each workflow, and how many there are. */
    byWorkflow(): Map<string, { last_run: RunSummary; run_count: number }> {
      const rows = db
        .select({
          id: runs.workflowId,
          count: sql<number>`count(*)`,
          newest: sql<number>`max(${runs.createdAt})`,
        })
        .from(runs)
        .where(isNull(runs.deletedAt))
        .groupBy(runs.workflowId)
        .all();
      const found = new Map<string, { last_run: RunSummary; run_count: number }>();
      for (const { id, count } of rows) {
        if (id === null) continue;
        const last = db
          .select()
          .from(runs)
          .where(and(eq(runs.workflowId, id), isNull(runs.deletedAt)))
          .orderBy(desc(runs.createdAt), desc(runs.id))
          .limit(1)
          .get();
        if (last) found.set(id, { last_run: summaryOf(last), run_count: count });
      }
      return found;
    },

    /**
     * Runs that have not ended, oldest first. `wakeBefore`: only those that a new process has to take up, which are all but
     * those that wait for something that has not come, or for a time after that.
     */
    unfinished(wakeBefore?: number): UnfinishedRun[] {
      return db
        .select({
          id: runs.id,
          status: runs.status,
          workflow_id: runs.workflowId,
          interpreter_version: runs.interpreterVersion,
          stops: runs.stops,
          stoppedTurn: runs.stoppedTurn,
        })
        .from(runs)
        .where(
          wakeBefore === undefined ? isUnfinished : or(isAtWork, and(isUnfinished, hasToWake(wakeBefore))),
        )
        .orderBy(asc(runs.createdAt), asc(runs.id))
        .all()
        .map(({ stoppedTurn, ...row }) => ({
          ...row,
          status: row.status,
          stops: row.stops > 0 && progressTurn(row.id) === stoppedTurn ? row.stops : 0,
        }));
    },

    /** Waiting runs whose first sleep is over at an instant, the first one first. */
    due(at: number): { id: string; workflow_id: string | null }[] {
      return selectDue.all(at);
    },

    /** Notes that the server ended while it computed these runs; those that made progress since the last time begin at one. */
    noteStops(ids: readonly string[]): void {
      noteAll.immediate(ids);
    },

    /** Whether a run got further since the server ended on it, or is not at work any more. */
    hasGotOn(id: string): boolean {
      const row = db
        .select({ status: runs.status, stoppedTurn: runs.stoppedTurn })
        .from(runs)
        .where(eq(runs.id, id))
        .get();
      return !row || !["queued", "running"].includes(row.status) || progressTurn(id) !== row.stoppedTurn;
    },

    /** Puts a run aside; false if it has ended. */
    hold(id: string, reason: HeldReason): boolean {
      return holdRun.run(JSON.stringify(reason), id).changes === 1;
    },

    /** Takes a run from where it was put aside; answers how it stands then, or null if it was not there. */
    release(id: string): RunStatus | null {
      const held = db.select({ startedAt: runs.startedAt }).from(runs);
      const row = held.where(and(eq(runs.id, id), eq(runs.status, "held"))).get();
      if (!row) return null;
      const status = row.startedAt === null ? "queued" : "running";
      db.update(runs).set({ status, held: null, stops: 0, stoppedTurn: null }).where(eq(runs.id, id)).run();
      return status;
    },

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

    /** The whole log folded; null where there is none. Throws DamagedLog, or folds what comes before the damage. */
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
      throw new DamagedLog("The beginning of this run's log is missing.");
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
      return reading("What was recorded of this run", () => {
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
          ...(turn === null ? {} : { fork: ownJson<StoredForkTurn>(turn) }),
        };
      });
    },

    /** A run and all that come from the same first one, the oldest first; itself alone where none does. */
    family(id: string): RunSummary[] {
      const own = db.select({ root: runs.rootRun }).from(runs).where(eq(runs.id, id)).get();
      const root = own?.root ?? id;
      return db
        .select()
        .from(runs)
        .where(and(or(eq(runs.id, root), eq(runs.rootRun, root)), isNull(runs.deletedAt)))
        .orderBy(asc(runs.createdAt), sql`${runs}.rowid`)
        .limit(500)
        .all()
        .map(summaryOf);
    },

    /** The answers of a run to what was asked outside, in the order of its log. Throws DamagedLog. */
    answers(id: string): { key: string; turn: number; at: number; result: Settled }[] {
      return reading("What was recorded of this run", () =>
        selectAnswers.all(id).map(({ result, ...row }) => ({ ...row, result: ownJson<Settled>(result) })),
      );
    },

    /** Keeps a signal for a run; false if one of that name was sent before: the first wins. */
    signal(id: string, name: string, value: Json, at: number): boolean {
      const result = db
        .insert(runSignals)
        .values({ runId: id, name, value: JSON.stringify(value), sentAt: at })
        .onConflictDoNothing()
        .run();
      return result.changes === 1;
    },

    /** The signal of that name that was kept for a run. */
    sent(id: string, name: string): Json | undefined {
      const row = db
        .select({ value: runSignals.value })
        .from(runSignals)
        .where(and(eq(runSignals.runId, id), eq(runSignals.name, name)))
        .get();
      return row && ownJson<Json>(row.value);
    },

    /** Keeps a command under the next free name "control#k". */
    command(id: string, value: Json, at: number): string {
      return db.transaction(
        (tx) => {
          const row = tx
            .select({ count: sql<number>`count(*)` })
            .from(runSignals)
            .where(and(eq(runSignals.runId, id), sql`${runSignals.name} like 'control#%'`))
            .get();
          const name = `control#${(row?.count ?? 0) + 1}`;
          tx.insert(runSignals)
            .values({ runId: id, name, value: JSON.stringify(value), sentAt: at })
            .run();
          return name;
        },
        { behavior: "immediate" },
      );
    },

    /** Puts a finished run into the bin; its key may start another one. False where there is none. */
    remove(id: string): boolean {
      const finished = and(eq(runs.id, id), eq(runs.status, "finished"), isNull(runs.deletedAt));
      return (
        db.update(runs).set({ deletedAt: now(), idempotencyKey: null }).where(finished).run().changes > 0
      );
    },

    /** Takes a run out of the bin; false where it is not in it. */
    restore(id: string): boolean {
      const binned = and(eq(runs.id, id), isNotNull(runs.deletedAt));
      return db.update(runs).set({ deletedAt: null }).where(binned).run().changes > 0;
    },

    /** Deletes a finished run with everything that belongs to it, for good. */
    purge(id: string): boolean {
      return db.transaction(
        (tx) => {
          const { changes } = tx
            .delete(runs)
            .where(and(eq(runs.id, id), eq(runs.status, "finished")))
            .run();
          if (changes === 0) return false;
          for (const table of [
            runTurns,
            runTimers,
            runSignals,
            runQuestions,
            notices,
            workspaceFiles,
            stretches,
          ])
            tx.delete(table).where(eq(table.runId, id)).run();
          forgetMemoriesOf(tx, id);
          return true;
        },
        { behavior: "immediate" },
      );
    },

    /** Puts a run's row right where the log says more than it does. */
    setProgress(id: string, progress: RunProgress): void {
      updateRun.run({ ...progressRow(progress), id });
      if (progress.status === "finished") questions.drop(id);
    },

    /** Lists the questions of runs that waited for a person before there was a list of them. */
    listOldQuestions(): void {
      for (const id of selectUnlisted.pluck().all()) {
        try {
          const state = this.state(id);
          if (state) client.transaction(() => questions.replace(id, openQuestions(state))).immediate();
        } catch (error) {
          // What cannot be read is held once it is taken up.
          if (!(error instanceof DamagedLog)) throw error;
        }
      }
    },

    /** How many runs are in each status, also of those in the bin. */
    counts(): Record<RunStatus, number> {
      const counts = { queued: 0, running: 0, waiting: 0, paused: 0, held: 0, finished: 0 };
      for (const { status, count } of selectCounts.all()) counts[status] = count;
      return counts;
    },

    countUnfinished(): number {
      return (
        db
          .select({ count: sql<number>`count(*)` })
          .from(runs)
          .where(inArray(runs.status, ["queued", "running", "waiting", "paused"]))
          .get()?.count ?? 0
      );
    },
  };
}

const progressRow = (progress: RunProgress) => ({ ...progress, simulated: progress.simulated ? 1 : 0 });

interface TurnRow {
  turn: number;
  key: string | null;
  at: number;
  last_seq: number;
  inlined: number;
  result: string | null;
  events: string;
}

/** One turn as it was written. `place`: which it must be; a gap is damage. */
function readTurn({ result, events, last_seq, ...row }: TurnRow, place: number): StoredTurn {
  if (row.turn !== place) throw new DamagedLog(`Turn ${place} of what was recorded of this run is missing.`);
  return reading(`Turn ${place} of what was recorded of this run`, () => ({
    ...row,
    lastSeq: last_seq,
    result: result === null ? null : ownJson<Settled>(result),
    events: parseEvents(events),
  }));
}

function* readEvents(rows: Iterable<{ turn: number; events: string }>): Generator<RunEvent[]> {
  let at = "What was recorded of this run";
  try {
    for (const { turn, events } of rows) {
      at = `Turn ${turn} of what was recorded of this run`;
      yield parseEvents(events);
      at = `What was recorded of this run after turn ${turn}`;
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

/** Damage of text or of the file is told as such; a disk that is busy or does not answer is not damage. */
function asDamage(what: string, error: unknown): unknown {
  const code = errorCode(error);
  return error instanceof SyntaxError || /^SQLITE_(CORRUPT|NOTADB)/.test(code ?? "")
    ? new DamagedLog(`${what} cannot be read: ${errorMessage(error)}.`, { cause: error })
    : error;
}

/** The table does not know these words. */
const Reason: z.ZodType<ReasonCode> = z.enum([...ErrorCode.options, "END_REACHED"]);

const isUnfinished = inArray(runs.status, ["queued", "running", "waiting", "paused"]);
const isAtWork = inArray(runs.status, ["queued", "running"]);
/** Its time comes before that, or it has a signal that was not taken yet. */
const hasToWake = (before: number) =>
  sql`(${runs.wakeAt} <= ${before} or exists (select 1 from run_signals s where s.run_id = ${runs.id} and not exists
    (select 1 from run_turns t where t.run_id = s.run_id and t.key = iif(s.name = 'cancel', '$cancel', s.name))))`;

/** Our own log: written by this server only, so its events are not checked again one by one. */
const parseEvents = (text: string) => ownJson<RunEvent[]>(text);

function originOf({ forkedFrom, forkedSeq, rootRun, lineage }: typeof runs.$inferSelect): RunOrigin | null {
  if (forkedFrom === null || lineage === null) return null;
  return { kind: lineage, run_id: forkedFrom, root: rootRun ?? forkedFrom, seq: forkedSeq ?? 0 };
}

/** `answerBy`: until when the first of its questions can be answered; null where it asks none, or for ever. */
function toSummary(row: typeof runs.$inferSelect, answerBy: number | null): RunSummary {
  return {
    id: row.id,
    workflow_id: row.workflowId,
    workflow_name: row.workflowName,
    status: row.status,
    held: row.held === null ? null : ownJson<HeldReason>(row.held),
    final_status: row.finalStatus,
    reason_code: Reason.safeParse(row.reasonCode).data ?? null,
    simulated: row.simulated,
    cost_usd: knownCost({ cost_usd: row.costUsd, unknown_cost_calls: row.unknownCostCalls }),
    unknown_cost_calls: row.unknownCostCalls,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    trigger: row.trigger,
    created_at: row.createdAt,
    started_at: row.startedAt,
    finished_at: row.finishedAt,
    input_excerpt: row.inputText.slice(0, RUN_TEXT.shown),
    outcome_excerpt: row.outcomeText.slice(0, RUN_TEXT.shown),
    waits_for: row.waitsFor,
    // A run that waits for a person also wakes to remind them.
    wakes_at: row.waitsFor === "time" ? row.wakeAt : answerBy,
    origin: originOf(row),
  };
}
