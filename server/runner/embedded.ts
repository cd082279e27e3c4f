import {
  Cancelled,
  type Durable,
  type DurableContext,
  type LiveFrame,
  type Settled,
  type Settlement,
  type StepOptions,
  type StepWork,
} from "@/server/domain/durable";
import type { RunEvent } from "@/server/domain/events";
import type { Json } from "@/server/domain/values";

/** One turn of a run as the log keeps it: the answer that began it and the events that followed. */
export interface Turn {
  turn: number;
  /** Null for the turns that no answer began: the creation (0) and the beginning (1). */
  key: string | null;
  result: Settled | null;
  at: number;
  lastSeq: number;
  events: RunEvent[];
}

/** A turn on its way into the log. */
export interface TurnRecord extends Turn {
  runId: string;
  /** Sleeps that began in this turn, with their due instants. */
  timers: { key: string; dueAt: number }[];
}

/** What the log knows of a run that is taken up again. */
export interface Journal {
  turns: readonly Turn[];
  timers: ReadonlyMap<string, number>;
  signals: ReadonlyMap<string, Json>;
}

export interface EmbeddedHost {
  /** Resolves when the turn is safely in the log and its events are published. */
  record(turn: TurnRecord): Promise<void>;
  live(runId: string, frame: LiveFrame): void;
  workerId: string;
  /** Blacks out secrets in what came from outside, before anything is made of it. */
  redact?: <T>(value: T) => T;
}

interface Handle extends Durable {
  kind: "step" | "sleep" | "signal";
  work?: StepWork;
  options?: StepOptions;
  abort?: AbortController;
  dueAt?: number;
  timer?: ReturnType<typeof setTimeout>;
  started: boolean;
}

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
const CANCEL = "$cancel";

/** The embedded engine for one run: answers and events go into SQLite, work happens in this process. */
export class EmbeddedRun implements DurableContext {
  private readonly handles = new Map<string, Handle>();
  /** Registered since the last wait; they start once the events before them are recorded. */
  private fresh: Handle[] = [];
  private readonly settled: { key: string; result: Settled }[] = [];
  private readonly signals: Map<string, Json>;
  private events: RunEvent[] = [];
  private timers: { key: string; dueAt: number }[] = [];
  private turn = 1;
  private answer: { key: string; result: Settled } | null = null;
  private at: number;
  private lastSeq: number;
  private wake: (() => void) | null = null;
  private recovered: boolean;
  private frozen = false;
  private stopped = false;
  private cancelSeen = false;

  constructor(
    readonly runId: string,
    private readonly host: EmbeddedHost,
    private readonly journal: Journal,
  ) {
    this.at = journal.turns[0]?.at ?? Date.now();
    this.lastSeq = journal.turns[0]?.lastSeq ?? 0;
    this.signals = new Map(journal.signals);
    this.recovered = journal.turns.length > 1;
  }

  /** How many steps are under way; for draining. */
  get inFlight(): number {
    let count = 0;
    for (const handle of this.handles.values()) if (handle.kind === "step" && handle.started) count++;
    return count;
  }

  /** Whether the interpreter waits and nothing has come for it. */
  get isIdle(): boolean {
    return this.wake !== null && this.settled.length === 0;
  }

  step(key: string, work: StepWork, options?: StepOptions): Durable {
    return this.register({ key, kind: "step", work, ...(options ? { options } : {}), started: false });
  }

  signal(name: string): Durable {
    return this.register({ key: name, kind: "signal", started: false });
  }

  sleep(key: string, ms: number): Durable {
    const known = this.journal.timers.get(key);
    const dueAt = known ?? Math.max(this.at, Date.now()) + ms;
    if (known === undefined) this.timers.push({ key, dueAt });
    return this.register({ key, kind: "sleep", dueAt, started: false });
  }

  emit(event: unknown): void {
    const placed = event as RunEvent;
    this.lastSeq = placed.seq;
    this.events.push(placed);
  }

  abandon({ key }: Durable): void {
    const handle = this.handles.get(key);
    if (!handle) return;
    this.handles.delete(key);
    this.release(handle);
  }

  async next(_pending: readonly Durable[]): Promise<Settlement> {
    const recorded = this.journal.turns[this.turn];
    if (recorded) this.compare(recorded);
    else await this.flush();
    this.events = [];
    this.timers = [];

    const upcoming = this.journal.turns[this.turn + 1];
    if (upcoming) return this.begin({ key: upcoming.key!, result: upcoming.result! }, upcoming.at);

    this.startFresh();
    while (this.settled.length === 0 && !this.isCancelDue() && !this.isRecoveryDue()) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      if (this.stopped) await new Promise<never>(() => {});
    }
    const now = Math.max(this.at, Date.now());
    if (this.isRecoveryDue()) {
      this.recovered = false;
      return this.begin(
        { key: `recovered#${this.turn + 1}`, result: { ok: true, value: { worker_id: this.host.workerId } } },
        now,
      );
    }
    if (this.isCancelDue())
      return this.begin({ key: CANCEL, result: { ok: true, value: this.signals.get("cancel")! } }, now);
    return this.begin(this.settled.shift()!, now);
  }

  /** Records what was emitted last; called when the interpreter has returned. */
  async close(): Promise<void> {
    if (!this.journal.turns[this.turn] && (this.events.length > 0 || this.answer)) await this.flush();
    this.stop();
  }

  /** Gives the run a signal that is already in the log. The first value wins. */
  deliver(name: string, value: Json): void {
    if (this.signals.has(name)) return;
    this.signals.set(name, value);
    const handle = this.handles.get(name);
    if (handle?.started) this.settle(handle, { ok: true, value });
    else if (name === "cancel") this.rouse();
  }

  /** Starts no more work; what is under way may finish and be recorded. */
  freeze(): void {
    this.frozen = true;
  }

  /** Drops the run from this process; the log keeps it. */
  stop(): void {
    this.stopped = true;
    for (const handle of this.handles.values()) this.release(handle);
    this.handles.clear();
    this.fresh = [];
  }

  private register(handle: Handle): Durable {
    if (this.handles.has(handle.key))
      throw new Error(`The key "${handle.key}" is used twice in run ${this.runId}.`);
    this.handles.set(handle.key, handle);
    this.fresh.push(handle);
    return handle;
  }

  /** A turn begins with this answer. */
  private begin(answer: { key: string; result: Settled }, at: number): Settlement {
    this.turn++;
    this.answer = answer;
    this.at = at;
    const handle = this.handles.get(answer.key);
    if (handle) {
      this.handles.delete(answer.key);
      this.release(handle);
    }
    if (answer.key === CANCEL) {
      this.cancelSeen = true;
      const { by, reason } = (answer.result.ok ? answer.result.value : {}) as {
        by?: string;
        reason?: string;
      };
      throw new Cancelled(by, reason);
    }
    return { ...answer, at };
  }

  private isCancelDue(): boolean {
    return !this.cancelSeen && this.signals.has("cancel");
  }
  private isRecoveryDue(): boolean {
    return this.recovered;
  }

  private async flush(): Promise<void> {
    await this.host.record({
      runId: this.runId,
      turn: this.turn,
      key: this.answer?.key ?? null,
      result: this.answer?.result ?? null,
      at: this.at,
      lastSeq: this.lastSeq,
      events: this.events,
      timers: this.timers,
    });
  }

  /** A replay must make the events that the log holds, or the log would stop telling the truth. */
  private compare(recorded: Turn): void {
    const isSame =
      this.events.length === recorded.events.length &&
      this.events.every((event, at) => event.type === recorded.events[at]!.type);
    if (!isSame || this.lastSeq !== recorded.lastSeq) throw new ReplayMismatch(this.runId, this.turn);
  }

  private startFresh(): void {
    if (this.frozen) return;
    const starting = this.fresh;
    this.fresh = [];
    for (const handle of starting) {
      if (this.handles.get(handle.key) !== handle) continue;
      handle.started = true;
      if (handle.kind === "signal") {
        const value = this.signals.get(handle.key);
        if (value !== undefined) this.settle(handle, { ok: true, value });
      } else if (handle.kind === "sleep") this.armTimer(handle);
      else this.startStep(handle);
    }
  }

  private armTimer(handle: Handle): void {
    const left = handle.dueAt! - Date.now();
    if (left <= 0) return this.settle(handle, { ok: true, value: null });
    handle.timer = setTimeout(() => this.armTimer(handle), Math.min(left, LONGEST_TIMEOUT_MS));
  }

  private startStep(handle: Handle): void {
    // Made only for work that asks for it: most steps are over before anything could be aborted.
    const abort = () => (handle.abort ??= new AbortController());
    const timeoutMs = handle.options?.timeoutMs;
    if (timeoutMs)
      handle.timer = setTimeout(() => {
        abort().abort();
        this.settle(handle, {
          ok: false,
          error: { name: "TimeoutError", message: `Not finished within ${timeoutMs} ms.` },
        });
      }, timeoutMs);
    const scope = {
      idempotencyKey: `${this.runId}/${handle.key}`,
      get abort() {
        return abort().signal;
      },
      live: (frame: LiveFrame) => {
        if (this.handles.get(handle.key) === handle) this.host.live(this.runId, frame);
      },
    };
    try {
      const value = handle.work!(scope);
      if (value instanceof Promise)
        value.then(
          (done) => this.settle(handle, { ok: true, value: done }),
          (error: unknown) => this.settle(handle, { ok: false, error: asStepError(error) }),
        );
      else this.settle(handle, { ok: true, value });
    } catch (error) {
      this.settle(handle, { ok: false, error: asStepError(error) });
    }
  }

  private settle(handle: Handle, result: Settled): void {
    // Given up, or settled already: a late result changes nothing.
    if (this.handles.get(handle.key) !== handle || this.stopped) return;
    this.handles.delete(handle.key);
    if (handle.timer) clearTimeout(handle.timer);
    this.settled.push({ key: handle.key, result: this.host.redact ? this.host.redact(result) : result });
    this.rouse();
  }

  private rouse(): void {
    const { wake } = this;
    this.wake = null;
    wake?.();
  }

  private release(handle: Handle): void {
    if (handle.timer) clearTimeout(handle.timer);
    handle.abort?.abort();
  }
}

/** The interpreter did not repeat what the log says it did: it is another version, or it is not deterministic. */
export class ReplayMismatch extends Error {
  override name = "ReplayMismatch";
  constructor(runId: string, turn: number) {
    super(`Run ${runId} cannot be continued: its turn ${turn} came out differently from what its log says.`);
  }
}

function asStepError(error: unknown): { name: string; message: string; detail?: Json } {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { detail } = error as { detail?: Json };
  return { name: error.name, message: error.message, ...(detail === undefined ? {} : { detail }) };
}
