import type { InstallationRules } from "@/server/domain/agent/outcome";
import type { LiveFrame, Settled } from "@/server/domain/base/durable";
import type { Json } from "@/server/domain/base/values";
import type { RunEvent } from "@/server/domain/run/events";
import type { ForkTurn } from "../fork/fork-turn";
import type { RecordedAnswers } from "../replay/recorded-answers";
import type { WorkTime } from "./clock";

// The embedded engine's contract: what it gets of a run, what it returns, and what it needs from its host.

/** The key of the turn in which a run is cancelled. */
export const CANCEL = "$cancel";

/** One turn of a run as the log keeps it: the answer that began it and the events that followed. */
export interface Turn {
  turn: number;
  /** Null for turns that no answer started: creation (0) and start (1). */
  key: string | null;
  result: Settled | null;
  at: number;
  lastSeq: number;
  /** How many inline steps were settled in it. */
  inlined: number;
  events: RunEvent[];
}

/** A turn on its way into the log. */
export interface TurnRecord extends Turn {
  runId: string;
  /** The events as they are stored, one text each; and the result, where its text is known. */
  texts: string[];
  resultText?: string;
  /** Whether it answers or begins something outside: it has to be on the disk before anything follows from it. */
  touchesWorld: boolean;
  /** When its first pending sleep ends; null if there is none. */
  wakeAt: number | null;
  /** Sleeps that began in this turn, with their due instants. */
  timers: { key: string; dueAt: number }[];
}

/** What the log knows of a run that is taken up again. */
export interface Journal {
  turns: readonly Turn[];
  timers: ReadonlyMap<string, number>;
  signals: ReadonlyMap<string, Json>;
  /** Of a fork: the turn of its original in which it leaves that one's ways. */
  fork?: ForkTurn;
  /** What another run was answered, for the same requests in this one. */
  recorded?: RecordedAnswers;
}

export interface EmbeddedHost {
  /** Resolves when the turn is safely in the log and its events are published. */
  record(turn: TurnRecord): Promise<void>;
  live(runId: string, frame: LiveFrame): void;
  /** The thread computes for this run from now on, until it comes round again. */
  computing?(): void;
  /** Executes `work` as the step of that key, so that the watchdog can name it. */
  around?<T>(step: string, work: () => T): T;
  workerId: string;
  /** By which the length of a turn is measured, in milliseconds; a test may stop it. */
  stopwatch?(): number;
  /** The installation's current rules for every run; absent if there are none. A resumed run continues under these. */
  rules?: InstallationRules;
  /** This process's work time. */
  time: WorkTime;
  /** Blacks out secrets in what came from outside, before anything is made of it. */
  redact?: <T>(value: T) => T;
  /** How long the JSON of a step's result may be, in characters; 32 Mi where it is absent. */
  longestResult?: number;
  /**
   * Recording takes a while here. So turns whose answers are there already do not wait for one another, and what they
   * begin starts once all of them are recorded: a process that ends takes with it what came since the last record.
   */
  recordsTogether?: boolean;
  /** A resumed run comes directly from another worker: it gets an event only if its rules changed. */
  takesOver?: boolean;
}
