import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import { segmentKey } from "@/server/cluster/engine-client";
import type { SegmentHold, SegmentJournal, SegmentStart } from "@/server/cluster/protocol";
import type { JournalSealer } from "@/server/cluster/seal";
import { defined } from "@/server/domain/base/defined";
import type { LiveFrame } from "@/server/domain/base/durable";
import { errorMessage } from "@/server/domain/base/guards";
import { WorkTime } from "@/server/runner/durable/clock";
import type { Journal } from "@/server/runner/durable/embedded-contract";
import { interpreters, unknownVersionText } from "@/server/runner/interpreter/interpreters";
import type { SegmentProgress } from "@/server/runner/lifecycle/segment-progress";
import type { SentTurn } from "@/server/runner/log/record-turns";
import type { Effects } from "@/server/runner/node/ports";
import { RecordedAnswers } from "@/server/runner/replay/recorded-answers";
import { newService, type ServiceNeeds } from "./service";
import { type Entry, type Program, Session } from "./session";
import { Sessions } from "./sessions";

export interface WorkerOptions {
  /** The models, tools and files that runs use. */
  effects: Effects;
  sealer: JournalSealer;
  /** Public keys of the engine; requests not signed with one are rejected. None: on loopback only. */
  identityKeys: readonly string[];
  workerId: string;
  server: {
    /** Resolves when the server has it; rejects if it has to be retried. */
    postNews(news: SegmentProgress, abort: AbortSignal): Promise<void>;
    /** The run's log; null if the segment is not to be continued. Rejects if it has to be retried. */
    journal(start: SegmentStart, abort: AbortSignal): Promise<SegmentJournal | null>;
    /** Tells the server that this worker now runs the segment. Rejects if that no longer applies. */
    taken(hold: SegmentHold, abort: AbortSignal): Promise<void>;
    /** Whether no other worker has started it meanwhile. Rejects if that is unknown. */
    isHeld(hold: SegmentHold): Promise<boolean>;
  };
  live(runId: string, frame: LiveFrame): void;
  /** Redacts secrets in content from outside. */
  redact?: <T>(value: T) => T;
  time?: WorkTime;
  /** The most segments that run at the same time. */
  maxRuns?: number;
  /** How long a segment continues after its connection to the engine was lost, in milliseconds. */
  lingerMs?: number;
  log?: (level: "debug" | "info" | "warn" | "error", message: string) => void;
  /** A test may carry out programs of its own in the place of runs. */
  program?: (start: SegmentStart) => Program | null;
  /** A test may stop it: see EmbeddedHost. */
  stopwatch?: () => number;
}

export interface WorkerEndpoint {
  /** For the server of `node:http2`. */
  handler(request: Http2ServerRequest, response: Http2ServerResponse): void;
  /** `isQuiet`: there are runs, and each waits for something outside, with nothing left to record. */
  load(): { runs: number; steps: number; isQuiet: boolean };
  /** Ends a segment here at once, as happens anyway once another worker has it. */
  drop(runId: string, segment: number): void;
  /** Accepts no more work, lets running steps finish for at most `ms`, and returns the segments to the engine. */
  drain(ms: number): Promise<void>;
  /** Drops everything. */
  close(): void;
}

/** The engine's log levels by ours. */
const LEVELS = { trace: "debug", debug: "debug", info: "info", warn: "warn", error: "error" } as const;
const LINGER_MS = 15_000;
const MAX_RUNS = 64;
/** The engine accepts messages of 32 MiB; a turn goes into an entry and into a message, each with some overhead. */
const LARGEST_SEALED = 24 * 1024 * 1024;
/** The most that the server accepts in one message, less some overhead. */
const LARGEST_PLAIN = 60 * 1024 * 1024;
/** Texts with fewer characters can't exceed the engine's limit of bytes. */
const SURELY_FITS = 7 * 1024 * 1024;

/** The endpoint that a worker serves to the engine. */
export function newEndpoint(options: WorkerOptions): WorkerEndpoint {
  const { sealer, server, identityKeys, log = () => {} } = options;
  const time = options.time ?? new WorkTime();
  const sessions = new Sessions(
    {
      forMs: options.lingerMs ?? LINGER_MS,
      isHeld: ({ runId, stretch }) => server.isHeld({ run_id: runId, stretch, worker: options.workerId }),
    },
    {
      post: server.postNews,
      failed: (error) =>
        log("warn", `The server could not be notified about a run; retrying: ${errorMessage(error)}`),
    },
  );
  const fits = (turn: SentTurn, chars: number) => {
    if (chars <= SURELY_FITS) return true;
    const plain = Buffer.from(JSON.stringify(turn));
    return plain.length <= LARGEST_PLAIN && sealer.seal(plain).length <= LARGEST_SEALED;
  };
  const open: ServiceNeeds["open"] = async (start, entries, signals, abort) => {
    const program = (options.program ?? programOf(options.effects))(start);
    if (!program) return heldEntry(options.workerId, start);
    const journal = await journalOf(start, server.journal, abort);
    if (!journal) return null;
    const { live, redact, workerId, stopwatch } = options;
    // Has no effect if the attempt is over: the next one tells the server again.
    server.taken({ ...holdOf(start), worker: workerId }, abort).catch(() => {});
    return new Session({
      runId: start.run_id,
      stretch: start.stretch,
      workerId,
      program,
      journal: withKept(journal, entries, [...start.signals, ...signals]),
      entries: entries.length,
      signals: { atStart: start.signals.length, since: signals.length },
      rules: start.rules,
      time,
      live,
      ...defined({ redact, stopwatch }),
      fits,
    });
  };
  const handler = createEndpointHandler({
    services: [newService({ sessions, maxRuns: options.maxRuns ?? MAX_RUNS, open })],
    ...defined({ identityKeys: identityKeys.length > 0 ? [...identityKeys] : undefined }),
    journalValueCodecProvider: async () => codecOf(sealer),
    logger: ({ level }, ...parts: unknown[]) => {
      const message = parts.map(String).join(" ");
      // The engine was restarted, or continues on another worker: no one has to fix anything.
      const isLost = /abort error from connection/.test(message);
      log(isLost ? "info" : LEVELS[level], message);
    },
  });
  return {
    handler,
    load: () => ({ runs: sessions.size, steps: sessions.steps, isQuiet: sessions.isQuiet }),
    drop: (runId, segment) => sessions.drop(segmentKey(runId, segment)),
    drain: (ms) => sessions.drain(ms),
    close: () => sessions.close(),
  };
}

const holdOf = ({ run_id, stretch }: SegmentStart) => ({ run_id, stretch });

/** Encrypts what the engine keeps; empty values stay empty. */
const codecOf = (sealer: JournalSealer) => ({
  encode: (plain: Uint8Array) => (plain.length === 0 ? plain : sealer.seal(plain)),
  decode: async (sealed: Uint8Array) => (sealed.length === 0 ? sealed : sealer.open(sealed)),
});

const programOf =
  (effects: Effects) =>
  ({ interpreter_version, created }: SegmentStart): Program | null => {
    const execute = interpreters[interpreter_version];
    return execute ? (ctx, watch) => execute(ctx, created, effects, watch) : null;
  };

const heldEntry = (worker: string, { interpreter_version }: SegmentStart): Entry => ({
  session: "",
  worker,
  turns: [],
  chars: 0,
  end: { kind: "held", code: "unknown_version", message: unknownVersionText(interpreter_version) },
});

/** The log as it was when the segment began; the engine keeps everything that the server has received since. */
async function journalOf(
  start: SegmentStart,
  ask: WorkerOptions["server"]["journal"],
  abort: AbortSignal,
): Promise<Omit<Journal, "signals"> | null> {
  const { created, from_turn } = start;
  if (from_turn === 0 && !created.payload.forks) {
    const first = { turn: 0, key: null, result: null, at: created.ts, lastSeq: created.seq, inlined: 0 };
    return { turns: [{ ...first, events: [created] }], timers: new Map() };
  }
  const found = await ask(start, abort);
  if (!found) return null;
  const { turns, timers, fork, recorded } = found;
  return {
    turns: turns.filter(({ turn }) => turn <= from_turn),
    timers: new Map(timers),
    ...defined({ fork }),
    ...(recorded
      ? {
          recorded: new RecordedAnswers(
            recorded.run_id,
            () => recorded.answers,
            recorded.replay,
            () => recorded.requests,
          ),
        }
      : {}),
  };
}

function withKept(
  { turns, timers, ...rest }: Omit<Journal, "signals">,
  entries: readonly Entry[],
  signals: SegmentStart["signals"],
): Journal {
  const since = entries.flatMap(({ turns: kept }) => kept);
  const begun = since.flatMap((turn) => turn.timers.map(({ key, dueAt }) => [key, dueAt] as const));
  const first = new Map<string, SegmentStart["signals"][number]["value"]>();
  for (const { name, value } of signals) if (!first.has(name)) first.set(name, value);
  return { ...rest, turns: [...turns, ...since], timers: new Map([...timers, ...begun]), signals: first };
}
