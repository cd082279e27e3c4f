import type {
  Durable,
  LiveFrame,
  Settled,
  StepRequest,
  StepScope,
  StepWork,
} from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import { SHORT_MS, type Waiting } from "./clock";

/** Something that a run waits for. */
export interface Handle extends Durable {
  kind: "step" | "inline" | "sleep" | "timeout" | "signal";
  work?: StepWork;
  request?: StepRequest | undefined;
  /** Of its request. */
  hash?: string;
  abort?: AbortController;
  ms?: number;
  dueAt?: number;
  waiting?: Waiting;
  started: boolean;
  /** An earlier process had recorded that it asks for this, and may have begun it. */
  mayHaveBegun?: boolean;
  /** Recorded with its answer. */
  mark?: { repeated: true };
  /** The time of the turn that asked for it, which another process may have done, in Unix milliseconds. */
  begunAt?: number;
}

/** An answer on its way to the interpreter. */
export interface Answer {
  key: string;
  result: Settled;
  /** The stored form of an external result. */
  text?: string;
  kind: Handle["kind"] | "run" | "note";
}

/** An answer that the engine gives of itself. */
export const note = (key: string, value: Json): Answer => ({
  key,
  result: { ok: true, value },
  kind: "note",
});

/** What a run has begun and waits for, by keys. */
export class Handles {
  private readonly byKey = new Map<string, Handle>();
  /** Registered and not settled yet, in their order. */
  private readonly inline: Handle[] = [];

  constructor(private readonly runId: string) {}

  get(key: string): Handle | undefined {
    return this.byKey.get(key);
  }

  /** Whether it is waited for still: neither settled nor given up. */
  has(handle: Handle): boolean {
    return this.byKey.get(handle.key) === handle;
  }

  add(handle: Handle): void {
    if (this.byKey.has(handle.key))
      throw new Error(`The key "${handle.key}" is used twice in run ${this.runId}.`);
    this.byKey.set(handle.key, handle);
    if (handle.kind === "inline") this.inline.push(handle);
  }

  /** Nothing waits for it any longer: its work is aborted. */
  giveUp(handle: Handle): void {
    this.byKey.delete(handle.key);
    release(handle);
  }

  /** It is settled. */
  settle(handle: Handle): void {
    this.byKey.delete(handle.key);
    handle.waiting?.stop();
  }

  /** The inline step whose answer comes next, if there is one. */
  nextInline(): Handle | null {
    const { inline } = this;
    while (inline.length > 0 && !this.has(must(inline, 0))) inline.shift();
    return inline[0] ?? null;
  }

  /** The next inline step is settled. */
  settleInline(handle: Handle): void {
    this.inline.shift();
    this.byKey.delete(handle.key);
  }

  /** How many steps are running; what another run does is not among them. */
  get inFlight(): number {
    let count = 0;
    for (const handle of this.byKey.values())
      if (handle.kind === "step" && handle.started && !isRun(handle)) count++;
    return count;
  }

  /** Whether nothing is running here: it waits only for signals, other runs, and sleeps with fixed due instants. */
  get onlyRest(): boolean {
    for (const handle of this.byKey.values()) {
      const { kind, started } = handle;
      if (!started || (kind !== "signal" && kind !== "sleep" && !isRun(handle))) return false;
    }
    return true;
  }

  /** When the first sleep ends. A short one ignores the wall clock, so it counts as due and is resumed at once. */
  get wakeAt(): number | null {
    let first: number | null = null;
    for (const { kind, ms = 0, dueAt = 0 } of this.byKey.values()) {
      if (kind !== "sleep") continue;
      const at = ms <= SHORT_MS ? 0 : dueAt;
      if (first === null || at < first) first = at;
    }
    return first;
  }

  clear(): void {
    for (const handle of this.byKey.values()) release(handle);
    this.byKey.clear();
  }
}

/** Whether it waits for another run: what that does outside is recorded there. */
export const isRun = ({ request }: Handle): boolean => request?.kind === "run";

function release(handle: Handle): void {
  handle.waiting?.stop();
  handle.abort?.abort();
}

/** What a step's work is given. Made for every step, so each part only for work that asks for it. */
export class Scope implements StepScope {
  constructor(
    private readonly run: { readonly runId: string; show(handle: Handle, frame: LiveFrame): void },
    private readonly handle: Handle,
  ) {}

  get idempotencyKey(): string {
    return `${this.run.runId}/${this.handle.key}`;
  }
  get abort(): AbortSignal {
    return (this.handle.abort ??= new AbortController()).signal;
  }
  get begunAt(): number {
    return must(this.handle, "begunAt");
  }
  live(frame: LiveFrame): void {
    this.run.show(this.handle, frame);
  }
}
