import type { ForkSettings } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { Settled } from "@/server/domain/base/durable";
import { lastOf, must } from "@/server/domain/base/must";
import type { JsonObject } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import { evolve, foldRun, newRun, type RunState } from "@/server/domain/run";
import { keptCommands, type RepeatedCommand } from "@/server/domain/run/commands/repeated";
import { isSince } from "@/server/domain/run/edition";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import { forkErrors } from "@/server/domain/run/fork/fork-check";
import type { ForkGraph, ForkOrigin, ForkPatches, ReplayMode } from "@/server/domain/run/fork/lineage";
import type { StartedBy } from "@/server/domain/run/started-by";
import { attemptOf, keptText, type Reader, StateReads } from "@/server/domain/run/state-reads";
import type { NewRun, RunOrigin, RunStore, StoredTurn } from "@/server/store/runs/runs";
import type { Journal } from "../durable/embedded-contract";
import { interpreters } from "../interpreter/interpreters";
import { storedCreation } from "../lifecycle/creation-cache";
import { commandsOf } from "../replay/commands-of";
import { inFlight, obstacle, type RecordedAnswer, RecordedAnswers } from "../replay/recorded-answers";
import { type RetracedRequest, retracedCalls, retracedRequests } from "../replay/retrace";
import type { ForkTurn } from "./fork-turn";
import { joined, trustAfter } from "./trust";

const notForked = (why: string) => new Rejection("not_forked", why);

/** A moment of a run: after an event, or just before the nth execution of a node, from 1; -1: the last one. */
export type ForkMoment = { seq: number } | { node_id: string; occurrence?: number | undefined };

export interface ForkRequest {
  run_id: string;
  /** Absent: the start. */
  at?: ForkMoment | undefined;
  /** A new input; only for forks from the start. */
  input?: JsonObject | undefined;
  patches: ForkPatches;
  /** Where it stops and how far it goes, as far as that is to be another than the original's. */
  config?: ForkSettings | undefined;
  graph: ForkGraph;
  /** The graph to continue with, if not the original's; already checked. */
  latest?: ForkOrigin["latest"] | undefined;
  by: string;
  /** Answers come only from the original's log; the run starts from the beginning. */
  replay?: ReplayMode | undefined;
  /** Calls that only read and failed are made again. */
  retries?: true | undefined;
  trigger: RunEventOf<"run_created">["payload"]["trigger"];
  /** Who makes the fork; absent: a run, for its child runs. */
  started_by?: StartedBy | undefined;
}

/** How a fork begins: the run to create, and the event up to which it is its original. */
export interface PlannedFork extends Pick<NewRun, "created" | "interpreterVersion"> {
  origin: RunOrigin;
  /** Which nodes keep a value that they read before it was changed, a sentence each. */
  warnings: string[];
  fork: NonNullable<NewRun["fork"]>;
}

/** Works out how a fork begins. Throws Rejection, DamagedLog. */
export function planFork(store: RunStore, request: ForkRequest, now: number): PlannedFork {
  const { run_id, patches, graph, by, trigger, input, replay, config, latest, started_by } = request;
  const journal = store.journal(run_id);
  const created = creationIn(journal);
  const { at_seq, kept } = startOf(request, journal);
  const state = foldRun(run_id, eventsOf(journal).slice(0, Math.max(at_seq, 1)));
  const isAtStart = Object.values(state.activations).every(({ attempt }) => attempt === 0);
  checkFork(forkErrors(state, patches, isAtStart ? undefined : latest?.graph, config));
  const origin = originOf(state, { run_id, at_seq, at: now, by, graph, patches });
  const { foreign } = created.payload;
  const replaced = isAtStart && latest ? { ...latest, foreign: joined(foreign, latest.foreign) } : {};
  const isUntrusted = started_by && !started_by.trusted && Object.keys(patches).length > 0;
  const forks = [
    ...keptForks(state),
    {
      ...defined({ replay, retries: request.retries }),
      ...origin,
      ...defined({
        config,
        latest: isAtStart ? undefined : latest,
        untrusted: isUntrusted ? (true as const) : undefined,
        without_pins: created.payload.pins && trigger !== "editor" ? (true as const) : undefined,
      }),
    },
  ];
  return {
    interpreterVersion: journal.version,
    warnings: kept.map((reader) => keptText(state, reader)),
    origin: { kind: replay ? "replay" : "fork", run_id, root: origin.root_run, seq: at_seq },
    created: storedCreation({
      ...created,
      payload: {
        // The draft has no version number.
        ...defined({ ...created.payload, ...replaced }),
        ...(input && {
          input,
          ...(started_by && trustAfter({ ...created.payload, ...replaced }, input, started_by)),
        }),
        trigger,
        forks,
        ...defined({ repeats: replay ? keptCommands(repeatedOf(run_id, journal)) : undefined }),
      },
    }),
    fork: {
      from: run_id,
      isReplay: replay !== undefined,
      turn: forkTurn(journal, { turn: input ? 1 : turnAt(journal, at_seq), at_seq, now }),
    },
  };
}

type StoredJournal = ReturnType<RunStore["journal"]>;

const eventsOf = ({ turns }: StoredJournal): RunEvent[] => turns.flatMap((turn) => turn.events);

/** The event that created the run. Throws Rejection if it is gone, or this version can't run it. */
function creationIn({ turns, version }: StoredJournal): RunEventOf<"run_created"> {
  const created = turns[0]?.events[0];
  if (created?.type !== "run_created") throw notForked("The beginning of this run's log no longer exists.");
  if (!interpreters[version])
    throw notForked("This run was created by another version of Troupe and can't be continued here.");
  return created;
}

/** The event after which the fork differs, and the nodes that keep what they read. */
function startOf(
  { run_id, at, input, patches }: ForkRequest,
  journal: StoredJournal,
): { at_seq: number; kept: Reader[] } {
  if (input) return { at_seq: 1, kept: [] };
  const events = eventsOf(journal);
  const wanted = lastCommon(events, seqOf(events, at), journal.turns);
  return beforeReaders(run_id, journal, wanted, patches);
}

const turnAt = ({ turns }: StoredJournal, seq: number): number =>
  Math.max(
    1,
    turns.findIndex(({ lastSeq }) => lastSeq >= seq),
  );

function checkFork(errors: readonly string[]): void {
  const [first] = errors;
  if (first === undefined) return;
  if (errors.length === 1) throw notForked(first);
  const many = `This fork isn't possible: it has ${errors.length} problems.`;
  throw new Rejection("not_forked", many, { faults: errors });
}

/** A fork's journal with the answers that the runs it comes from had, for the same requests. */
export function withOriginal(
  store: Pick<RunStore, "answers" | "ancestors" | "journal">,
  runId: string,
  { payload: { forks } }: RunEventOf<"run_created">,
  journal: Journal,
): Journal {
  const { from_run: from, replay } = forks?.at(-1) ?? {};
  if (from === undefined) return journal;
  const recorded = new RecordedAnswers(
    from,
    () => answersBefore(store, runId, replay),
    replay,
    () => requestsOf(store, from),
    () => store.ancestors(runId).reduce((sum, { last_turn }) => sum + last_turn, 0),
  );
  return { ...journal, recorded };
}

/**
 * The answers of the runs that a fork comes from, those of the nearest first; for a fork also the tool calls that they left
 * in flight, which may have happened. Throws DamagedLog.
 */
export const answersBefore = (
  store: Pick<RunStore, "answers" | "ancestors" | "journal">,
  runId: string,
  replay: ReplayMode | undefined,
): RecordedAnswer[] =>
  store.ancestors(runId).flatMap(({ id: run }) => {
    const answers = store.answers(run);
    return (replay ? answers : [...answers, ...leftInFlight(store, run)]).map((answer) => ({
      ...answer,
      run,
    }));
  });

/** The tool calls of a run that have no answer, each with the obstacle that keeps a fork from making it silently. */
function leftInFlight(store: Pick<RunStore, "journal">, run: string): RecordedAnswer[] {
  const journal = store.journal(run);
  const execute = interpreters[journal.version];
  const open = new Set<string>();
  for (const { events } of journal.turns)
    for (const { type, call_id = "" } of events)
      if (type === "tool_call_started") open.add(call_id);
      else if (type === "tool_call_completed" || type === "tool_call_refused") open.delete(call_id);
  if (open.size === 0 || !execute) return [];
  return retracedCalls(run, journal, execute).flatMap(({ key, kind, request, result, asked_at: at }) =>
    kind === "tool" && !result
      ? [
          {
            key,
            turn: journal.turns.length,
            at,
            result: { ok: false, error: obstacle(inFlight(run)), request },
          },
        ]
      : [],
  );
}

/**
 * People's commands to a run, other than answers, to repeat in another run; empty if its log can't be repeated here.
 */
export function repeatedOf(
  run_id: string,
  journal: Journal & { version: number },
): readonly RepeatedCommand[] {
  const execute = interpreters[journal.version];
  return execute ? commandsOf(run_id, journal, execute) : [];
}

/** What a run asked models and tools; empty where its log cannot be repeated here. */
export function requestsOf(store: Pick<RunStore, "journal">, run_id: string): RetracedRequest[] {
  const journal = store.journal(run_id);
  const execute = interpreters[journal.version];
  return execute ? retracedRequests(run_id, journal, execute) : [];
}

/** The number of the event after which the moment is. */
function seqOf(events: readonly RunEvent[], at: ForkMoment | undefined): number {
  const last = lastOf(events).seq;
  if (!at) return 1;
  if ("seq" in at) {
    if (at.seq < 1 || at.seq > last)
      throw notForked(`This run has events 1 to ${last}; event ${at.seq} doesn't exist.`);
    return at.seq;
  }
  const began = events.filter(
    (event) => event.type === "node_started" && event.payload.attempt === 1 && event.node_id === at.node_id,
  );
  const { occurrence = -1 } = at;
  const found = occurrence === -1 ? began.at(-1) : began[occurrence - 1];
  if (found) return found.seq - 1;
  const times = began.length === 1 ? "once" : `${began.length} times`;
  throw notForked(
    began.length === 0
      ? `${at.node_id} didn't start in this run.`
      : `${at.node_id} started ${times} in this run, not ${occurrence} times.`,
  );
}

/** The moment, or the last one before the run ended: nothing continues after an end. */
function lastCommon(events: readonly RunEvent[], seq: number, turns: readonly StoredTurn[]): number {
  let ended: number | null = null;
  for (const event of events) {
    if (event.seq > seq) break;
    if (event.type === "run_finished") ended ??= event.seq;
    if (event.type === "run_resumed") ended = null;
  }
  const before = Math.max(1, ended === null ? seq : ended - 1);
  // A cancel ends the run whatever follows, and so does an end that the server wrote.
  const turn = turns.find(({ lastSeq }) => lastSeq >= before);
  if (turn?.key !== "$cancel" && turn?.key !== "$ended") return before;
  return turns[turn.turn - 1]?.lastSeq ?? 1;
}

/**
 * The moment, or the one before nodes began that read what the patches change: where nothing has come from outside since,
 * nothing is lost by that. `kept`: nodes that keep what they read.
 */
function beforeReaders(
  run_id: string,
  { turns }: Pick<Journal, "turns">,
  wanted: number,
  { state: change, messages = [], plan = [] }: ForkPatches,
): { at_seq: number; kept: Reader[] } {
  if (!change) return { at_seq: wanted, kept: [] };
  const reads = new StateReads();
  const began = new Map<string, { seq: number; turn: number }>();
  let s = newRun(run_id);
  const past: StoredTurn[] = [];
  for (const turn of turns) {
    if ((turns[turn.turn - 1]?.lastSeq ?? 0) >= wanted) break;
    past.push(turn);
    for (const event of turn.events) {
      if (event.seq > wanted) break;
      s = evolve(s, event);
      reads.note(event, event.seq);
      if (event.type === "node_started")
        began.set(event.activation_id ?? "", { seq: event.seq, turn: turn.turn });
    }
  }
  const readers = reads.readersOf(s, change);
  const outside = past.filter(({ key, result }) => key !== null && isFromOutside(key, result));
  const isBound = ({ activation: { id, attempt } }: Reader) =>
    outside.some(({ key }) => attemptOf(key ?? "") === `${id}/${attempt}`);
  const free = readers
    .filter(({ activation }) => activation.status !== "completed")
    .filter((one) => !isBound(one));
  if (messages.length === 0 && plan.length === 0)
    for (const { activation } of free) {
      const start = must(began, activation.id);
      if (outside.every(({ turn }) => turn <= start.turn))
        return beforeReaders(run_id, { turns }, start.seq - 1, { state: change });
    }
  return { at_seq: wanted, kept: isSince(s.run, 3) ? readers.filter((one) => !free.includes(one)) : readers };
}

/** Answers that another attempt would not simply find again. */
const isFromOutside = (key: string, result: Settled | null): boolean =>
  result?.request !== undefined || !/^breath#|^[^/]+\/\d+$|\/tools$/.test(key);

function originOf(
  { run }: RunState,
  { run_id, ...about }: Pick<ForkOrigin, "at_seq" | "at" | "by" | "graph" | "patches"> & { run_id: string },
): ForkOrigin {
  const { forks = [], forked = 0 } = run;
  return {
    from_run: run_id,
    root_run: forks[0]?.root_run ?? run_id,
    as: forks[forked]?.as ?? run_id,
    ...about,
  };
}

/** The forks that lie in the part of the log that both have. */
const keptForks = ({ run: { forks = [], forked = 0 } }: RunState): ForkOrigin[] => forks.slice(0, forked);

function forkTurn(
  { turns, fork: before }: { turns: readonly StoredTurn[]; fork?: ForkTurn },
  { turn, at_seq, now }: { turn: number; at_seq: number; now: number },
): ForkTurn {
  const begins: { key: string | null; result: Settled | null; at: number } = turns[turn] ?? must(turns, 0);
  const { key, result, at } = begins;
  const earlier = (before?.shifts ?? []).filter((shift) => shift.turn < turn);
  return {
    turn,
    key: turn === 1 ? null : key,
    result: turn === 1 ? null : result,
    at,
    seq: at_seq,
    forkedAt: now,
    shifts: [...earlier, { turn, ms: Math.max(0, now - at) }],
  };
}
