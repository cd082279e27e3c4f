import type {
  Durable,
  DurableContext,
  Settled,
  Settlement,
  StepOptions,
  StepRequest,
  StepScope,
  StepWork,
} from "@/server/domain/base/durable";
import { asStored } from "@/server/domain/base/json";
import { present } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import type { RunEvent } from "@/server/domain/run/events";
import { Breather } from "../breather";
import { asStepError } from "../embedded";
import { requestHash } from "../recorded/request-hash";

/** An answer from a recording. */
export interface Served {
  /** Null: none ever came. */
  result: Settled | null;
  took_ms?: number | undefined;
  /** Of several that are under way, the smallest comes first. */
  order: number;
}

/** How a run whose time is not that of any clock is answered. */
export interface VirtualWorld {
  /** The answer to a request: a recorded one, or none, and it is asked. */
  serve(request: StepRequest, hash: string, key: string): Served | undefined;
  /** Carries out what was not recorded. */
  carryOut?(work: StepWork, request: StepRequest | undefined, scope: StepScope): Promise<Json> | Json;
  /** Nothing is at work any more: whoever waits for a person is told what they say. True: somebody was answered. */
  idle(deliver: (name: string, value: Json) => void): boolean;
  aborted?: AbortSignal | undefined;
}

/** Nothing can happen any more: no step is under way, and nobody will say anything. */
export class NothingLeft extends Error {
  override name = "NothingLeft";
}

interface Waiting {
  key: string;
  kind: "step" | "signal" | "sleep";
  work?: StepWork;
  request?: StepRequest | undefined;
  abort?: AbortController;
  dueAt: number;
  order: number;
}

/**
 * Carries out a run without a log, in a time of its own: steps answer one after another in the order in which they began
 * (recorded ones in the order in which they came), and a wait is over at once where nothing else is to be done. So the same
 * run takes the same way each time, however long anything takes here.
 */
export class VirtualRun implements DurableContext {
  readonly events: RunEvent[] = [];
  private readonly waiting = new Map<string, Waiting>();
  private readonly inline = new Map<string, StepWork>();
  /** Answered and not told yet. */
  private readonly served: { key: string; result: Settled; dueAt: number | null; order: number }[] = [];
  private readonly signals = new Map<string, Json>();
  private readonly breather = new Breather();
  private order = 0;
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

  step(key: string, work: StepWork, options: StepOptions = {}): Durable {
    if (options.inline) this.inline.set(key, work);
    else this.begin({ key, kind: "step", work, request: options.request, dueAt: 0, order: 0 });
    return { key };
  }
  signal(name: string): Durable {
    this.begin({ key: name, kind: "signal", dueAt: 0, order: 0 });
    return { key: name };
  }
  isSent(name: string): boolean {
    return this.signals.has(name);
  }
  sleep(key: string, ms: number): Durable {
    this.begin({ key, kind: "sleep", dueAt: this.at + ms, order: 0 });
    return { key };
  }
  timeout(key: string, ms: number): Durable {
    return this.sleep(key, ms);
  }
  private begin(one: Waiting): void {
    this.waiting.set(one.key, { ...one, order: ++this.order });
  }

  emit(event: unknown): void {
    this.events.push(event as RunEvent);
  }

  abandon({ key }: Durable): void {
    this.inline.delete(key);
    this.waiting.get(key)?.abort?.abort();
    this.waiting.delete(key);
    const at = this.served.findIndex((one) => one.key === key);
    if (at >= 0) this.served.splice(at, 1);
  }

  next(): Promise<Settlement> | Settlement {
    return this.breather.isDue ? this.breather.before(() => this.following()) : this.following();
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
      // A run that stopped at a limit waits for a person, and here nobody comes.
      if (this.events.at(-1)?.type === "run_finished") throw new NothingLeft();
      const told = this.signalled();
      if (told) return told;
      this.serveRecorded();
      const step = this.firstStep();
      if (step) return this.carryOut(step);
      const answer = this.firstServed();
      if (answer) return answer;
      if (this.world.idle((name, value) => this.deliver(name, value))) continue;
      const timer = this.firstTimer();
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

  /** Looks up the recorded answers of the steps that began since. */
  private serveRecorded(): void {
    for (const { key, kind, request } of [...this.waiting.values()]) {
      if (kind !== "step" || !request) continue;
      const served = this.world.serve(request, requestHash(request), key);
      if (!served) continue;
      this.waiting.delete(key);
      const { result, took_ms, order } = served;
      const dueAt = took_ms === undefined ? null : this.at + took_ms;
      if (result) this.served.push({ key, result, dueAt, order });
    }
  }

  private firstStep(): Waiting | undefined {
    for (const one of this.waiting.values()) if (one.kind === "step") return one;
    return undefined;
  }

  private firstServed(): Settlement | null {
    if (this.served.length === 0) return null;
    const first = this.served.reduce((a, b) => (b.order < a.order ? b : a));
    // What was waited for until then was over before.
    const timer = first.dueAt === null ? undefined : this.firstTimer();
    if (timer && timer.dueAt <= (first.dueAt ?? 0)) return this.over(timer);
    this.served.splice(this.served.indexOf(first), 1);
    this.at = Math.max(this.at, first.dueAt ?? 0);
    return { key: first.key, result: first.result, at: this.at };
  }

  private over({ key, dueAt }: Waiting): Settlement {
    this.waiting.delete(key);
    this.at = Math.max(this.at, dueAt);
    return { key, result: { ok: true, value: null }, at: this.at };
  }

  private firstTimer(): Waiting | undefined {
    let first: Waiting | undefined;
    for (const one of this.waiting.values())
      if (one.kind === "sleep" && (!first || one.dueAt < first.dueAt)) first = one;
    return first;
  }

  private async carryOut(step: Waiting): Promise<Settlement> {
    const abort = new AbortController();
    step.abort = abort;
    const stop = () => abort.abort();
    this.world.aborted?.addEventListener("abort", stop);
    let result: Settled;
    try {
      const scope = { idempotencyKey: `${this.runId}/${step.key}`, abort: abort.signal, live() {} };
      const work = present(step.work, "step.work");
      const { carryOut } = this.world;
      const value = carryOut ? carryOut(work, step.request, scope) : work(scope);
      result = { ok: true, value: asStored(await value) };
    } catch (error) {
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
