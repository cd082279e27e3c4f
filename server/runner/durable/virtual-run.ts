import { defined } from "@/server/domain/base/defined";
import type {
  Durable,
  DurableContext,
  Settled,
  Settlement,
  StepOptions,
  StepRequest,
  StepWork,
} from "@/server/domain/base/durable";
import { asStored } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import type { RunEvent } from "@/server/domain/run/events";
import { asStepError } from "../node/step-result";
import { CooperativeYield } from "./cooperative-yield";

/** What a run began to wait for. `timeout`: it gives up then, unless something else comes before. */
export interface Begun {
  key: string;
  kind: "step" | "signal" | "sleep" | "timeout";
  /** Of a step that asks a model or a tool. */
  request?: StepRequest | undefined;
  /** Of a wait, in milliseconds. */
  ms?: number;
}

/** What a recording has of something that is waited for. */
export interface Served {
  /** Null: nothing ever arrived. Absent: it is executed here when its time has come. */
  result?: Settled | null;
  /** Absent: at once. */
  took_ms?: number | undefined;
  /** Its place in the recording. */
  order: number;
}

/** How a run whose time is not that of any clock is answered. */
export interface VirtualWorld {
  /** A recorded result; undefined: a step is executed, a signal is awaited, time passes. May throw BrokenOff. */
  serve(begun: Begun): Served | undefined;
  /** Which recorded answer comes first where several are due: by its place in the recording, or by the time that it took. */
  first: "by_place" | "by_time";
  /** Nothing is running any longer: delivers what people say. True: someone got an answer. */
  idle?(deliver: (name: string, value: Json) => void): boolean;
  /** Executed steps take as long as they took here: they run concurrently, and complete at that time. */
  measures?: true;
  aborted?: AbortSignal | undefined;
}

/** The rest of the run is unknown: it ends there, regardless of error paths in the workflow. */
export class BrokenOff extends Error {
  override name = "BrokenOff";
}

/** Nothing can happen any longer: no step is running, and no answer will come. */
export class NothingLeft extends BrokenOff {
  override name = "NothingLeft";
}

interface Waiting extends Begun {
  work?: StepWork;
  abort?: AbortController;
  /** Of a wait. */
  dueAt: number;
  /** The recording was asked for it. */
  isLookedUp: boolean;
}

interface Due {
  waiting: Waiting;
  result: Settled | undefined;
  /** Null: at once. */
  dueAt: number | null;
  order: number;
}

/**
 * Executes a run without a log, in simulated time: nothing waits, nothing is stored. Steps without a recording complete
 * in the order in which they began, and waits end at once if nothing else is to be done. So a run takes the same path
 * each time, however long its steps take here.
 */
export class VirtualRun implements DurableContext<RunEvent> {
  readonly events: RunEvent[] = [];
  private readonly waiting = new Map<string, Waiting>();
  private readonly inline = new Map<string, StepWork>();
  /** Recorded and not told yet. */
  private readonly due = new Map<string, Due>();
  private readonly signals = new Map<string, Json>();
  private readonly cooperativeYield = new CooperativeYield();
  private executed = 0;
  private at: number;

  constructor(
    readonly runId: string,
    readonly begunAt: number,
    private readonly world: VirtualWorld,
  ) {
    this.at = begunAt;
  }

  /** The time in it, Unix time in milliseconds. */
  get now(): number {
    return this.at;
  }

  step(key: string, work: StepWork, { inline, request }: StepOptions = {}): Durable {
    if (inline) this.inline.set(key, work);
    else this.begin({ key, kind: "step", request }, work);
    return { key };
  }
  signal(name: string): Durable {
    this.begin({ key: name, kind: "signal" });
    return { key: name };
  }
  isSent(name: string): boolean {
    return this.signals.has(name);
  }
  sleep(key: string, ms: number): Durable {
    this.begin({ key, kind: "sleep", ms });
    return { key };
  }
  timeout(key: string, ms: number): Durable {
    this.begin({ key, kind: "timeout", ms });
    return { key };
  }
  private begin(begun: Begun, work?: StepWork): void {
    this.waiting.set(begun.key, {
      ...begun,
      ...defined({ work }),
      dueAt: this.at + (begun.ms ?? 0),
      isLookedUp: begun.kind === "timeout",
    });
  }

  asRecorded(event: RunEvent): RunEvent {
    return event;
  }

  emit(event: RunEvent): void {
    this.events.push(event);
  }

  abandon({ key }: Durable): void {
    this.inline.delete(key);
    const waiting = this.waiting.get(key);
    waiting?.abort?.abort();
    waiting?.request?.abandoned?.();
    this.waiting.delete(key);
    this.due.delete(key);
  }

  next(): Promise<Settlement> | Settlement {
    return this.cooperativeYield.isDue
      ? this.cooperativeYield.before(() => this.following())
      : this.following();
  }

  private following(): Promise<Settlement> | Settlement {
    const first = this.inline.entries().next().value;
    if (!first) return this.nextOutside();
    this.inline.delete(first[0]);
    return { key: first[0], result: computed(first[1]), at: this.at };
  }

  private async nextOutside(): Promise<Settlement> {
    for (;;) {
      this.world.aborted?.throwIfAborted();
      // A run that stopped at a limit waits for a person, and there is none here.
      if (this.events.at(-1)?.type === "run_finished") throw new NothingLeft();
      const signal = this.signalled();
      if (signal) return signal;
      this.lookUp();
      const step = this.firstStep();
      if (step && this.world.measures) {
        await this.measure(step);
        continue;
      }
      if (step) return this.executeStep(step);
      const timer = this.firstTimer();
      const due = this.firstDue();
      // What was waited for until then was over before.
      if (due && !(timer && due.dueAt !== null && timer.dueAt <= due.dueAt)) return this.recorded(due);
      if (!due && this.world.idle?.((name, value) => this.deliver(name, value))) continue;
      if (!timer) throw new NothingLeft();
      return this.over(timer);
    }
  }

  private deliver(name: string, value: Json): void {
    if (!this.signals.has(name)) this.signals.set(name, value);
  }

  private signalled(): Settlement | null {
    for (const { key, kind } of this.waiting.values()) {
      const value = kind === "signal" ? this.signals.get(key) : undefined;
      if (value === undefined) continue;
      this.waiting.delete(key);
      return { key, result: { ok: true, value }, at: this.at };
    }
    return null;
  }

  /** Asks the recording for what was begun since; by now, the events before it stand. */
  private lookUp(): void {
    for (const one of [...this.waiting.values()]) {
      if (one.isLookedUp) continue;
      one.isLookedUp = true;
      const served = this.world.serve(one);
      if (!served) continue;
      this.waiting.delete(one.key);
      const { result, took_ms, order } = served;
      const dueAt = took_ms === undefined ? null : this.at + took_ms;
      if (result !== null) this.due.set(one.key, { waiting: one, result, dueAt, order });
    }
  }

  private firstStep(): Waiting | undefined {
    for (const one of this.waiting.values()) if (one.kind === "step") return one;
    return undefined;
  }

  private firstDue(): Due | undefined {
    let first: Due | undefined;
    for (const one of this.due.values()) if (!first || this.isBefore(one, first)) first = one;
    return first;
  }

  private isBefore(a: Due, b: Due): boolean {
    const [at, other] = this.world.first === "by_time" ? [a.dueAt ?? this.at, b.dueAt ?? this.at] : [0, 0];
    return at === other ? a.order < b.order : at < other;
  }

  private firstTimer(): Waiting | undefined {
    let first: Waiting | undefined;
    for (const one of this.waiting.values())
      if (one.ms !== undefined && (!first || one.dueAt < first.dueAt)) first = one;
    return first;
  }

  private over({ key, dueAt }: Waiting): Settlement {
    this.waiting.delete(key);
    this.at = Math.max(this.at, dueAt);
    return { key, result: { ok: true, value: null }, at: this.at };
  }

  private recorded({ waiting, result, dueAt }: Due): Promise<Settlement> | Settlement {
    this.due.delete(waiting.key);
    this.at = Math.max(this.at, dueAt ?? 0);
    return result ? { key: waiting.key, result, at: this.at } : this.executeStep(waiting);
  }

  /** Carries out a step whose answer comes as long after it began as it took. */
  private async measure(step: Waiting): Promise<void> {
    const since = performance.now();
    const { result } = await this.executeStep(step);
    const dueAt = step.dueAt + (step.request ? Math.round(performance.now() - since) : 0);
    this.due.set(step.key, { waiting: step, result, dueAt, order: ++this.executed });
  }

  private async executeStep(step: Waiting): Promise<Settlement> {
    const abort = new AbortController();
    step.abort = abort;
    const stop = () => abort.abort();
    this.world.aborted?.addEventListener("abort", stop);
    let result: Settled;
    try {
      const scope = { idempotencyKey: `${this.runId}/${step.key}`, abort: abort.signal, live() {} };
      const work = must(step, "work");
      result = { ok: true, value: asStored(await work(scope)) };
    } catch (error) {
      if (error instanceof BrokenOff) throw error;
      result = { ok: false, error: asStepError(error) };
    } finally {
      this.world.aborted?.removeEventListener("abort", stop);
    }
    this.waiting.delete(step.key);
    return { key: step.key, result, at: this.at };
  }
}

function computed(work: StepWork): Settled {
  try {
    const value = work({ idempotencyKey: "", abort: new AbortController().signal, live() {} });
    if (value instanceof Promise) throw new Error("An inline step answers later.");
    return { ok: true, value };
  } catch (error) {
    return { ok: false, error: asStepError(error) };
  }
}
