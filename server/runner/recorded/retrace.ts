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
import type { Json } from "@/server/domain/base/values";
import type { RunEvent } from "@/server/domain/run/events";
import type { Journal } from "../embedded";
import type { Effects } from "../ports";
import type { AskedRequest } from "./difference";
import { requestHash } from "./request-hash";

/** A request of a run's log with its words, which the log itself does not hold. */
export interface RetracedRequest extends AskedRequest {
  /** SHA-256 of it in canonical JSON. */
  request: string;
  /** The key of its step. */
  key: string;
}

/** A call of a run's log: every request, also one that failed and one that nobody answered while it mattered. */
export interface RetracedCall extends RetracedRequest {
  /** Null: no answer came. */
  result: Settled | null;
  /** When it was asked and when it was answered, Unix time in milliseconds. */
  asked_at: number;
  answered_at: number;
}

/** Nothing outside is reached: every answer is in the log. */
const NO_EFFECTS: Effects = {
  models: {
    complete: () => Promise.reject(new Error("What is retraced calls no model.")),
    describe: () => null,
  },
};

/**
 * What a run asked models and tools, in the order in which it was answered. The log keeps answers and the hashes of their
 * requests; the requests are made again by the interpreter. One that comes out otherwise than it was hashed is left out.
 */
export function retracedRequests(
  runId: string,
  journal: Journal,
  execute: (ctx: DurableContext, created: RunEvent, effects: Effects) => Promise<void>,
): RetracedRequest[] {
  return retraced(runId, journal, execute)?.requests ?? [];
}

/** All that a run asked models and tools: those answered in the order in which they were, then those that were not. */
export const retracedCalls = (...of: Parameters<typeof retracedRequests>): RetracedCall[] => {
  const context = retraced(...of);
  return context ? [...context.calls, ...context.unanswered()] : [];
};

function retraced(
  runId: string,
  journal: Journal,
  execute: Parameters<typeof retracedRequests>[2],
): Retracing | null {
  const created = journal.turns[0]?.events[0];
  if (!created) return null;
  const context = new Retracing(runId, journal);
  // It never waits, so that all is done once this returns; it ends by an error, that of the log's end.
  execute(context, created, NO_EFFECTS).catch(() => {});
  return context;
}

/** What an inline step gives, which is at once. */
function pure(work: StepWork): Json {
  const value = work({ idempotencyKey: "", abort: new AbortController().signal, live() {} });
  return value instanceof Promise ? null : value;
}

class EndOfLog extends Error {
  override name = "EndOfLog";
}

/** Repeats a run from its log, up to where that ends. */
class Retracing implements DurableContext {
  readonly begunAt: number;
  readonly requests: RetracedRequest[] = [];
  readonly calls: RetracedCall[] = [];
  private readonly asking = new Map<string, { request: StepRequest; at: number }>();
  private readonly givenUp: { key: string; request: StepRequest; at: number }[] = [];
  private readonly inline = new Map<string, StepWork>();
  private turn = 1;
  private inlined = 0;
  private at: number;

  constructor(
    readonly runId: string,
    private readonly journal: Journal,
  ) {
    this.begunAt = this.at = journal.turns[1]?.at ?? 0;
  }

  step(key: string, work: StepWork, options: StepOptions = {}): Durable {
    if (options.inline) this.inline.set(key, work);
    if (options.request) this.asking.set(key, { request: options.request, at: this.at });
    return { key };
  }
  signal(key: string): Durable {
    return { key };
  }
  isSent(name: string): boolean {
    return this.journal.turns.some(({ key, turn }) => key === name && turn > this.turn);
  }
  sleep(key: string): Durable {
    return { key };
  }
  timeout(key: string): Durable {
    return { key };
  }
  emit(): void {}
  abandon({ key }: Durable): void {
    this.inline.delete(key);
    const asking = this.asking.get(key);
    if (asking && this.asking.delete(key)) this.givenUp.push({ key, ...asking });
  }

  next(): Settlement {
    const { turns } = this.journal;
    const first = this.inline.entries().next().value;
    if (first && this.inlined < (turns[this.turn]?.inlined ?? 0)) {
      this.inlined++;
      this.inline.delete(first[0]);
      return { key: first[0], result: { ok: true, value: pure(first[1]) }, at: this.at };
    }
    const upcoming = turns[++this.turn];
    this.inlined = 0;
    if (!upcoming || upcoming.key === null || upcoming.result === null || upcoming.key === "$ended")
      throw new EndOfLog();
    const { key, result, at } = upcoming;
    this.at = at;
    if (key === "$cancel") throw new Cancelled("", "", at);
    this.inline.delete(key);
    this.note(key, result);
    return { key, result, at };
  }

  private note(key: string, result: Settled): void {
    const asking = this.asking.get(key);
    this.asking.delete(key);
    const { request, ok } = result;
    if (!asking || request === undefined) return;
    const { kind, asked } = { kind: asking.request.kind, asked: asking.request.asked() };
    if (requestHash({ kind, asked: () => asked }) !== request) return;
    const call = { kind, asked, request, key };
    this.calls.push({ ...call, result, asked_at: asking.at, answered_at: this.at });
    if (ok) this.requests.push(call);
  }

  /** What was asked and never answered: given up, or still under way where the log ends. */
  unanswered(): RetracedCall[] {
    const open = [...this.asking].map(([key, asking]) => ({ key, ...asking }));
    return [...this.givenUp, ...open].map(({ key, request: { kind, asked }, at }) => {
      const words = asked();
      const request = requestHash({ kind, asked: () => words });
      return { kind, asked: words, request, key, result: null, asked_at: at, answered_at: at };
    });
  }
}
