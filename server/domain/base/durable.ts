import { namedError } from "@/server/domain/base/named-error";
import type { Json } from "./values";

/**
 * The seam between the interpreter of a run and the engine that makes it durable.
 *
 * Promises of an engine: a step's settled result is recorded once under its key and the step never runs again
 * after that; a signal sent early is kept, first value wins; a sleep's due instant is fixed at the first call;
 * `next` gives the same answers in the same order on every replay; the answer of a turn and the events emitted
 * because of it are one atomic record.
 *
 * What is recorded before a step starts: all events emitted before it, safely (also against a power cut) where the
 * engine can wait for that. An engine that only hands them on first may lose them together with the step's result
 * and repeat the step; its idempotency key is then the same.
 *
 * An inline step is no turn of its own: its answer comes at the instant of the turn that it is settled in, and the
 * events that follow share that turn's record. An engine ends a turn that has gathered much, and says so in its
 * record, so that a replay ends it at the same place.
 *
 * Answers that nobody asked for are notes of the engine: `recovered#k`, the first new one after a run was taken up
 * again, and `clock#k` with `{ ms }`, by how much the wall clock went ahead of the time at work since the answer
 * before (less than 0: it was set back): the machine slept, or somebody set its clock.
 *
 * Promises of the interpreter: keys are unique in a run; `next` is its only await; no clock, randomness or
 * other I/O outside a step; events carry no time of their own; inline steps are pure.
 */
export interface DurableContext<Event = unknown> {
  readonly runId: string;
  /** When the run began to be carried out, Unix time in milliseconds; the same on every replay. */
  readonly begunAt: number;
  step(key: string, work: StepWork, options?: StepOptions): Durable;
  signal(name: string): Durable;
  /** Whether a signal of that name was sent. Asked only where the flow would end or emit its end; the same on every replay. */
  isSent(name: string): boolean;
  /** A time to wait, in milliseconds. Its due instant is fixed; a short one is measured by no clock that can be set. */
  sleep(key: string, ms: number): Durable;
  /** Settles after that many milliseconds of work. It begins anew when the run is taken up again. */
  timeout(key: string, ms: number): Durable;
  /**
   * Waits until one of the handles settles; an inline step that the present turn takes in is answered without a promise.
   * Throws Cancelled, once, when the run is to stop.
   */
  next(pending: readonly Durable[]): Promise<Settlement> | Settlement;
  /** Gives up a handle: its work is aborted and its result will never be asked for. */
  abandon(handle: Durable): void;
  /** The event that counts: in a replay, the recorded one, whose texts another version may have worded. */
  asRecorded(event: Event): Event;
  /** Buffers an event for the record of the present turn. Synchronous. */
  emit(event: Event): void;
}

/** Opaque and not thenable, so that it cannot be awaited or raced by mistake. */
export interface Durable {
  readonly key: string;
}

/**
 * `at`: when the answer came, Unix time in milliseconds, never earlier than the one before; the same on every replay.
 * For a sleep that is when it was over, not when it was due: a server that was down wakes it later.
 */
export interface Settlement {
  key: string;
  result: Settled;
  at: number;
}

export type Settled = ({ ok: true; value: Json } | { ok: false; error: StepError }) & RecordedCall;

/** What is recorded of an answer beside itself, where its step named its request. */
interface RecordedCall {
  /** SHA-256 of the request in canonical JSON, hex. */
  request?: string;
  /** It was not asked for anew: this run had the same request answered. */
  reused?: string;
  /** It was in flight when its process ended, and was asked for again. */
  repeated?: true;
}

/**
 * What a step asks outside, without what differs between runs that ask the same. By its hash a recorded answer is found again.
 */
export interface StepRequest {
  kind: "model" | "tool" | "run";
  /**
   * What a run that begins with another's log does where that one asked the same: takes its answer; has a person agree
   * first, since asking twice may do something twice; or asks all the same, since it concerns nothing but the run itself.
   */
  again: "reuse" | "agree" | "ask";
  /** Built only where it is needed. */
  asked(): Json;
  /** Whether a recorded answer would come from where this one is asked now; absent: always. */
  fits?(value: Json): boolean;
  /** To be asked outside although an answer is recorded, or none is: a person agreed. */
  isAgreed?: boolean;
  /** That person agreed in the run that this one comes from. */
  isInherited?: boolean;
  /** What becomes of it where it was in flight when its process ended; absent: it is asked for again. */
  onCrash?: "repeat" | "ask" | "fail" | undefined;
  /** Nothing waits for the answer any longer. Also called when a replay comes to that place, so it must be repeatable. */
  abandoned?(): void;
}

/** A failure as data: `name` is the class of the error, `detail` what a ModelError or the like carries. */
export interface StepError {
  name: string;
  message: string;
  detail?: Json;
}

export interface StepScope {
  /** The same for every attempt at this step, also after a crash: pass it on to what has effects outside. */
  readonly idempotencyKey: string;
  readonly abort: AbortSignal;
  /**
   * When the run asked for it the first time, in Unix milliseconds. It may have been under way since then in a process that
   * ended: whoever waits in a queue may have waited there already.
   */
  readonly begunAt?: number;
  /** Shows something to whoever watches right now; it is not kept. */
  live(frame: LiveFrame): void;
}

export type StepWork = (scope: StepScope) => Promise<Json> | Json;

export interface StepOptions {
  /**
   * Pure work: no effect outside, the same value each time. It is settled at once, within the present turn, ahead
   * of all that comes from outside, and may be computed again after a crash instead of being recorded.
   */
  inline?: boolean;
  /** Of a step that asks a model or a tool. */
  request?: StepRequest;
}

/** What passes by without being stored. `offset`: characters of this channel sent before this text. */
export interface LiveFrame {
  type: "llm_delta";
  call_id: string;
  channel: "content" | "reasoning" | "tool_args";
  offset: number;
  text: string;
}

/** Thrown by `next` when the run was cancelled from outside. */
export class Cancelled extends namedError("Cancelled") {
  constructor(
    readonly by = "user",
    readonly reason = "",
    /** When it was cancelled, Unix time in milliseconds. */
    readonly at?: number,
    /** Signals that had been sent and that no turn took. */
    readonly untaken: readonly string[] = [],
  ) {
    super(reason || "The run was cancelled.");
  }
}

/** What a coroutine of the interpreter waits for: the first of these to settle resumes it. */
export type Wait = readonly Durable[];

/** A piece of durable behaviour: a coroutine that yields what it waits for. Compose with `yield*`. */
export type Flow<T> = Generator<Wait, T, Settlement>;
