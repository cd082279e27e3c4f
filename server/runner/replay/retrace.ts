import { defined } from "@/server/domain/base/defined";
import {
  Cancelled,
  type Durable,
  type DurableContext,
  type Settled,
  type Settlement,
  type StepOptions,
  type StepRequest,
  type StepWork,
} from "@/server/domain/base/durable";
import { asJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import type { RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import type { Journal, Turn } from "../durable/embedded-contract";
import type { Effects } from "../node/ports";
import type { AskedRequest } from "./difference";
import { agreedTo, obstacleOf } from "./recorded-answers";
import { requestHash } from "./request-hash";

/** A request of a run's log with its words, which the log itself does not hold. */
export interface RetracedRequest extends AskedRequest {
  /** SHA-256 of it in canonical JSON. */
  request: string;
  /** The key of its step. */
  key: string;
}

/** A call in a run's log: every request, including failed ones and those whose answer came too late. */
export interface RetracedCall extends RetracedRequest {
  /** Null: no answer came. */
  result: Settled | null;
  /** When it was asked and when it was answered, Unix time in milliseconds. */
  asked_at: number;
  answered_at: number;
}

/** Something that a run waited for, and what came. */
export interface RetracedAnswer {
  key: string;
  /** `step` asks nothing outside, such as which tools there are; `person` is a question; `time` is a wait. */
  kind: "model" | "tool" | "run" | "person" | "step" | "time";
  /** What was asked; null for a step, milliseconds for a wait. */
  asked: Json;
  /** Null: nothing came before the run waited no longer. */
  result: Settled | null;
  /** Its place among all that it waited for, in the order in which it began to. */
  order: number;
  /** When it began to wait, Unix time in milliseconds, and how long it took. */
  since: number;
  ms: number;
  /** The turn that it began, and that turn's first event; of one that never came, the turn in which it was given up. */
  turn: number;
  event?: RunEvent;
}

/** Repeats a run's interpreter on that context, from its first event. */
export type Execute = (
  ctx: DurableContext<RunEvent>,
  created: RunEvent,
  effects: Effects,
  watch?: (state: RunState) => void,
) => Promise<void>;

/** Nothing outside is reached: every answer is in the log. */
const NO_EFFECTS: Effects = {
  models: {
    complete: () => Promise.reject(new Error("What is retraced calls no model.")),
    describe: () => null,
  },
};

/**
 * What a run waited for, in the order in which it came. The log keeps answers and the hashes of what was asked; the words
 * are made again by the interpreter.
 */
export function retraced(runId: string, journal: Journal, execute: Execute): RetracedAnswer[] {
  const created = journal.turns[0]?.events[0];
  if (!created) return [];
  const context = new Retracing(runId, journal);
  // It never waits, so that all is done once this returns; it ends by an error, that of the log's end.
  execute(context, created, NO_EFFECTS).catch(() => {});
  return [...context.answers, ...context.unanswered()];
}

/** What a run asked models and tools and was answered. One whose words come out otherwise than they were hashed is left out. */
export const retracedRequests = (...of: Parameters<typeof retraced>): RetracedRequest[] =>
  retracedCalls(...of).flatMap(({ key, kind, asked, request, result }) =>
    agreedTo(key) === null && result && (result.ok || obstacleOf(result.error))
      ? [{ key, kind, asked, request }]
      : [],
  );

/** All that a run asked models and tools: those answered in the order in which they were, then those that were not. */
export function retracedCalls(...of: Parameters<typeof retraced>): RetracedCall[] {
  const calls = retraced(...of).flatMap(({ key, kind, asked, result, since, ms }): RetracedCall[] => {
    if (kind !== "model" && kind !== "tool" && kind !== "run") return [];
    const request = requestHash({ kind, asked: () => asked });
    if (result && result.request !== request) return [];
    const answered_at = result ? since + ms : since;
    return [{ key, kind, asked, request, result, asked_at: since, answered_at }];
  });
  return [...calls.filter(({ result }) => result), ...calls.filter(({ result }) => !result)];
}

/** Repeats a run from its log; `told` hears of each answer before the run has it, inline steps' too. */
export function retell(
  runId: string,
  journal: Journal,
  execute: Execute,
  onTurn: (key: string, turn: Turn | undefined, state: RunState | undefined) => void,
): void {
  const created = journal.turns[0]?.events[0];
  if (!created) return;
  const states: RunState[] = [];
  const context = new Retracing(runId, journal, (key, turn) => onTurn(key, turn, states[0]));
  execute(context, created, NO_EFFECTS, (state) => void states.push(state)).catch(() => {});
}

/** What a person is asked, without what names the run and the moment. */
export function askedOf(question: RunEvent | undefined): Json {
  if (question?.type !== "interaction_requested") return null;
  const { fingerprint: _f, expires_at: _e, ...asked } = question.payload;
  return asJson(asked);
}

/** What an inline step gives, which is at once. */
export function pure(work: StepWork): Json {
  const value = work({ idempotencyKey: "", abort: new AbortController().signal, live() {} });
  return value instanceof Promise ? null : value;
}

interface Waited {
  kind: RetracedAnswer["kind"];
  request?: StepRequest;
  ms?: number;
  since: number;
  order: number;
}

/** The key of the signal that answers a question. */
export const ANSWER = "answer:";

/** Repeats a run from its log, up to where that ends. */
class Retracing implements DurableContext<RunEvent> {
  readonly begunAt: number;
  readonly answers: RetracedAnswer[] = [];
  private readonly waits = new Map<string, Waited>();
  private readonly inline = new Map<string, StepWork>();
  private readonly questions = new Map<string, RunEvent>();
  private order = 0;
  private turn = 1;
  private inlined = 0;
  private lastSeq = 0;
  private at: number;

  constructor(
    readonly runId: string,
    private readonly journal: Journal,
    private readonly onTurn: (key: string, turn?: Turn) => void = () => {},
  ) {
    this.begunAt = this.at = journal.turns[1]?.at ?? 0;
  }

  step(key: string, work: StepWork, { inline, request }: StepOptions = {}): Durable {
    if (inline) this.inline.set(key, work);
    else
      this.waits.set(key, {
        kind: request?.kind ?? "step",
        ...defined({ request }),
        since: this.at,
        order: ++this.order,
      });
    return { key };
  }
  isSent(name: string): boolean {
    if (this.lastSeq < (this.journal.turns[this.turn]?.lastSeq ?? 0)) return false;
    return this.journal.turns.some(({ key, turn }) => key === name && turn > this.turn);
  }
  signal(key: string): Durable {
    if (key.startsWith(ANSWER)) this.waits.set(key, { kind: "person", since: this.at, order: ++this.order });
    return { key };
  }
  sleep(key: string, ms: number): Durable {
    this.waits.set(key, { kind: "time", ms, since: this.at, order: ++this.order });
    return { key };
  }
  timeout(key: string): Durable {
    return { key };
  }
  asRecorded(made: RunEvent): RunEvent {
    const recorded = this.journal.turns[this.turn]?.events.find(({ seq }) => seq === made.seq);
    return recorded?.type === made.type ? recorded : made;
  }
  emit(made: RunEvent): void {
    this.lastSeq = made.seq;
    if (made.type === "interaction_requested") this.questions.set(made.payload.interaction_id, made);
  }
  abandon({ key }: Durable): void {
    this.inline.delete(key);
    this.note(key, null);
  }

  next(): Settlement {
    const { turns } = this.journal;
    const first = this.inline.entries().next().value;
    if (first && this.inlined < (turns[this.turn]?.inlined ?? 0)) {
      this.inlined++;
      this.inline.delete(first[0]);
      this.onTurn(first[0]);
      return { key: first[0], result: { ok: true, value: pure(first[1]) }, at: this.at };
    }
    const upcoming = turns[++this.turn];
    this.inlined = 0;
    if (!upcoming || upcoming.key === null || upcoming.result === null || upcoming.key === "$ended")
      throw new Error("The log ends here.");
    const { key, result, at } = upcoming;
    this.at = at;
    this.onTurn(key, upcoming);
    if (key === "$cancel") throw new Cancelled("", "", at);
    this.inline.delete(key);
    this.note(key, result, upcoming);
    return { key, result, at };
  }

  private note(key: string, result: Settled | null, turn?: Turn): void {
    const waited = this.waits.get(key);
    this.waits.delete(key);
    if (waited) this.answers.push(this.answered(key, waited, result, turn?.events[0]));
  }

  /** What the run still waited for where its log ends. */
  unanswered(): RetracedAnswer[] {
    return [...this.waits].map(([key, waited]) => this.answered(key, waited, null));
  }

  private answered(
    key: string,
    { kind, request, ms, since, order }: Waited,
    result: Settled | null,
    event?: RunEvent,
  ): RetracedAnswer {
    const question = this.questions.get(key.slice(ANSWER.length));
    return {
      key,
      kind,
      asked: kind === "person" ? askedOf(question) : (request?.asked() ?? ms ?? null),
      result,
      order,
      since,
      ms: this.at - since,
      turn: this.turn,
      ...defined({ event: event || undefined }),
    };
  }
}
