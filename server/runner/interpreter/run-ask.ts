import type { Durable, DurableContext, Flow, Settlement } from "@/server/domain/base/durable";
import type { NewEvent } from "@/server/domain/run/events";
import type { PersonQuestion } from "../node/ports";
import { type Answered, askPerson } from "../people/ask";
import type { Advice } from "./advice";
import type { RunLog } from "./run-log";

/**
 * A question of the run itself, of no activation. While it is open nothing new starts, and the run's clock stands still.
 */
export class RunAsk {
  private open: { id: string; flow: Flow<Answered>; waits: readonly Durable[] } | null = null;
  /** The answer that came by time while the run was paused. */
  private kept: Settlement | null = null;

  constructor(
    private readonly log: RunLog,
    private readonly engine: { context: DurableContext; advice: Pick<Advice, "expect"> },
  ) {}

  get isOpen(): boolean {
    return this.open !== null;
  }
  get pending(): readonly Durable[] {
    return this.kept ? [] : (this.open?.waits ?? []);
  }
  waitsFor(key: string): boolean {
    return this.open?.waits.some((handle) => handle.key === key) ?? false;
  }

  /** `node_id`: the node that does not start meanwhile. */
  ask(id: string, node_id: string, question: Omit<PersonQuestion, "about" | "mode">): void {
    const flow = askPerson(this.askingFor(node_id), id, { ...question, mode: "sync", about: {} });
    const first = flow.next();
    if (!first.done) this.open = { id, flow, waits: first.value };
  }

  /** The person's answer, or that there was none in time; null while the question stays open. */
  receive(answer: Settlement): Answered | null {
    if (this.log.isPaused && answer.key !== `answer:${this.open?.id}`) {
      this.kept = answer;
      return null;
    }
    if (!this.open) return null;
    const { flow, waits } = this.open;
    const next = flow.next(answer);
    const left = next.done ? [] : next.value;
    for (const old of waits)
      if (old.key !== answer.key && !left.some(({ key }) => key === old.key))
        this.engine.context.abandon(old);
    this.open = next.done ? null : { ...this.open, waits: left };
    return next.done ? next.value : null;
  }

  /** Takes in what came by time while the run was paused. */
  receiveKept(): Answered | null {
    const { kept } = this;
    this.kept = null;
    return kept && this.receive(kept);
  }

  private askingFor(node_id: string) {
    const { log, engine } = this;
    return {
      s: log.s,
      get now() {
        return log.at;
      },
      context: engine.context,
      emit: (event: NewEvent) => log.apply({ node_id, ...event }),
      stopClock: () => {},
      startClock: () => {},
      adviseLater: (id: string) => engine.advice.expect(id),
    };
  }
}
