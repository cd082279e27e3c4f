import type { InstallationRules } from "@/server/domain/agent/outcome";
import { errorMessage } from "@/server/domain/base/guards";
import type { RemoteEngine } from "@/server/runner/lifecycle/remote-engine";
import type { RunStore } from "@/server/store/runs/runs";
import type { ActiveSegment, SegmentStore } from "@/server/store/runs/segments";
import type { EngineClient, Invocation } from "./engine-client";
import type { SegmentStart, SentSignal } from "./protocol";

/** For how many runs messages are sent at the same time. */
const AT_ONCE = 16;
/** Delay before an unreachable engine is tried again, in milliseconds: doubled each time, up to the second. */
const RETRY_MS = [250, 2_000] as const;
/** After this long without news, a segment is looked up in the engine's own list. */
const LOST_AFTER_MS = 60_000;

interface DispatcherOptions {
  segments: SegmentStore;
  runs: Pick<RunStore, "creation" | "find">;
  /** Absent if no engine is configured. */
  engine?: EngineClient;
  isPreferred: boolean;
  rules: InstallationRules | null;
  now?: () => number;
  log?: (level: "info" | "warn" | "error", message: string, about?: Record<string, unknown>) => void;
}

/** The state of the connection to the engine. Times in Unix milliseconds. */
export interface OutboxState {
  /** How many segments and signals wait to be sent to the engine, and since when the oldest waits. */
  waiting: number;
  oldest_at: number | null;
  /** Since when it doesn't answer, and why; null if it does. */
  error: { since: number; message: string } | null;
}

/**
 * Sends segments and signals to the engine, at least once and in order for each run, until it has accepted them. They are
 * stored in the database (`store/stretches.ts`), so nothing is lost with this process.
 */
export class Dispatcher implements RemoteEngine {
  readonly isPreferred: boolean;
  readonly isConfigured: boolean;
  /**
   * The segments that run elsewhere, by run. A copy of the database, which only this process writes, because it is read
   * whenever a run starts, even without an engine.
   */
  private readonly activeSegments: Map<string, number>;
  /** Runs with something to send. */
  private readonly due = new Set<string>();
  private readonly busy = new Set<string>();
  private error: OutboxState["error"] = null;
  private retryIn: number = RETRY_MS[0];
  private retry: ReturnType<typeof setTimeout> | null = null;
  private isStopped = false;

  constructor(private readonly options: DispatcherOptions) {
    this.isPreferred = options.isPreferred && options.engine !== undefined;
    this.isConfigured = options.engine !== undefined;
    this.activeSegments = new Map(options.segments.all().map(({ run_id, stretch }) => [run_id, stretch]));
  }

  /** Sends the engine what an earlier process left unsent. */
  start(): void {
    for (const runId of this.activeSegments.keys()) this.due.add(runId);
    this.pump();
  }

  stop(): void {
    this.isStopped = true;
    if (this.retry) clearTimeout(this.retry);
  }

  activeSegment(runId: string): number | null {
    return this.activeSegments.get(runId) ?? null;
  }

  runs(): string[] {
    return [...this.activeSegments.keys()];
  }

  begin(runId: string): void {
    this.activeSegments.set(runId, this.options.segments.begin(runId));
    this.signalled(runId);
  }

  signalled(runId: string): void {
    this.due.add(runId);
    this.pump();
  }

  heard(runId: string, segment: number, worker: string): void {
    this.options.segments.heard(runId, segment, worker);
  }

  over(runId: string, segment: number): void {
    this.options.segments.over(runId, segment);
    if (this.activeSegments.get(runId) === segment) this.activeSegments.delete(runId);
    this.due.delete(runId);
  }

  signalCount(runId: string): number {
    return this.options.segments.signalCount(runId);
  }

  outbox(): OutboxState {
    return { ...this.options.segments.outbox(), error: this.error };
  }

  /** Throws if the engine does not answer. */
  async ping(): Promise<void> {
    await this.options.engine?.ping();
  }

  /**
   * Restarts what the engine has lost, for instance with its disk: a segment that was sent, without news for a minute, that
   * the engine doesn't have. Returns what the engine has. Throws if it does not answer.
   */
  async reconcile(): Promise<Invocation[]> {
    const { engine, segments, log } = this.options;
    if (!engine) return [];
    const before = this.now() - LOST_AFTER_MS;
    const quiet = segments
      .all()
      .filter(({ is_posted, heard_at, begun_at }) => is_posted && (heard_at ?? begun_at) < before);
    const known = await engine.invocations();
    const runs = new Set(known.map(({ run_id }) => run_id));
    for (const { run_id, stretch } of quiet) {
      // There may be news of it since the engine was asked.
      const now = segments.active(run_id);
      if (runs.has(run_id) || now?.stretch !== stretch || (now.heard_at ?? now.begun_at) >= before) continue;
      log?.("warn", "The engine lost a run; resuming it from the end of its log.", { run_id });
      this.begin(run_id);
    }
    return known;
  }

  private get now(): () => number {
    return this.options.now ?? Date.now;
  }

  private unsent({ run_id, signals_before, signals_sent }: ActiveSegment) {
    return this.options.segments.signals(run_id, signals_before + signals_sent);
  }

  private pump(): void {
    if (this.isStopped || this.retry || !this.options.engine) return;
    for (const runId of this.due) {
      if (this.busy.size >= AT_ONCE) return;
      if (this.busy.has(runId)) continue;
      this.due.delete(runId);
      this.busy.add(runId);
      void this.sendPending(this.options.engine, runId)
        .then(() => this.answered())
        .catch((error: unknown) => this.failed(runId, error))
        .finally(() => {
          this.busy.delete(runId);
          this.pump();
        });
    }
  }

  /** Sends everything of one run that the engine hasn't received. */
  private async sendPending(engine: EngineClient, runId: string): Promise<void> {
    const { segments } = this.options;
    const segment = segments.active(runId);
    if (!segment) return;
    if (!segment.is_posted) {
      await engine.begin(this.startOf(segment));
      segments.posted(runId, segment.stretch);
    }
    let { signals_sent: index } = segment;
    for (const { name, value } of this.unsent(segment)) {
      await engine.deliver({
        run_id: runId,
        stretch: segment.stretch,
        index: ++index,
        name,
        value,
      });
      segments.sent(runId, segment.stretch, index);
    }
  }

  private startOf({ run_id, stretch, from_turn, signals_before }: ActiveSegment): SegmentStart {
    const { runs, rules, segments } = this.options;
    const { created, version } = runs.creation(run_id);
    const signals: SentSignal[] = segments
      .signals(run_id)
      .slice(0, signals_before)
      .map(({ name, value }) => ({ name, value }));
    return { run_id, stretch, interpreter_version: version, created, from_turn, signals, rules };
  }

  private answered(): void {
    if (this.error) this.options.log?.("info", "Restate is responding again.");
    this.error = null;
    this.retryIn = RETRY_MS[0];
  }

  private failed(runId: string, error: unknown): void {
    this.due.add(runId);
    const message = errorMessage(error);
    if (!this.error)
      this.options.log?.("warn", "Can't notify Restate about a run; retrying.", { error: message });
    this.error = { since: this.error?.since ?? this.now(), message };
    if (this.retry || this.isStopped) return;
    this.retry = setTimeout(() => {
      this.retry = null;
      this.pump();
    }, this.retryIn);
    this.retryIn = Math.min(this.retryIn * 2, RETRY_MS[1]);
  }
}
