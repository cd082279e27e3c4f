import type { Json } from "@/server/domain/base/values";
import type { RunStatus } from "@/server/store/runs/runs";
import type { Seen } from "../durable/clock-watch";
import type { TurnWriter } from "../log/turn-write";

/** A running run as its host sees it, wherever it executes. */
export interface RunExecution {
  /** Gives it a signal that is already in the log. */
  deliver(name: string, value: Json): void;
  /** Starts no more work; running steps may finish. */
  freeze(): void;
  /** Drops it from this process. */
  stop(): void;
  /** How many steps are running in this process. */
  readonly inFlight: number;
  readonly isIdle: boolean;
  readonly sleepsUntil: { wakeAt: number | null; seen: Seen } | null;
  readonly hasSlept: boolean;
  checkClock(): void;
}

/** Executes runs outside this process: an engine and its workers, one segment at a time. */
export interface RemoteEngine {
  /** Whether runs that are taken up from now on go there. */
  readonly isPreferred: boolean;
  /** Whether this server is told where it is, so that what is at work there can go on. */
  readonly isConfigured: boolean;
  /** The stretch in which a run is at work there; null where it is not. */
  activeSegment(runId: string): number | null;
  /** Every run at work there. */
  runs(): string[];
  /** The run's next stretch begins: written down, then sent off. */
  begin(runId: string): void;
  /** A run at work there was sent something, which is in the log. */
  signalled(runId: string): void;
  /** Somebody said something of a stretch. */
  heard(runId: string, segment: number, worker: string): void;
  over(runId: string, segment: number): void;
  /** How many signals a run was ever sent. */
  signalCount(runId: string): number;
}

/** Stands for a run that another process carries out. */
export class RemoteRun implements RunExecution {
  readonly inFlight = 0;
  readonly isIdle = false;
  readonly sleepsUntil = null;
  readonly hasSlept = false;

  constructor(
    private readonly runId: string,
    private readonly remoteEngine: RemoteEngine,
  ) {}

  deliver(): void {
    this.remoteEngine.signalled(this.runId);
  }
  freeze(): void {}
  stop(): void {}
  checkClock(): void {}
}

/** What a run at work is to its host. */
export interface LiveRun {
  engine: RunExecution;
  /** Null where another process works out what is written of it. */
  turns: TurnWriter | null;
  status: RunStatus | null;
  finalStatus: string | null;
  workflowId: string | null;
}

/** The words for a run whose engine this server is not told of. */
export const ENGINE_MISSING = "This run executes in Restate, but this server was started without Restate.";
