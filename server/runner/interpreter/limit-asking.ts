import type { RaisableLimit } from "@/server/domain/agent/outcome";
import type { Durable, DurableContext, Flow, Settlement } from "@/server/domain/base/durable";
import type { RunState } from "@/server/domain/run";
import type { NewEvent } from "@/server/domain/run/events";
import { type Answered, askPerson } from "../people/ask";
import { limitQuestion, limitsAskEverywhere, mayRaise, openLimitQuestion } from "./limit-question";
import { limitValue } from "./limits";

/** What asking needs of the interpreter. */
interface Asker {
  readonly s: RunState;
  readonly now: number;
  readonly context: DurableContext;
  apply(event: NewEvent): void;
  adviseLater(interaction_id: string): void;
}

/** What a person decided about a limit. */
export interface Decided {
  limit: RaisableLimit;
  answered: Answered;
}

/**
 * The question that a run asks where a limit keeps it from starting a node. It belongs to no activation: none has begun.
 * While it is open nothing new starts, and the clock of the run stands still.
 */
export class LimitAsking {
  private open: { id: string; limit: RaisableLimit; flow: Flow<Answered>; waits: readonly Durable[] } | null =
    null;
  private count = 0;
  /** Limits at which a person let the run stop. */
  private readonly stopped = new Set<RaisableLimit>();
  private kept: Settlement | null = null;

  constructor(private readonly run: Asker) {}

  get isOpen(): boolean {
    return this.open !== null;
  }
  /** The interaction that is open. */
  get id(): string | undefined {
    return this.open?.id;
  }
  get pending(): readonly Durable[] {
    return this.kept ? [] : (this.open?.waits ?? []);
  }

  /** Asks whether the run is to go on; false where it is to stop without a question. */
  ask(limit: RaisableLimit, node_id: string): boolean {
    const { s } = this.run;
    if (s.run.config.on_limit !== "ask" || !limitsAskEverywhere(s)) return false;
    if (openLimitQuestion(s, limit)) return true;
    if (this.stopped.has(limit) || !mayRaise(limit, limitValue(limit, s) ?? 0)) return false;
    const question = limitQuestion(limit, s, "The run has reached a limit");
    const id = `limit/${limit}/${++this.count}`;
    const flow = askPerson(this.askingFor(node_id), id, {
      ...question,
      mode: "sync",
      about: {},
    });
    const first = flow.next();
    if (!first.done) this.open = { id, limit, flow, waits: first.value };
    return true;
  }

  /** Whether it waits for this key. */
  waitsFor(key: string): boolean {
    return this.open?.waits.some((handle) => handle.key === key) ?? false;
  }

  /** Keeps what came by time while the run was paused. */
  keep(answer: Settlement): void {
    this.kept = answer;
  }
  takeKept(): Settlement | null {
    const { kept } = this;
    this.kept = null;
    return kept;
  }

  /** Hands an answer over; what was decided, or null where it goes on waiting. */
  receive(answer: Settlement): Decided | null {
    if (!this.open) return null;
    const { id, limit, flow, waits } = this.open;
    const next = flow.next(answer);
    const left = next.done ? [] : next.value;
    for (const old of waits)
      if (old.key !== answer.key && !left.some(({ key }) => key === old.key)) this.run.context.abandon(old);
    if (!next.done) {
      this.open = { id, limit, flow, waits: left };
      return null;
    }
    this.open = null;
    return { limit, answered: next.value };
  }

  /** A person lets the run stop there. */
  stopAt(limit: RaisableLimit): void {
    this.stopped.add(limit);
  }
  /** A limit was raised: whoever reaches one is asked again. */
  forget(): void {
    this.stopped.clear();
  }

  private askingFor(node_id: string) {
    const { run } = this;
    return {
      get s() {
        return run.s;
      },
      get now() {
        return run.now;
      },
      context: run.context,
      emit: (event: NewEvent) => run.apply({ node_id, ...event }),
      stopClock: () => {},
      startClock: () => {},
      adviseLater: (id: string) => run.adviseLater(id),
    };
  }
}
