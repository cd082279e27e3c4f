import type { InstallationRules } from "@/server/domain/agent/outcome";
import type { LiveFrame } from "@/server/domain/base/durable";
import type { Json } from "@/server/domain/base/values";
import type { RunEventOf } from "@/server/domain/run/events";
import type { ReplayMode } from "@/server/domain/run/fork/lineage";
import type { ForkTurn } from "@/server/runner/fork/fork-turn";
import type { AskedRequest } from "@/server/runner/replay/difference";
import type { RecordedAnswer } from "@/server/runner/replay/recorded-answers";
import type { StoredTurn } from "@/server/store/runs/runs";

// What the server, the engine and the workers tell one another. Everything here travels as JSON, at least once; so whoever
// receives it twice changes nothing the second time.
//
// A run is carried out elsewhere in stretches: from where its log ends to where it next rests (it waits for a person or a
// time, is paused, stopped at a limit) or ends. A stretch is one invocation of the engine. Between stretches nobody but the
// database knows of the run, so the next one may begin in another version, another engine, or in the server itself.

/** What an engine is asked to carry out. */
export interface SegmentStart {
  run_id: string;
  /** Counts the stretches of this run, from 1. What an earlier one still says is not heard any more. */
  stretch: number;
  interpreter_version: number;
  created: RunEventOf<"run_created">;
  /** The last turn of its log. 0: nothing but its creation; otherwise the worker asks for the journal. */
  from_turn: number;
  /** What it was sent so far, in order. */
  signals: SentSignal[];
  /** What holds in every run at the server now. */
  rules: InstallationRules | null;
}

export interface SentSignal {
  name: string;
  value: Json;
}

/** A signal for a stretch at work: the `index`th after those that it began with, from 1. */
export interface SegmentSignal extends SentSignal {
  run_id: string;
  stretch: number;
  index: number;
}

/** The log of a run as a worker needs it, with what it may take from the run that it began as. */
export interface SegmentJournal {
  turns: StoredTurn[];
  timers: [key: string, dueAt: number][];
  fork?: ForkTurn;
  recorded?: {
    run_id: string;
    replay?: ReplayMode;
    answers: RecordedAnswer[];
    /** Only where it is a replay: it names the nearest request where one was not recorded. */
    requests: (AskedRequest & { request: string })[];
  };
}

/** A worker at a stretch: it takes it up, or asks whether nobody else has. */
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
