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
  const created = journal.turns[0]?.events[0];
  if (!created) return [];
  const context = new Retracing(runId, journal);
  // It never waits, so that all is done once this returns; it ends by an error, that of the log's end.
  execute(context, created, NO_EFFECTS).catch(() => {});
  return context.requests;
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
  private readonly asking = new Map<string, StepRequest>();
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
    if (options.request) this.asking.set(key, options.request);
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
    this.asking.delete(key);
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

  private note(key: string, { request, ok }: Settled): void {
    const asking = this.asking.get(key);
    this.asking.delete(key);
    if (!asking || request === undefined || !ok) return;
    const asked = { kind: asking.kind, asked: asking.asked() };
    if (requestHash({ kind: asked.kind, asked: () => asked.asked }) === request)
      this.requests.push({ ...asked, request, key });
  }
}
