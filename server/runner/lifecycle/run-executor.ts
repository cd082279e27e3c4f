import type { InstallationRules } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { errorMessage } from "@/server/domain/base/guards";
import { isPassing } from "@/server/domain/base/transient-error";
import type { Json } from "@/server/domain/base/values";
import { startsRuns } from "@/server/domain/nodes";
import { DamagedLog } from "@/server/domain/run/quarantine";
import { registerKeysIn } from "@/server/secrets/redact";
import type { RunStore } from "@/server/store/runs/runs";
import { SHORT_MS, type WorkTime } from "../durable/clock";
import { EmbeddedRun } from "../durable/embedded";
import type { Journal } from "../durable/embedded-contract";
import { withOriginal } from "../fork/fork";
import { INTERPRETER_VERSION } from "../interpreter/execute";
import { interpreters, unknownVersionText } from "../interpreter/interpreters";
import type { Followers } from "../log/followers";
import type { Frames } from "../log/frames";
import { TRY_AGAIN_MS } from "../log/log-writer";
import type { TurnRecorder } from "../log/record-turns";
import { TurnWriter } from "../log/turn-write";
import type { Effects } from "../node/ports";
import type { CommandWaiters } from "../people/command-waiters";
import type { Computing } from "./crash-suspects";
import type { CreationCache } from "./creation-cache";
import type { LiveRuns } from "./live-runs";
import { ENGINE_MISSING, type LiveRun, type RemoteEngine, RemoteRun } from "./remote-engine";
import type { RunEndings } from "./run-endings";
import { RunQueue } from "./run-queue";

interface Parts {
  store: RunStore;
  effects: Effects;
  remoteEngine?: RemoteEngine | undefined;
  rules?: InstallationRules | undefined;
  redact?: (<T>(value: T) => T) | undefined;
  time: WorkTime;
  workerId: string;
  live: LiveRuns;
  creationCache: CreationCache;
  computing: Computing;
  waiters: CommandWaiters;
  frames: Frames;
  followers: Followers;
  turns: Pick<TurnRecorder, "record">;
  endings: RunEndings;
  /** Whether a run that waits for others can leave the memory. */
  mayLeave(runId: string): boolean;
  maxRuns?: number | (() => number) | undefined;
}

/** A run's time in this process: taken up from its log, carried out here or elsewhere, and out of the memory again. */
export class RunExecutor {
  /** Runs that wait to begin. */
  readonly queue = new RunQueue();
  private draining = false;

  constructor(private readonly parts: Parts) {}

  get isDraining(): boolean {
    return this.draining;
  }

  /** Begins queued runs while there is room, one workflow after another. */
  startQueued(): void {
    if (this.draining) return;
    const { maxRuns = 16, live } = this.parts;
    const room = (typeof maxRuns === "number" ? maxRuns : maxRuns()) - live.busyCount();
    this.queue.begin(room, (id, workflowId) => this.start(id, workflowId));
  }

  /** Begins nothing more; the steps under way may finish. */
  freeze(): void {
    this.draining = true;
    for (const { engine } of this.parts.live.all()) engine.freeze();
  }

  /** Hands a run what is in its log already. One that is held gets it once it is tried again. */
  deliver(runId: string, name: string, value: Json): void {
    const { creationCache, live, store } = this.parts;
    creationCache.take(runId);
    const active = live.get(runId);
    if (active) return active.engine.deliver(name, value);
    const run = store.find(runId);
    if (run && run.status !== "held") this.start(runId, run.workflow_id);
  }

  /** Takes a run up; false if it cannot be read: then it is held, and the others go on. Never throws. */
  start(runId: string, workflowId: string | null): boolean {
    this.parts.live.recovered(runId);
    try {
      this.parts.computing.around({ run_id: runId }, () => this.executeRun(runId, workflowId));
      return true;
    } catch (error) {
      if (isPassing(error)) setTimeout(() => this.start(runId, workflowId), TRY_AGAIN_MS);
      else this.parts.endings.hold(runId, "damaged_log", errorMessage(error));
      return false;
    }
  }

  /** What the log knows of a run. One that was created here and only waited for its turn has no more than its creation. */
  private journalOf(runId: string): Journal & { version: number } {
    const created = this.parts.creationCache.take(runId);
    if (!created) return this.parts.store.journal(runId);
    const first = {
      turn: 0,
      key: null,
      result: null,
      at: created.ts,
      lastSeq: 1,
      inlined: 0,
      events: [created],
    };
    return { version: INTERPRETER_VERSION, turns: [first], timers: new Map(), signals: new Map() };
  }

  private executeRun(runId: string, workflowId: string | null): void {
    if (this.draining || this.parts.live.has(runId)) return;
    const { remoteEngine } = this.parts;
    // What starts other runs stays where these are started; they themselves may go elsewhere.
    const startsOthers = () =>
      Object.values(this.parts.store.creation(runId).created.payload.graph.nodes).some(startsRuns);
    const isRemote =
      remoteEngine &&
      (remoteEngine.activeSegment(runId) !== null || (remoteEngine.isPreferred && !startsOthers()));
    if (isRemote) return this.dispatchRemote(remoteEngine, runId, workflowId);
    this.parts.computing.note([runId]);
    const journal = this.journalOf(runId);
    const created = journal.turns[0]?.events[0];
    const execute = interpreters[journal.version];
    if (!execute)
      return this.parts.endings.hold(runId, "unknown_version", unknownVersionText(journal.version));
    if (created?.type !== "run_created") throw new DamagedLog("The start of this run's log is missing.");
    const { redact, rules, effects, time, workerId } = this.parts;
    registerKeysIn(created.payload.graph);
    const engine = new EmbeddedRun(
      runId,
      {
        record: async (turn) => {
          await this.parts.turns.record(turn);
          this.release(runId);
        },
        computing: () => this.parts.computing.note([runId]),
        around: (step, work) => this.parts.computing.around({ run_id: runId, step }, work),
        live: (id, frame) => this.parts.frames.add(id, frame),
        workerId,
        ...defined({ rules }),
        time,
        ...defined({ redact }),
      },
      withOriginal(this.parts.store, runId, created, journal),
      this.parts.live.seenBy(runId),
    );
    this.parts.live.wakeUp(runId);
    const turns = new TurnWriter((seq) => this.parts.store.events(runId, 0, seq));
    const run: LiveRun = { engine, turns, status: null, finalStatus: null, workflowId };
    this.parts.live.add(runId, run);
    void execute(engine, created, effects, (state) => {
      turns.state = state;
    })
      .then(() => engine.close())
      .catch((error: unknown) => {
        engine.stop();
        return this.parts.endings.broke(runId, error);
      })
      .finally(() => this.forget(runId, run));
  }

  /** Has the run carried out in other processes from here on, or finds that it is. */
  private dispatchRemote(remoteEngine: RemoteEngine, runId: string, workflowId: string | null): void {
    const isActive = remoteEngine.activeSegment(runId) !== null;
    if (isActive && !remoteEngine.isConfigured)
      return this.parts.endings.hold(runId, "engine_missing", ENGINE_MISSING);
    // Whoever begins it reads these; what is damaged is held before.
    registerKeysIn(this.parts.store.creation(runId).created.payload.graph);
    this.parts.store.lastTurn(runId);
    this.parts.creationCache.take(runId);
    this.parts.live.wakeUp(runId);
    const engine = new RemoteRun(runId, remoteEngine);
    this.parts.live.add(runId, { engine, turns: null, status: null, finalStatus: null, workflowId });
    if (!isActive) remoteEngine.begin(runId);
  }

  private forget(runId: string, run: LiveRun): void {
    if (this.parts.live.get(runId) !== run) return;
    this.parts.live.remove(runId);
    this.left(runId);
  }

  /** A run is out of this process. */
  left(runId: string): void {
    this.parts.live.left(runId);
    this.parts.waiters.left(runId);
    this.parts.frames.drop(runId);
    this.parts.followers.send(runId, { kind: "end" });
    this.startQueued();
  }

  /** After a turn: a run that only waits, or has stopped at a limit, makes room for others. */
  release(runId: string): void {
    const run = this.parts.live.get(runId);
    if (run?.status === "finished" && run.finalStatus === "INCOMPLETE")
      setImmediate(() => this.evict(runId, run));
    else if (run?.status === "waiting" || run?.status === "paused")
      setImmediate(() => {
        this.putToSleep(runId, run);
        this.startQueued();
      });
  }

  /** A run that has stopped at a limit leaves the memory. */
  private evict(runId: string, run: LiveRun): void {
    if (run.status !== "finished" || !run.engine.isIdle) return;
    run.engine.stop();
    this.forget(runId, run);
  }

  /** A run that only waits, and for long, leaves the memory; what wakes it takes it up again. */
  private putToSleep(runId: string, run: LiveRun): void {
    if (this.draining || this.parts.live.get(runId) !== run) return;
    const sleeps = this.parts.mayLeave(runId) ? run.engine.sleepsUntil : null;
    if (!sleeps || (sleeps.wakeAt !== null && sleeps.wakeAt < this.parts.time.clock.now() + SHORT_MS)) return;
    run.engine.stop();
    this.parts.live.putToSleep(runId, sleeps.seen);
    const parentId = this.parts.store.standing(runId)?.parent ?? null;
    if (parentId !== null) this.release(parentId);
  }
}
