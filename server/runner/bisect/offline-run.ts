import type {
  Durable,
  DurableContext,
  Settled,
  Settlement,
  StepOptions,
  StepWork,
} from "@/server/domain/base/durable";
import type { Json } from "@/server/domain/base/values";
import type { RunState } from "@/server/domain/run";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import { Breather } from "../breather";
import type { Effects } from "../ports";
import { ANSWER, askedOf, type Execute, pure, type RetracedAnswer } from "../recorded/retrace";

/** What a run waits for, as its record is asked for it. */
export interface Wanted {
  key: string;
  kind: RetracedAnswer["kind"];
  asked: Json;
}

/** What the record has: an answer and how long it took, null for one that never came, or why there is none. */
export type Found = { result: Settled; ms: number; turn: number } | null | { missing: string };

/** How a run went on answers of records alone. `unknown`: why it cannot be known. */
export type OfflineRun = { state: RunState; unknown?: undefined } | { unknown: string };

/** A record has no answer, so that nobody knows how the run would go on. */
class NotKnown extends Error {
  override name = "NotKnown";
}

/**
 * Carries a run out with what `answer` finds, in a time of its own: nothing waits, no model and no tool is called, nothing is
 * kept. `code`: what runs code and tries patterns here, which reaches nothing outside.
 */
export async function carryOutOffline(
  created: RunEventOf<"run_created">,
  about: { runId: string; begunAt: number; execute: Execute },
  answer: (wanted: Wanted) => Found,
  code: Pick<NonNullable<Effects["tools"]>, "runCode" | "matches"> | undefined,
): Promise<OfflineRun> {
  const context = new Offline(about.runId, about.begunAt, answer);
  const states: RunState[] = [];
  try {
    await about.execute(
      context,
      structuredClone(created),
      effectsOf(code),
      (state) => void states.push(state),
    );
  } catch (error) {
    if (error instanceof NotKnown) return { unknown: error.message };
    if (!(error instanceof AtRest)) throw error;
  }
  const [state] = states;
  if (state?.run.status === "finished") return { state };
  return { unknown: "It waits for something that never came in either run." };
}

function effectsOf(code: Parameters<typeof carryOutOffline>[3]): Effects {
  const none = () => Promise.reject(new NotKnown("It calls something outside."));
  const models: Effects["models"] = { complete: none, describe: () => null };
  if (!code) return { models };
  return {
    models,
    tools: { ...code, specs: none, invoke: none, forgetTask: () => Promise.resolve() },
  };
}

/** Nothing is due any more: the run has ended, or waits for ever. */
class AtRest extends Error {
  override name = "AtRest";
}

interface Due {
  key: string;
  at: number;
  turn: number;
  result: Settled | (() => Promise<Json> | Json);
}

/** Whether a step looks up the tools that there are. */
export const isLookUp = (key: string) => key.endsWith("/tools");

class Offline implements DurableContext {
  private readonly inline = new Map<string, StepWork>();
  private readonly due = new Map<string, Due>();
  private readonly questions = new Map<string, RunEvent>();
  /** Registered since the last wait: what they ask stands once the events before them do. */
  private fresh: { key: string; begin: () => Due | null }[] = [];
  private readonly breather = new Breather();
  private at: number;

  constructor(
    readonly runId: string,
    readonly begunAt: number,
    private readonly answer: (wanted: Wanted) => Found,
  ) {
    this.at = begunAt;
  }

  step(key: string, work: StepWork, { inline, request }: StepOptions = {}): Durable {
    if (inline) this.inline.set(key, work);
    else if (request)
      this.fresh.push({ key, begin: () => this.ask({ key, kind: request.kind, asked: request.asked() }) });
    else if (isLookUp(key))
      this.fresh.push({ key, begin: () => this.ask({ key, kind: "step", asked: null }) });
    else this.fresh.push({ key, begin: () => this.own(key, work) });
    return { key };
  }
  signal(key: string): Durable {
    const question = () => askedOf(this.questions.get(key.slice(ANSWER.length)));
    if (key.startsWith(ANSWER))
      this.fresh.push({ key, begin: () => this.ask({ key, kind: "person", asked: question() }) });
    return { key };
  }
  /** What people told a run beside answering is not repeated. */
  isSent(): boolean {
    return false;
  }
  /** As long as it took then: a timer is never early, and often a little late. */
  sleep(key: string, ms: number): Durable {
    const found = this.answer({ key, kind: "time", asked: ms });
    const took = found && "ms" in found ? found : { ms, turn: 0 };
    this.due.set(key, { key, at: this.at + took.ms, turn: took.turn, result: { ok: true, value: null } });
    return { key };
  }
  timeout(key: string, ms: number): Durable {
    this.due.set(key, { key, at: this.at + ms, turn: 0, result: { ok: true, value: null } });
    return { key };
  }
  abandon({ key }: Durable): void {
    this.inline.delete(key);
    this.due.delete(key);
    this.fresh = this.fresh.filter((one) => one.key !== key);
  }
  emit(event: unknown): void {
    const made = event as RunEvent;
    if (made.type === "interaction_requested") this.questions.set(made.payload.interaction_id, made);
  }

  next(): Settlement | Promise<Settlement> {
    return this.breather.isDue ? this.breather.before(() => this.following()) : this.following();
  }

  private following(): Settlement | Promise<Settlement> {
    const inline = this.inline.entries().next().value;
    if (inline) {
      this.inline.delete(inline[0]);
      return { key: inline[0], result: { ok: true, value: pure(inline[1]) }, at: this.at };
    }
    for (const { begin } of this.fresh.splice(0)) {
      const due = begin();
      if (due) this.due.set(due.key, due);
    }
    let first: Due | undefined;
    for (const one of this.due.values())
      if (!first || one.at < first.at || (one.at === first.at && one.turn < first.turn)) first = one;
    if (!first) throw new AtRest();
    this.due.delete(first.key);
    this.at = Math.max(this.at, first.at);
    const { key, result } = first;
    if (typeof result !== "function") return { key, result, at: this.at };
    return this.carryOut(key, result);
  }

  private async carryOut(key: string, work: () => Promise<Json> | Json): Promise<Settlement> {
    try {
      return { key, result: { ok: true, value: await work() }, at: this.at };
    } catch (error) {
      if (error instanceof NotKnown || !(error instanceof Error)) throw error;
      const { name, message } = error;
      return { key, result: { ok: false, error: { name, message } }, at: this.at };
    }
  }

  private ask(wanted: Wanted): Due | null {
    const found = this.answer(wanted);
    if (found === null) return null;
    if ("missing" in found) throw new NotKnown(found.missing);
    return { key: wanted.key, at: this.at + found.ms, turn: found.turn, result: found.result };
  }

  private own(key: string, work: StepWork): Due {
    const scope = { idempotencyKey: key, abort: new AbortController().signal, live() {} };
    const found = this.answer({ key, kind: "step", asked: null });
    const took = found && "ms" in found ? found : { ms: 0, turn: 0 };
    return { key, at: this.at + took.ms, turn: took.turn, result: () => work(scope) };
  }
}
