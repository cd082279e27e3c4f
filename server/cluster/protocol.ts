import type { InstallationRules } from "@/server/domain/agent/outcome";
import type { LiveFrame } from "@/server/domain/base/durable";
import type { Json } from "@/server/domain/base/values";
import type { RunEventOf } from "@/server/domain/run/events";
import type { ReplayMode } from "@/server/domain/run/fork/lineage";
import type { ForkTurn } from "@/server/runner/fork/fork-turn";
import type { AskedRequest } from "@/server/runner/replay/difference";
import type { RecordedAnswer } from "@/server/runner/replay/recorded-answers";
import type { StoredTurn } from "@/server/store/runs/runs";

// The messages between the server, the engine and the workers. All travel as JSON, at least once, so receiving one twice has
// no effect.
//
// Workers execute a run in segments: from where its log ends to where it next rests (it waits for a person or a time, is
// paused, stopped at a limit) or ends. A segment is one invocation of the engine. Between segments only the database knows
// the run, so the next one may start in another version, another engine, or in the server itself.

/** A segment for the engine to run. */
export interface SegmentStart {
  run_id: string;
  /** Counts the segments of this run, from 1. Reports of earlier ones are ignored. */
  stretch: number;
  interpreter_version: number;
  created: RunEventOf<"run_created">;
  /** The last turn of its log. 0: only its creation; otherwise the worker asks for the journal. */
  from_turn: number;
  /** The signals so far, in order. */
  signals: SentSignal[];
  /** The server's current rules for every run. */
  rules: InstallationRules | null;
}

export interface SentSignal {
  name: string;
  value: Json;
}

/** A signal for a running segment: the `index`th after those that it started with, from 1. */
export interface SegmentSignal extends SentSignal {
  run_id: string;
  stretch: number;
  index: number;
}

/** A run's log as a worker needs it, with what it may reuse of the run that it was forked from. */
export interface SegmentJournal {
  turns: StoredTurn[];
  timers: [key: string, dueAt: number][];
  fork?: ForkTurn;
  recorded?: {
    run_id: string;
    replay?: ReplayMode;
    answers: RecordedAnswer[];
    /** Only for a replay: it names the nearest request if one wasn't recorded. */
    requests: (AskedRequest & { request: string })[];
  };
}

/** A worker with a segment: it starts it, or asks whether no other worker has. */
export interface SegmentHold {
  run_id: string;
  stretch: number;
  worker: string;
}

/** Text that is being written; it is not kept. */
export interface LiveNews {
  run_id: string;
  frames: LiveFrame[];
}
