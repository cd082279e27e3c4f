import { and, asc, desc, eq, gt, inArray, lt, sql } from "drizzle-orm";
import type { Db } from "@/db/open";
import { memories, runSignals, runs, runTimers, runTurns, workspaceFiles } from "@/db/schema";
import type { Settled } from "@/server/domain/durable";
import type { RunEvent, RunEventOf } from "@/server/domain/events";
import type { FinalStatus, ReasonCode } from "@/server/domain/outcome";
import { foldRun, type RunState } from "@/server/domain/run";
import type { Json } from "@/server/domain/values";
import { CHAIN_START, chainTurn } from "./log-chain";
import { ofRun } from "./memories";

export type RunStatus = "queued" | "running" | "waiting" | "finished";

/** What lists show of a run. Times in Unix milliseconds, cost in US dollars. */
export interface RunSummary {
  id: string;
  workflow_id: string | null;
  workflow_name: string;
  status: RunStatus;
  final_status: FinalStatus | null;
  reason_code: ReasonCode | null;
  simulated: boolean;
  cost_usd: number;
  unknown_cost_calls: number;
  input_tokens: number;
  output_tokens: number;
  trigger: string;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
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
>;

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
  /** Set where the row of the run changes with this turn. */
  progress?: RunProgress;
}

export interface NewRun {
  id: string;
  created: RunEventOf<"run_created">;
  interpreterVersion: number;
  idempotencyKey: string | null;
}

export type RunStore = ReturnType<typeof newRunStore>;

/** Runs and their logs. All methods are synchronous: each is one statement or one transaction. */
export function newRunStore(db: Db) {
  const { $client: client } = db;
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
  const updateEnd = client.prepare<[number, string, string]>(
    "update runs set last_turn = ?, log_hash = ? where id = ?",
  );
  const insertTimer = client.prepare<[string, string, number]>(
    "insert or ignore into run_timers (run_id, key, due_at) values (?, ?, ?)",
  );
  const selectTurns = client.prepare<
    [string],
    {
      turn: number;
      key: string | null;
      at: number;
      last_seq: number;
      inlined: number;
      result: string | null;
      events: string;
    }
  >("select turn, key, at, last_seq, inlined, result, events from run_turns where run_id = ? order by turn");
  const selectLastTurn = client.prepare<[string], { turn: number; lastSeq: number; at: number }>(
    "select turn, last_seq as lastSeq, at from run_turns where run_id = ? order by turn desc limit 1",
  );
  const selectTimers = client.prepare<[string], { key: string; due_at: number }>(
    "select key, due_at from run_timers where run_id = ?",
  );
  const selectSignals = client.prepare<[string], { name: string; value: string }>(
    "select name, value from run_signals where run_id = ?",
  );
  const dropTimers = client.prepare<[string]>("delete from run_timers where run_id = ?");
  const updateRun = client.prepare(
    `update runs set status = @status, final_status = @final_status, reason_code = @reason_code, simulated = @simulated,
     cost_usd = @cost_usd, unknown_cost_calls = @unknown_cost_calls, input_tokens = @input_tokens, output_tokens = @output_tokens,
     started_at = @started_at, finished_at = @finished_at where id = @id`,
  );
  const findByKey = client.prepare<[string], { id: string }>("select id from runs where idempotency_key = ?");
  const insertRun = client.prepare<
    [string, string | null, string, number, string, number, string | null, number, string]
  >(
    `insert into runs (id, workflow_id, workflow_name, status, interpreter_version, trigger, simulated, idempotency_key,
     created_at, log_hash) values (?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?)`,
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
    updateEnd.run(write.turn, appendTurn(write, end.log_hash ?? CHAIN_START), write.runId);
    for (const { key, dueAt } of write.timers) insertTimer.run(write.runId, key, dueAt);
    if (write.progress) {
      updateRun.run({ ...write.progress, simulated: write.progress.simulated ? 1 : 0, id: write.runId });
      if (write.progress.status === "finished") dropTimers.run(write.runId);
    }
  };
  const writeTurns = client.transaction((writes: readonly TurnWrite[]) => {
    for (const write of writes) writeTurn(write);
  });

  const createRun = client.transaction((run: NewRun): { id: string; created: boolean } => {
    if (run.idempotencyKey !== null) {
      const known = findByKey.get(run.idempotencyKey);
      if (known) return { id: known.id, created: false };
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
      payload.provider_summary?.simulated ? 1 : 0,
      run.idempotencyKey,
      ts,
      appendTurn(first, CHAIN_START),
    );
    return { id: run.id, created: true };
  });

  return {
    /** Creates a run with its first event. With an idempotency key that was used before: that run, unchanged. */
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
      const row = db.select().from(runs).where(eq(runs.id, id)).get();
      if (!row) return null;
      const last = db
        .select({ seq: sql<number>`max(${runTurns.lastSeq})` })
        .from(runTurns)
        .where(eq(runTurns.runId, id))
        .get();
      return { ...toSummary(row), last_seq: last?.seq ?? 0, interpreter_version: row.interpreterVersion };
    },

    /** Newest first; those that ended like `final_status`, or stand at one of `status`. `before`: only runs created before this instant (or at it, with a smaller id). */
    list(
      query: {
        workflow_id?: string;
        status?: RunStatus | readonly RunStatus[];
        final_status?: FinalStatus;
        limit?: number;
        before?: { created_at: number; id: string };
      } = {},
    ): RunSummary[] {
      const { before } = query;
      return db
        .select()
        .from(runs)
        .where(
          and(
            query.workflow_id === undefined ? undefined : eq(runs.workflowId, query.workflow_id),
            query.status === undefined ? undefined : inArray(runs.status, [query.status].flat()),
            query.final_status === undefined ? undefined : eq(runs.finalStatus, query.final_status),
            before
              ? sql`(${runs.createdAt} < ${before.created_at} or (${runs.createdAt} = ${before.created_at} and ${runs.id} < ${before.id}))`
              : undefined,
          ),
        )
        .orderBy(desc(runs.createdAt), desc(runs.id))
        .limit(Math.min(query.limit ?? 50, 200))
        .all()
        .map(toSummary);
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
        .groupBy(runs.workflowId)
        .all();
      const found = new Map<string, { last_run: RunSummary; run_count: number }>();
      for (const { id, count } of rows) {
        if (id === null) continue;
        const last = db
          .select()
          .from(runs)
          .where(eq(runs.workflowId, id))
          .orderBy(desc(runs.createdAt), desc(runs.id))
          .limit(1)
          .get();
        if (last) found.set(id, { last_run: toSummary(last), run_count: count });
      }
      return found;
    },

    /** Ids of runs that have not ended, oldest first. */
    unfinished(): {
      id: string;
      status: RunStatus;
      workflow_id: string | null;
      interpreter_version: number;
    }[] {
      return db
        .select({
          id: runs.id,
          status: runs.status,
          workflow_id: runs.workflowId,
          interpreter_version: runs.interpreterVersion,
        })
        .from(runs)
        .where(inArray(runs.status, ["queued", "running", "waiting"]))
        .orderBy(asc(runs.createdAt), asc(runs.id))
        .all()
        .map((row) => ({ ...row, status: row.status as RunStatus }));
    },

    /** Events after a number, in order; at least whole turns, so slightly more than `limit` may come. */
    events(id: string, after = 0, limit = 2000): RunEvent[] {
      const rows = db
        .select({ events: runTurns.events })
        .from(runTurns)
        .where(and(eq(runTurns.runId, id), gt(runTurns.lastSeq, after)))
        .orderBy(asc(runTurns.turn))
        .limit(limit)
        .all();
      const found: RunEvent[] = [];
      for (const row of rows) {
        for (const event of parseEvents(row.events)) if (event.seq > after) found.push(event);
        if (found.length >= limit) break;
      }
      return found;
    },

    /** The whole log folded. */
    state(id: string): RunState | null {
      const rows = db
        .select({ events: runTurns.events })
        .from(runTurns)
        .where(eq(runTurns.runId, id))
        .orderBy(asc(runTurns.turn))
        .all();
      return rows.length === 0
        ? null
        : foldRun(
            id,
            rows.flatMap((row) => parseEvents(row.events)),
          );
    },

    /** Where a run's log ends, without reading it; null where there is none. */
    lastTurn(id: string): { turn: number; lastSeq: number; at: number } | null {
      return selectLastTurn.get(id) ?? null;
    },

    /** Everything that the engine needs to take a run up again. */
    journal(id: string): { turns: StoredTurn[]; timers: Map<string, number>; signals: Map<string, Json> } {
      const turns = selectTurns.all(id).map(({ result, events, last_seq, ...row }) => ({
        ...row,
        lastSeq: last_seq,
        result: result === null ? null : (JSON.parse(result) as Settled),
        events: parseEvents(events),
      }));
      const timers = new Map(selectTimers.all(id).map(({ key, due_at }) => [key, due_at]));
      const signals = new Map(
        selectSignals.all(id).map(({ name, value }) => [name, JSON.parse(value) as Json]),
      );
      return { turns, timers, signals };
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

    /** Deletes a finished run with everything that belongs to it. */
    remove(id: string): boolean {
      return db.transaction(
        (tx) => {
          const { changes } = tx
            .delete(runs)
            .where(and(eq(runs.id, id), eq(runs.status, "finished")))
            .run();
          if (changes === 0) return false;
          for (const table of [runTurns, runTimers, runSignals, workspaceFiles])
            tx.delete(table).where(eq(table.runId, id)).run();
          tx.delete(memories).where(ofRun(id)).run();
          return true;
        },
        { behavior: "immediate" },
      );
    },

    /** Puts a run's row right where the log says more than it does. */
    setProgress(id: string, progress: RunProgress): void {
      updateRun.run({ ...progress, simulated: progress.simulated ? 1 : 0, id });
    },

    countUnfinished(): number {
      return (
        db
          .select({ count: sql<number>`count(*)` })
          .from(runs)
          .where(inArray(runs.status, ["queued", "running", "waiting"]))
          .get()?.count ?? 0
      );
    },

    /** Deletes finished runs that ended before an instant, a few at a time. */
    prune(endedBefore: number, atMost = 20): number {
      const old = db
        .select({ id: runs.id })
        .from(runs)
        .where(and(eq(runs.status, "finished"), lt(runs.finishedAt, endedBefore)))
        .limit(atMost)
        .all();
      for (const { id } of old) this.remove(id);
      return old.length;
    },
  };
}

/** Our own log: written by this server only, so its events are not checked again one by one. */
const parseEvents = (text: string) => JSON.parse(text) as RunEvent[];

function toSummary(row: typeof runs.$inferSelect): RunSummary {
  return {
    id: row.id,
    workflow_id: row.workflowId,
    workflow_name: row.workflowName,
    status: row.status as RunStatus,
    final_status: row.finalStatus as FinalStatus | null,
    reason_code: row.reasonCode as ReasonCode | null,
    simulated: row.simulated,
    cost_usd: row.costUsd,
    unknown_cost_calls: row.unknownCostCalls,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    trigger: row.trigger,
    created_at: row.createdAt,
    started_at: row.startedAt,
    finished_at: row.finishedAt,
  };
}
